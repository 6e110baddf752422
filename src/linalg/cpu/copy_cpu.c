/* Copies of values to a storage type. */
#include "base/block.h"
#include "base/memory.h"
#include "linalg/cpu/device_cpu.h"
#include "linalg/lanes.h"

#include <math.h>

/* Inlined with constant types, so that the loops do not test them. */
LANES_INLINE void store(void *to, roofs_dtype dtype, int64_t i, double value)
{
    if (dtype == ROOFS_F32)
        ((float *)to)[i] = (float)value;
    else
        ((double *)to)[i] = value;
}

LANES_INLINE void gather_as(void *to, roofs_dtype dtype, const roofs_block *b, int64_t k)
{
    const int64_t first = k * b->feature_stride, step = b->sample_stride;
    const double *wide = (const double *)b->values + first;
    const float *narrow = (const float *)b->values + first;
    for (int64_t i = 0; i < b->n && b->dtype == ROOFS_F64; i++)
        store(to, dtype, i, wide[i * step]);
    for (int64_t i = 0; i < b->n && b->dtype == ROOFS_F32; i++)
        store(to, dtype, i, (double)narrow[i * step]);
    for (int64_t i = 0; i < b->n && dtype_is_packed(b->dtype); i++)
        store(to, dtype, i, block_at(b, k, i));
}

static void gather_bytes(char *to, const roofs_block *b, int64_t k)
{
    const char *from = (const char *)b->values + k * b->feature_stride;
    for (int64_t i = 0; i < b->n; i++)
        to[i] = from[i * b->sample_stride];
}

void cpu_gather(void *to, roofs_dtype dtype, const roofs_block *block, int64_t k)
{
    if (dtype_is_packed(dtype))
        gather_bytes(to, block, k);
    else if (dtype == ROOFS_F32)
        gather_as(to, ROOFS_F32, block, k);
    else
        gather_as(to, ROOFS_F64, block, k);
}

void cpu_copy_rescaled(void *to, const void *from, roofs_dtype dtype, int exponent, int64_t n)
{
    const float *narrow = from;
    const double *wide = from;
    for (int64_t i = 0; i < n && dtype == ROOFS_F32; i++)
        store(to, ROOFS_F32, i, ldexp((double)narrow[i], -exponent));
    for (int64_t i = 0; i < n && dtype == ROOFS_F64; i++)
        store(to, ROOFS_F64, i, ldexp(wide[i], -exponent));
}
