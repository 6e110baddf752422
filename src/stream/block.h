/* Looking into blocks, whatever their types. */
#ifndef STREAM_BLOCK_H
#define STREAM_BLOCK_H

#include "roofs/roofs.h"

static inline double block_value(const roofs_block *b, int64_t place)
{
    return b->dtype == ROOFS_F32 ? (double)((const float *)b->values)[place]
                                 : ((const double *)b->values)[place];
}

static inline int64_t block_index(const roofs_block *b, const void *array, int64_t k)
{
    return b->index == ROOFS_I32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* Sparse blocks: the place of the first value of feature k; k = count gives the end. */
static inline int64_t block_start(const roofs_block *b, int64_t k)
{
    return block_index(b, b->starts, k);
}

static inline int64_t block_sample(const roofs_block *b, int64_t place)
{
    return block_index(b, b->samples, place);
}

/* Feature k of a block as a block of its own. */
static inline roofs_block block_feature(const roofs_block *b, int64_t k)
{
    roofs_block one = *b;
    size_t value = b->dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    size_t index = b->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    one.count = 1;
    one.names = b->names ? b->names + k : NULL;
    if (b->starts)
        one.starts = (const char *)b->starts + (size_t)k * index;
    else
        one.values = (const char *)b->values + (size_t)(k * b->feature_stride) * value;
    return one;
}

#endif
