/* The host allocator. Only this layer's memory.c allocates. Products of sizes are checked. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/status.h"

/* roofs_status memory_get(T **out, int64_t count, size_t size, const char *what, roofs_error *err)
 * `count` zeroed items of `size` bytes, aligned for vector loads. On failure
 * *out is NULL and the reason names `what`. A count of 0 gives a valid pointer.
 * (A macro, because C does not allow writing a T ** as a void **.) */
#define memory_get(out, count, size, what, err)                                                    \
    ((*(out) = memory_zeroed((count), (size), (what), (err))) ? ROOFS_OK : ROOFS_NO_MEMORY)

/* The same without zeroing: pages that are never written take no memory. */
#define memory_reserve(out, count, size, what, err)                                                \
    ((*(out) = memory_raw((count), (size), (what), (err))) ? ROOFS_OK : ROOFS_NO_MEMORY)

/* roofs_status memory_grow(T **block, int64_t *capacity, int64_t need, ...)
 * Grows *block to hold at least `need` items: the capacity doubles, new items
 * are zeroed. A failure does not change the block. */
#define memory_grow(block, capacity, need, size, what, err)                                        \
    (*(block) = memory_grown(*(block), (capacity), (need), (size), 1, (what), (err)),              \
     *(capacity) >= (need) ? ROOFS_OK : ROOFS_NO_MEMORY)

/* The same without zeroing. */
#define memory_grow_raw(block, capacity, need, size, what, err)                                    \
    (*(block) = memory_grown(*(block), (capacity), (need), (size), 0, (what), (err)),              \
     *(capacity) >= (need) ? ROOFS_OK : ROOFS_NO_MEMORY)

void *memory_zeroed(int64_t count, size_t size, const char *what, roofs_error *err);
void *memory_raw(int64_t count, size_t size, const char *what, roofs_error *err);
void *memory_grown(void *old, int64_t *capacity, int64_t need, size_t size, int zero,
                   const char *what, roofs_error *err);

/* `count` bytes that are all 1, or NULL. Their pages share memory until they are written: a model
 * file of a few bytes can have two billion trusted samples. */
unsigned char *memory_ones(int64_t count, const char *what, roofs_error *err);
void memory_free_ones(unsigned char *ones, int64_t count); /* accepts NULL */

roofs_status memory_copy_text(char **out, const char *text, roofs_error *err);

void memory_free(void *block);

/* Programs call this once at the start: large blocks then return to the system when they are
 * freed. Otherwise freed columns fragment the heap, and a fit uses a fifth more memory than its
 * bound. */
void memory_return_freed(void);

/* True for the types that stay packed in memory. */
static inline int dtype_is_packed(roofs_dtype dtype)
{
    return dtype == ROOFS_I8 || dtype == ROOFS_U8 || dtype == ROOFS_2BIT;
}

/* Bytes of the unit in which blocks count feature_stride: a value, or a byte of ROOFS_2BIT. */
static inline int64_t dtype_size(roofs_dtype dtype)
{
    if (dtype_is_packed(dtype))
        return 1;
    return dtype == ROOFS_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
}

/* count * size in bytes, or INT64_MAX on overflow. */
int64_t memory_bytes(int64_t count, int64_t size);

/* Bytes of `count` contiguous values, or INT64_MAX on overflow. */
static inline int64_t dtype_bytes(roofs_dtype dtype, int64_t count)
{
    return dtype == ROOFS_2BIT ? count / 4 + (count % 4 > 0)
                               : memory_bytes(count, dtype_size(dtype));
}

/* a + b bytes, or INT64_MAX on overflow. */
int64_t memory_sum(int64_t a, int64_t b);

/* OVER_LIMIT if a fit needs more bytes than the limit; 0 = no limit. */
roofs_status memory_within(int64_t needed, int64_t limit, roofs_error *err);

#endif
