/* roofs-bayes: streaming spike-and-slab regression with a clean/corrupt mixture. The true features
 * need not arrive first. docs/roofs-bayes.md has the model and every update; names and quoted steps
 * are those of that page. The steps hyper, sweep and judge are in the engines. */
#include "base/memory.h"
#include "method/bayes_engine.h"
#include "method/method.h"

#include <math.h>

enum { FINAL_SWEEPS = 20 };

/* A coefficient below this is reported as 0: y has a scale of 1 to 2, and columns have scale 1. */
static const double NEGLIGIBLE = 1e-12;

/* The final sweeps end when no coefficient moves by more than this times sqrt(sb2). */
static const double SETTLED = 1e-2;

typedef struct bayes_state {
    bayes_job job;
    const bayes_engine *engine; /* NULL before the first batch, which creates the device */
    void *engine_state;
} bayes_state;

static int64_t bayes_bytes(const roofs_settings *set, int64_t n)
{
    int64_t selection = largest_bytes(fit_capacity(set) + set->batch);
    return memory_sum(mixture_bytes(n), memory_sum(slab_bytes(), selection));
}

static void bayes_destroy(void *own)
{
    bayes_state *s = own;
    if (s->engine_state)
        s->engine->destroy(s->engine_state);
    mixture_destroy(&s->job.samples);
    slab_destroy(&s->job.prior);
    largest_destroy(&s->job.selection);
    memory_free(s);
}

static roofs_status bayes_create(void **own, fit *f, roofs_error *err)
{
    bayes_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs-bayes", err));
    *own = s;
    s->job.f = f;
    s->job.host_changed = 1;
    TRY(slab_create(&s->job.prior, err));
    TRY(mixture_create(&s->job.samples, &f->comm, f->y, f->n, f->set.intercept != 0,
                       f->set.clean_ratio, err));
    f->is_redundant = mixture_start_from(&s->job.samples, (int)f->start);
    f->sample_weight = s->job.samples.W;
    bayes_publish(&s->job);
    return ROOFS_OK;
}

/* ---- "Each batch" ------------------------------------------------------- */

static roofs_status bayes_begin_batch(bayes_state *s, fit *f, int at_end, roofs_error *err)
{
    const device_ops *ops = f->cols.ops;
    bayes_job *job = &s->job;
    if (!s->engine) {
        s->engine = ops->engine ? ops->engine("roofs-bayes") : &bayes_cpu;
        TRY(s->engine->create(&s->engine_state, f, err));
    }
    job->at_end = at_end;
    job->skip_report = !f->monitor && !at_end; /* final rounds need the largest move */
    TRY(largest_reserve(&job->selection, f->cols.count, err));
    TRY(s->engine->begin(s->engine_state, job, err));
    job->host_changed = 0;
    return ROOFS_OK;
}

static roofs_status bayes_end_batch(bayes_state *s, fit *f, roofs_error *err)
{
    if (!s->engine->end)
        return ROOFS_OK;
    TRY(s->engine->end(s->engine_state, &s->job, err));
    columns_drop(&f->cols, s->job.selection.keep, NULL, NULL);
    if (!s->job.at_end && !fit_host_reads_samples(f))
        return ROOFS_OK;
    TRY(s->engine->fetch(s->engine_state, &s->job, BAYES_SAMPLES, err));
    bayes_publish(&s->job);
    return ROOFS_OK;
}

static roofs_status bayes_round(bayes_state *s, fit *f, int64_t spared, roofs_error *err)
{
    TRY(s->engine->round(s->engine_state, &s->job, spared, err));
    return fit_round_done(f, err);
}

static roofs_status bayes_keep_largest(bayes_state *s, fit *f, int64_t limit, roofs_error *err)
{
    if (f->cols.count <= limit)
        return ROOFS_OK;
    return s->engine->keep(s->engine_state, &s->job, limit, err);
}

/* sweep(C) is a round over all columns but the `spared` largest. A cancelled batch also leaves at
 * most cap columns. */
static roofs_status bayes_consume(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    const int64_t cap = fit_capacity(&f->set), spared = cap > f->set.batch ? cap - f->set.batch : 0;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(bayes_begin_batch(s, f, 0, err));
    roofs_status status = bayes_round(s, f, BAYES_ALL, err);
    if (status == ROOFS_OK && f->cols.count > cap)
        status = bayes_round(s, f, spared, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    TRY(bayes_keep_largest(s, f, cap, err));
    TRY(bayes_end_batch(s, f, err));
    return status;
}

/* ---- "End, and further passes" ----------------------------------------- */

static roofs_status bayes_final_rounds(bayes_state *s, fit *f, roofs_error *err)
{
    for (int k = 0; k < FINAL_SWEEPS; k++) {
        TRY(bayes_round(s, f, BAYES_ALL, err));
        if (s->job.largest_move <= SETTLED * sqrt(s->job.prior.now.variance))
            break;
    }
    return ROOFS_OK;
}

static roofs_status bayes_drop_reserve(bayes_state *s, fit *f, roofs_error *err)
{
    if (f->cols.count <= f->set.mu)
        return ROOFS_OK;
    TRY(bayes_final_rounds(s, f, err));
    return bayes_keep_largest(s, f, f->set.mu, err);
}

static roofs_status bayes_finish(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(bayes_begin_batch(s, f, 1, err));
    roofs_status status = bayes_drop_reserve(s, f, err);
    if (status == ROOFS_OK)
        status = bayes_final_rounds(s, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(bayes_end_batch(s, f, err));
    TRY(status);
    const double x = mixture_calibrate(&s->job.samples);
    for (int64_t j = 0; j < f->cols.count; j++) {
        double coef = x * f->cols.items[j].coef;
        f->cols.items[j].coef = fabs(coef) < NEGLIGIBLE ? 0 : coef;
    }
    bayes_publish(&s->job);
    return ROOFS_OK;
}

/* PLACEHOLDER: a simple score, without settling. */
static roofs_status bayes_settle(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    (void)err;
    mixture_score(&s->job.samples, &f->score.typical, &f->score.likelihood);
    return ROOFS_OK;
}

/* ---- checkpoints and undo ---------------------------------------------- */

/* Loading makes the engine's copies obsolete: the next begin reads the host's state again. */
static void bayes_transfer(void *own, fit *f, archive *a)
{
    bayes_state *s = own;
    bayes_job *job = &s->job;
    if (!a->loading && !job->host_changed && s->engine->fetch && a->status == ROOFS_OK)
        a->status = s->engine->fetch(s->engine_state, job, BAYES_PRIOR, a->err);
    mixture_transfer(&job->samples, a);
    slab_transfer(&job->prior, a);
    if (a->loading) {
        job->host_changed = 1;
        f->sample_weight_on_device = NULL;
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
    .needs_scale = 1,
    .has_reserve = 1,
    .has_engines = 1,
    .has_probability = 1,
    .has_hypotheses = 1,
    .reads_again = 1,
    .splits = 1,
    .bytes = bayes_bytes,
    .create = bayes_create,
    .destroy = bayes_destroy,
    .consume = bayes_consume,
    .settle = bayes_settle,
    .finish = bayes_finish,
    .transfer = bayes_transfer,
    .transfer_bytes = bayes_transfer_bytes,
};
