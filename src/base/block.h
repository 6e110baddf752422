/* Reads a roofs_block, which is the caller's: dense, or sparse as compressed columns. Nothing here
 * copies or owns values. */
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

/* Sparse blocks: the place of the first value of feature k (the end for k = count), and the sample
 * of the value at a place. */
static inline int64_t block_start(const roofs_block *b, int64_t k)
{
    return block_index(b, b->starts, k);
}

static inline int64_t block_sample(const roofs_block *b, int64_t place)
{
    return block_index(b, b->samples, place);
}

static inline double block_value(const roofs_block *b, int64_t place)
{
    return b->dtype == ROOFS_F32 ? (double)((const float *)b->values)[place]
                                 : ((const double *)b->values)[place];
}

/* The value of feature k at a sample. */
double block_at(const roofs_block *b, int64_t k, int64_t sample);

/* A slice: features first..first + count - 1 of a block, or feature k alone. It points into b. */
roofs_block block_slice(const roofs_block *b, int64_t first, int64_t count);

static inline roofs_block block_feature(const roofs_block *b, int64_t k)
{
    return block_slice(b, k, 1);
}

/* Checks the types, and that values are given. */
roofs_status block_check(const roofs_block *b, roofs_error *err);

/* Copies a caller's block, of whichever version of the header, into *own. BAD_CALL if that cannot
 * be done, or if a name is NULL. */
roofs_status block_import(const roofs_block *given, roofs_block *own, roofs_error *err);

/* Checks the pattern of a sparse block: starts do not decrease, and the samples of a feature ascend
 * and are within 0..n - 1. `first` is the index in the stream of the block's first feature. */
roofs_status block_check_pattern(const roofs_block *b, int64_t first, roofs_error *err);

/* "12" or "12 (name)": feature k of a block, for messages. */
typedef struct feature_text {
    char text[200];
} feature_text;

feature_text block_label(const roofs_block *b, int64_t k, int64_t first);

#endif
