/* Forced columns in the rounds of roofs-bayes (docs/roofs-bayes.md, "Forced features"): they have a
 * flat prior and are solved for together, by least squares given all others. */
#ifndef METHOD_FORCED_H
#define METHOD_FORCED_H

#include "method/fit.h"

/* The flat prior is a ridge of this share of the sum of squares of a column. It holds coefficients
 * of columns that depend on each other, and moves those of others by less than can be seen. */
static const double FORCED_RIDGE = 1e-9;

typedef struct forced {
    int64_t *which;   /* count columns of the fit */
    double *gram;     /* count rows: of the columns, by weight; then its factor */
    double *mean;     /* sums of the columns, by weight */
    double *move;     /* of the coefficients */
    double *square;   /* sum W z^2, less the mean */
    int64_t count;    /* 0 = none, or a device that has no products */
    int64_t capacity; /* of the arrays */
    int is_singular;  /* a column is nearly a combination of others, or constant */
} forced;

int64_t forced_bytes(int64_t count);
void forced_destroy(forced *s);

/* Lists the forced columns of the fit. */
roofs_status forced_find(forced *s, const fit *f, roofs_error *err);

/* Moves their coefficients to the least squares of r + Z coef, and r along. weight: of the samples,
 * with case weights. scratch: n numbers. Returns the largest move. */
double forced_solve(forced *s, fit *f, const double *weight, double *r, double *scratch);

/* Sets their variances to tau2 / square, and adds variance z^2 to V. is_all: V does not contain the
 * variances from before. */
void forced_spread(forced *s, fit *f, double tau2, int is_all, double *V);

/* x += times Z coef */
void forced_add(const forced *s, fit *f, double times, double *x);

#endif
