/* The Cholesky factor of a small matrix of products, and its updates when a row or
 * column joins or leaves. Symmetric matrices and factors are stored by rows, `stride`
 * numbers apart; of a factor R (G = R'R) the upper half counts, the lower one is scratch. Sums have
 * one order (see vector.h): the bits depend on no library and on no number of threads. */
#ifndef BASELINE_CHOLESKY_H
#define BASELINE_CHOLESKY_H

#include <stdint.h>

typedef struct cholesky {
    double *r;
    int64_t n, stride;
} cholesky;

/* Factors G, which may be where R goes. 0 where a pivot is below `least` times the
 * diagonal of G: a column is then all but a combination of those before it. */
int cholesky_factor(cholesky *f, const double *g, int64_t n, double least);

/* One more column, with products row[0..n] (the last its own square). 0 as above: the
 * factor is then as it was. */
int cholesky_append(cholesky *f, const double *row, double least);

/* Column k leaves. */
void cholesky_remove(cholesky *f, int64_t k);

/* G + row row'; row is overwritten. */
void cholesky_update(cholesky *f, double *row);

/* G - row row'; row is overwritten. 0 where that is not positive definite beyond
 * rounding: the factor is then spoilt. */
int cholesky_downdate(cholesky *f, double *row);

/* x = G^-1 x, and the same of two: the factor is then read once. */
void cholesky_solve(const cholesky *f, double *x);
void cholesky_solve_two(const cholesky *f, double *x, double *y);

#endif
