/* Method torrent: TORRENT-FC (Bhatia, Jain, Kar, NIPS 2015), batch by batch. */
#include "method/baseline/torrent.h"

#include "base/memory.h"
#include "method/baseline/least_squares.h"

#include <math.h>
#include <string.h>

typedef struct torrent_state {
    batchwise frame; /* first, see batchwise.h */
    least_squares ls;
    double *target;         /* n: the responses less the intercept */
    double *trusted_before; /* n: the mask of S before the round's threshold */
    double *scratch;        /* per column */
    int64_t capacity;
} torrent_state;

int64_t torrent_bytes(const roofs_settings *set, int64_t n)
{
    int64_t vectors = memory_bytes(n, 2 * sizeof(double));
    return memory_sum(vectors, least_squares_bytes(batchwise_most_columns(set), n));
}

void torrent_destroy(void *own)
{
    torrent_state *s = own;
    batchwise_clear(&s->frame);
    least_squares_destroy(&s->ls);
    memory_free(s->target);
    memory_free(s->trusted_before);
    memory_free(s->scratch);
    memory_free(s);
}

roofs_status torrent_create_with(void **own, fit *f, const batch_solver *solver, roofs_error *err)
{
    const char *what = "the method";
    torrent_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, what, err));
    *own = s;
    s->frame.solver = solver;
    TRY(memory_get(&s->target, f->n, sizeof *s->target, what, err));
    return memory_get(&s->trusted_before, f->n, sizeof *s->trusted_before, what, err);
}

/* Least squares on S. With an intercept the columns are centred on S; the intercept is then the
 * mean of y over S. */
static roofs_status fit_on_trusted(torrent_state *s, const batch_problem *p, roofs_error *err)
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
    fit_residual(f, p->which, p->count, p->x, s->scratch);
    return ROOFS_OK;
}

/* Returns 1 where the residuals in S are rounding errors: S would then change at random. */
static int is_exact_fit(fit *f)
{
    const double share = 1e-12;
    double top = 0;
    for (int64_t i = 0; i < f->n; i++)
        top = fmax(top, f->trusted.mask[i] * fabs(f->y[i]));
    return f->trusted.cut <= share * comm_largest_of(&f->comm, top);
}

roofs_status torrent_solve(void *own, const batch_problem *p, roofs_error *err)
{
    torrent_state *s = own;
    fit *f = p->f;
    const size_t bytes = (size_t)f->n * sizeof *s->trusted_before;
    TRY(least_squares_reserve(&s->ls, p->count, f->n, err));
    TRY(memory_grow(&s->scratch, &s->capacity, p->count, sizeof *s->scratch, "weights", err));
    for (int64_t round = 1; round <= f->set.max_iter; round++) {
        TRY(fit_on_trusted(s, p, err));
        memcpy(s->trusted_before, f->trusted.mask, bytes);
        s->frame.solver->threshold(f);
        TRY(fit_round_done(f, err));
        int64_t moved = memcmp(s->trusted_before, f->trusted.mask, bytes) != 0;
        if (is_exact_fit(f) || comm_count(&f->comm, moved) == 0)
            return ROOFS_OK;
    }
    f->hit_cap = 1;
    return ROOFS_OK;
}

static void torrent_threshold(fit *f)
{
    trust_update(&f->trusted, f->residual, f->set.clean_ratio);
}

static roofs_status torrent_create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = torrent_solve, .threshold = torrent_threshold};
    if (f->set.clean_ratio == 0)
        return fail(err, ROOFS_BAD_SETTING,
                    "method torrent needs the share of clean samples: set clean_ratio");
    return torrent_create_with(own, f, &solver, err);
}

const method method_torrent = {
    .name = "torrent",
    .summary = "batch-wise least squares on the clean_ratio n smallest residuals (Bhatia 2015)",
    .has_joint = 1,
    .splits = 1,
    .has_forced = 1,
    .bytes = torrent_bytes,
    .create = torrent_create,
    .destroy = torrent_destroy,
    .consume = batchwise_consume,
};
