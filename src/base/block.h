/* Reads a roofs_block of the caller: dense, or sparse as compressed columns. These functions
 * neither copy nor own values. */
#ifndef BASE_BLOCK_H
#define BASE_BLOCK_H

#include "base/status.h"

static inline int block_is_sparse(const roofs_block *b)
{
    return b->starts != NULL;
}

static inline int64_t block_index(const roofs_block *b, const void *array, int64_t k)
{
    return b->index == ROOFS_I32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

/* Sparse blocks: the position of the first value of feature k (the end for k = count), and the
 * sample of the value at a position. */
static inline int64_t block_start(const roofs_block *b, int64_t k)
{
    return block_index(b, b->starts, k);
}

static inline int64_t block_sample(const roofs_block *b, int64_t at)
{
    return block_index(b, b->samples, at);
}

/* The code of value i of a feature of type ROOFS_2BIT. */
static inline int block_code(const void *feature, int64_t i)
{
    return ((const unsigned char *)feature)[i / 4] >> 2 * (i % 4) & 3;
}

/* The value at a position. A position of ROOFS_2BIT counts codes from the first byte on. */
static inline double block_value(const roofs_block *b, int64_t at)
{
    switch (b->dtype) {
    case ROOFS_F32:
        return (double)((const float *)b->values)[at];
    case ROOFS_I8:
        return (double)((const signed char *)b->values)[at];
    case ROOFS_U8:
        return (double)((const unsigned char *)b->values)[at];
    case ROOFS_2BIT:
        return b->levels[4 * (b->count > 1 ? at / (4 * b->feature_stride) : 0) +
                         block_code(b->values, at)];
    default:
        return ((const double *)b->values)[at];
    }
}

/* The stored values of a feature: value i is at position first + i * step. */
typedef struct block_range {
    int64_t first, step, count;
} block_range;

block_range block_values(const roofs_block *b, int64_t k);

/* The sample of value i of a feature, which is at position `at`. */
static inline int64_t block_sample_of(const roofs_block *b, int64_t at, int64_t i)
{
    return block_is_sparse(b) ? block_sample(b, at) : i;
}

/* The value of feature k at a sample. */
double block_at(const roofs_block *b, int64_t k, int64_t sample);

/* A slice: features first..first + count - 1 of a block, or feature k alone. It points into b. */
roofs_block block_slice(const roofs_block *b, int64_t first, int64_t count);

static inline roofs_block block_feature(const roofs_block *b, int64_t k)
{
    return block_slice(b, k, 1);
}

/* Checks the types, and that values are given; of ROOFS_2BIT also strides and levels. */
roofs_status block_check(const roofs_block *b, roofs_error *err);

/* Copies the block of a caller, compiled with any version of the header, into *own. BAD_CALL if its
 * struct_size is not possible or a name is NULL. */
roofs_status block_import(const roofs_block *given, roofs_block *own, roofs_error *err);

/* Checks the pattern of a sparse block: starts do not decrease, and the samples of a feature ascend
 * and are within 0..n - 1. `first` is the index in the stream of the block's first feature. */
roofs_status block_check_pattern(const roofs_block *b, int64_t first, roofs_error *err);

/* "12" or "12 (name)" for feature k of a block, for messages. */
typedef struct feature_text {
    char text[200];
} feature_text;

feature_text block_label(const roofs_block *b, int64_t k, int64_t first);

#endif
