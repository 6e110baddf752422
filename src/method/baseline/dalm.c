/* Method dalm (Yang et al., EECS-2010-13): min |x|_1 + |e|_1 subject to A x + e = y, batch by
 * batch, by the augmented Lagrangian of its dual, restarted from averages. On linear programs the
 * plain iteration circles around the optimum, and the average of its points is better than any of
 * them. Each round also walks from the vertex near the best point to the optimum (edge_walk.h).
 * docs/baselines.md describes the method. */
#include "base/memory.h"
#include "method/baseline/dual_lagrangian.h"
#include "method/baseline/edge_walk.h"
#include "method/baseline/least_absolute.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS_PER_ROUND = 100 };

/* Rounds end when the objective exceeds its lower bound by at most this, relative to itself. */
static const double GAP = 1e-8;

/* The iterations since the last restart. */
typedef struct dalm_epoch {
    double *sum, *mean, *start; /* points as blocks: since the restart, and at the restart */
    int64_t size;               /* numbers in a block */
    int64_t length, all;        /* iterations since the restart, and in total */
    double start_gap, mean_gap;
} dalm_epoch;

static int64_t dalm_bytes(const roofs_settings *set, int64_t n)
{
    int64_t most = batchwise_most_columns(set);
    int64_t points = memory_bytes(most + 1 + n, 6 * sizeof(double));
    return memory_sum(memory_sum(dual_lagrangian_bytes(most, n), edge_walk_bytes(most, n)), points);
}

/* ---- restarts ---------------------------------------------------------- */

static roofs_status epoch_create(dalm_epoch *s, const dual_lagrangian *d, roofs_error *err)
{
    const char *what = "method dalm";
    *s = (dalm_epoch){.size = dual_point_size(d), .start_gap = INFINITY, .mean_gap = INFINITY};
    TRY(memory_get(&s->sum, s->size, sizeof *s->sum, what, err));
    TRY(memory_get(&s->mean, s->size, sizeof *s->mean, what, err));
    TRY(memory_get(&s->start, s->size, sizeof *s->start, what, err));
    memcpy(s->start, d->at.x, (size_t)s->size * sizeof *s->start);
    return ROOFS_OK;
}

static void epoch_destroy(dalm_epoch *s)
{
    memory_free(s->sum);
    memory_free(s->mean);
    memory_free(s->start);
}

static void dalm_iterate(dual_lagrangian *d, dalm_epoch *s)
{
    for (int k = 0; k < ITERATIONS_PER_ROUND; k++) {
        dual_lagrangian_iterate(d);
        for (int64_t i = 0; i < s->size; i++)
            s->sum[i] += d->at.x[i];
    }
    s->length += ITERATIONS_PER_ROUND;
    s->all += ITERATIONS_PER_ROUND;
    for (int64_t i = 0; i < s->size; i++)
        s->mean[i] = s->sum[i] / (double)s->length;
}

/* Moves beta half way, on a logarithmic scale, to the ratio of the distances that the multipliers
 * and B'u have moved since the last restart. */
static void adapt_beta(dual_lagrangian *d, const dalm_epoch *s)
{
    dual_point old = dual_point_in(d, s->start);
    double multipliers = 0, u = 0;
    for (int64_t k = 0; k < d->a.total; k++) {
        multipliers += (d->at.x[k] - old.x[k]) * (d->at.x[k] - old.x[k]);
        u += (d->at.au[k] - old.au[k]) * (d->at.au[k] - old.au[k]);
    }
    for (int64_t i = 0; i < d->a.n; i++) {
        multipliers += (d->at.e[i] - old.e[i]) * (d->at.e[i] - old.e[i]);
        u += (d->at.u[i] - old.u[i]) * (d->at.u[i] - old.u[i]);
    }
    if (multipliers > 0 && u > 0)
        d->beta = sqrt(d->beta * sqrt(multipliers / u));
}

static void dalm_restart(dual_lagrangian *d, dalm_epoch *s, int from_mean, double gap)
{
    const size_t bytes = (size_t)s->size * sizeof *s->sum;
    if (from_mean)
        memcpy(d->at.x, s->mean, bytes);
    adapt_beta(d, s);
    memcpy(s->start, d->at.x, bytes);
    memset(s->sum, 0, bytes);
    s->length = 0;
    s->start_gap = gap;
    s->mean_gap = INFINITY;
}

/* The vertex that a point converges to is near the optimum, which is a vertex too. */
static void walk_from(dual_lagrangian *d, edge_walk *w, const dual_point *p)
{
    dual_lagrangian_sparse_x(d, p, d->zx);
    if (!edge_walk_to_optimum(w, d->zx))
        return;
    dual_point optimum = {.x = w->x, .u = w->u};
    dual_lagrangian_gap(d, &optimum);
}

/* Restarts where the gap is much smaller, is smaller and grows again, or the last restart was long
 * ago. The better of the current point and the mean is the new start. */
static void maybe_restart(dual_lagrangian *d, dalm_epoch *s, edge_walk *w)
{
    dual_point mean = dual_point_in(d, s->mean);
    double current_gap = dual_lagrangian_gap(d, &d->at), mean_gap = dual_lagrangian_gap(d, &mean);
    double gap = fmin(current_gap, mean_gap);
    walk_from(d, w, current_gap < mean_gap ? &d->at : &mean);
    int much_smaller = gap <= 0.3 * s->start_gap;
    int grows = gap <= 0.8 * s->start_gap && mean_gap > s->mean_gap;
    int is_long = 2 * s->length >= s->all && s->length > 2 * ITERATIONS_PER_ROUND;
    if (much_smaller || grows || is_long)
        dalm_restart(d, s, mean_gap < current_gap, gap);
    else
        s->mean_gap = mean_gap;
}

static roofs_status dalm_rounds(dual_lagrangian *d, dalm_epoch *s, edge_walk *w, fit *f,
                                roofs_error *err)
{
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        dalm_iterate(d, s);
        maybe_restart(d, s, w);
        TRY(fit_round_done(f, err));
        if (d->best_objective - d->best_bound <= GAP * d->best_objective)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

static roofs_status dalm_solve(void *own, const batch_problem *p, roofs_error *err)
{
    fit *f = p->f;
    const design a = design_of(&f->cols, p->which, p->count, f->y, f->set.intercept != 0);
    dual_lagrangian d;
    dalm_epoch s = {0};
    edge_walk w = {0};
    (void)own;
    roofs_status status = dual_lagrangian_create(&d, &a, err);
    if (status == ROOFS_OK)
        status = epoch_create(&s, &d, err);
    if (status == ROOFS_OK)
        status = edge_walk_create(&w, &a, err);
    if (status == ROOFS_OK)
        status = dalm_rounds(&d, &s, &w, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        least_absolute_store(p, &a, d.best_x, d.t);
    edge_walk_destroy(&w);
    epoch_destroy(&s);
    dual_lagrangian_destroy(&d);
    return status;
}

static roofs_status dalm_create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = dalm_solve, .threshold = least_absolute_threshold};
    (void)f;
    return batchwise_create(own, &solver, err);
}

const method method_dalm = {
    .name = "dalm",
    .summary = "batch-wise min |x|_1 + |e|_1, A x + e = y, by its dual augmented Lagrangian",
    .has_joint = 1,
    .bytes = dalm_bytes,
    .create = dalm_create,
    .destroy = batchwise_destroy,
    .consume = batchwise_consume,
};
