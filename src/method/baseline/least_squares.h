/* Least squares on some of the columns and some of the samples. */
#ifndef BASELINE_LEAST_SQUARES_H
#define BASELINE_LEAST_SQUARES_H

#include "linalg/columns.h"

typedef struct least_squares {
    double *gram, *scale, *slope, *residual, *dense;
    int64_t room;        /* columns there is room for */
    int64_t capacity[1]; /* of dense, which is made when first needed */
} least_squares;

/* Room for so many columns of n samples; what it takes at most. */
roofs_status least_squares_room(least_squares *s, int64_t count, int64_t n, roofs_error *err);
void least_squares_destroy(least_squares *s);
int64_t least_squares_bytes(int64_t count, int64_t n);

/* x makes sum_i mask_i (target_i - sum_k x_k z_ki)^2 smallest over which[0..count). The
 * columns are brought to length 1 (over the mask) on the way; where they are dependent x is
 * the shortest answer for these. mask: 1 or 0, `samples` ones. */
roofs_status least_squares_solve(least_squares *s, columns *c, const int64_t *which, int64_t count,
                                 const double *mask, int64_t samples, const double *target,
                                 double *x, roofs_error *err);

#endif
