/* TORRENT-FC (Bhatia, Jain, Kar, NIPS 2015), one batch of features after the other. */
#include "method/baseline/torrent.h"

#include "base/memory.h"
#include "method/baseline/least_squares.h"

#include <math.h>
#include <string.h>

typedef struct state {
    batchwise front; /* first: both files know it */
    least_squares ls;
    double *target; /* n: the responses less their mean on S */
    double *before; /* n: S of the round before */
    double *scratch;
    int64_t capacity[1];
} state;

int64_t torrent_bytes(const roofs_settings *set, int64_t n)
{
    int64_t vectors = memory_bytes(n, 2 * sizeof(double));
    return memory_sum(vectors, least_squares_bytes(batchwise_most(set), n));
}

void torrent_destroy(void *own)
{
    state *s = own;
    if (!s)
        return;
    batchwise_destroy(&s->front);
    least_squares_destroy(&s->ls);
    memory_free(s->target);
    memory_free(s->before);
    memory_free(s->scratch);
    memory_free(s);
}

roofs_status torrent_create(void **own, fit *f, const batch_solver *solver, roofs_error *err)
{
    const char *what = "the method";
    state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, what, err));
    *own = s;
    s->front.solver = solver;
    TRY(memory_get(&s->target, f->n, sizeof *s->target, what, err));
    return memory_get(&s->before, f->n, sizeof *s->before, what, err);
}

/* Least squares on S. With an intercept the columns are centred on S, so that it can be
 * fitted apart: b is the mean of y there. */
static roofs_status fit_on_trusted(state *s, const batch_problem *p, roofs_error *err)
{
    fit *f = p->f;
    const trust *t = &f->trusted;
    f->intercept = 0;
    if (f->set.intercept) {
        columns_centre(&f->cols, p->which, p->count, t->mask, (double)t->count, s->scratch);
        f->intercept = comm_dot(&f->comm, t->mask, f->y, f->n) / (double)t->count;
    }
    for (int64_t i = 0; i < f->n; i++)
        s->target[i] = f->y[i] - f->intercept;
    TRY(least_squares_solve(&s->ls, &f->cols, p->which, p->count, t->mask, t->count, s->target,
                            p->x, err));
    batchwise_residual(f, p->which, p->count, p->x, s->scratch);
    return ROOFS_OK;
}

/* What is left of the responses in S is rounding: S would go on changing for no reason. */
static int is_exact(fit *f)
{
    const double share = 1e-12;
    double top = 0;
    for (int64_t i = 0; i < f->n; i++)
        top = fmax(top, f->trusted.mask[i] * fabs(f->y[i]));
    return f->trusted.cut <= share * comm_largest_of(&f->comm, top);
}

roofs_status torrent_solve(void *own, const batch_problem *p, roofs_error *err)
{
    state *s = own;
    fit *f = p->f;
    const size_t bytes = (size_t)f->n * sizeof *s->before;
    TRY(least_squares_room(&s->ls, p->count, f->n, err));
    TRY(memory_grow(&s->scratch, &s->capacity[0], p->count, sizeof *s->scratch, "weights", err));
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        TRY(fit_on_trusted(s, p, err));
        memcpy(s->before, f->trusted.mask, bytes);
        s->front.solver->threshold(f);
        TRY(fit_round_done(f, err));
        int64_t moved = memcmp(s->before, f->trusted.mask, bytes) != 0;
        if (is_exact(f) || comm_count(&f->comm, moved) == 0)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

roofs_status torrent_consume(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    return batchwise_consume(&s->front, s, f, err);
}

/* ---- the method -------------------------------------------------------- */

static void threshold(fit *f)
{
    trust_update(&f->trusted, f->residual, f->set.clean_ratio);
}

static roofs_status create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = torrent_solve, .threshold = threshold};
    if (f->set.clean_ratio == 0)
        return fail(err, ROOFS_BAD_SETTING,
                    "method torrent must be told the share of clean samples: set clean_ratio");
    return torrent_create(own, f, &solver, err);
}

const method method_torrent = {
    .name = "torrent",
    .summary = "batch-wise least squares on the clean_ratio n smallest residuals (Bhatia 2015)",
    .has_joint = 1,
    .splits = 1,
    .bytes = torrent_bytes,
    .create = create,
    .destroy = torrent_destroy,
    .consume = torrent_consume,
    .finish = batchwise_finish,
};
