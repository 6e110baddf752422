/* RoOFS as published: Algorithm 1 of the paper. docs/method-roofs.md settles what
 * the paper leaves open; the line numbers are those of its listing. */
#include "base/memory.h"
#include "linalg/vector.h"
#include "method/largest.h"
#include "method/method.h"
#include "method/rounds.h"
#include "robust/step.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct state {
    double *gradient; /* per column */
    int64_t capacity; /* of the gradient */
    largest ranks;
    double *image;   /* n: what a step along the gradient does to the residual */
    double *before;  /* n: |residual| before the round */
    double *scratch; /* n */
    step_guard guard;
    int changed; /* residual and mask: the device does not know them yet */
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
    memory_free(s->gradient);
    largest_destroy(&s->ranks);
    memory_free(s->image);
    memory_free(s->before);
    memory_free(s->scratch);
    memory_free(s);
}

static roofs_status roofs_create_state(void **own, fit *f, roofs_error *err)
{
    const char *what = "method roofs";
    state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, what, err));
    *own = s;
    TRY(memory_get(&s->image, f->n, sizeof *s->image, what, err));
    TRY(memory_get(&s->before, f->n, sizeof *s->before, what, err));
    return memory_get(&s->scratch, f->n, sizeof *s->scratch, what, err);
}

static roofs_status make_room(state *s, int64_t count, roofs_error *err)
{
    TRY(memory_grow(&s->gradient, &s->capacity, count, sizeof *s->gradient, "a gradient", err));
    return largest_reserve(&s->ranks, count, err);
}

static void trusted_part(const fit *f, const double *x, double *out)
{
    for (int64_t i = 0; i < f->n; i++)
        out[i] = x[i] * f->trusted.mask[i];
}

/* Finite, so that times a gradient of zero it is zero. */
static double published_step(const fit *f)
{
    return fmin(ldexp(f->set.eta, 2 * f->cols.unit_exponent), DBL_MAX);
}

/* The shortest step of a batch is reported, as a multiple of 1 / trusted. */
static void note_step(fit *f, double step, double published)
{
    double used = step == published ? f->set.eta : ldexp(step, -2 * f->cols.unit_exponent);
    f->now.step = f->now.rounds == 0 || used < f->now.step ? used : f->now.step;
}

/* Line 6: beta += h X_S r_S. One read of the columns gives the gradient and the
 * change of the residual. */
static void gradient_step(state *s, fit *f)
{
    columns *c = &f->cols;
    trusted_part(f, f->residual, s->scratch);
    columns_descend(c, NULL, c->count, s->scratch, s->gradient, s->image);

    trusted_part(f, s->image, s->scratch);
    double size = (double)f->trusted.count, published = published_step(f);
    double step = safe_step(&s->guard, published, vector_norm(s->gradient, c->count),
                            comm_norm(&f->comm, s->scratch, f->n) / sqrt(size));
    for (int64_t j = 0; j < c->count; j++)
        c->items[j].coef += step / size * c->places[j].unit * s->gradient[j];
    for (int64_t i = 0; i < f->n; i++)
        f->residual[i] -= step / size * s->image[i];
    note_step(f, step, published);
}

/* Lines 7-10: the smallest |beta| leave, the later of two equals first. */
static void keep_largest(state *s, fit *f)
{
    if (f->cols.count <= f->set.mu)
        return;
    largest_mark(&s->ranks, f, f->set.mu);
    columns_drop(&f->cols, s->ranks.keep, f->residual, NULL);
}

/* Line 14: how far the trusted residuals moved, per trusted sample. */
static double movement(state *s, fit *f)
{
    for (int64_t i = 0; i < f->n; i++)
        s->scratch[i] = (fabs(f->residual[i]) - s->before[i]) * f->trusted.mask[i];
    return comm_norm(&f->comm, s->scratch, f->n) / (double)f->trusted.count;
}

static void remember_residual(state *s, const fit *f)
{
    for (int64_t i = 0; i < f->n; i++)
        s->before[i] = fabs(f->residual[i]);
}

/* tol is in the user's unit of y, or in the spread of y when standardising. */
static double tolerance(const fit *f)
{
    return f->set.standardize ? f->set.tol * f->y_scale : ldexp(f->set.tol, -f->y_exponent);
}

static roofs_status rounds_here(state *s, fit *f, roofs_error *err)
{
    memset(s->before, 0, (size_t)f->n * sizeof *s->before);
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        gradient_step(s, f);
        keep_largest(s, f);
        if (f->set.intercept)
            fit_recentre(f);
        trust_update(&f->trusted, f->residual, f->set.clean_ratio);
        int settled = movement(s, f) <= tolerance(f);
        TRY(fit_round_done(f, err));
        if (settled)
            return ROOFS_OK;
        remember_residual(s, f);
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

/* The same rounds where the columns live, if that is not here. */
static roofs_status repeat_there(fit *f, roofs_job *job, roofs_error *err)
{
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        job->ahead = f->monitor ? 1 : f->set.max_iter - round + 1; /* a monitor may stop the fit */
        TRY(f->cols.ops->rounds->roofs_round(f->cols.dev, job, err));
        note_step(f, job->step, job->published);
        f->trusted.count = job->trusted;
        f->trusted.cut = job->cut;
        TRY(fit_round_done(f, err));
        if (job->movement <= job->tolerance)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

/* Whether anyone looks at the residual and the mask here before the next batch is done. */
static int is_looked_at(const fit *f)
{
    return fit_is_watched(f) || f->set.intercept || f->set.standardize;
}

static roofs_status rounds_there(state *s, fit *f, roofs_error *err)
{
    const rounds *there = f->cols.ops->rounds;
    roofs_job job = {.mu = f->set.mu,
                     .clean_ratio = f->set.clean_ratio,
                     .intercept = f->set.intercept != 0,
                     .published = published_step(f),
                     .residual = f->residual,
                     .mask = f->trusted.mask,
                     .changed = s->changed,
                     .trusted = f->trusted.count,
                     .curvature = s->guard.curvature,
                     .tolerance = tolerance(f)};
    TRY(there->roofs_begin(&f->cols, &job, err));
    s->changed = 0;
    roofs_status status = repeat_there(f, &job, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    job.wanted = status == ROOFS_CANCELLED || is_looked_at(f);
    TRY(there->roofs_end(&f->cols, &job, s->ranks.keep, err));
    f->intercept += job.shift;
    s->guard.curvature = job.curvature;
    columns_drop(&f->cols, s->ranks.keep, NULL, NULL);
    return status;
}

static roofs_status roofs_consume_batch(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(make_room(s, f->cols.count, err));
    step_guard_set_unit(&s->guard, f->cols.unit_exponent);
    step_guard_relax(&s->guard);
    return f->cols.ops->rounds ? rounds_there(s, f, err) : rounds_here(s, f, err);
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
    step_guard_transfer(&s->guard, a);
    s->changed |= a->loading;
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
