/* RoOFS as published: Algorithm 1 of the paper. Line numbers are those of its listing, equation
 * numbers those of the paper. docs/method-roofs.md settles what the paper leaves open.
 *
 * Lines 1, 3 and 4 have happened when the method gets a batch: Psi is f->cols, with the batch at
 * its end and coefficient 0; S is f->trusted. */
#include "base/memory.h"
#include "method/method.h"
#include "method/roofs_engine.h"

#include <math.h>

typedef struct roofs_state {
    roofs_job job;
    const roofs_engine *engine; /* NULL before the first batch, which creates the device */
    void *engine_state;
} roofs_state;

static int64_t roofs_bytes(const roofs_settings *set, int64_t n)
{
    return memory_sum(memory_bytes(n, 3 * sizeof(double)),
                      largest_bytes(fit_capacity(set) + set->batch));
}

static void roofs_destroy_state(void *own)
{
    roofs_state *s = own;
    if (s->engine_state)
        s->engine->destroy(s->engine_state);
    largest_destroy(&s->job.selection);
    memory_free(s);
}

static roofs_status roofs_create_state(void **own, fit *f, roofs_error *err)
{
    roofs_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs", err));
    *own = s;
    s->job.f = f;
    s->job.host_changed = 1;
    return ROOFS_OK;
}

/* Records the shortest step of the batch, as a multiple of 1 / |S|. */
static void roofs_record_step(fit *f, const roofs_job *job)
{
    fit_record_step(f, job->step == job->published_step
                           ? f->set.eta
                           : ldexp(job->step, -2 * f->cols.unit_exponent));
}

/* epsilon of line 14, in the unit of f->y. The user gives tol in the unit of y, or in the spread of
 * y when standardising. */
static double roofs_tolerance(const fit *f)
{
    return f->set.standardize ? f->set.tol * f->y_scale : ldexp(f->set.tol, -f->y_exponent);
}

static roofs_status roofs_begin_batch(roofs_state *s, fit *f, roofs_error *err)
{
    const device_ops *ops = f->cols.ops;
    roofs_job *job = &s->job;
    if (!s->engine) {
        s->engine = ops->engine ? ops->engine("roofs") : &roofs_cpu;
        TRY(s->engine->create(&s->engine_state, f, err));
    }
    TRY(largest_reserve(&job->selection, f->cols.count, err));
    step_guard_set_unit(&job->guard, f->cols.unit_exponent);
    step_guard_relax(&job->guard);
    job->published_step = fit_published_step(f);
    job->tolerance = roofs_tolerance(f);
    TRY(s->engine->begin(s->engine_state, job, err));
    job->host_changed = 0;
    return ROOFS_OK;
}

/* Lines 5 to 14. A monitor may stop the fit after each round, so no round runs ahead of it. */
static roofs_status roofs_rounds(roofs_state *s, fit *f, roofs_error *err)
{
    roofs_job *job = &s->job;
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        job->round_limit = f->monitor ? 1 : f->set.max_iter - round + 1;
        TRY(s->engine->round(s->engine_state, job, err)); /* lines 6 to 13 */
        roofs_record_step(f, job);
        TRY(fit_round_done(f, err));
        if (job->movement <= job->tolerance) /* line 14 */
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

/* Standardising and the intercept weight the samples of the next batch with the mask. */
static roofs_status roofs_end_batch(roofs_state *s, fit *f, roofs_error *err)
{
    const int host_reads = fit_host_reads_samples(f) || f->set.intercept || f->set.standardize;
    if (!s->engine->end)
        return ROOFS_OK;
    TRY(s->engine->end(s->engine_state, &s->job, err));
    columns_drop(&f->cols, s->job.selection.keep, NULL, NULL);
    return host_reads ? s->engine->fetch(s->engine_state, &s->job, err) : ROOFS_OK;
}

/* Lines 5 to 15. */
static roofs_status roofs_consume_batch(void *own, fit *f, roofs_error *err)
{
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(roofs_begin_batch(own, f, err));
    roofs_status status = roofs_rounds(own, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(roofs_end_batch(own, f, err));
    return status;
}

static void roofs_transfer(void *own, fit *f, archive *a)
{
    roofs_state *s = own;
    (void)f;
    step_guard_transfer(&s->job.guard, a);
    s->job.host_changed |= a->loading;
}

static int64_t roofs_transfer_bytes(const roofs_settings *set, int64_t n)
{
    (void)set;
    (void)n;
    return sizeof(step_guard);
}

const method method_roofs = {
    .name = "roofs",
    .summary = "RoOFS as published (Algorithm 1): gradient steps, keep the mu largest, eq. (5)",
    .splits = 1,
    .has_forced = 1,
    .has_engines = 1,
    .bytes = roofs_bytes,
    .create = roofs_create_state,
    .destroy = roofs_destroy_state,
    .consume = roofs_consume_batch,
    .transfer = roofs_transfer,
    .transfer_bytes = roofs_transfer_bytes,
};
