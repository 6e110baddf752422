/* The solution path of min |y - A x - c - e|^2 / 2 + lambda (|x|_1 + |e|_1) as lambda falls
 * to 0, where it solves min |x|_1 + |e|_1 subject to A x + c + e = y. Without e it is
 * min sum_i huber(r_i; lambda) + lambda |x|_1 with r = y - A x - c: samples with
 * |r_i| <= lambda are quadratic (e_i = 0), the others linear. The level c has no
 * penalty; it is there only with an intercept. */
#ifndef BASELINE_HUBER_PATH_H
#define BASELINE_HUBER_PATH_H

#include "linalg/columns.h"
#include "method/baseline/candidates.h"
#include "method/baseline/cholesky.h"

typedef struct huber_path {
    columns *cols;
    const int64_t *which;
    const double *y;
    int64_t n, count;
    int64_t total;      /* columns and, where there is one, the level as the last of them */
    double lambda, end; /* where the path is, and below which nothing is looked for */
    int64_t events, quadratic, refreshed; /* quadratic samples now and at the last refresh */

    /* per sample */
    int32_t *side;      /* 0 = quadratic, else the sign of the linear one */
    double *r, *moving; /* r and -dr/dlambda = A d where all samples were last looked at */
    double *mask;
    candidates near; /* samples that may change next */

    /* per column; sums over quadratic samples Q or linear ones L */
    int32_t *sign;       /* of an active coefficient; 0 = not active */
    unsigned char *shut; /* depends on the active ones: not to enter before one leaves */
    double *gram;        /* A_Q'A_Q, total x total; rows of columns that are not active */
    double *py, *ps;     /* A_Q'y_Q and A_L'side_L */
    double *level, *slope, *row, *small; /* x = level + lambda slope, of the active ones; scratch */
    double *x, *all_level, *all_slope;   /* of all columns: 0 where not active */
    double *changed; /* lambda at which a sample (first n) or column last changed its state */

    int64_t *active; /* in the order of the factor */
    cholesky factor; /* of the active part of gram */
} huber_path;

roofs_status huber_path_create(huber_path *h, columns *cols, const int64_t *which, int64_t count,
                               const double *y, int with_level, roofs_error *err);
void huber_path_destroy(huber_path *h);
int64_t huber_path_bytes(int64_t count, int64_t n);

/* On to the next event: 1 where there was one, 0 at the end of the path (lambda = 0). */
int huber_path_step(huber_path *h);

/* x at the present lambda: the columns', then the level (0 where there is none). */
void huber_path_answer(huber_path *h, double *x, double *level);

/* At the end of the path: whether x is the optimum, by its own dual. Ties can lead astray. */
int huber_path_is_proven(huber_path *h);

#endif
