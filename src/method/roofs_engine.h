/* Where the rounds of method roofs run: on the CPU (roofs_cpu.c), or on a device that has an engine
 * for them (device_ops.engine). roofs.c is the algorithm around the rounds. */
#ifndef METHOD_ROOFS_ENGINE_H
#define METHOD_ROOFS_ENGINE_H

#include "method/largest.h"
#include "robust/step.h"

/* What the method and its engine share. */
typedef struct roofs_job {
    fit *f;
    step_guard guard;
    largest order;    /* order.keep: see end */
    int host_changed; /* residual and mask, since the last batch: the engine must read them again */

    /* of a batch */
    double published; /* the step, in the unit of the guard */
    double tolerance; /* a movement up to this ends the batch */

    /* of a round */
    int64_t
        ahead; /* rounds that may run before the method sees the result of this one, at least 1 */
    double step, movement; /* its result, with f->trusted.count and f->trusted.cut */
} roofs_job;

typedef struct roofs_engine {
    roofs_status (*create)(void **state, const fit *f, roofs_error *err);
    void (*destroy)(void *state);

    /* Takes the columns of the batch with their coefficients, and residual and mask where the host
     * has changed them. */
    roofs_status (*begin)(void *state, const roofs_job *job, roofs_error *err);

    /* Lines 6 to 14 of the listing, once. The engine may run up to `ahead` rounds at once, none
     * after a movement within the tolerance, and reports them one by one. */
    roofs_status (*round)(void *state, roofs_job *job, roofs_error *err);

    /* Coefficients, intercept and guard are on the host. order.keep[j] = 0 for the columns of
     * f->cols that have left on the device. */
    roofs_status (*end)(void *state, roofs_job *job, roofs_error *err);

    /* Residual and mask are on the host too. Optional: NULL where they always are. */
    roofs_status (*fetch)(void *state, const roofs_job *job, roofs_error *err);
} roofs_engine;

extern const roofs_engine roofs_cpu;

#endif
