/* Where the rounds of method roofs-bayes run: on the CPU (bayes_cpu.c), or on a device that has an
 * engine for them (device_ops.engine). roofs_bayes.c is the algorithm around the rounds. */
#ifndef METHOD_BAYES_ENGINE_H
#define METHOD_BAYES_ENGINE_H

#include "method/forced.h"
#include "method/largest.h"
#include "method/slab.h"
#include "robust/mixture.h"

/* Shared by the method and its engine. */
typedef struct bayes_job {
    fit *f;
    mixture samples;
    slab prior;
    largest selection;   /* selection.keep: see end */
    forced always;       /* columns that are solved for together; none on a device */
    int64_t expected;    /* features that the prior expects to matter: fit_expected */
    int host_changed;    /* the host has changed samples or prior: begin must read them again */
    int at_end;          /* the stream has ended */
    int skip_report;     /* the host does not need the results of a round */
    double largest_move; /* of a coefficient, in the last round */
} bayes_job;

/* `spared` for a round over all columns, in which V is summed anew. With `spared` = 0 an engine may
 * update V or sum it anew. */
enum { BAYES_ALL = -1 };

/* What fetch downloads. */
enum { BAYES_SAMPLES = 1, BAYES_PRIOR = 2 };

typedef struct bayes_engine {
    roofs_status (*create)(void **state, const fit *f, roofs_error *err);
    void (*destroy)(void *state); /* the state is not NULL */

    /* Reads the columns with their coefficients, and samples and prior where the host has changed
     * them. */
    roofs_status (*begin)(void *state, const bayes_job *job, roofs_error *err);

    /* hyper, sweep, judge: over all columns but the `spared` largest, or BAYES_ALL. Without
     * skip_report, writes f->trusted.count, largest_move and prior.now.variance on the host. */
    roofs_status (*round)(void *state, bayes_job *job, int64_t spared, roofs_error *err);

    /* Keeps the `limit` largest coefficients. There are more columns than that. */
    roofs_status (*keep)(void *state, bayes_job *job, int64_t limit, roofs_error *err);

    /* Optional, as fetch: both are NULL for an engine that works on the host's data. Writes on the
     * host: coefficients, the parameters of samples and prior, the weights W, the intercept, count
     * and cut of f->trusted. selection.keep[j] = 0 for the columns of f->cols that have left on the
     * device, else 1. */
    roofs_status (*end)(void *state, bayes_job *job, roofs_error *err);

    /* After `end`: writes r, w and V (BAYES_SAMPLES) or the estimates of the prior (BAYES_PRIOR) on
     * the host. */
    roofs_status (*fetch)(void *state, bayes_job *job, int what, roofs_error *err);
} bayes_engine;

extern const bayes_engine bayes_cpu;

/* Copies residual, trust and intercept from the mixture to the fit. */
void bayes_publish(const bayes_job *job);

#endif
