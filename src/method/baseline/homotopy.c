/* Method homotopy (Yang et al., EECS-2010-13): min |x|_1 + |e|_1 subject to A x + e = y, batch by
 * batch, by following the solution path of its penalised form. docs/baselines.md describes it. */
#include "base/memory.h"
#include "method/baseline/edge_walk.h"
#include "method/baseline/huber_path.h"
#include "method/baseline/least_absolute.h"

#include <string.h>

enum { EVENTS_PER_ROUND = 256 };

static int64_t homotopy_bytes(const roofs_settings *set, int64_t n)
{
    const int64_t most = batchwise_most_columns(set);
    return memory_sum(huber_path_bytes(most, n), edge_walk_bytes(most, n));
}

/* At most max_iter events per sample and column: a path takes far fewer. */
static roofs_status follow_path(huber_path *h, fit *f, roofs_error *err)
{
    const double most = (double)f->set.max_iter * (double)(h->a.n + h->a.total);
    while (huber_path_step(h)) {
        if ((double)h->events > most) {
            f->hit_cap = 1;
            break;
        }
        if (h->events % EVENTS_PER_ROUND == 0)
            TRY(fit_round_done(f, err));
    }
    return fit_round_done(f, err);
}

/* Where many events share one lambda (integer data, equal columns), the path can miss the optimum.
 * The simplex method then needs a few steps from its end. */
static roofs_status walk_to_optimum(huber_path *h, roofs_error *err)
{
    edge_walk w;
    roofs_status status = edge_walk_create(&w, &h->a, err);
    if (status == ROOFS_OK && edge_walk_to_optimum(&w, h->x))
        memcpy(h->x, w.x, (size_t)h->a.total * sizeof *w.x);
    edge_walk_destroy(&w);
    return status;
}

static roofs_status homotopy_solve(void *own, const batch_problem *p, roofs_error *err)
{
    fit *f = p->f;
    const design a = design_of(&f->cols, p->which, p->count, f->y, f->set.intercept != 0);
    huber_path path;
    (void)own;
    roofs_status status = huber_path_create(&path, &a, err);
    if (status == ROOFS_OK)
        status = follow_path(&path, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        huber_path_find_x(&path);
    if (status == ROOFS_OK && path.lambda == 0 && !huber_path_is_optimal(&path))
        status = walk_to_optimum(&path, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        least_absolute_store(p, &a, path.x, path.scratch);
    huber_path_destroy(&path);
    return status;
}

static roofs_status homotopy_create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = homotopy_solve,
                                        .threshold = least_absolute_threshold};
    (void)f;
    return batchwise_create(own, &solver, err);
}

const method method_homotopy = {
    .name = "homotopy",
    .summary = "batch-wise min |x|_1 + |e|_1, A x + e = y, along its solution path (Yang 2010)",
    .has_joint = 1,
    .bytes = homotopy_bytes,
    .create = homotopy_create,
    .destroy = batchwise_destroy,
    .consume = batchwise_consume,
};
