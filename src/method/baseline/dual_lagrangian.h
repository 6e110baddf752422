/* The augmented Lagrangian of the dual of min |x|_1 + |e|_1 subject to A x + c + e = y,
 *   max y'u  subject to  |A'u| <= 1, |u| <= 1 and, with a level c, 1'u = 0,
 * whose multipliers are X = (x, c, e). With B = [A 1 I] an iteration is
 *   z = clip(B'u + X/beta),  B B'u = B z - (B X - y)/beta,  X += beta (B'u - z).
 * B B' = I + [A 1][A 1]' is inverted through the factor of the small I + [A 1]'[A 1], made
 * once per problem (Woodbury). */
#ifndef BASELINE_DUAL_LAGRANGIAN_H
#define BASELINE_DUAL_LAGRANGIAN_H

#include "linalg/columns.h"
#include "method/baseline/cholesky.h"

/* Where the iteration stands; one block of memory, so that points can be averaged. */
typedef struct dual_point {
    double *x, *au; /* count and, where there is one, the level; au = [A 1]'u */
    double *e, *u;  /* n */
} dual_point;

typedef struct dual_lagrangian {
    columns *cols;
    const int64_t *which;
    const double *y;
    int64_t n, count;
    int64_t total; /* columns, and the level as the last of them */
    double beta;
    dual_point at;
    double *v, *ze;      /* n */
    double *zx, *g, *t;  /* total */
    double *gram;        /* total x total: [A 1]'[A 1] */
    cholesky factor;     /* of I + gram */
    double least, bound; /* the least objective met and the best lower bound */
    double *best;        /* x of the least objective, then its level */
} dual_lagrangian;

roofs_status dual_lagrangian_create(dual_lagrangian *d, columns *cols, const int64_t *which,
                                    int64_t count, const double *y, int with_level,
                                    roofs_error *err);
void dual_lagrangian_destroy(dual_lagrangian *d);
int64_t dual_lagrangian_bytes(int64_t count, int64_t n);

void dual_lagrangian_iterate(dual_lagrangian *d);

/* Numbers in a point, and the point that lies in such a block. */
int64_t dual_point_size(const dual_lagrangian *d);
dual_point dual_point_in(const dual_lagrangian *d, double *block);

/* Objective less lower bound of a point; d->least and d->bound take note. */
double dual_lagrangian_gap(dual_lagrangian *d, const dual_point *p);

/* x of a point without what its dual says is zero. */
void dual_lagrangian_heading(const dual_lagrangian *d, const dual_point *p, double *x);

#endif
