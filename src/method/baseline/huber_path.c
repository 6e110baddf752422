#include "method/baseline/huber_path.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* A smaller rate is rounding. A column with a smaller pivot depends on the active ones. */
static const double LEAST_RATE = 1e-10, LEAST_PIVOT = 1e-12;

/* A lambda below this, relative to the responses, counts as 0: later events are rounding. */
static const double LAMBDA_END = 1e-12;

/* x may jump by this at an event, relative to its largest entry. The objective at the end may
 * exceed its lower bound by GAP, relative to itself. */
static const double JUMP = 1e-9, GAP = 1e-8;

void huber_path_destroy(huber_path *h)
{
    void *blocks[] = {h->side,    h->r,       h->image,    h->mask,     h->sign,
                      h->blocked, h->gram,    h->factor.r, h->qy,       h->lside,
                      h->base,    h->slope,   h->row,      h->scratch,  h->x,
                      h->active,  h->changed, h->all_base, h->all_slope};
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

/* ---- sums over Q, recomputed -------------------------------------------- */

static void recompute_gram(huber_path *h)
{
    for (int64_t i = 0; i < h->a.n; i++)
        h->mask[i] = h->side[i] == 0;
    design_gram(&h->a, h->mask, h->scratch, h->gram);
}

/* The row of a column that has just left: rows of active columns are not updated. */
static void recompute_gram_row(huber_path *h, int64_t own)
{
    const double one = 1;
    memset(h->mask, 0, (size_t)h->a.n * sizeof *h->mask);
    columns_add(h->a.cols, &h->a.which[own], 1, &one, h->mask);
    for (int64_t i = 0; i < h->a.n; i++)
        h->mask[i] = h->side[i] == 0 ? h->mask[i] : 0;
    design_products(&h->a, h->mask, h->gram + own * h->a.total);
}

static void recompute_sums(huber_path *h)
{
    recompute_gram(h);
    for (int64_t i = 0; i < h->a.n; i++)
        h->image[i] = h->mask[i] * h->a.y[i];
    design_products(&h->a, h->image, h->qy);
    for (int64_t i = 0; i < h->a.n; i++)
        h->image[i] = (double)h->side[i];
    design_products(&h->a, h->image, h->lside);
    h->quadratic_at_refresh = h->quadratic;
}

/* ---- the factor --------------------------------------------------------- */

/* Appends the Gram row of a column, restricted to the active columns and itself, to the factor.
 * Returns 0 where the column depends on the active ones. */
static int append_active(huber_path *h, int64_t own)
{
    const double *row = h->gram + own * h->a.total;
    for (int64_t k = 0; k < h->factor.n; k++)
        h->scratch[k] = row[h->active[k]];
    h->scratch[h->factor.n] = row[own];
    if (!cholesky_append(&h->factor, h->scratch, LEAST_PIVOT))
        return 0;
    h->active[h->factor.n - 1] = own;
    return 1;
}

/* A column that depends on the ones before it is dropped; only rounding can cause this. */
static void recompute_factor(huber_path *h)
{
    int64_t wanted = h->factor.n;
    h->factor.n = 0;
    for (int64_t k = 0; k < wanted; k++) {
        int64_t own = h->active[k];
        if (append_active(h, own))
            continue;
        h->sign[own] = 0;
        h->blocked[own] = 1;
    }
}

/* Returns 0 where the column depends on the active ones. */
static int enter_column(huber_path *h, int64_t own, int sign)
{
    if (h->factor.n == h->a.total || !append_active(h, own))
        return 0;
    h->sign[own] = sign;
    return 1;
}

static void remove_column(huber_path *h, int64_t position)
{
    h->sign[h->active[position]] = 0;
    recompute_gram_row(h, h->active[position]);
    cholesky_remove(&h->factor, position);
    memmove(h->active + position, h->active + position + 1,
            (size_t)(h->factor.n - position) * sizeof *h->active);
    memset(h->blocked, 0, (size_t)h->a.total);
}

/* ---- a sample changes sides ----------------------------------------------- */

static const double *sample_row(huber_path *h, int64_t i)
{
    if (h->near.position[i] > 0)
        return h->near.rows + (h->near.position[i] - 1) * h->a.total;
    design_row(&h->a, i, h->row);
    return h->row;
}

/* Adds sample i to the sums over Q (times = 1) or removes it (times = -1). Of the Gram matrix only
 * the rows of inactive columns are needed. */
static void update_sums(huber_path *h, const double *row, int64_t i, int side, double times)
{
    for (int64_t k = 0; k < h->a.count; k++)
        if (h->sign[k] == 0)
            vector_add(h->gram + k * h->a.total, times * row[k], row, h->a.total);
    vector_add(h->qy, times * h->a.y[i], row, h->a.total);
    vector_add(h->lside, -times * side, row, h->a.total);
}

static void update_factor(huber_path *h, const double *row, int joins)
{
    for (int64_t k = 0; k < h->factor.n; k++)
        h->scratch[k] = row[h->active[k]];
    if (joins) {
        cholesky_update(&h->factor, h->scratch);
    } else if (!cholesky_downdate(&h->factor, h->scratch)) {
        recompute_gram(h);
        recompute_factor(h);
    }
}

/* The sums lose digits as Q shrinks, so they are recomputed whenever |Q| has halved. */
static void change_side(huber_path *h, int64_t i, int side)
{
    int joins = h->side[i] != 0;
    int linear = joins ? h->side[i] : side;
    const double *row = sample_row(h, i);
    h->side[i] = (joins ? 0 : side);
    h->quadratic += joins ? 1 : -1;
    if (2 * h->quadratic < h->quadratic_at_refresh) {
        recompute_sums(h);
        recompute_factor(h);
        return;
    }
    update_sums(h, row, i, linear, joins ? 1 : -1);
    update_factor(h, row, joins);
}

/* ---- one segment of the path ----------------------------------------------- */

/* x = base + lambda slope on the active columns, with G base = A_Q'y_Q and
 * G slope = A_L'side_L - sign. */
static void find_segment(huber_path *h)
{
    for (int64_t k = 0; k < h->factor.n; k++) {
        int64_t j = h->active[k];
        h->base[k] = h->qy[j];
        h->slope[k] = h->lside[j] - (j < h->a.count ? h->sign[j] : 0);
    }
    cholesky_solve_two(&h->factor, h->base, h->slope);
    memset(h->all_base, 0, (size_t)h->a.total * sizeof *h->all_base);
    memset(h->all_slope, 0, (size_t)h->a.total * sizeof *h->all_slope);
    for (int64_t k = 0; k < h->factor.n; k++) {
        h->all_base[h->active[k]] = h->base[k];
        h->all_slope[h->active[k]] = h->slope[k];
    }
}

/* x at the current lambda. */
static void update_x(huber_path *h)
{
    for (int64_t k = 0; k < h->a.total; k++)
        h->x[k] = h->all_base[k] + h->lambda * h->all_slope[k];
}

static void recompute_residual(huber_path *h)
{
    update_x(h);
    design_residual(&h->a, h->x, h->scratch, h->r);
}

static void recompute_image(huber_path *h)
{
    for (int64_t i = 0; i < h->a.n; i++)
        h->image[i] = design_intercept(&h->a, h->all_slope);
    columns_add(h->a.cols, h->a.which, h->a.count, h->all_slope, h->image);
}

typedef struct path_event {
    double lambda;
    int64_t index; /* sample; n + column; -1 = none */
    int sign;      /* of the sample or column after it; 0 = the column leaves */
} path_event;

/* Proposes the event of a condition with slack rate * lambda - base: the event is where the slack
 * reaches 0, if it falls with lambda. A sample or column that has changed at this lambda cannot
 * change at it again. */
static void propose_event(const huber_path *h, path_event *best, int64_t index, int sign,
                          double base, double rate)
{
    if (!(rate > LEAST_RATE) || !(base > best->lambda * rate))
        return;
    double at = base / rate < h->lambda ? base / rate : h->lambda;
    if (at > best->lambda && at < h->changed[index] * (1 - 1e-13))
        *best = (path_event){at, index, sign};
}

/* A quadratic sample has |r| <= lambda, a linear one side r >= lambda. At l the residual is
 * (r + lambda image) - l image. Where there are no more quadratic samples than active columns,
 * their residuals are zero and none can leave. */
static void propose_sample(const huber_path *h, path_event *best, int64_t i, double r, double image)
{
    double start = r + h->lambda * image;
    int side = h->side[i];
    if (side != 0) {
        propose_event(h, best, i, side, -side * start, -(1 + side * image));
    } else if (h->quadratic > h->factor.n) {
        int sign = start > 0 ? 1 : -1;
        propose_event(h, best, i, sign, sign * start, 1 + sign * image);
    }
}

/* An active column has sign x >= 0, the others |correlation| <= lambda with
 * correlation = A_Q'(y - A x)_Q + lambda A_L'side_L. */
static void propose_columns(const huber_path *h, path_event *best)
{
    for (int64_t k = 0; k < h->factor.n; k++) {
        int64_t j = h->active[k];
        if (j < h->a.count)
            propose_event(h, best, h->a.n + j, 0, -h->sign[j] * h->base[k],
                          h->sign[j] * h->slope[k]);
    }
    for (int64_t j = 0; j < h->a.count; j++) {
        if (h->sign[j] != 0 || h->blocked[j])
            continue;
        const double *row = h->gram + j * h->a.total;
        double base = h->qy[j] - vector_dot(row, h->all_base, h->a.total);
        double rate = h->lside[j] - vector_dot(row, h->all_slope, h->a.total);
        int sign = base > 0 ? 1 : -1;
        propose_event(h, best, h->a.n + j, sign, sign * base, 1 - sign * rate);
    }
}

static void apply_event(huber_path *h, const path_event *e)
{
    h->changed[e->index] = h->lambda;
    if (e->index < h->a.n) {
        change_side(h, e->index, e->sign);
        return;
    }
    int64_t own = e->index - h->a.n, position = 0;
    if (e->sign != 0) {
        h->blocked[own] = !enter_column(h, own, e->sign);
        return;
    }
    while (h->active[position] != own)
        position++;
    remove_column(h, position);
}

/* Finds the next event among all samples and columns, and chooses new candidates. */
static void choose_candidates(huber_path *h, path_event *next)
{
    candidates_adapt(&h->near, next->lambda, h->all_base, h->all_slope);
    *next = (path_event){.lambda = h->lambda_end, .index = -1};
    propose_columns(h, next);
    recompute_residual(h);
    recompute_image(h);
    for (int64_t i = 0; i < h->a.n; i++)
        propose_sample(h, next, i, h->r[i], h->image[i]);
    candidates_choose(&h->near, &(candidates_line){h->side, h->r, h->image, h->x, h->all_slope,
                                                   h->lambda, next->lambda});
    candidates_set_slope(&h->near, h->all_slope);
}

/* The path is continuous. But where several events have the same lambda, the computed x can jump,
 * and the residuals of the candidates are then wrong. */
static int has_jumped(const huber_path *h)
{
    double off = 0, largest = 0;
    for (int64_t k = 0; k < h->a.total; k++) {
        double x = h->all_base[k] + h->lambda * h->all_slope[k];
        off = fmax(off, fabs(x - h->x[k]));
        largest = fmax(largest, fabs(x));
    }
    return off > JUMP * largest;
}

static path_event next_event(huber_path *h)
{
    candidates *near = &h->near;
    path_event next = {.lambda = h->lambda_end, .index = -1};
    if (has_jumped(h))
        candidates_invalidate(near);
    propose_columns(h, &next);
    candidates_set_slope(near, h->all_slope);
    for (int64_t k = 0; k < near->count; k++)
        propose_sample(h, &next, near->sample[k], near->r[k], near->image[k]);
    if (!candidates_suffice(near, next.lambda, h->all_base, h->all_slope))
        choose_candidates(h, &next);
    return next;
}

int huber_path_step(huber_path *h)
{
    if (h->lambda == 0)
        return 0;
    find_segment(h);
    path_event next = next_event(h);
    h->events++;
    if (next.index >= 0) {
        vector_add(h->near.r, h->lambda - next.lambda, h->near.image, h->near.count);
        h->lambda = next.lambda;
        update_x(h);
        apply_event(h, &next);
        return 1;
    }
    h->lambda = 0;
    recompute_sums(h); /* the solution is free of accumulated rounding */
    recompute_factor(h);
    return 0;
}

void huber_path_find_x(huber_path *h)
{
    find_segment(h); /* the last event has changed it */
    update_x(h);
}

/* The lower bound is that of the limit of u = clip(r / lambda). */
int huber_path_is_optimal(huber_path *h)
{
    double objective = 0, *u = h->mask;
    recompute_residual(h);
    recompute_image(h);
    for (int64_t i = 0; i < h->a.n; i++)
        u[i] = h->side[i] != 0 ? h->side[i] : -h->image[i];
    for (int64_t i = 0; i < h->a.n; i++)
        objective += fabs(h->r[i]);
    for (int64_t k = 0; k < h->a.count; k++)
        objective += fabs(h->x[k]);
    return objective - design_dual_bound(&h->a, u, h->scratch, u) <= GAP * objective;
}

/* For large lambda x = 0, every sample is quadratic and the intercept is the mean of y. The path
 * begins at the lambda where this ends. */
static void path_start(huber_path *h)
{
    h->quadratic = h->a.n;
    recompute_sums(h);
    if (design_has_intercept(&h->a))
        enter_column(h, h->a.count, 1);
    for (int64_t k = 0; k < h->a.n + h->a.total; k++)
        h->changed[k] = INFINITY;
    double mean = design_has_intercept(&h->a) ? vector_sum(h->a.y, h->a.n) / (double)h->a.n : 0;
    for (int64_t i = 0; i < h->a.n; i++)
        h->r[i] = h->a.y[i] - mean;
    columns_products(h->a.cols, h->a.which, h->a.count, h->r, h->scratch);
    h->lambda = fmax(vector_largest(h->r, h->a.n), vector_largest(h->scratch, h->a.count));
    h->lambda_end = LAMBDA_END * vector_largest(h->r, h->a.n);
}

roofs_status huber_path_create(huber_path *h, const design *a, roofs_error *err)
{
    const char *what = "the solution path";
    const int64_t n = a->n, total = a->total;
    *h = (huber_path){.a = *a, .factor = {.stride = total}};
    TRY(memory_get(&h->side, n, sizeof *h->side, what, err));
    TRY(memory_get(&h->r, n, sizeof *h->r, what, err));
    TRY(memory_get(&h->image, n, sizeof *h->image, what, err));
    TRY(memory_get(&h->mask, n, sizeof *h->mask, what, err));
    TRY(memory_get(&h->sign, total, sizeof *h->sign, what, err));
    TRY(memory_get(&h->blocked, total, sizeof *h->blocked, what, err));
    TRY(memory_get(&h->gram, memory_bytes(total, total), sizeof *h->gram, what, err));
    TRY(memory_get(&h->factor.r, memory_bytes(total, total), sizeof *h->gram, what, err));
    TRY(memory_get(&h->active, total, sizeof *h->active, what, err));
    TRY(memory_get(&h->changed, n + total, sizeof *h->changed, what, err));
    double **vectors[] = {&h->qy,      &h->lside, &h->base,     &h->slope,    &h->row,
                          &h->scratch, &h->x,     &h->all_base, &h->all_slope};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        TRY(memory_get(vectors[k], total, sizeof(double), what, err));
    TRY(candidates_create(&h->near, a, err));
    candidates_invalidate(&h->near);
    path_start(h);
    return ROOFS_OK;
}
