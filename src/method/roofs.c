/* RoOFS as published: Algorithm 1 of the paper. docs/method-roofs.md settles what
 * the paper leaves open; the line numbers are those of its listing. */
#include "base/memory.h"
#include "method/method.h"
#include "method/roofs_engine.h"

#include <float.h>
#include <math.h>

typedef struct state {
    roofs_job job;
    const roofs_engine *engine; /* of the device; NULL before the first batch */
    void *own;                  /* the engine's state */
} state;

static int64_t roofs_bytes(const roofs_settings *set, int64_t n)
{
    const int64_t each = 2 * sizeof(double) + 1 + 2 * sizeof(order_item); /* per column, doubling */
    return memory_sum(memory_bytes(n, 3 * sizeof(double)),
                      memory_bytes(set->mu + set->batch, 2 * each));
}

static void roofs_destroy_state(void *own)
{
    state *s = own;
    if (!s)
        return;
    if (s->engine)
        s->engine->destroy(s->own);
    largest_destroy(&s->job.order);
    memory_free(s);
}

static roofs_status roofs_create_state(void **own, fit *f, roofs_error *err)
{
    state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs", err));
    *own = s;
    s->job.f = f;
    s->job.host_changed = 1;
    return ROOFS_OK;
}

/* The device is created with the first batch. */
static roofs_status roofs_find_engine(state *s, const fit *f, roofs_error *err)
{
    const device_ops *ops = f->cols.ops;
    if (s->engine)
        return ROOFS_OK;
    s->engine = ops->engine ? ops->engine("roofs") : &roofs_cpu;
    return s->engine->create(&s->own, f, err);
}

/* Finite, so that times a gradient of zero it is zero. */
static double published_step(const fit *f)
{
    return fmin(ldexp(f->set.eta, 2 * f->cols.unit_exponent), DBL_MAX);
}

/* The shortest step of a batch is reported, as a multiple of 1 / trusted. */
static void record_step(fit *f, double step, double published)
{
    double used = step == published ? f->set.eta : ldexp(step, -2 * f->cols.unit_exponent);
    f->now.step = f->now.rounds == 0 || used < f->now.step ? used : f->now.step;
}

/* tol is in the user's unit of y, or in the spread of y when standardising. */
static double tolerance(const fit *f)
{
    return f->set.standardize ? f->set.tol * f->y_scale : ldexp(f->set.tol, -f->y_exponent);
}

/* Lines 5 to 15, until the trusted residuals hardly move. */
static roofs_status roofs_rounds(state *s, fit *f, roofs_error *err)
{
    roofs_job *job = &s->job;
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        job->ahead = f->monitor ? 1 : f->set.max_iter - round + 1; /* a monitor may stop the fit */
        TRY(s->engine->round(s->own, job, err));
        record_step(f, job->step, job->published);
        TRY(fit_round_done(f, err));
        if (job->movement <= job->tolerance)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

static roofs_status roofs_begin_batch(state *s, fit *f, roofs_error *err)
{
    roofs_job *job = &s->job;
    TRY(roofs_find_engine(s, f, err));
    TRY(largest_reserve(&job->order, f->cols.count, err));
    step_guard_set_unit(&job->guard, f->cols.unit_exponent);
    step_guard_relax(&job->guard);
    job->published = published_step(f);
    job->tolerance = tolerance(f);
    TRY(s->engine->begin(s->own, job, err));
    job->host_changed = 0;
    return ROOFS_OK;
}

/* Standardising and the intercept weigh the samples of the next batch with the mask. */
static roofs_status roofs_end_batch(state *s, fit *f, roofs_error *err)
{
    const int host_reads = fit_host_reads_samples(f) || f->set.intercept || f->set.standardize;
    TRY(s->engine->end(s->own, &s->job, err));
    columns_drop(&f->cols, s->job.order.keep, NULL, NULL);
    return host_reads && s->engine->fetch ? s->engine->fetch(s->own, &s->job, err) : ROOFS_OK;
}

static roofs_status roofs_consume_batch(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(roofs_begin_batch(s, f, err));
    roofs_status status = roofs_rounds(s, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(roofs_end_batch(s, f, err));
    return status;
}

static roofs_status roofs_finish_stream(void *own, fit *f, roofs_error *err)
{
    (void)own;
    (void)f;
    (void)err;
    return ROOFS_OK; /* nothing is left to do after the last batch */
}

static void roofs_transfer(void *own, fit *f, archive *a)
{
    state *s = own;
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
    .has_rounds = 1,
    .bytes = roofs_bytes,
    .create = roofs_create_state,
    .destroy = roofs_destroy_state,
    .consume = roofs_consume_batch,
    .finish = roofs_finish_stream,
    .transfer = roofs_transfer,
    .transfer_bytes = roofs_transfer_bytes,
};
