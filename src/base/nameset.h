/* The feature names seen so far, to refuse the second of two. Holds a 128-bit
 * digest per name (16 bytes, whatever the name's length). */
#ifndef BASE_NAMESET_H
#define BASE_NAMESET_H

#include "base/archive.h"

typedef struct name_digest {
    uint64_t low, high; /* high 0 = an empty place */
} name_digest;

typedef struct nameset {
    name_digest *table; /* open addressing; capacity is a power of two */
    int64_t capacity;
    int64_t count;
} nameset;

/* Room for so many more. */
roofs_status nameset_reserve(nameset *s, int64_t more, roofs_error *err);

/* *fresh = 1 when the name was not yet there. */
roofs_status nameset_add(nameset *s, const char *name, int *fresh, roofs_error *err);

/* Takes the latest of all names out again, for which there was room before it came; so the
 * one before it is the latest then. */
void nameset_forget(nameset *s, const char *name);

void nameset_transfer(nameset *s, archive *a);
void nameset_clear(nameset *s);

#endif
