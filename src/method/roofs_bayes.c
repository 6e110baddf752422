/* roofs-bayes: streaming spike-and-slab regression with a clean/corrupt mixture,
 * which does not need the true features to come first. docs/roofs-bayes.md has the
 * model and every update; names are those of that page. */
#include "base/memory.h"
#include "method/bayes_engine.h"
#include "method/method.h"

#include <math.h>

enum { FINAL_SWEEPS = 20 };

/* y has scale 1 to 2 and columns scale 1: a smaller coefficient is none. */
static const double NEGLIGIBLE = 1e-12;

/* A final sweep that moves no coefficient by more than this times the slab's width
 * is the last. */
static const double SETTLED = 1e-2;

typedef struct state {
    bayes_job job;
    const bayes_engine *engine; /* of the device; NULL before the first batch */
    void *own;                  /* the engine's state */
} state;

static int64_t bayes_bytes(const roofs_settings *set, int64_t n)
{
    const int64_t each = 2 * sizeof(double) + 1 + 2 * sizeof(order_item); /* per column, doubling */
    int64_t most = fit_capacity(set) + set->batch;
    return memory_sum(mixture_bytes(n), memory_sum(slab_bytes(), memory_bytes(most, 2 * each)));
}

static void bayes_destroy(void *own)
{
    state *s = own;
    if (!s)
        return;
    if (s->engine)
        s->engine->destroy(s->own);
    mixture_destroy(&s->job.samples);
    slab_destroy(&s->job.prior);
    largest_destroy(&s->job.order);
    memory_free(s);
}

static roofs_status bayes_create(void **own, fit *f, roofs_error *err)
{
    state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs-bayes", err));
    *own = s;
    s->job.f = f;
    s->job.host_changed = 1;
    TRY(slab_create(&s->job.prior, err));
    TRY(mixture_create(&s->job.samples, &f->comm, f->y, f->n, f->set.intercept != 0,
                       f->set.clean_ratio, err));
    f->counted = s->job.samples.W;
    bayes_publish(&s->job);
    return ROOFS_OK;
}

/* The device is created with the first batch. */
static roofs_status bayes_find_engine(state *s, const fit *f, roofs_error *err)
{
    const device_ops *ops = f->cols.ops;
    if (s->engine)
        return ROOFS_OK;
    s->engine = ops->engine ? ops->engine("roofs-bayes") : &bayes_cpu;
    return s->engine->create(&s->own, f, err);
}

/* ---- a batch ----------------------------------------------------------- */

static roofs_status bayes_begin_batch(state *s, fit *f, int at_end, roofs_error *err)
{
    bayes_job *job = &s->job;
    job->at_end = at_end;
    job->skip_report = !f->monitor && !at_end; /* at the end the largest move counts */
    TRY(bayes_find_engine(s, f, err));
    TRY(largest_reserve(&job->order, f->cols.count, err));
    TRY(s->engine->begin(s->own, job, err));
    job->host_changed = 0;
    return ROOFS_OK;
}

static roofs_status bayes_end_batch(state *s, fit *f, roofs_error *err)
{
    TRY(s->engine->end(s->own, &s->job, err));
    columns_drop(&f->cols, s->job.order.keep, NULL, NULL);
    if (!s->engine->fetch || !(s->job.at_end || fit_host_reads_samples(f)))
        return ROOFS_OK;
    TRY(s->engine->fetch(s->own, &s->job, BAYES_SAMPLES, err));
    bayes_publish(&s->job);
    return ROOFS_OK;
}

static roofs_status bayes_round(state *s, fit *f, int64_t spared, roofs_error *err)
{
    TRY(s->engine->round(s->own, &s->job, spared, err));
    return fit_round_done(f, err);
}

static roofs_status bayes_keep_largest(state *s, fit *f, int64_t most, roofs_error *err)
{
    return f->cols.count <= most ? ROOFS_OK : s->engine->keep(s->own, &s->job, most, err);
}

/* A round over all columns, and one more over those about to be decided on and a batch of the
 * others. */
static roofs_status bayes_consume(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    const int64_t cap = fit_capacity(&f->set), spared = cap > f->set.batch ? cap - f->set.batch : 0;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(bayes_begin_batch(s, f, 0, err));
    roofs_status status = bayes_round(s, f, BAYES_ALL, err);
    if (status == ROOFS_OK && f->cols.count > cap)
        status = bayes_round(s, f, spared, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    TRY(bayes_keep_largest(s, f, cap, err)); /* also when cancelled: the batch is about to go */
    TRY(bayes_end_batch(s, f, err));
    return status;
}

/* ---- the end of the stream --------------------------------------------- */

/* Until no coefficient moves by more than a hundredth of what is usual. */
static roofs_status final_rounds(state *s, fit *f, roofs_error *err)
{
    for (int k = 0; k < FINAL_SWEEPS; k++) {
        TRY(bayes_round(s, f, BAYES_ALL, err));
        if (s->job.largest_move <= SETTLED * sqrt(s->job.prior.now.variance))
            break;
    }
    return ROOFS_OK;
}

static roofs_status all_final_rounds(state *s, fit *f, roofs_error *err)
{
    if (f->cols.count > f->set.mu) {
        TRY(final_rounds(s, f, err));
        TRY(bayes_keep_largest(s, f, f->set.mu, err));
    }
    return final_rounds(s, f, err);
}

static roofs_status bayes_finish(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(bayes_begin_batch(s, f, 1, err));
    roofs_status status = all_final_rounds(s, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(bayes_end_batch(s, f, err));
    TRY(status);
    double times = mixture_calibrate(&s->job.samples);
    for (int64_t j = 0; j < f->cols.count; j++) {
        double coef = times * f->cols.items[j].coef;
        f->cols.items[j].coef = fabs(coef) < NEGLIGIBLE ? 0 : coef;
    }
    bayes_publish(&s->job);
    return ROOFS_OK;
}

/* ---- checkpoints and undo ---------------------------------------------- */

/* What is loaded is newer than the engine's copies: begin reads it again. */
static void bayes_transfer(void *own, fit *f, archive *a)
{
    state *s = own;
    bayes_job *job = &s->job;
    if (!a->loading && !job->host_changed && s->engine->fetch && a->status == ROOFS_OK)
        a->status = s->engine->fetch(s->own, job, BAYES_PRIOR, a->err);
    mixture_transfer(&job->samples, a);
    slab_transfer(&job->prior, a);
    if (a->loading) {
        job->host_changed = 1;
        f->counted_on_device = NULL;
    }
}

static int64_t bayes_transfer_bytes(const roofs_settings *set, int64_t n)
{
    (void)set;
    return memory_sum(mixture_transfer_bytes(n), slab_bytes());
}

const method method_roofs_bayes = {
    .name = "roofs-bayes",
    .summary = "order-free: spike-and-slab features, clean/corrupt samples, probabilities of both",
    .wants_scale = 1,
    .has_reserve = 1,
    .has_rounds = 1,
    .has_probability = 1,
    .splits = 1,
    .bytes = bayes_bytes,
    .create = bayes_create,
    .destroy = bayes_destroy,
    .consume = bayes_consume,
    .finish = bayes_finish,
    .transfer = bayes_transfer,
    .transfer_bytes = bayes_transfer_bytes,
};
