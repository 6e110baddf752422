/* Sparse features in memory, as compressed columns (CSC): a block of a stream or a whole data
 * set. */
#ifndef STREAM_SPARSE_H
#define STREAM_SPARSE_H

#include "base/status.h"

typedef struct sparse {
    int64_t n;        /* samples */
    int64_t count;    /* features */
    int64_t *starts;  /* feature k: entries starts[k]..starts[k + 1] - 1 of the next two */
    int64_t *samples; /* ascending within a feature */
    double *values;
    int64_t start_capacity, sample_capacity, value_capacity;
} sparse; /* an empty set is all zero */

void sparse_clear(sparse *s); /* keeps the memory */
void sparse_free(sparse *s);

/* Number of values. */
int64_t sparse_entries(const sparse *s);

/* Reserves memory for more features and values. */
roofs_status sparse_reserve(sparse *s, int64_t features, int64_t entries, roofs_error *err);

/* Adds a value to the current feature; samples may come in any order. */
roofs_status sparse_add(sparse *s, int64_t sample, double value, roofs_error *err);

/* Ends the current feature and sorts its samples. Refuses two values for one sample. */
roofs_status sparse_end_feature(sparse *s, roofs_error *err);

/* Adds the features of a dense or sparse block; leaves out zeros of a dense one. */
roofs_status sparse_append(sparse *s, const roofs_block *block, roofs_error *err);

/* A view of features first..first+count-1. */
void sparse_view(const sparse *s, int64_t first, int64_t count, roofs_block *block);

/* Writes all n values of feature k. */
void sparse_spread(const sparse *s, int64_t k, double *values);

/* Copies some features, or some samples (each at most once), in the order given. *out must be
 * empty. */
roofs_status sparse_choose_features(const sparse *s, const int64_t *chosen, int64_t count,
                                    sparse *out, roofs_error *err);
roofs_status sparse_choose_samples(const sparse *s, const int64_t *chosen, int64_t count,
                                   sparse *out, roofs_error *err);

#endif
