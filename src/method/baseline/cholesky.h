/* The Cholesky factor R of a small Gram matrix G = R'R, and its updates when a row or column joins
 * or leaves. Matrices are stored by rows, `stride` numbers apart. R is the upper triangle; the
 * lower one is scratch. The caller owns the memory. Sums have a fixed order (see vector.h): the
 * bits depend neither on a library nor on the number of threads. */
#ifndef BASELINE_CHOLESKY_H
#define BASELINE_CHOLESKY_H

#include <stdint.h>

typedef struct cholesky {
    double *r;
    int64_t n, stride;
} cholesky;

/* Factors G, which may be f->r. Returns 0 where a pivot is at most `least` times the diagonal of G:
 * the column is then nearly a linear combination of those before it. */
int cholesky_factor(cholesky *f, const double *g, int64_t n, double least);

/* Appends a column with products row[0..n], the last with itself. Returns 0 as above; R is then
 * unchanged. */
int cholesky_append(cholesky *f, const double *row, double least);

/* Removes column k. */
void cholesky_remove(cholesky *f, int64_t k);

/* The factor of G + row row'; row is overwritten. */
void cholesky_update(cholesky *f, double *row);

/* The factor of G - row row'; row is overwritten. Returns 0 where that matrix is not positive
 * definite beyond rounding; R is then invalid. */
int cholesky_downdate(cholesky *f, double *row);

/* x = G^-1 x, for one vector or for two; R is read once for both. */
void cholesky_solve(const cholesky *f, double *x);
void cholesky_solve_two(const cholesky *f, double *x, double *y);

#endif
