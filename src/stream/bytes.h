/* Bytes of a file or of standard input, decompressed on the way where they are
 * gzip or xz. What they are is told by their first bytes, not by a file name. */
#ifndef STREAM_BYTES_H
#define STREAM_BYTES_H

#include "base/status.h"

typedef struct bytes bytes;

/* "-" is standard input. */
roofs_status bytes_open(bytes **out, const char *path, roofs_error *err);
void bytes_close(bytes *b); /* NULL is fine */

/* The path for messages; "standard input" for "-". */
const char *bytes_name(const bytes *b);

/* The next `size` bytes; *got is smaller only at the end. */
roofs_status bytes_read(bytes *b, void *to, int64_t size, int64_t *got, roofs_error *err);

/* Passes over `size` bytes, or all that are left. */
roofs_status bytes_skip(bytes *b, int64_t size, roofs_error *err);

/* The first bytes (BYTES_PEEK at most) without taking them; a view. To be
 * called before the first read. */
enum { BYTES_PEEK = 512 };
roofs_status bytes_peek(bytes *b, const unsigned char **start, int64_t *length, roofs_error *err);

/* Whether the same path can be opened again and gives the same bytes. */
int bytes_can_reopen(const bytes *b);

/* The size of a plain (not compressed) regular file; -1 for everything else. */
int64_t bytes_plain_size(const bytes *b);

/* Makes bytes_read_at work for everything: what is no plain regular file is copied to a
 * temporary one. Gives the size. To be called before the first read. */
roofs_status bytes_settle(bytes *b, int64_t *size, roofs_error *err);

/* Writes everything to a file that is open for writing; before the first read. */
roofs_status bytes_copy(bytes *b, int fd, int64_t *size, roofs_error *err);

/* Exactly `size` bytes of a plain regular file; does not move bytes_read. */
roofs_status bytes_read_at(const bytes *b, int64_t offset, void *to, int64_t size,
                           roofs_error *err);

/* A part of a settled file, `packed` bytes from `offset` on, as bytes of its own: as they
 * are, or deflated. Must give `size` bytes with this CRC-32, which is checked where they
 * are read to the end. `whole` must outlive it. */
typedef struct bytes_part {
    const char *name; /* for messages, behind the name of the whole */
    int64_t offset, packed, size;
    int deflated;
    uint32_t crc;
} bytes_part;
roofs_status bytes_open_part(bytes **out, const bytes *whole, const bytes_part *part,
                             roofs_error *err);

#endif
