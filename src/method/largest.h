/* Selects the columns with the largest coefficients. */
#ifndef METHOD_LARGEST_H
#define METHOD_LARGEST_H

#include "base/order.h"
#include "method/fit.h"

typedef struct largest {
    unsigned char *keep; /* per column: the result of largest_mark */
    double *weight;      /* scratch: |coef| per column, the last column first */
    order ascending;     /* scratch: columns by weight */
    int64_t capacity[2];
} largest;

/* Capacity for `count` columns. */
roofs_status largest_reserve(largest *l, int64_t count, roofs_error *err);
void largest_destroy(largest *l);

/* Upper bound of the bytes for `count` columns, with a number per column of the caller's. Lists
 * grow by doubling. */
int64_t largest_bytes(int64_t count);

/* keep[j] = 1 for forced columns and the `limit` others with the largest |coef|, else 0. Among
 * equals the column that arrived earlier stays. Coefficients are compared in the unit of columns of
 * scale 1 where columns are standardised, else in the user's. */
void largest_mark(largest *l, const fit *f, int64_t limit);

/* The position of the smallest |weight| of columns which[0..count), compared in the same unit.
 * Among equals the last one. */
int64_t largest_find_smallest(const columns *c, const int64_t *which, const double *weight,
                              int64_t count);

#endif
