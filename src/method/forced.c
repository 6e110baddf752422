#include "method/forced.h"

#include "base/memory.h"
#include "linalg/vector.h"
#include "method/baseline/cholesky.h"

#include <math.h>
#include <string.h>

/* Of the part of a column that others do not explain: below, coefficients are not determined. */
static const double SINGULAR = 1e-6;

int64_t forced_bytes(int64_t count)
{
    const int64_t lists = memory_bytes(count, 3 * sizeof(double) + sizeof(int64_t));
    return memory_sum(lists, memory_bytes(memory_bytes(count, count), sizeof(double)));
}

void forced_destroy(forced *s)
{
    memory_free(s->which);
    memory_free(s->gram);
    memory_free(s->mean);
    *s = (forced){0};
}

static roofs_status reserve(forced *s, int64_t count, roofs_error *err)
{
    const char *what = "the forced features";
    if (count <= s->capacity)
        return ROOFS_OK;
    forced_destroy(s);
    TRY(memory_get(&s->which, count, sizeof *s->which, what, err));
    TRY(memory_get(&s->gram, memory_bytes(count, count), sizeof *s->gram, what, err));
    TRY(memory_get(&s->mean, 3 * count, sizeof *s->mean, what, err));
    s->move = s->mean + count;
    s->square = s->move + count;
    s->capacity = count;
    return ROOFS_OK;
}

roofs_status forced_find(forced *s, const fit *f, roofs_error *err)
{
    if (f->set.always == 0)
        return ROOFS_OK;
    TRY(reserve(s, fit_forced(f), err));
    s->count = 0;
    for (int64_t j = 0; j < f->cols.count; j++)
        if (fit_is_forced(f, j))
            s->which[s->count++] = j;
    return ROOFS_OK;
}

/* The normal equations. With an intercept, columns and r are taken less their weighted means: the
 * intercept then follows from r. */
static void fill_equations(forced *s, fit *f, const double *weight, const double *r,
                           double *scratch)
{
    const int64_t k = s->count;
    const double total = comm_total(&f->comm, weight, f->n);
    columns_gram(&f->cols, s->which, k, weight, s->gram);
    for (int64_t i = 0; i < f->n; i++)
        scratch[i] = weight[i] * r[i];
    columns_products(&f->cols, s->which, k, scratch, s->move);
    const double level = comm_total(&f->comm, scratch, f->n) / total;
    columns_products(&f->cols, s->which, k, weight, s->mean);
    for (int64_t q = 0; q < k && f->set.intercept; q++) {
        s->move[q] -= s->mean[q] * level;
        for (int64_t p = 0; p < k; p++)
            s->gram[q * k + p] -= s->mean[q] * s->mean[p] / total;
    }
    for (int64_t q = 0; q < k; q++)
        s->square[q] = fmax(s->gram[q * k + q], 0);
}

/* A column that is constant over the samples with weight keeps its coefficient. */
static void hold_constant(forced *s, double least)
{
    const int64_t k = s->count;
    for (int64_t q = 0; q < k; q++) {
        if (s->square[q] > least)
            continue;
        for (int64_t p = 0; p < k; p++)
            s->gram[q * k + p] = s->gram[p * k + q] = 0;
        s->gram[q * k + q] = 1;
        s->move[q] = s->square[q] = 0;
        s->is_singular = 1;
    }
}

double forced_solve(forced *s, fit *f, const double *weight, double *r, double *scratch)
{
    const int64_t k = s->count;
    const double constant = 1e-12 * comm_total(&f->comm, weight, f->n); /* columns have scale 1 */
    cholesky factor = {.r = s->gram, .stride = k};
    double largest = 0;
    fill_equations(s, f, weight, r, scratch);
    s->is_singular = 0;
    hold_constant(s, constant);
    for (int64_t q = 0; q < k; q++)
        s->gram[q * k + q] *= 1 + FORCED_RIDGE;
    if (!cholesky_factor(&factor, s->gram, k, 0)) {
        s->is_singular = 1;
        memset(s->move, 0, (size_t)k * sizeof *s->move);
        return 0;
    }
    for (int64_t q = 0; q < k; q++) {
        const double pivot = s->gram[q * k + q];
        s->is_singular |= s->square[q] > 0 && pivot * pivot < SINGULAR * s->square[q];
    }
    cholesky_solve(&factor, s->move);
    for (int64_t q = 0; q < k; q++) {
        f->cols.items[s->which[q]].coef += s->move[q];
        largest = fmax(largest, fabs(s->move[q]));
        s->move[q] = -s->move[q];
    }
    columns_add(&f->cols, s->which, k, s->move, r);
    return largest;
}

void forced_spread(forced *s, fit *f, double tau2, int is_all, double *V)
{
    for (int64_t q = 0; q < s->count; q++) {
        column *c = &f->cols.items[s->which[q]];
        const double before = is_all ? 0 : c->variance;
        c->variance = s->square[q] > 0 ? tau2 / s->square[q] : 0;
        c->probability = 1;
        s->move[q] = c->variance - before;
    }
    columns_add_squares(&f->cols, s->which, s->count, s->move, V);
}

void forced_add(const forced *s, fit *f, double times, double *x)
{
    for (int64_t q = 0; q < s->count; q++)
        s->move[q] = times * f->cols.items[s->which[q]].coef;
    columns_add(&f->cols, s->which, s->count, s->move, x);
}
