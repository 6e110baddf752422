/* Method grafting (Perkins, Theiler, ICML 2003), feature by feature: squared loss with an L1
 * penalty. A feature enters when its gradient exceeds the penalty; then the weights of the active
 * features are optimised. All samples are trusted. docs/baselines.md fills in what the paper leaves
 * open. */
#include "base/memory.h"
#include "linalg/vector.h"
#include "method/baseline/lasso.h"
#include "method/largest.h"
#include "method/method.h"

#include <math.h>
#include <string.h>

/* Relative to the penalty: the margin by which a feature must exceed it, and the tolerance of the
 * optimality conditions. */
static const double MARGIN = 1e-9, OPTIMAL = 1e-10;

enum { MOST_SWEEPS = 100000 };

typedef struct grafting_state {
    double penalty;  /* on the scale of z'r / n */
    int64_t *active; /* columns, in the order of `weights` */
    double *change;  /* per active column */
    unsigned char *keep;
    int64_t capacity[3];
    lasso weights;
    double *new_column; /* n */
} grafting_state;

static int64_t grafting_bytes(const roofs_settings *set, int64_t n)
{
    return memory_sum(lasso_bytes(set->mu + 1), memory_bytes(n, sizeof(double)));
}

static void grafting_destroy(void *own)
{
    grafting_state *s = own;
    memory_free(s->active);
    memory_free(s->change);
    memory_free(s->keep);
    memory_free(s->new_column);
    lasso_destroy(&s->weights);
    memory_free(s);
}

static roofs_status grafting_create(void **own, fit *f, roofs_error *err)
{
    const double n = (double)f->n;
    double lambda = f->set.lambda > 0 ? f->set.lambda : 1 / sqrt(n);
    grafting_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method grafting", err));
    *own = s;
    s->penalty = lambda * vector_norm(f->residual, f->n) / sqrt(n);
    return memory_get(&s->new_column, f->n, sizeof *s->new_column, "method grafting", err);
}

static roofs_status grafting_reserve(grafting_state *s, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    TRY(memory_grow(&s->active, &s->capacity[0], count, sizeof *s->active, what, err));
    TRY(memory_grow(&s->change, &s->capacity[1], count, sizeof *s->change, what, err));
    return memory_grow(&s->keep, &s->capacity[2], count, sizeof *s->keep, what, err);
}

/* ---- one feature ------------------------------------------------------- */

/* Column j joins the active ones, with its products divided by n. */
static roofs_status graft_column(grafting_state *s, fit *f, int64_t j, roofs_error *err)
{
    const int64_t count = s->weights.count;
    const double n = (double)f->n, one = 1;
    double *row = NULL;
    TRY(lasso_reserve(&s->weights, f->set.mu + 1, &row, err));
    s->active[count] = j;
    memset(s->new_column, 0, (size_t)f->n * sizeof *s->new_column);
    columns_add(&f->cols, &j, 1, &one, s->new_column);
    columns_products(&f->cols, s->active, count + 1, s->new_column, row);
    for (int64_t k = 0; k <= count; k++)
        row[k] /= n;
    for (int64_t i = 0; i < f->n; i++)
        s->new_column[i] *= f->y[i] - f->intercept;
    lasso_append(&s->weights, vector_sum(s->new_column, f->n) / n);
    return ROOFS_OK;
}

static void prune_column(grafting_state *s, fit *f, int64_t k)
{
    f->cols.items[s->active[k]].coef = 0;
    lasso_remove(&s->weights, k);
    memmove(s->active + k, s->active + k + 1, (size_t)(s->weights.count - k) * sizeof *s->active);
}

/* Optimises the weights, updates the residual, and removes features of weight zero. */
static void optimise_weights(grafting_state *s, fit *f)
{
    lasso *l = &s->weights;
    if (!lasso_descend(l, s->penalty, OPTIMAL * s->penalty, MOST_SWEEPS))
        f->hit_cap = 1;
    for (int64_t k = 0; k < l->count; k++) {
        double *coef = &f->cols.items[s->active[k]].coef;
        s->change[k] = *coef - l->w[k];
        *coef = l->w[k];
    }
    columns_add(&f->cols, s->active, l->count, s->change, f->residual);
    for (int64_t k = l->count - 1; k >= 0; k--)
        if (l->w[k] == 0)
            prune_column(s, f, k);
}

/* Drops the smallest weight, the later one among equals, and updates the residual. */
static void drop_smallest(grafting_state *s, fit *f)
{
    const lasso *l = &s->weights;
    const int64_t found = largest_find_smallest(&f->cols, s->active, l->w, l->count);
    columns_add(&f->cols, &s->active[found], 1, &l->w[found], f->residual);
    prune_column(s, f, found);
}

static roofs_status grafting_consider(grafting_state *s, fit *f, int64_t j, roofs_error *err)
{
    double slope;
    columns_products(&f->cols, &j, 1, f->residual, &slope);
    if (!(fabs(slope) / (double)f->n > s->penalty * (1 + MARGIN)))
        return ROOFS_OK;
    TRY(graft_column(s, f, j, err));
    optimise_weights(s, f);
    while (s->weights.count > f->set.mu) {
        drop_smallest(s, f);
        optimise_weights(s, f);
    }
    return ROOFS_OK;
}

/* ---- a batch ----------------------------------------------------------- */

/* The active columns are those retained; the columns of the batch follow them. */
static void grafting_begin_batch(grafting_state *s, fit *f)
{
    columns *c = &f->cols;
    for (int64_t k = 0; k < s->weights.count; k++)
        s->active[k] = k;
    for (int64_t j = s->weights.count; f->set.intercept && j < c->count; j++)
        columns_centre(c, &j, 1, f->trusted.mask, (double)f->n, s->change);
}

/* Drops the inactive columns and recomputes the residual, free of accumulated rounding. */
static void grafting_end_batch(grafting_state *s, fit *f)
{
    columns *c = &f->cols;
    memset(s->keep, 0, (size_t)c->count);
    for (int64_t k = 0; k < s->weights.count; k++)
        s->keep[s->active[k]] = 1;
    columns_drop(c, s->keep, f->residual, NULL);
    fit_residual(f, NULL, c->count, NULL, s->change);
    f->trusted.cut = vector_largest(f->residual, f->n);
}

static roofs_status grafting_consume(void *own, fit *f, roofs_error *err)
{
    grafting_state *s = own;
    roofs_status status = ROOFS_OK;
    TRY(grafting_reserve(s, f->cols.count + 1, err));
    const int64_t first = s->weights.count;
    grafting_begin_batch(s, f);
    for (int64_t j = first; j < f->cols.count && status == ROOFS_OK; j++) {
        TRY(grafting_consider(s, f, j, err));
        status = fit_round_done(f, err);
    }
    grafting_end_batch(s, f);
    return status;
}

/* The retained columns are those with a weight, in the same order. */
static void grafting_transfer(void *own, fit *f, archive *a)
{
    grafting_state *s = own;
    archive_f64(a, &s->penalty);
    lasso_transfer(&s->weights, f->set.mu, a);
    if (a->loading && s->weights.count != f->cols.count)
        archive_refuse(a, "the weights do not match the features");
}

static int64_t grafting_transfer_bytes(const roofs_settings *set, int64_t n)
{
    (void)n;
    return lasso_bytes(set->mu + 1);
}

const method method_grafting = {
    .name = "grafting",
    .summary = "feature by feature: L1 penalty, what exceeds it enters (Perkins, Theiler 2003)",
    .bytes = grafting_bytes,
    .create = grafting_create,
    .destroy = grafting_destroy,
    .consume = grafting_consume,
    .transfer = grafting_transfer,
    .transfer_bytes = grafting_transfer_bytes,
};
