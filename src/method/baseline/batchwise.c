#include "method/baseline/batchwise.h"

#include "base/memory.h"

#include <string.h>

roofs_status batchwise_create(void **state, const batch_solver *solver, roofs_error *err)
{
    batchwise *b = NULL;
    TRY(memory_get(&b, 1, sizeof *b, "the method", err));
    *state = b;
    b->solver = solver;
    return ROOFS_OK;
}

void batchwise_clear(batchwise *b)
{
    largest_destroy(&b->selection);
    memory_free(b->which);
    memory_free(b->x);
}

void batchwise_destroy(void *state)
{
    batchwise_clear(state);
    memory_free(state);
}

static int is_joint(const roofs_settings *set)
{
    return set->reading == ROOFS_READING_JOINT;
}

int64_t batchwise_most_columns(const roofs_settings *set)
{
    return is_joint(set) ? fit_capacity(set) + set->batch : set->batch;
}

static roofs_status batchwise_reserve(batchwise *b, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    TRY(largest_reserve(&b->selection, count, err));
    TRY(memory_grow(&b->which, &b->capacity[0], count, sizeof *b->which, what, err));
    return memory_grow(&b->x, &b->capacity[1], count, sizeof *b->x, what, err);
}

/* Reading alone: the columns of the batch, which are still borrowed. Reading joint: all. */
static int64_t choose_columns(batchwise *b, const fit *f)
{
    int64_t count = 0;
    for (int64_t j = 0; j < f->cols.count; j++)
        if (is_joint(&f->set) || columns_is_new(&f->cols, j))
            b->which[count++] = j;
    return count;
}

static roofs_status check_joint(const fit *f, int64_t count, roofs_error *err)
{
    if (!is_joint(&f->set) || count <= f->trusted.count)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING,
                "reading joint: %lld features (kept and new) cannot be fitted together on %lld "
                "trusted samples; lower mu or batch, or use the reading alone",
                (long long)count, (long long)f->trusted.count);
}

/* The residual is recomputed, because coefficients from different fits have no common one. The
 * intercept is its mean over the samples that the last fit trusted. */
static void select_and_threshold(batchwise *b, fit *f)
{
    columns *c = &f->cols;
    largest_mark(&b->selection, f, f->set.mu);
    columns_drop(c, b->selection.keep, f->residual, NULL);
    f->intercept = 0;
    fit_residual(f, NULL, c->count, NULL, b->x);
    if (f->set.intercept)
        fit_recentre(f);
    b->solver->threshold(f);
}

roofs_status batchwise_consume(void *state, fit *f, roofs_error *err)
{
    batchwise *b = state;
    TRY(batchwise_reserve(b, f->cols.count, err));
    batch_problem p = {.f = f, .which = b->which, .x = b->x};
    p.count = choose_columns(b, f);
    if (p.count == 0)
        return ROOFS_OK;
    TRY(check_joint(f, p.count, err));
    if (!is_joint(&f->set))
        trust_all(&f->trusted);
    roofs_status status = b->solver->solve(state, &p, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    for (int64_t k = 0; k < p.count; k++)
        f->cols.items[p.which[k]].coef = p.x[k];
    select_and_threshold(b, f);
    return status;
}
