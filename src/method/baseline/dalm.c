/* DALM (Yang et al., EECS-2010-13): min |x|_1 + |e|_1 subject to A x + e = y, batch by
 * batch, by the augmented Lagrangian of its dual, restarted from averages: on linear
 * programs the plain iteration circles around the optimum, and the centre of the circle is
 * better than any point on it. docs/baselines.md. */
#include "base/memory.h"
#include "method/baseline/dual_lagrangian.h"
#include "method/baseline/edge_walk.h"
#include "method/baseline/least_absolute.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS_A_ROUND = 100 };

/* Settled when the objective is this close to its lower bound, relative to itself. */
static const double GAP = 1e-8;

/* The iterations since the last restart. */
typedef struct stretch {
    double *sum, *mean, *start; /* points as blocks */
    int64_t size;               /* of a block */
    int64_t length, all;        /* iterations since the restart, and since the beginning */
    double gap_at_start, gap_of_mean;
} stretch;

static int64_t dalm_bytes(const roofs_settings *set, int64_t n)
{
    int64_t most = batchwise_most(set);
    int64_t points = memory_bytes(most + 1 + n, 6 * sizeof(double));
    return memory_sum(memory_sum(dual_lagrangian_bytes(most, n), edge_walk_bytes(most, n)), points);
}

/* ---- restarts ---------------------------------------------------------- */

static roofs_status stretch_create(stretch *s, const dual_lagrangian *d, roofs_error *err)
{
    const char *what = "method dalm";
    *s = (stretch){.size = dual_point_size(d), .gap_at_start = INFINITY, .gap_of_mean = INFINITY};
    TRY(memory_get(&s->sum, s->size, sizeof *s->sum, what, err));
    TRY(memory_get(&s->mean, s->size, sizeof *s->mean, what, err));
    TRY(memory_get(&s->start, s->size, sizeof *s->start, what, err));
    memcpy(s->start, d->at.x, (size_t)s->size * sizeof *s->start);
    return ROOFS_OK;
}

static void stretch_destroy(stretch *s)
{
    memory_free(s->sum);
    memory_free(s->mean);
    memory_free(s->start);
}

static void iterate(dual_lagrangian *d, stretch *s)
{
    for (int k = 0; k < ITERATIONS_A_ROUND; k++) {
        dual_lagrangian_iterate(d);
        for (int64_t i = 0; i < s->size; i++)
            s->sum[i] += d->at.x[i];
    }
    s->length += ITERATIONS_A_ROUND;
    s->all += ITERATIONS_A_ROUND;
    for (int64_t i = 0; i < s->size; i++)
        s->mean[i] = s->sum[i] / (double)s->length;
}

/* beta follows how far multipliers and u came since the last restart: half way, on a
 * logarithmic scale, to where both take equal steps. */
static void balance(dual_lagrangian *d, const stretch *s)
{
    dual_point old = dual_point_in(d, s->start);
    double multipliers = 0, u = 0;
    for (int64_t k = 0; k < d->total; k++) {
        multipliers += (d->at.x[k] - old.x[k]) * (d->at.x[k] - old.x[k]);
        u += (d->at.au[k] - old.au[k]) * (d->at.au[k] - old.au[k]);
    }
    for (int64_t i = 0; i < d->n; i++) {
        multipliers += (d->at.e[i] - old.e[i]) * (d->at.e[i] - old.e[i]);
        u += (d->at.u[i] - old.u[i]) * (d->at.u[i] - old.u[i]);
    }
    if (multipliers > 0 && u > 0)
        d->beta = sqrt(d->beta * sqrt(multipliers / u));
}

static void restart(dual_lagrangian *d, stretch *s, int from_mean, double gap)
{
    const size_t bytes = (size_t)s->size * sizeof *s->sum;
    if (from_mean)
        memcpy(d->at.x, s->mean, bytes);
    balance(d, s);
    memcpy(s->start, d->at.x, bytes);
    memset(s->sum, 0, bytes);
    s->length = 0;
    s->gap_at_start = gap;
    s->gap_of_mean = INFINITY;
}

/* The corner a point is heading for is near the optimum, which is a corner too. */
static void try_corner(dual_lagrangian *d, edge_walk *w, const dual_point *p)
{
    dual_lagrangian_heading(d, p, d->zx);
    if (!edge_walk_to_optimum(w, d->zx))
        return;
    dual_point corner = {.x = w->x, .u = w->u};
    dual_lagrangian_gap(d, &corner);
}

/* Restarts where the gap has shrunk a lot, shrunk and grows again, or it has been long. */
static void consider_restart(dual_lagrangian *d, stretch *s, edge_walk *w)
{
    dual_point mean = dual_point_in(d, s->mean);
    double here = dual_lagrangian_gap(d, &d->at), there = dual_lagrangian_gap(d, &mean);
    double gap = fmin(here, there);
    try_corner(d, w, here < there ? &d->at : &mean);
    int a_lot = gap <= 0.3 * s->gap_at_start;
    int grows_again = gap <= 0.8 * s->gap_at_start && there > s->gap_of_mean;
    int long_ago = 2 * s->length >= s->all && s->length > 2 * ITERATIONS_A_ROUND;
    if (a_lot || grows_again || long_ago)
        restart(d, s, there < here, gap);
    else
        s->gap_of_mean = there;
}

/* ---- the method -------------------------------------------------------- */

static roofs_status rounds(dual_lagrangian *d, stretch *s, edge_walk *w, fit *f, roofs_error *err)
{
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        iterate(d, s);
        consider_restart(d, s, w);
        TRY(fit_round_done(f, err));
        if (d->least - d->bound <= GAP * d->least)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

static void take_answer(const dual_lagrangian *d, const batch_problem *p)
{
    fit *f = p->f;
    memcpy(p->x, d->best, (size_t)p->count * sizeof *p->x);
    f->intercept = f->set.intercept ? d->best[p->count] : 0;
    batchwise_residual(f, p->which, p->count, p->x, d->t);
    least_absolute_threshold(f);
}

static roofs_status solve(void *own, const batch_problem *p, roofs_error *err)
{
    fit *f = p->f;
    dual_lagrangian d;
    stretch s = {0};
    edge_walk w = {0};
    (void)own;
    roofs_status status =
        dual_lagrangian_create(&d, &f->cols, p->which, p->count, f->y, f->set.intercept != 0, err);
    if (status == ROOFS_OK)
        status = stretch_create(&s, &d, err);
    if (status == ROOFS_OK)
        status = edge_walk_create(&w, d.cols, d.which, d.count, d.y, f->set.intercept != 0, err);
    if (status == ROOFS_OK)
        status = rounds(&d, &s, &w, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        take_answer(&d, p);
    edge_walk_destroy(&w);
    stretch_destroy(&s);
    dual_lagrangian_destroy(&d);
    return status;
}

static roofs_status dalm_create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = solve, .threshold = least_absolute_threshold};
    (void)f;
    return least_absolute_create(own, &solver, err);
}

const method method_dalm = {
    .name = "dalm",
    .summary = "batch-wise min |x|_1 + |e|_1, A x + e = y, by its dual augmented Lagrangian",
    .has_joint = 1,
    .bytes = dalm_bytes,
    .create = dalm_create,
    .destroy = least_absolute_destroy,
    .consume = least_absolute_consume,
    .finish = batchwise_finish,
};
