/* The set of feature names seen so far, to detect duplicates. Stores a 128-bit digest per name. */
#ifndef BASE_NAMESET_H
#define BASE_NAMESET_H

#include "base/archive.h"

typedef struct name_digest {
    uint64_t low, high; /* high 0 = an empty slot */
} name_digest;

typedef struct nameset {
    name_digest *table; /* open addressing; capacity is a power of two */
    int64_t capacity;
    int64_t count;
} nameset;

/* Reserves memory for `more` names. */
roofs_status nameset_reserve(nameset *s, int64_t more, roofs_error *err);

/* Sets *fresh = 1 if the name is new. */
roofs_status nameset_add(nameset *s, const char *name, int *fresh, roofs_error *err);

/* Removes the name that was added last, and for which nameset_reserve was called before. Repeated
 * calls remove names in reverse order. */
void nameset_remove_last(nameset *s, const char *name);

void nameset_transfer(nameset *s, archive *a);
void nameset_clear(nameset *s);

#endif
