#include "method/huber_path.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* Below this a rate is rounding; below that a column depends on the active ones. */
static const double LEAST_RATE = 1e-10, LEAST_PIVOT = 1e-12;

/* A lambda this small, relative to the responses, is as good as 0: what still changes
 * there is rounding. */
static const double END = 1e-12;

enum { REFRESH = 64 }; /* events between two residuals made anew */

/* ---- life -------------------------------------------------------------- */

static roofs_status allocate(huber_path *h, roofs_error *err)
{
    const char *what = "the solution path";
    const int64_t n = h->n, total = h->total;
    TRY(memory_get(&h->side, n, sizeof *h->side, what, err));
    TRY(memory_get(&h->r, n, sizeof *h->r, what, err));
    TRY(memory_get(&h->moving, n, sizeof *h->moving, what, err));
    TRY(memory_get(&h->mask, n, sizeof *h->mask, what, err));
    TRY(memory_get(&h->sign, total, sizeof *h->sign, what, err));
    TRY(memory_get(&h->shut, total, sizeof *h->shut, what, err));
    TRY(memory_get(&h->gram, memory_bytes(total, total), sizeof *h->gram, what, err));
    TRY(memory_get(&h->factor.l, memory_bytes(total, total), sizeof *h->gram, what, err));
    TRY(memory_get(&h->active, total, sizeof *h->active, what, err));
    TRY(memory_get(&h->picked, total, sizeof *h->picked, what, err));
    TRY(memory_get(&h->changed, n + total, sizeof *h->changed, what, err));
    double **vectors[] = {&h->py, &h->ps, &h->level, &h->slope, &h->row, &h->small, &h->x};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        TRY(memory_get(vectors[k], total, sizeof(double), what, err));
    return ROOFS_OK;
}

void huber_path_destroy(huber_path *h)
{
    void *blocks[] = {h->side, h->r,        h->moving, h->mask,   h->sign,    h->shut,
                      h->gram, h->factor.l, h->py,     h->ps,     h->level,   h->slope,
                      h->row,  h->small,    h->x,      h->active, h->changed, h->picked};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    *h = (huber_path){0};
}

int64_t huber_path_bytes(int64_t count, int64_t n)
{
    int64_t squares = memory_bytes(count + 1, memory_bytes(count + 6, 2 * sizeof(double)));
    int64_t vectors = memory_bytes(n, 4 * sizeof(double) + sizeof(int32_t));
    return memory_sum(squares, vectors);
}

static int has_level(const huber_path *h)
{
    return h->total > h->count;
}

/* ---- sums over Q, made anew --------------------------------------------- */

/* The level is a column of ones. */
static void gram_anew(huber_path *h)
{
    const int64_t count = h->count, total = h->total;
    double *packed = h->factor.l; /* count x count: room for it, and the factor follows */
    for (int64_t i = 0; i < h->n; i++)
        h->mask[i] = h->side[i] == 0;
    columns_gram(h->cols, h->which, count, h->mask, packed);
    for (int64_t k = 0; k < count; k++)
        memcpy(h->gram + k * total, packed + k * count, (size_t)count * sizeof *packed);
    if (!has_level(h))
        return;
    columns_products(h->cols, h->which, count, h->mask, h->small);
    for (int64_t k = 0; k < count; k++)
        h->gram[k * total + count] = h->gram[count * total + k] = h->small[k];
    h->gram[count * total + count] = (double)h->quadratic;
}

static void products(huber_path *h, const double *v, double *out)
{
    columns_products(h->cols, h->which, h->count, v, out);
    if (has_level(h))
        out[h->count] = vector_sum(v, h->n);
}

static void sums_anew(huber_path *h)
{
    gram_anew(h);
    for (int64_t i = 0; i < h->n; i++)
        h->moving[i] = h->mask[i] * h->y[i];
    products(h, h->moving, h->py);
    for (int64_t i = 0; i < h->n; i++)
        h->moving[i] = (double)h->side[i];
    products(h, h->moving, h->ps);
    h->refreshed = h->quadratic;
}

/* ---- the factor --------------------------------------------------------- */

static void active_row(const huber_path *h, int64_t own, double *out)
{
    for (int64_t k = 0; k < h->factor.n; k++)
        out[k] = h->gram[own * h->total + h->active[k]];
    out[h->factor.n] = h->gram[own * h->total + own];
}

/* What cannot follow the ones before it leaves: only rounding can make that happen. */
static void factor_anew(huber_path *h)
{
    int64_t wanted = h->factor.n;
    h->factor.n = 0;
    for (int64_t k = 0; k < wanted; k++) {
        int64_t own = h->active[k];
        active_row(h, own, h->small);
        if (cholesky_append(&h->factor, h->small, LEAST_PIVOT)) {
            h->active[h->factor.n - 1] = own;
        } else {
            h->sign[own] = 0;
            h->shut[own] = 1;
        }
    }
}

static int let_in(huber_path *h, int64_t own, int sign)
{
    if (h->factor.n == h->total)
        return 0;
    active_row(h, own, h->small);
    if (!cholesky_append(&h->factor, h->small, LEAST_PIVOT))
        return 0;
    h->active[h->factor.n - 1] = own;
    h->sign[own] = sign;
    return 1;
}

static void let_out(huber_path *h, int64_t place)
{
    h->sign[h->active[place]] = 0;
    cholesky_remove(&h->factor, place);
    memmove(h->active + place, h->active + place + 1,
            (size_t)(h->factor.n - place) * sizeof *h->active);
    memset(h->shut, 0, (size_t)h->total);
}

/* ---- a sample changes sides ----------------------------------------------- */

static void sample_row(huber_path *h, int64_t i)
{
    columns_sample(h->cols, h->which, h->count, i, h->row);
    if (has_level(h))
        h->row[h->count] = 1;
}

/* The sums with sample i added to Q (to = 1) or taken out (to = -1). */
static void move_sums(huber_path *h, int64_t i, int side, double to)
{
    for (int64_t k = 0; k < h->total; k++) {
        for (int64_t l = 0; l < h->total; l++)
            h->gram[k * h->total + l] += to * h->row[k] * h->row[l];
        h->py[k] += to * h->row[k] * h->y[i];
        h->ps[k] -= to * h->row[k] * side;
    }
}

static void move_factor(huber_path *h, int joins)
{
    for (int64_t k = 0; k < h->factor.n; k++)
        h->small[k] = h->row[h->active[k]];
    if (joins)
        cholesky_update(&h->factor, h->small);
    else if (!cholesky_downdate(&h->factor, h->small))
        factor_anew(h);
}

/* The sums lose digits as Q shrinks: they are made anew whenever it has halved. */
static void change_side(huber_path *h, int64_t i, int side)
{
    int joins = h->side[i] != 0;
    int linear = joins ? h->side[i] : side;
    sample_row(h, i);
    h->side[i] = (joins ? 0 : side);
    h->quadratic += joins ? 1 : -1;
    if (2 * h->quadratic < h->refreshed) {
        sums_anew(h);
        factor_anew(h);
        return;
    }
    move_sums(h, i, linear, joins ? 1 : -1);
    move_factor(h, joins);
}

/* ---- one segment of the path ----------------------------------------------- */

/* x = level + lambda slope on the active columns: G level = A_Q'y_Q and
 * G slope = A_L'side_L - sign. Then moving = A slope. */
static void find_direction(huber_path *h)
{
    const int64_t active = h->factor.n;
    for (int64_t k = 0; k < active; k++) {
        int64_t j = h->active[k];
        h->level[k] = h->py[j];
        h->slope[k] = h->ps[j] - (j < h->count ? h->sign[j] : 0);
    }
    cholesky_solve(&h->factor, h->level);
    cholesky_solve(&h->factor, h->slope);
    int64_t used = 0;
    double ground = 0;
    for (int64_t k = 0; k < active; k++) {
        if (h->active[k] == h->count) {
            ground = h->slope[k];
            continue;
        }
        h->picked[used] = h->which[h->active[k]];
        h->small[used++] = h->slope[k];
    }
    for (int64_t i = 0; i < h->n; i++)
        h->moving[i] = ground;
    columns_add(h->cols, h->picked, used, h->small, h->moving);
}

/* x at the present lambda; returns the level. */
static double present_x(huber_path *h)
{
    memset(h->x, 0, (size_t)h->total * sizeof *h->x);
    for (int64_t k = 0; k < h->factor.n; k++)
        h->x[h->active[k]] = h->level[k] + h->lambda * h->slope[k];
    return has_level(h) ? h->x[h->count] : 0;
}

static void residual_anew(huber_path *h)
{
    double ground = present_x(h);
    for (int64_t k = 0; k < h->count; k++)
        h->small[k] = -h->x[k];
    for (int64_t i = 0; i < h->n; i++)
        h->r[i] = h->y[i] - ground;
    columns_add(h->cols, h->which, h->count, h->small, h->r);
}

typedef struct event {
    double lambda;
    int64_t index; /* sample; n + column; -1 = the end */
    int sign;
} event;

/* Something whose slack is rate * lambda - level: it is used up where that reaches 0, if it
 * falls with lambda at all. What changed at this lambda must wait for the next. */
static void propose(const huber_path *h, event *best, int64_t index, int sign, double level,
                    double rate)
{
    if (!(rate > LEAST_RATE) || !(level > 0))
        return;
    double at = fmin(level / rate, h->lambda);
    if (at > best->lambda && at < h->changed[index] * (1 - 1e-13))
        *best = (event){at, index, sign};
}

/* Quadratic: |r| <= lambda. Linear: side r >= lambda. r = (r + lambda moving) - l moving.
 * With no more quadratic samples than active columns these fit exactly: none can leave. */
static void propose_samples(const huber_path *h, event *best)
{
    for (int64_t i = 0; i < h->n; i++) {
        double start = h->r[i] + h->lambda * h->moving[i];
        int side = h->side[i];
        if (side == 0) {
            if (h->quadratic <= h->factor.n)
                continue;
            int sign = start > 0 ? 1 : -1;
            propose(h, best, i, sign, sign * start, 1 + sign * h->moving[i]);
        } else {
            propose(h, best, i, side, -side * start, -(1 + side * h->moving[i]));
        }
    }
}

/* Active: sign x >= 0. Others: |correlation| <= lambda, with correlation =
 * A_Q'(y - A x)_Q + lambda A_L'side_L. */
static void propose_columns(const huber_path *h, event *best)
{
    for (int64_t k = 0; k < h->factor.n; k++) {
        int64_t j = h->active[k];
        if (j < h->count)
            propose(h, best, h->n + j, 0, -h->sign[j] * h->level[k], h->sign[j] * h->slope[k]);
    }
    for (int64_t j = 0; j < h->count; j++) {
        if (h->sign[j] != 0 || h->shut[j])
            continue;
        double level = h->py[j], rate = h->ps[j];
        for (int64_t k = 0; k < h->factor.n; k++) {
            level -= h->gram[j * h->total + h->active[k]] * h->level[k];
            rate -= h->gram[j * h->total + h->active[k]] * h->slope[k];
        }
        int sign = level > 0 ? 1 : -1;
        propose(h, best, h->n + j, sign, sign * level, 1 - sign * rate);
    }
}

static void happen(huber_path *h, const event *e)
{
    h->changed[e->index] = h->lambda;
    if (e->index < h->n) {
        change_side(h, e->index, e->sign);
        return;
    }
    int64_t own = e->index - h->n, place = 0;
    if (e->sign != 0) {
        h->shut[own] = !let_in(h, own, e->sign);
        return;
    }
    while (h->active[place] != own)
        place++;
    let_out(h, place);
}

int huber_path_step(huber_path *h)
{
    event next = {.lambda = h->end, .index = -1};
    if (h->lambda == 0)
        return 0;
    find_direction(h);
    if (h->events++ % REFRESH == 0)
        residual_anew(h);
    propose_samples(h, &next);
    propose_columns(h, &next);
    if (next.index >= 0) {
        for (int64_t i = 0; i < h->n; i++)
            h->r[i] += (h->lambda - next.lambda) * h->moving[i];
        h->lambda = next.lambda;
        happen(h, &next);
        return 1;
    }
    h->lambda = 0;
    sums_anew(h); /* the last word is free of what rounding left on the way */
    factor_anew(h);
    return 0;
}

void huber_path_answer(huber_path *h, double *x, double *level)
{
    find_direction(h); /* the last event has changed it */
    *level = present_x(h);
    memcpy(x, h->x, (size_t)h->count * sizeof *x);
}

/* ---- the start ---------------------------------------------------------- */

/* Where lambda is so large that x = 0 and every sample is quadratic: the level is the mean
 * of y. The path begins where the first of these ends. */
static void begin(huber_path *h)
{
    h->quadratic = h->n;
    sums_anew(h);
    if (has_level(h))
        let_in(h, h->count, 1);
    for (int64_t k = 0; k < h->n + h->total; k++)
        h->changed[k] = INFINITY;
    double mean = has_level(h) ? vector_sum(h->y, h->n) / (double)h->n : 0;
    for (int64_t i = 0; i < h->n; i++)
        h->r[i] = h->y[i] - mean;
    columns_products(h->cols, h->which, h->count, h->r, h->small);
    h->lambda = fmax(vector_largest(h->r, h->n), vector_largest(h->small, h->count));
    h->end = END * vector_largest(h->r, h->n);
}

roofs_status huber_path_create(huber_path *h, columns *cols, const int64_t *which, int64_t count,
                               const double *y, int with_level, roofs_error *err)
{
    *h = (huber_path){.cols = cols, .which = which, .y = y, .n = cols->n, .count = count};
    h->total = count + (with_level != 0);
    h->factor.stride = h->total;
    TRY(allocate(h, err));
    begin(h);
    return ROOFS_OK;
}
