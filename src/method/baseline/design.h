/* The matrix [A 1] of a least absolute deviations problem: A has columns which[0..count) of a fit.
 * Only a problem with an intercept has the column of ones. The coefficients of [A 1] are x, the
 * intercept last. All pointers are borrowed. */
#ifndef BASELINE_DESIGN_H
#define BASELINE_DESIGN_H

#include "linalg/columns.h"

typedef struct design {
    columns *cols;
    const int64_t *which;
    const double *y;  /* the responses */
    int64_t n, count; /* samples, columns of A */
    int64_t total;    /* columns of [A 1] */
} design;

design design_of(columns *cols, const int64_t *which, int64_t count, const double *y,
                 int with_intercept);

static inline int design_has_intercept(const design *a)
{
    return a->total > a->count;
}

/* The intercept in x; 0 without one. */
static inline double design_intercept(const design *a, const double *x)
{
    return design_has_intercept(a) ? x[a->count] : 0;
}

/* out = [A 1]'v */
void design_products(const design *a, const double *v, double *out);

/* gram = [A 1]'W[A 1], by rows, with W = diag(weight); scratch: total numbers. */
void design_gram(const design *a, const double *weight, double *scratch, double *gram);

/* row = sample i of [A 1] */
void design_row(const design *a, int64_t i, double *row);

/* r = y - [A 1] x; scratch: count numbers. */
void design_residual(const design *a, const double *x, double *scratch, double *r);

/* A lower bound of min |x|_1 + |y - A x - c|_1: y'v for v = u, centred where there is an intercept,
 * and scaled to satisfy the constraints of the dual, |A'v| <= 1 and |v| <= 1. On return v is
 * centred but not scaled; it may be u. scratch: total numbers. */
double design_dual_bound(const design *a, const double *u, double *scratch, double *v);

#endif
