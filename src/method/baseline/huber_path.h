/* The solution path of min |y - A x - c - e|^2 / 2 + lambda (|x|_1 + |e|_1) as lambda falls to 0.
 * Its end solves min |x|_1 + |e|_1 subject to A x + c + e = y. Without e the problem is
 * min sum_i huber(r_i; lambda) + lambda |x|_1 with r = y - A x - c. Samples with |r_i| <= lambda
 * are quadratic (e_i = 0, the set Q), the others linear (the set L). The intercept c has no
 * penalty.
 *
 * Between events x is linear in lambda: x = base + lambda slope. At an event a sample changes
 * sides, or a column enters or leaves the active ones. */
#ifndef BASELINE_HUBER_PATH_H
#define BASELINE_HUBER_PATH_H

#include "method/baseline/candidates.h"
#include "method/baseline/cholesky.h"

typedef struct huber_path {
    design a;
    double lambda, lambda_end; /* lambda now, and where the search for events ends */
    int64_t events;
    int64_t quadratic, quadratic_at_refresh; /* |Q| now, and when the sums were last recomputed */

    /* per sample */
    int32_t *side;     /* 0 = quadratic, else the sign of r */
    double *r, *image; /* residual and -dr/dlambda = [A 1] slope, when last computed for all */
    double *mask;      /* scratch */
    candidates near;   /* samples that may change sides next */

    /* per column */
    int32_t *sign;          /* of an active coefficient; 0 = not active */
    unsigned char *blocked; /* depends on the active ones; may enter after one has left */
    double *gram;         /* A_Q'A_Q, total x total; only rows of inactive columns are up to date */
    double *qy, *lside;   /* A_Q'y_Q and A_L'side_L */
    double *base, *slope; /* of x, active columns in the order of the factor */
    double *x, *all_base, *all_slope; /* of all columns: 0 where not active */
    double *row, *scratch;
    double *changed; /* lambda of the last event of a sample (first n) or column */

    int64_t *active; /* columns in the order of the factor */
    cholesky factor; /* of gram, restricted to the active columns */
} huber_path;

/* Starts at the largest lambda that has an event. */
roofs_status huber_path_create(huber_path *h, const design *a, roofs_error *err);
void huber_path_destroy(huber_path *h);
int64_t huber_path_bytes(int64_t count, int64_t n);

/* Moves to the next event. Returns 0 at the end of the path, where lambda = 0, else 1. */
int huber_path_step(huber_path *h);

/* h->x = the solution at the current lambda, the intercept last. */
void huber_path_find_x(huber_path *h);

/* At the end of the path: returns 1 where a dual bound proves that x is optimal. Ties between
 * events can make the path miss the optimum. */
int huber_path_is_optimal(huber_path *h);

#endif
