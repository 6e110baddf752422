/* What the batch-wise methods share: which columns a batch is fitted on, which are
 * kept, and the trust set that follows (docs/baselines.md). A method adds how it fits
 * and how it thresholds. */
#ifndef BASELINE_BATCHWISE_H
#define BASELINE_BATCHWISE_H

#include "method/largest.h"
#include "method/method.h"

/* One fit: the columns which[0..count) against y. */
typedef struct batch_problem {
    fit *f;
    const int64_t *which;
    int64_t count;
    double *x; /* count: the answer, of standardised columns */
} batch_problem;

typedef struct batch_solver {
    /* Leaves the answer in p->x and the samples it trusts in f->trusted. f->residual is
     * free to be used. When cancelled, x is what the last round left. */
    roofs_status (*solve)(void *own, const batch_problem *p, roofs_error *err);
    /* The trust set of a residual. */
    void (*threshold)(fit *f);
} batch_solver;

typedef struct batchwise {
    const batch_solver *solver;
    largest ranks;
    int64_t *which;
    double *x;
    int64_t capacity[2];
} batchwise;

void batchwise_destroy(batchwise *b);

/* Columns fitted together at most. */
int64_t batchwise_most(const roofs_settings *set);

/* A batch: fit, keep the mu largest, residual, trust set. */
roofs_status batchwise_consume(batchwise *b, void *own, fit *f, roofs_error *err);

/* f->residual = y - b - sum over which[0..count) of x z, b = f->intercept; over all
 * columns with their coefficients where `which` is NULL. */
void batchwise_residual(fit *f, const int64_t *which, int64_t count, const double *x,
                        double *scratch);

/* finish of a method for which the end of the stream is nothing special */
roofs_status batchwise_finish(void *own, fit *f, roofs_error *err);

#endif
