/* roofs-bayes: streaming spike-and-slab regression with a clean/corrupt mixture. The true features
 * need not arrive first. docs/roofs-bayes.md has the model and every update; names and quoted steps
 * are those of that page. The steps hyper, sweep and judge are in the engines. */
#include "base/memory.h"
#include "method/bayes_engine.h"
#include "method/joint.h"
#include "method/method.h"
#include "method/uncertainty.h"
#include "robust/scale.h"

#include <math.h>
#include <string.h>

/* Final sweeps: where a joint solution follows, and where none does. */
enum { FEW_SWEEPS = 3, FINAL_SWEEPS = 20, MOST_SWEEPS = 200 };

/* A coefficient below this is reported as 0: y has a scale of 1 to 2, and columns have scale 1. */
static const double NEGLIGIBLE = 1e-12;

/* The final sweeps end when no coefficient moves by more than this times sqrt(sb2). */
static const double SETTLED = 1e-2;

/* A joint solution that still moves the fit by more than this in its last round, in units of the
 * noise, has not settled. */
static const double MOVES = 5e-2;

typedef struct bayes_state {
    bayes_job job;
    const bayes_engine *engine; /* NULL before the first batch, which creates the device */
    void *engine_state;
    int64_t settled; /* the pass whose end was settled, with nothing changed since; else 0 */
    joint_kind kind; /* of the joint solution, if is_joint, and its penalty */
    int is_joint, lambda;
    noise shape; /* of the clean residuals, of the joint solution */
    pool dropped;
    int64_t pool_pass; /* the pass of the last batch */
} bayes_state;

static int64_t bayes_bytes(const roofs_settings *set, int64_t n)
{
    int64_t selection = largest_bytes(fit_capacity(set) + set->batch);
    selection = memory_sum(selection, forced_bytes(set->always));
    int64_t jointly = joint_bytes(n, fit_capacity(set), set->threads);
    int64_t uncertain = memory_sum(pool_bytes(set, n), uncertainty_bytes(set, n));
    return memory_sum(memory_sum(mixture_bytes(n), memory_sum(jointly, uncertain)),
                      memory_sum(slab_bytes(), selection));
}

static void bayes_destroy(void *own)
{
    bayes_state *s = own;
    if (s->engine_state)
        s->engine->destroy(s->engine_state);
    mixture_destroy(&s->job.samples);
    slab_destroy(&s->job.prior);
    largest_destroy(&s->job.selection);
    forced_destroy(&s->job.always);
    pool_destroy(&s->dropped);
    if (s->job.f)
        uncertainty_clear(s->job.f);
    memory_free(s);
}

static roofs_status bayes_create(void **own, fit *f, roofs_error *err)
{
    bayes_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs-bayes", err));
    *own = s;
    s->job.f = f;
    s->job.host_changed = 1;
    s->shape.tail = NOISE_NORMAL;
    pool_create(&s->dropped, f);
    TRY(slab_create(&s->job.prior, err));
    const mixture_samples of = {f->y, f->case_weight, f->n, f->workers};
    TRY(mixture_create(&s->job.samples, &f->comm, of, f->set.intercept != 0, f->set.clean_ratio,
                       err));
    if (f->start == HYPOTHESIS_ALL)
        mixture_start_with_all(&s->job.samples);
    f->sample_weight = s->job.samples.weight;
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
    job->expected = fit_expected(f);
    job->skip_report = !f->monitor && !at_end; /* final rounds need the largest move */
    TRY(largest_reserve(&job->selection, f->cols.count, err));
    TRY(forced_find(&job->always, f, err));
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

/* Where columns are on a device, they do not come back to the host to be stored in the pool. */
static int bayes_fills_pool(const bayes_state *s)
{
    return s->dropped.capacity > 0 && !s->engine->end;
}

static roofs_status bayes_keep_largest(bayes_state *s, fit *f, int64_t limit, roofs_error *err)
{
    if (fit_free(f) <= limit)
        return ROOFS_OK;
    if (bayes_fills_pool(s)) {
        largest_mark(&s->job.selection, f, limit);
        const fit_phase before = fit_enter(f, FIT_GROUPS);
        TRY(pool_add(&s->dropped, s->job.selection.keep, s->job.samples.weight, err));
        fit_enter(f, before);
    }
    return s->engine->keep(s->engine_state, &s->job, limit, err);
}

/* sweep(C) is a round over all columns but the `spared` largest. A cancelled batch also leaves at
 * most cap columns. */
static roofs_status bayes_consume(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    const int64_t cap = fit_free_capacity(&f->set);
    const int64_t spared = cap > f->set.batch ? cap - f->set.batch : 0;
    s->settled = 0;
    if (s->pool_pass != f->pass)
        pool_begin_pass(&s->dropped);
    s->pool_pass = f->pass;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(bayes_begin_batch(s, f, 0, err));
    roofs_status status = bayes_round(s, f, BAYES_ALL, err);
    if (status == ROOFS_OK && fit_free(f) > cap)
        status = bayes_round(s, f, spared, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    TRY(bayes_keep_largest(s, f, cap, err));
    TRY(bayes_end_batch(s, f, err));
    const fit_phase before = fit_enter(f, FIT_GROUPS);
    if (bayes_fills_pool(s))
        TRY(pool_update(&s->dropped, &s->job.samples, err));
    fit_enter(f, before);
    f->pool_overflowed = !s->dropped.is_complete;
    return status;
}

/* ---- "End, and further passes" ----------------------------------------- */

static void bayes_warn(fit *f, int64_t warning, int is_set)
{
    f->warnings = is_set ? f->warnings | warning : f->warnings & ~warning;
}

static roofs_status bayes_final_rounds(bayes_state *s, fit *f, int most, roofs_error *err)
{
    int is_settled = 0;
    for (int k = 0; k < most && !is_settled; k++) {
        TRY(bayes_round(s, f, BAYES_ALL, err));
        is_settled = s->job.largest_move <= SETTLED * sqrt(s->job.prior.now.variance);
    }
    bayes_warn(f, ROOFS_WARNING_NOT_SETTLED, !is_settled);
    return ROOFS_OK;
}

static roofs_status bayes_drop_reserve(bayes_state *s, fit *f, roofs_error *err)
{
    if (fit_free(f) <= f->set.mu)
        return ROOFS_OK;
    TRY(bayes_final_rounds(s, f, FINAL_SWEEPS, err));
    return bayes_keep_largest(s, f, f->set.mu, err);
}

/* At most `most` sweeps over all columns; at the end of the fit, the reserve is dropped first. */
static roofs_status bayes_sweep_all(bayes_state *s, fit *f, int most, int drop, roofs_error *err)
{
    TRY(bayes_begin_batch(s, f, 1, err));
    roofs_status status = drop ? bayes_drop_reserve(s, f, err) : ROOFS_OK;
    if (status == ROOFS_OK)
        status = bayes_final_rounds(s, f, most, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(bayes_end_batch(s, f, err));
    return status;
}

/* The host has changed samples and coefficients. */
static void bayes_changed(bayes_state *s, fit *f)
{
    s->job.host_changed = 1;
    f->sample_weight_on_device = NULL;
    bayes_publish(&s->job);
}

static joint_starts bayes_starts(const fit *f)
{
    if (f->set.hypotheses == 1)
        return JOINT_WEIGHTS;
    return f->start == HYPOTHESIS_ALL || f->pass > 1 ? JOINT_ALL : JOINT_STREAM;
}

/* A pass that has begun is not settled: checkpoints need not hold that of the pass before. */
static int bayes_is_settled(const bayes_state *s, const fit *f)
{
    return s->settled == f->pass;
}

static roofs_status bayes_solve(bayes_state *s, fit *f, joint *j, roofs_error *err)
{
    if (!s->job.host_changed && s->engine->fetch) /* the host's estimates become the newer ones */
        TRY(s->engine->fetch(s->engine_state, &s->job, BAYES_PRIOR, err));
    TRY(joint_create(j, f, &s->job.samples, &s->job.prior.now, err));
    if (bayes_is_settled(s, f)) /* only columns have left since */
        TRY(joint_follow(j, s->kind, s->lambda, err));
    else
        TRY(joint_settle(j, bayes_starts(f), err));
    return joint_store(j, &s->job.samples, err);
}

static roofs_status bayes_solve_jointly(bayes_state *s, fit *f, roofs_error *err)
{
    joint j = {0};
    const fit_phase before = fit_enter(f, FIT_JOINT);
    roofs_status status = bayes_solve(s, f, &j, err);
    if (status == ROOFS_OK) {
        s->kind = j.best.kind;
        s->lambda = j.best.lambda;
        s->shape = j.best.shape;
        if (!bayes_is_settled(s, f))
            bayes_warn(f, ROOFS_WARNING_UNDECIDED, j.is_undecided);
        s->settled = f->pass;
        if (isfinite(j.best.score))
            f->score = j.best.score;
        bayes_warn(f, ROOFS_WARNING_NOT_SETTLED, j.best.change > MOVES);
        bayes_changed(s, f);
    }
    joint_destroy(&j);
    fit_enter(f, before);
    return status;
}

/* Few columns are solved jointly. Sweeps over many are settled already, or take too long. */
static int bayes_is_joint(const fit *f)
{
    const int is_split = !comm_is_alone(&f->comm);
    const double n = (double)comm_samples(&f->comm, f->n);
    return joint_is_possible(n, f->cols.count, is_split) &&
           joint_is_possible(f->cases, f->cols.count, is_split);
}

static roofs_status bayes_settle(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    if (f->set.hypotheses == 1)
        return ROOFS_OK; /* nothing to compare, and the next pass needs no end */
    s->is_joint = bayes_is_joint(f);
    if (f->cols.count > 0)
        TRY(bayes_sweep_all(s, f, s->is_joint ? FEW_SWEEPS : FINAL_SWEEPS, 0, err));
    f->score = mixture_score(&s->job.samples);
    if (s->is_joint)
        return bayes_solve_jointly(s, f, err);
    s->settled = f->pass;
    return ROOFS_OK;
}

/* Moves the intercept to the median of the trusted residuals: where noise is skewed, predictions
 * are then as often too small as too large. */
static roofs_status bayes_centre_median(bayes_state *s, fit *f, roofs_error *err)
{
    mixture *m = &s->job.samples;
    double middle = 0, *cases = m->case_weight ? m->h : NULL;
    int64_t count = 0;
    if (!m->has_intercept)
        return ROOFS_OK;
    for (int64_t i = 0; i < f->n; i++)
        if (m->w[i] > TRUSTED && mixture_cases(m, i) > 0) {
            if (cases)
                cases[count] = m->case_weight[i];
            m->z[count++] = m->r[i] / (1 - fmin(m->W[i] * m->V[i] / m->now.s2, 0.5));
        }
    if (comm_count(&f->comm, count) == 0)
        return ROOFS_OK;
    TRY(lower_median(&f->comm, m->z, cases, count, &middle, err));
    m->intercept += middle;
    for (int64_t i = 0; i < f->n; i++)
        m->r[i] -= middle;
    return ROOFS_OK;
}

/* Where columns are left over, the largest are kept and solved once more. */
static roofs_status bayes_finish_jointly(bayes_state *s, fit *f, roofs_error *err)
{
    if (f->set.hypotheses == 1 && !bayes_is_settled(s, f))
        TRY(bayes_sweep_all(s, f, FINAL_SWEEPS, 1, err));
    if (!bayes_is_settled(s, f))
        TRY(bayes_solve_jointly(s, f, err));
    if (fit_free(f) > f->set.mu) {
        TRY(largest_reserve(&s->job.selection, f->cols.count, err));
        largest_mark(&s->job.selection, f, f->set.mu);
        if (s->dropped.capacity > 0)
            TRY(pool_add(&s->dropped, s->job.selection.keep, s->job.samples.weight, err));
        columns_drop(&f->cols, s->job.selection.keep, NULL, NULL); /* r and V follow */
        TRY(bayes_solve_jointly(s, f, err));
    }
    return bayes_centre_median(s, f, err);
}

/* calibrate for the responses less what the forced columns explain. These are not shrunk: they are
 * fitted once more to what is left. */
static roofs_status bayes_calibrate_free(bayes_state *s, fit *f, roofs_error *err)
{
    mixture *m = &s->job.samples;
    double *y = NULL;
    TRY(memory_get(&y, f->n, sizeof *y, "the responses", err));
    memcpy(y, m->y, (size_t)f->n * sizeof *y);
    forced_add(&s->job.always, f, -1, m->y);
    const double x = mixture_calibrate(m);
    memcpy(m->y, y, (size_t)f->n * sizeof *y);
    memory_free(y);
    for (int64_t j = 0; j < f->cols.count; j++)
        f->cols.items[j].coef *= fit_is_forced(f, j) ? 1 : x;
    forced_solve(&s->job.always, f, m->weight, m->r, m->z);
    mixture_recentre(m);
    return comm_status(&f->comm, err);
}

static roofs_status bayes_finish_by_sweeps(bayes_state *s, fit *f, roofs_error *err)
{
    TRY(bayes_sweep_all(s, f, f->set.hypotheses == 1 ? FINAL_SWEEPS : MOST_SWEEPS, 1, err));
    if (s->job.always.count > 0)
        return bayes_calibrate_free(s, f, err);
    const double x = mixture_calibrate(&s->job.samples);
    for (int64_t j = 0; j < f->cols.count; j++)
        f->cols.items[j].coef *= x;
    return ROOFS_OK;
}

static roofs_status bayes_find_uncertainty(bayes_state *s, fit *f, roofs_error *err)
{
    const int is_joint = bayes_is_settled(s, f) && s->is_joint;
    const uncertainty_end end = {.is_rare = is_joint && s->kind.is_rare,
                                 .shape = is_joint ? s->shape : (noise){NOISE_NORMAL, 0}};
    fit_enter(f, FIT_GROUPS); /* the last phase */
    TRY(pool_update(&s->dropped, &s->job.samples, err));
    if (f->cols.count + f->cols.constant < f->features_seen && s->engine && !bayes_fills_pool(s))
        s->dropped.is_complete = 0; /* dropped features may belong to groups */
    return uncertainty_find(f, &s->dropped, &s->job.samples, &end, err);
}

static roofs_status bayes_finish(void *own, fit *f, roofs_error *err)
{
    bayes_state *s = own;
    if (f->cols.count == 0)
        return bayes_find_uncertainty(s, f, err); /* of the constant */
    if (f->set.hypotheses > 1 && !bayes_is_settled(s, f))
        TRY(bayes_settle(s, f, err));
    TRY((bayes_is_joint(f) ? bayes_finish_jointly : bayes_finish_by_sweeps)(s, f, err));
    for (int64_t j = 0; j < f->cols.count; j++)
        if (fabs(f->cols.items[j].coef) < NEGLIGIBLE)
            f->cols.items[j].coef = 0;
    bayes_warn(f, ROOFS_WARNING_FORCED, s->job.always.is_singular);
    bayes_publish(&s->job);
    return bayes_find_uncertainty(s, f, err);
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
    if (!a->loading || a->version >= 3)
        pool_transfer(&s->dropped, a);
    if (a->loading) {
        s->settled = 0;
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
    .has_forced = 1,
    .has_engines = 1,
    .has_probability = 1,
    .has_hypotheses = 1,
    .reads_again = 1,
    .has_case_weights = 1,
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
