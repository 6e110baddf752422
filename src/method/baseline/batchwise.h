/* The frame of the batch-wise methods: it chooses the columns of a batch's problem, keeps the mu
 * largest coefficients, and updates residual and trust set (docs/baselines.md). A method adds a
 * batch_solver: how it fits, and how it derives the trust set from a residual. */
#ifndef BASELINE_BATCHWISE_H
#define BASELINE_BATCHWISE_H

#include "method/largest.h"
#include "method/method.h"

/* One problem: fit y on the columns which[0..count). */
typedef struct batch_problem {
    fit *f;
    const int64_t *which;
    int64_t count;
    double *x; /* count: the solution, for standardised columns */
} batch_problem;

typedef struct batch_solver {
    /* Leaves the solution in p->x and the trust set in f->trusted. f->residual may be overwritten.
     * When cancelled, p->x is that of the last round. */
    roofs_status (*solve)(void *own, const batch_problem *p, roofs_error *err);
    /* Sets f->trusted from f->residual. */
    void (*threshold)(fit *f);
} batch_solver;

typedef struct batchwise {
    const batch_solver *solver;
    largest selection;
    int64_t *which; /* as in batch_problem */
    double *x;
    int64_t capacity[2]; /* of which and x */
} batchwise;

void batchwise_destroy(batchwise *b);

/* Upper bound of the columns in one problem. */
int64_t batchwise_most_columns(const roofs_settings *set);

/* Takes in a batch: fit, keep the mu largest coefficients, residual, trust set. `own` is passed to
 * the solver. */
roofs_status batchwise_consume(batchwise *b, void *own, fit *f, roofs_error *err);

/* f->residual = y - f->intercept - sum_k x_k z_k over which[0..count); where `which` and x are
 * NULL, over all columns with their coefficients. scratch: count numbers. */
void batchwise_residual(fit *f, const int64_t *which, int64_t count, const double *x,
                        double *scratch);

#endif
