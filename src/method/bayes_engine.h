/* Where the rounds of method roofs-bayes run: on the CPU (bayes_cpu.c), or on a device that has an
 * engine for them (device_ops.engine). roofs_bayes.c is the algorithm around the rounds. */
#ifndef METHOD_BAYES_ENGINE_H
#define METHOD_BAYES_ENGINE_H

#include "method/largest.h"
#include "method/slab.h"
#include "robust/mixture.h"

/* What the method and its engine share. */
typedef struct bayes_job {
    fit *f;
    mixture samples;
    slab prior;
    largest order;    /* order.keep: see end */
    int host_changed; /* samples and prior, since the last batch: the engine must read them again */
    int at_end;       /* no more features come */
    int skip_report;  /* nobody reads the results of a round before the next call */
    double largest_move; /* of a coefficient, in the last round */
} bayes_job;

/* A round over all columns, in which V is summed up anew. */
enum { BAYES_ALL = -1 };

/* What fetch downloads. */
enum { BAYES_SAMPLES = 1, BAYES_PRIOR = 2 };

typedef struct bayes_engine {
    roofs_status (*create)(void **state, const fit *f, roofs_error *err);
    void (*destroy)(void *state);

    /* Takes the columns with their coefficients, and samples and prior where the host has changed
     * them. */
    roofs_status (*begin)(void *state, const bayes_job *job, roofs_error *err);

    /* hyper, sweep, judge: over all columns but the `spared` largest, or BAYES_ALL. Afterwards, but
     * for skip_report, f->trusted.count, largest_move and prior.variance are on the host. */
    roofs_status (*round)(void *state, bayes_job *job, int64_t spared, roofs_error *err);

    /* The `most` largest stay. */
    roofs_status (*keep)(void *state, bayes_job *job, int64_t most, roofs_error *err);

    /* Coefficients, the numbers of samples and prior, the weights W, the intercept and the numbers
     * of f->trusted are on the host. order.keep[j] = 0 for the columns of f->cols that have left on
     * the device. */
    roofs_status (*end)(void *state, bayes_job *job, roofs_error *err);

    /* BAYES_SAMPLES: r, w and V are on the host too, or BAYES_PRIOR: the estimates of the prior.
     * Optional: NULL where they always are. */
    roofs_status (*fetch)(void *state, bayes_job *job, int what, roofs_error *err);
} bayes_engine;

extern const bayes_engine bayes_cpu;

/* Copies the samples as the mixture sees them to the fit: residual, trust and intercept. */
void bayes_publish(const bayes_job *job);

#endif
