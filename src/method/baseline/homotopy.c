/* Homotopy (Yang et al., EECS-2010-13): min |x|_1 + |e|_1 subject to A x + e = y, batch by
 * batch, by following the path of its penalised form. docs/baselines.md. */
#include "base/memory.h"
#include "method/baseline/edge_walk.h"
#include "method/baseline/huber_path.h"
#include "method/baseline/least_absolute.h"

#include <string.h>

enum { EVENTS_A_ROUND = 256 };

static int64_t bytes(const roofs_settings *set, int64_t n)
{
    const int64_t most = batchwise_most(set);
    return memory_sum(huber_path_bytes(most, n), edge_walk_bytes(most, n));
}

/* At most max_iter events for every sample and column: several times what a path takes. */
static roofs_status follow(huber_path *h, fit *f, roofs_error *err)
{
    const double most = (double)f->set.max_iter * (double)(h->n + h->total);
    while (huber_path_step(h)) {
        if ((double)h->events > most) {
            f->hit_cap = 1;
            break;
        }
        if (h->events % EVENTS_A_ROUND == 0)
            TRY(fit_round_done(f, err));
    }
    return fit_round_done(f, err);
}

/* Where many things change at one lambda (whole numbers, equal columns) the path can lose its
 * way; from its end the optimum is then a few steps along edges. */
static roofs_status make_sure(const huber_path *h, double *x, double *level, roofs_error *err)
{
    edge_walk w;
    const int with_level = h->total > h->count;
    roofs_status status = edge_walk_create(&w, h->cols, h->which, h->count, h->y, with_level, err);
    if (status == ROOFS_OK && edge_walk_to_optimum(&w, h->x)) {
        memcpy(x, w.x, (size_t)h->count * sizeof *x);
        *level = with_level ? w.x[h->count] : 0;
    }
    edge_walk_destroy(&w);
    return status;
}

static roofs_status solve(void *own, const batch_problem *p, roofs_error *err)
{
    fit *f = p->f;
    huber_path path;
    (void)own;
    roofs_status status =
        huber_path_create(&path, &f->cols, p->which, p->count, f->y, f->set.intercept != 0, err);
    if (status == ROOFS_OK)
        status = follow(&path, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED) {
        huber_path_answer(&path, p->x, &f->intercept);
        if (status == ROOFS_OK && path.lambda == 0 && !huber_path_is_proven(&path))
            status = make_sure(&path, p->x, &f->intercept, err);
    }
    if (status == ROOFS_OK || status == ROOFS_CANCELLED) {
        batchwise_residual(f, p->which, p->count, p->x, path.small);
        least_absolute_threshold(f);
    }
    huber_path_destroy(&path);
    return status;
}

static roofs_status create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = solve, .threshold = least_absolute_threshold};
    (void)f;
    return least_absolute_create(own, &solver, err);
}

const method method_homotopy = {
    .name = "homotopy",
    .summary = "batch-wise min |x|_1 + |e|_1, A x + e = y, along its solution path (Yang 2010)",
    .has_joint = 1,
    .bytes = bytes,
    .create = create,
    .destroy = least_absolute_destroy,
    .consume = least_absolute_consume,
    .finish = batchwise_finish,
};
