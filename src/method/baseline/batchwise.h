/* The frame of the batch-wise methods: it chooses the columns of a batch's problem, keeps the mu
 * largest coefficients, and updates residual and trust set (docs/baselines.md). A method adds a
 * batch_solver: how it fits, and how it derives the trust set from a residual. Its state begins
 * with a batchwise. */
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
    /* Leaves the solution in p->x and the trust set in f->trusted; overwrites f->residual. After
     * CANCELLED p->x is that of the last round. `state` is that of the method. */
    roofs_status (*solve)(void *state, const batch_problem *p, roofs_error *err);
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

/* Creates the state of a method that has no more than a batchwise; batchwise_destroy frees it. */
roofs_status batchwise_create(void **state, const batch_solver *solver, roofs_error *err);
void batchwise_destroy(void *state);

/* Frees the contents only. */
void batchwise_clear(batchwise *b);

/* Upper bound of the columns in one problem. */
int64_t batchwise_most_columns(const roofs_settings *set);

/* Fits a batch, keeps the mu largest coefficients, and updates residual and trust set. */
roofs_status batchwise_consume(void *state, fit *f, roofs_error *err);

#endif
