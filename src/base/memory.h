/* The one place that allocates. Sizes are checked before they are multiplied. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/status.h"

/* `count` zeroed items of `size` bytes, aligned for vector loads. On failure
 * *out is NULL and the reason names `what`. A count of 0 gives a valid pointer. */
roofs_status memory_get(void *out, int64_t count, size_t size, const char *what, roofs_error *err);

/* Grows *block to hold at least `need` items: the capacity doubles, new items
 * are zeroed. */
roofs_status memory_grow(void *block, int64_t *capacity, int64_t need, size_t size,
                         const char *what, roofs_error *err);

roofs_status memory_copy_text(char **out, const char *text, roofs_error *err);

void memory_free(void *block);

/* count * size in bytes, or INT64_MAX where that does not fit. */
int64_t memory_bytes(int64_t count, int64_t size);

#endif
