/* The augmented Lagrangian of the dual of min |x|_1 + |e|_1 subject to A x + c + e = y. The dual is
 *   max y'u  subject to  |A'u| <= 1, |u| <= 1 and, with an intercept c, 1'u = 0;
 * its multipliers are X = (x, c, e). With B = [A 1 I] an iteration is
 *   z = clip(B'u + X/beta),  B B'u = B z - (B X - y)/beta,  X += beta (B'u - z).
 * B B' = I + [A 1][A 1]' is inverted by the Woodbury identity: the small matrix I + [A 1]'[A 1] is
 * factored once per problem. */
#ifndef BASELINE_DUAL_LAGRANGIAN_H
#define BASELINE_DUAL_LAGRANGIAN_H

#include "method/baseline/cholesky.h"
#include "method/baseline/design.h"

/* A point of the iteration. Its vectors are one block of memory, so that points can be averaged. */
typedef struct dual_point {
    double *x, *au; /* total; the intercept last; au = [A 1]'u */
    double *e, *u;  /* n */
} dual_point;

typedef struct dual_lagrangian {
    design a;
    double beta;
    dual_point at;                     /* the current point */
    double *v, *ze;                    /* n; ze: the entries of z for e; v: scratch */
    double *zx, *g, *t;                /* total; zx: the entries of z for x and c; g, t: scratch */
    double *gram;                      /* total x total: [A 1]'[A 1] */
    cholesky factor;                   /* of I + gram */
    double best_objective, best_bound; /* the smallest objective and largest lower bound so far */
    double *best_x;                    /* x of that objective, the intercept last */
} dual_lagrangian;

/* Starts at u = 0, X = (0, 0, y), which satisfies B X = y. */
roofs_status dual_lagrangian_create(dual_lagrangian *d, const design *a, roofs_error *err);
void dual_lagrangian_destroy(dual_lagrangian *d);
int64_t dual_lagrangian_bytes(int64_t count, int64_t n);

void dual_lagrangian_iterate(dual_lagrangian *d);

/* The size of a point in numbers, and the point in a block of that size. */
int64_t dual_point_size(const dual_lagrangian *d);
dual_point dual_point_in(const dual_lagrangian *d, double *block);

/* The objective of a point less its lower bound. Updates the best objective, x and bound. */
double dual_lagrangian_gap(dual_lagrangian *d, const dual_point *p);

/* x = that of a point, with zeros for the columns that are inside their dual bound. */
void dual_lagrangian_sparse_x(const dual_lagrangian *d, const dual_point *p, double *x);

#endif
