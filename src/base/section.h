/* The layout of a checkpoint: a head (magic, version), then sections. A section has a name, a
 * length, a checksum (XXH3 of name, length, bytes and version) and bytes. Functions of the caller
 * read and write the file. Format: docs/reliability.md. */
#ifndef BASE_SECTION_H
#define BASE_SECTION_H

#include "base/archive.h"

typedef struct section_sink {
    roofs_write write;
    void *user;
    uint32_t version; /* of the sections; 0 = the current one */
} section_sink;

typedef struct section_source {
    roofs_read read;
    void *user;
    uint32_t version; /* set by section_read_head */
} section_source;

roofs_status section_write_head(const section_sink *to, roofs_error *err);
roofs_status section_write(const section_sink *to, const char *name, const archive *a,
                           roofs_error *err);

roofs_status section_read_head(section_source *from, roofs_error *err);

/* Reads the next section; `a` is then ready for loading. Memory grows with the bytes that arrive,
 * not with the stored length. section_read refuses a section with another name. */
enum { SECTION_NAME = 16 };
roofs_status section_next(const section_source *from, char name[SECTION_NAME + 1], archive *a,
                          roofs_error *err);
roofs_status section_read(const section_source *from, const char *name, archive *a,
                          roofs_error *err);

/* True if the bytes are the start of a checkpoint. */
int section_recognises(const void *bytes, size_t size);

#endif
