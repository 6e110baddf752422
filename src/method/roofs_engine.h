/* Where the rounds of method roofs run: on the CPU (roofs_cpu.c), or on a device that has an engine
 * for them (device_ops.engine). roofs.c is the algorithm around the rounds. */
#ifndef METHOD_ROOFS_ENGINE_H
#define METHOD_ROOFS_ENGINE_H

#include "method/largest.h"
#include "robust/step.h"

/* Shared by the method and its engine. */
typedef struct roofs_job {
    fit *f;
    step_guard guard;
    largest selection; /* selection.keep: see end */
    int host_changed;  /* the host has changed residual or mask: begin must read them again */

    /* of a batch */
    double published_step; /* in the unit of the guard */
    double tolerance;      /* the batch ends with a movement of at most this */

    /* of a round */
    int64_t round_limit;   /* rounds that the engine may run before it returns, at least 1 */
    double step, movement; /* results, beside f->trusted.count and f->trusted.cut */
} roofs_job;

typedef struct roofs_engine {
    roofs_status (*create)(void **state, const fit *f, roofs_error *err);
    void (*destroy)(void *state); /* the state is not NULL */

    /* Reads the columns of the batch with their coefficients, and residual and mask where the host
     * has changed them. */
    roofs_status (*begin)(void *state, const roofs_job *job, roofs_error *err);

    /* Lines 6 to 13 of the listing, once, and the movement of line 14. The engine may run up to
     * round_limit rounds at once, none after a movement within the tolerance, and reports them one
     * by one. */
    roofs_status (*round)(void *state, roofs_job *job, roofs_error *err);

    /* Optional, as fetch: both are NULL for an engine that works on the host's data. Writes
     * coefficients, intercept and guard on the host. selection.keep[j] = 0 for the columns of
     * f->cols that have left on the device, else 1. */
    roofs_status (*end)(void *state, roofs_job *job, roofs_error *err);

    /* After `end`: writes residual and mask on the host. */
    roofs_status (*fetch)(void *state, const roofs_job *job, roofs_error *err);
} roofs_engine;

extern const roofs_engine roofs_cpu;

#endif
