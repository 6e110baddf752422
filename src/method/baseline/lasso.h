/* min w'Gw/2 - b'w + penalty |w|_1 by coordinate descent. Columns can be appended and removed; the
 * object owns the Gram matrix G and all vectors. */
#ifndef BASELINE_LASSO_H
#define BASELINE_LASSO_H

#include "base/archive.h"

typedef struct lasso {
    int64_t count;
    double *gram; /* symmetric, row i at i * stride: both triangles, so that rows are contiguous */
    int64_t stride;
    double *target; /* b */
    double *w;
    double *slope; /* b - G w */
    int64_t capacity[3];
} lasso;

void lasso_destroy(lasso *s);
int64_t lasso_bytes(int64_t count);

/* Reserves capacity for one more column. The caller writes the column's products with those before
 * it and with itself to *row; lasso_append then makes it the last column, with weight 0. At most
 * `most` columns are expected. */
roofs_status lasso_reserve(lasso *s, int64_t most, double **row, roofs_error *err);
void lasso_append(lasso *s, double target);

void lasso_remove(lasso *s, int64_t k);

/* Descends until the optimality conditions hold to `tolerance`. Returns 0 where `sweeps` are not
 * enough. */
int lasso_descend(lasso *s, double penalty, double tolerance, int64_t sweeps);

/* Saves or restores at most `most` columns. */
void lasso_transfer(lasso *s, int64_t most, archive *a);

#endif
