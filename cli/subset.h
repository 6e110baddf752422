/* Blocks with some of their samples. */
#ifndef CLI_SUBSET_H
#define CLI_SUBSET_H

#include "stream/sparse.h"

/* Memory that is reused from block to block; empty is all zero. */
typedef struct subset_buffer {
    char *values; /* of a dense block */
    int64_t capacity;
    double *levels; /* of codes of two bits, which are genotypes */
    int64_t level_capacity;
    sparse all, chosen;
} subset_buffer;

void subset_free(subset_buffer *b);

/* *out = the `count` samples `chosen` (ascending) of the block; valid until the next call. Dense
 * values become `dtype`: the type of the block, or ROOFS_F64. */
roofs_status subset_block(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                          int64_t count, roofs_dtype dtype, roofs_block *out, roofs_error *err);

#endif
