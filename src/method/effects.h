/* Single-effect regressions (docs/uncertainty.md, "Groups"): each effect is in one of the columns
 * that look like its head, or in none. They fit the responses anew with the final weights, among
 * the kept columns and the pool. Names are those of that page. */
#ifndef METHOD_EFFECTS_H
#define METHOD_EFFECTS_H

#include "method/pool.h"

typedef struct effect {
    int64_t head;    /* a column */
    int64_t count;   /* columns near its head */
    int64_t *near;   /* these columns */
    double *alpha;   /* probability of each, given that the effect exists */
    double *mean;    /* coefficient, if it is that column */
    double *coef;    /* part in the fit: a alpha mean */
    double variance; /* of the mean */
    double a;        /* probability that the effect exists */
    double spread;   /* posterior variance of its part of the fit */
    double z, log_bf;
} effect;

typedef struct effects {
    fit *f;
    const pool *p;
    const double *W;       /* final weights of the samples */
    double total, clean;   /* sums of W and of w */
    int64_t kept, columns; /* columns of the fit, then entries of the pool */
    double *mean, *scale;  /* of the columns, by W */
    double *largest;       /* value of the standardised columns */
    int64_t *swept;        /* scratch: a list of kept columns */
    double variance;       /* of the responses */
    double s2, kappa;
    screen some;
    screen_rows rows;      /* of all columns */
    float *values;         /* of the rows */
    double *product;       /* of all columns */
    double *r, *z, *h, *t; /* n each: residual, scratch */
    double *cache;         /* columns of a small neighbourhood */
    double *all;           /* all columns, if they are few; otherwise NULL */
    double *basis;         /* orthogonal columns that span the forced ones; then n of scratch */
    int64_t forced;        /* columns in the basis */
    int64_t forced_most;   /* forced columns: capacity of the basis */
    effect *items;
    int64_t count, reserved;
} effects;

int64_t effects_bytes(const roofs_settings *set, int64_t n);

/* For responses y, weights W, which are borrowed, and probabilities w of being clean. */
roofs_status effects_create(effects *e, fit *f, const pool *p, const double *y, const double *W,
                            const double *w, roofs_error *err);
void effects_destroy(effects *e);

/* Which column effect l is in, from the products c of its columns with the residual without it. */
void effects_decide(effects *e, effect *l, const double *c);

/* Fits the effects first..end - 1, of one column each, in order: in one sweep, or one after the
 * other where columns are on a device or less what forced ones explain. *moved = the largest change
 * of the fit, if it is larger. */
roofs_status effects_fit_singles(effects *e, int64_t first, int64_t end, double *moved,
                                 roofs_error *err);

/* c[k] = the correlation of kept column k with the residual. */
roofs_status effects_products(effects *e, double *c, roofs_error *err);

/* Finds the effects for a rate q of false discoveries. */
roofs_status effects_find(effects *e, double q, roofs_error *err);

/* out = column k with weighted mean 0 and scale 1. */
roofs_status effects_column(effects *e, int64_t k, double *out, roofs_error *err);

/* rate[l] = the smallest rate of false discoveries at which effect l counts, by Benjamini and
 * Hochberg: features without an effect count as p = 1. */
roofs_status effects_rates(const effects *e, double *rate, roofs_error *err);

/* ---- forced columns (effects_forced.c) ---------------------------------------------- */

/* Fills e->basis. */
roofs_status effects_find_basis(effects *e, roofs_error *err);

/* x less its part in the span of the forced columns. */
void effects_remove_forced(effects *e, double *x);

/* The product sum W x y / sum W over the samples of all ranks. */
double effects_correlation(effects *e, const double *x, const double *y);

#endif
