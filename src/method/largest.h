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

/* |weight| of column j in the unit in which weights are compared: that of columns of scale 1 where
 * columns are standardised, else the user's. */
double largest_size(const columns *c, int64_t j, double weight);

/* keep[j] = 1 for the `most` columns with the largest |coef|, else 0. Among equals the column that
 * arrived earlier stays. */
void largest_mark(largest *l, const fit *f, int64_t most);

#endif
