/* Sparse features in memory: of every feature the samples where it is not zero,
 * one feature after the other (CSC). One block of a stream, or a whole data set. */
#ifndef STREAM_SPARSE_H
#define STREAM_SPARSE_H

#include "base/status.h"

typedef struct sparse {
    int64_t n;        /* samples */
    int64_t count;    /* features */
    int64_t *starts;  /* feature k: places starts[k]..starts[k + 1] - 1 of the next two */
    int64_t *samples; /* ascending within a feature */
    double *values;
    int64_t start_capacity, sample_capacity, value_capacity;
} sparse; /* all zero is an empty set */

void sparse_clear(sparse *s); /* keeps the memory */
void sparse_free(sparse *s);

/* Values in all. */
int64_t sparse_entries(const sparse *s);

/* Makes room for so many more features and values. */
roofs_status sparse_reserve(sparse *s, int64_t features, int64_t entries, roofs_error *err);

/* Adds a value to the feature that is being made; the samples may come in any order. */
roofs_status sparse_add(sparse *s, int64_t sample, double value, roofs_error *err);

/* Ends that feature: puts its samples into order. Refuses two values of one sample. */
roofs_status sparse_end_feature(sparse *s, roofs_error *err);

/* Adds the features of a block, dense or sparse; of a dense one the values other than 0. */
roofs_status sparse_append(sparse *s, const roofs_block *block, roofs_error *err);

/* A view of features first..first+count-1. */
void sparse_view(const sparse *s, int64_t first, int64_t count, roofs_block *block);

/* The values of feature k in full, n of them. */
void sparse_spread(const sparse *s, int64_t k, double *values);

/* New sets: some of the features, or some of the samples (each at most once), in the
 * order given. *out must be empty. */
roofs_status sparse_choose_features(const sparse *s, const int64_t *chosen, int64_t count,
                                    sparse *out, roofs_error *err);
roofs_status sparse_choose_samples(const sparse *s, const int64_t *chosen, int64_t count,
                                   sparse *out, roofs_error *err);

#endif
