/* Reading a roofs_block of either kind: dense, or sparse as compressed columns. */
#ifndef LINALG_BLOCK_H
#define LINALG_BLOCK_H

#include "base/status.h"

static inline int block_is_sparse(const roofs_block *b)
{
    return b->starts != NULL;
}

/* Of a sparse block: where feature k begins, and the sample of the value at a place. */
int64_t block_start(const roofs_block *b, int64_t k);
int64_t block_sample(const roofs_block *b, int64_t at);

/* The value at a place of `values`. */
double block_value(const roofs_block *b, int64_t at);

/* The value of feature k for a sample. */
double block_at(const roofs_block *b, int64_t k, int64_t sample);

/* Features first..first + count - 1. */
roofs_block block_part(const roofs_block *b, int64_t first, int64_t count);

/* Kind and types are known, and there are values where there must be. */
roofs_status block_check(const roofs_block *b, roofs_error *err);

/* The pattern of a sparse block: starts do not fall, samples ascend within a feature and
 * are there. `first` is the place in the stream of the block's first feature. */
roofs_status block_check_pattern(const roofs_block *b, int64_t first, roofs_error *err);

/* "12" or "12 (name)", for messages about feature k. */
typedef struct feature_text {
    char text[200];
} feature_text;

feature_text block_feature(const roofs_block *b, int64_t k, int64_t first);

#endif
