#include "method/baseline/huber_path.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* Below this a rate is rounding; below that a column depends on the active ones. */
static const double LEAST_RATE = 1e-10, LEAST_PIVOT = 1e-12;

/* A lambda this small, relative to the responses, is as good as 0: what still changes
 * there is rounding. */
static const double END = 1e-12;

/* How far x may be found off where it was, relative to its largest; how far the objective at
 * the end may be from its lower bound, relative to itself. */
static const double JUMP = 1e-9, PROOF = 1e-8;

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
    TRY(memory_get(&h->factor.r, memory_bytes(total, total), sizeof *h->gram, what, err));
    TRY(memory_get(&h->active, total, sizeof *h->active, what, err));
    TRY(memory_get(&h->changed, n + total, sizeof *h->changed, what, err));
    double **vectors[] = {&h->py,    &h->ps, &h->level,     &h->slope,    &h->row,
                          &h->small, &h->x,  &h->all_level, &h->all_slope};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        TRY(memory_get(vectors[k], total, sizeof(double), what, err));
    return ROOFS_OK;
}

void huber_path_destroy(huber_path *h)
{
    void *blocks[] = {h->side,   h->r,       h->moving,    h->mask,     h->sign,
                      h->shut,   h->gram,    h->factor.r,  h->py,       h->ps,
                      h->level,  h->slope,   h->row,       h->small,    h->x,
                      h->active, h->changed, h->all_level, h->all_slope};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    candidates_destroy(&h->near);
    *h = (huber_path){0};
}

int64_t huber_path_bytes(int64_t count, int64_t n)
{
    int64_t squares = memory_bytes(count + 1, memory_bytes(count + 7, 2 * sizeof(double)));
    int64_t vectors = memory_bytes(n, 4 * sizeof(double) + sizeof(int32_t));
    return memory_sum(memory_sum(squares, vectors), candidates_bytes(count, n));
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
    double *packed = h->factor.r; /* count x count: room for it, and the factor follows */
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

/* One row, of a column that has just left and was not kept up to date. */
static void gram_row_anew(huber_path *h, int64_t own)
{
    const double one = 1;
    memset(h->mask, 0, (size_t)h->n * sizeof *h->mask);
    columns_add(h->cols, &h->which[own], 1, &one, h->mask);
    for (int64_t i = 0; i < h->n; i++)
        h->mask[i] = h->side[i] == 0 ? h->mask[i] : 0;
    products(h, h->mask, h->gram + own * h->total);
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
    gram_row_anew(h, h->active[place]);
    cholesky_remove(&h->factor, place);
    memmove(h->active + place, h->active + place + 1,
            (size_t)(h->factor.n - place) * sizeof *h->active);
    memset(h->shut, 0, (size_t)h->total);
}

/* ---- a sample changes sides ----------------------------------------------- */

static const double *sample_row(huber_path *h, int64_t i)
{
    if (h->near.place[i] > 0)
        return h->near.rows + (h->near.place[i] - 1) * h->total;
    columns_sample(h->cols, h->which, h->count, i, h->row);
    if (has_level(h))
        h->row[h->count] = 1;
    return h->row;
}

/* The sums with sample i added to Q (to = 1) or taken out (to = -1). Of the Gram matrix only
 * the rows of columns that may enter are needed. */
static void move_sums(huber_path *h, const double *row, int64_t i, int side, double to)
{
    for (int64_t k = 0; k < h->count; k++)
        if (h->sign[k] == 0)
            vector_add(h->gram + k * h->total, to * row[k], row, h->total);
    vector_add(h->py, to * h->y[i], row, h->total);
    vector_add(h->ps, -to * side, row, h->total);
}

static void move_factor(huber_path *h, const double *row, int joins)
{
    for (int64_t k = 0; k < h->factor.n; k++)
        h->small[k] = row[h->active[k]];
    if (joins) {
        cholesky_update(&h->factor, h->small);
    } else if (!cholesky_downdate(&h->factor, h->small)) {
        gram_anew(h);
        factor_anew(h);
    }
}

/* The sums lose digits as Q shrinks: they are made anew whenever it has halved. */
static void change_side(huber_path *h, int64_t i, int side)
{
    int joins = h->side[i] != 0;
    int linear = joins ? h->side[i] : side;
    const double *row = sample_row(h, i);
    h->side[i] = (joins ? 0 : side);
    h->quadratic += joins ? 1 : -1;
    if (2 * h->quadratic < h->refreshed) {
        sums_anew(h);
        factor_anew(h);
        return;
    }
    move_sums(h, row, i, linear, joins ? 1 : -1);
    move_factor(h, row, joins);
}

/* ---- one segment of the path ----------------------------------------------- */

/* x = level + lambda slope on the active columns: G level = A_Q'y_Q and
 * G slope = A_L'side_L - sign. */
static void find_direction(huber_path *h)
{
    for (int64_t k = 0; k < h->factor.n; k++) {
        int64_t j = h->active[k];
        h->level[k] = h->py[j];
        h->slope[k] = h->ps[j] - (j < h->count ? h->sign[j] : 0);
    }
    cholesky_solve_two(&h->factor, h->level, h->slope);
    memset(h->all_level, 0, (size_t)h->total * sizeof *h->all_level);
    memset(h->all_slope, 0, (size_t)h->total * sizeof *h->all_slope);
    for (int64_t k = 0; k < h->factor.n; k++) {
        h->all_level[h->active[k]] = h->level[k];
        h->all_slope[h->active[k]] = h->slope[k];
    }
}

/* x at the present lambda; returns the level. */
static double present_x(huber_path *h)
{
    for (int64_t k = 0; k < h->total; k++)
        h->x[k] = h->all_level[k] + h->lambda * h->all_slope[k];
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

static void moving_anew(huber_path *h)
{
    for (int64_t i = 0; i < h->n; i++)
        h->moving[i] = has_level(h) ? h->all_slope[h->count] : 0;
    columns_add(h->cols, h->which, h->count, h->all_slope, h->moving);
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
    if (!(rate > LEAST_RATE) || !(level > best->lambda * rate))
        return;
    double at = level / rate < h->lambda ? level / rate : h->lambda;
    if (at > best->lambda && at < h->changed[index] * (1 - 1e-13))
        *best = (event){at, index, sign};
}

/* Quadratic: |r| <= lambda. Linear: side r >= lambda. r = (r + lambda moving) - l moving.
 * With no more quadratic samples than active columns these fit exactly: none can leave. */
static void propose_sample(const huber_path *h, event *best, int64_t i, double r, double moving)
{
    double start = r + h->lambda * moving;
    int side = h->side[i];
    if (side != 0) {
        propose(h, best, i, side, -side * start, -(1 + side * moving));
    } else if (h->quadratic > h->factor.n) {
        int sign = start > 0 ? 1 : -1;
        propose(h, best, i, sign, sign * start, 1 + sign * moving);
    }
}

static void propose_candidates(huber_path *h, event *best)
{
    const candidates *near = &h->near;
    candidates_turn(&h->near, h->all_slope);
    for (int64_t k = 0; k < near->now; k++)
        propose_sample(h, best, near->sample[k], near->r[k], near->moving[k]);
}

static void propose_all(huber_path *h, event *best)
{
    residual_anew(h);
    moving_anew(h);
    for (int64_t i = 0; i < h->n; i++)
        propose_sample(h, best, i, h->r[i], h->moving[i]);
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
        const double *row = h->gram + j * h->total;
        double level = h->py[j] - vector_dot(row, h->all_level, h->total);
        double rate = h->ps[j] - vector_dot(row, h->all_slope, h->total);
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

/* Looks at all samples, and chooses those to be watched from here on. */
static void look_up(huber_path *h, event *next)
{
    candidates_end(&h->near, next->lambda, h->all_level, h->all_slope);
    *next = (event){.lambda = h->end, .index = -1};
    propose_columns(h, next);
    propose_all(h, next);
    candidates_begin(&h->near, &(candidates_line){h->side, h->r, h->moving, h->x, h->all_slope,
                                                  h->lambda, next->lambda});
    candidates_turn(&h->near, h->all_slope);
}

/* The path has no jumps; but where several things change at one lambda, x can be found off
 * where it was. What the watched samples are thought to be is then wrong. */
static int has_jumped(const huber_path *h)
{
    double off = 0, largest = 0;
    for (int64_t k = 0; k < h->total; k++) {
        double x = h->all_level[k] + h->lambda * h->all_slope[k];
        off = fmax(off, fabs(x - h->x[k]));
        largest = fmax(largest, fabs(x));
    }
    return off > JUMP * largest;
}

static event next_event(huber_path *h)
{
    event next = {.lambda = h->end, .index = -1};
    if (has_jumped(h))
        candidates_nothing(&h->near);
    propose_columns(h, &next);
    propose_candidates(h, &next);
    if (!candidates_holds(&h->near, next.lambda, h->all_level, h->all_slope))
        look_up(h, &next);
    return next;
}

int huber_path_step(huber_path *h)
{
    if (h->lambda == 0)
        return 0;
    find_direction(h);
    event next = next_event(h);
    h->events++;
    if (next.index >= 0) {
        vector_add(h->near.r, h->lambda - next.lambda, h->near.moving, h->near.now);
        h->lambda = next.lambda;
        present_x(h);
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

/* The bound is y'u for the limit of u = clip(r / lambda), made to fit its constraints. */
int huber_path_is_proven(huber_path *h)
{
    double objective = 0, mean = 0, *u = h->mask;
    residual_anew(h);
    moving_anew(h);
    for (int64_t i = 0; i < h->n; i++)
        u[i] = h->side[i] != 0 ? h->side[i] : -h->moving[i];
    if (has_level(h))
        mean = vector_sum(u, h->n) / (double)h->n;
    for (int64_t i = 0; i < h->n; i++) {
        u[i] -= mean;
        objective += fabs(h->r[i]);
    }
    for (int64_t k = 0; k < h->count; k++)
        objective += fabs(h->x[k]);
    products(h, u, h->small);
    double size = fmax(1, fmax(vector_largest(u, h->n), vector_largest(h->small, h->count)));
    return objective - vector_dot(h->y, u, h->n) / size <= PROOF * objective;
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
    TRY(candidates_create(&h->near, cols, which, count, with_level, err));
    candidates_nothing(&h->near);
    begin(h);
    return ROOFS_OK;
}
