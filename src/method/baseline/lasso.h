/* min w'Gw/2 - b'w + penalty |w|_1 by coordinate descent on a Gram matrix that grows
 * and shrinks with its columns. */
#ifndef BASELINE_LASSO_H
#define BASELINE_LASSO_H

#include "base/archive.h"

typedef struct lasso {
    int64_t count;
    double *gram;   /* lower half by rows: row i at i (i + 1) / 2, so that it grows in place */
    double *target; /* b */
    double *w;
    double *slope; /* b - G w */
    int64_t capacity[4];
} lasso;

void lasso_destroy(lasso *s);
int64_t lasso_bytes(int64_t count);

/* Room for one more column: its products with those before it and with itself go to
 * *row, then lasso_append makes it the last one, with weight 0. */
roofs_status lasso_room(lasso *s, double **row, roofs_error *err);
void lasso_append(lasso *s, double target);

void lasso_remove(lasso *s, int64_t k);

/* Descends until the conditions of optimality hold to `tolerance`; 0 where `sweeps` were
 * not enough. */
int lasso_descend(lasso *s, double penalty, double tolerance, int64_t sweeps);

/* `most` columns at the most. */
void lasso_transfer(lasso *s, int64_t most, archive *a);

#endif
