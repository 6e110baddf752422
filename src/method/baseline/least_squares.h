/* Least squares on a subset of the columns and a subset of the samples. */
#ifndef BASELINE_LEAST_SQUARES_H
#define BASELINE_LEAST_SQUARES_H

#include "linalg/columns.h"

typedef struct least_squares {
    double *gram, *scale, *slope, *residual;
    int64_t columns; /* capacity of gram, scale and slope */
    double *dense;   /* the matrix for QR, allocated when first needed */
    int64_t dense_capacity;
} least_squares;

/* Reserves capacity for `count` columns of n samples. least_squares_bytes is its upper bound. */
roofs_status least_squares_reserve(least_squares *s, int64_t count, int64_t n, roofs_error *err);
void least_squares_destroy(least_squares *s);
int64_t least_squares_bytes(int64_t count, int64_t n);

/* x minimises sum_i mask_i (target_i - sum_k x_k z_ki)^2 over the columns which[0..count). The mask
 * has `samples` ones, over all ranks, and zeros. Where columns are dependent, x is the solution of
 * minimum norm for columns of length 1 over the mask. */
roofs_status least_squares_solve(least_squares *s, columns *c, const int64_t *which, int64_t count,
                                 const double *mask, int64_t samples, const double *target,
                                 double *x, roofs_error *err);

#endif
