#include "method/baseline/edge_walk.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* A multiplier this far beyond 1 is out of bounds; a rate this small, relative to what it
 * is a product of, is rounding. */
static const double BEYOND = 1e-9, LEAST_RATE = 1e-10;

/* Samples at hand to begin with and at most, and steps before a walk is given up, all for
 * every column; and how often it is taken up again with more samples at hand. */
enum { FIRST_AT_HAND = 5, MOST_AT_HAND = 20, PATIENCE = 30, RETURNS = 50 };

typedef enum walk_end { GOING_ON, NO_WAY_DOWN, NO_END } walk_end;

/* ---- life -------------------------------------------------------------- */

static int64_t most_at_hand(int64_t total, int64_t n)
{
    int64_t most = MOST_AT_HAND * (total + MOST_AT_HAND);
    return most < n ? most : n;
}

static roofs_status allocate(edge_walk *w, roofs_error *err)
{
    const char *what = "a walk between corners";
    const int64_t total = w->total, all = w->count + w->room;
    double **per_equation[] = {&w->value, &w->rate, &w->size};
    double **per_column[] = {&w->length, &w->slope, &w->x, &w->gradient, &w->row};
    double **per_sample[] = {&w->far, &w->r, &w->u};
    for (size_t k = 0; k < sizeof per_equation / sizeof *per_equation; k++)
        TRY(memory_get(per_equation[k], all, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof per_column / sizeof *per_column; k++)
        TRY(memory_get(per_column[k], total, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof per_sample / sizeof *per_sample; k++)
        TRY(memory_get(per_sample[k], w->n, sizeof(double), what, err));
    TRY(memory_get(&w->side, all, sizeof *w->side, what, err));
    TRY(memory_get(&w->kinks, all, sizeof *w->kinks, what, err));
    TRY(memory_get(&w->sample, w->room, sizeof *w->sample, what, err));
    TRY(memory_get(&w->held, total, sizeof *w->held, what, err));
    TRY(memory_get(&w->edges, memory_bytes(total, total), sizeof *w->edges, what, err));
    TRY(memory_reserve(&w->rows, memory_bytes(w->room, total), sizeof *w->rows, what, err));
    return order_create(&w->ranks, w->n, err);
}

roofs_status edge_walk_create(edge_walk *w, columns *cols, const int64_t *which, int64_t count,
                              const double *y, int with_level, roofs_error *err)
{
    *w = (edge_walk){.cols = cols, .which = which, .y = y, .n = cols->n, .count = count};
    w->total = count + (with_level != 0);
    w->room = most_at_hand(w->total, w->n);
    return allocate(w, err);
}

void edge_walk_destroy(edge_walk *w)
{
    void *blocks[] = {w->value,    w->rate,   w->size, w->length, w->slope, w->x,
                      w->gradient, w->row,    w->far,  w->r,      w->u,     w->side,
                      w->kinks,    w->sample, w->held, w->edges,  w->rows};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    order_destroy(&w->ranks);
    *w = (edge_walk){0};
}

int64_t edge_walk_bytes(int64_t count, int64_t n)
{
    const int64_t total = count + 1, room = most_at_hand(total, n);
    int64_t squares = memory_bytes(total, memory_bytes(total + room + 6, sizeof(double)));
    int64_t equations = memory_bytes(count + room, 5 * sizeof(double) + sizeof(edge_kink));
    int64_t samples = memory_bytes(n, 3 * sizeof(double) + 2 * sizeof(order_item));
    return memory_sum(squares, memory_sum(equations, samples));
}

static int has_level(const edge_walk *w)
{
    return w->total > w->count;
}

/* ---- rows of equations ---------------------------------------------------- */

static double *row_at_hand(const edge_walk *w, int64_t equation)
{
    return w->rows + (equation - w->count) * w->total;
}

static double *edge(const edge_walk *w, int64_t k)
{
    return w->edges + k * w->total;
}

/* The change of an equation's value along d: d_j, or -a_i'd. */
static double change(const edge_walk *w, int64_t equation, const double *d)
{
    if (equation < w->count)
        return d[equation];
    return -vector_dot(row_at_hand(w, equation), d, w->total);
}

/* gradient += times * the gradient of an equation's value */
static void add_gradient(edge_walk *w, int64_t equation, double times)
{
    if (equation < w->count)
        w->gradient[equation] += times;
    else
        vector_add(w->gradient, -times, row_at_hand(w, equation), w->total);
}

static void take_in_hand(edge_walk *w, int64_t i)
{
    const int64_t equation = w->count + w->hand++;
    double *row = row_at_hand(w, equation);
    columns_sample(w->cols, w->which, w->count, i, row);
    if (has_level(w))
        row[w->count] = 1;
    w->sample[equation - w->count] = i;
    w->size[equation] = sqrt(vector_dot(row, row, w->total));
    w->far[i] = 0;
}

/* ---- corners ----------------------------------------------------------------- */

/* Equation `in` holds instead of number k: edge k is scaled to change `in` by 1, and the
 * other edges give up what they would change of it. `row` has these changes. */
static void exchange(edge_walk *w, int64_t k, int64_t in)
{
    double *own = edge(w, k);
    const double scale = 1 / w->row[k];
    for (int64_t j = 0; j < w->total; j++)
        own[j] *= scale;
    for (int64_t l = 0; l < w->total; l++)
        if (l != k && w->row[l] != 0)
            vector_add(edge(w, l), -w->row[l], own, w->total);
    w->held[k] = in;
}

static void changes_of(edge_walk *w, int64_t equation)
{
    for (int64_t l = 0; l < w->total; l++)
        w->row[l] = change(w, equation, edge(w, l));
}

/* All columns 0. */
static void start_at_zero(edge_walk *w)
{
    memset(w->edges, 0, (size_t)(w->total * w->total) * sizeof *w->edges);
    for (int64_t k = 0; k < w->total; k++) {
        edge(w, k)[k] = 1;
        w->held[k] = k < w->count ? k : -1;
    }
}

/* Sample equations, nearest first, take the place of columns that are not zero in x. */
static void go_near(edge_walk *w, const double *x)
{
    int64_t to_leave = has_level(w);
    for (int64_t j = 0; j < w->count; j++)
        to_leave += x[j] != 0;
    for (int64_t in = w->count; in < w->count + w->hand && to_leave > 0; in++) {
        int64_t best = -1;
        double most = 1e-6 * w->size[in];
        changes_of(w, in);
        for (int64_t k = 0; k < w->total; k++) {
            int wanted = w->held[k] < 0 || (w->held[k] < w->count && x[w->held[k]] != 0);
            if (wanted && fabs(w->row[k]) > most) {
                most = fabs(w->row[k]);
                best = k;
            }
        }
        if (best < 0)
            continue;
        exchange(w, best, in);
        to_leave--;
    }
}

/* x += the one step that would make all equations hold, but for rounding */
static void step_to_corner(edge_walk *w)
{
    for (int64_t k = 0; k < w->total; k++) {
        int64_t e = w->held[k];
        int is_sample = e >= w->count;
        w->row[k] = is_sample ? w->y[w->sample[e - w->count]] + change(w, e, w->x) : 0;
    }
    for (int64_t k = 0; k < w->total; k++)
        vector_add(w->x, -w->row[k], edge(w, k), w->total);
}

/* x where the equations hold. */
static void stand_at_corner(edge_walk *w)
{
    memset(w->x, 0, (size_t)w->total * sizeof *w->x);
    step_to_corner(w);
    step_to_corner(w);
    for (int64_t k = 0; k < w->total; k++)
        if (w->held[k] >= 0 && w->held[k] < w->count)
            w->x[w->held[k]] = 0;
}

static void find_residual(edge_walk *w, const double *x)
{
    for (int64_t j = 0; j < w->count; j++)
        w->row[j] = -x[j];
    for (int64_t i = 0; i < w->n; i++)
        w->r[i] = w->y[i] - (has_level(w) ? x[w->count] : 0);
    columns_add(w->cols, w->which, w->count, w->row, w->r);
}

static void price(edge_walk *w)
{
    for (int64_t k = 0; k < w->total; k++) {
        w->slope[k] = vector_dot(edge(w, k), w->gradient, w->total);
        w->length[k] = sqrt(vector_dot(edge(w, k), edge(w, k), w->total));
    }
}

/* Values, sides and slopes at this corner. */
static void look_around(edge_walk *w)
{
    const int64_t all = w->count + w->hand;
    columns_products(w->cols, w->which, w->count, w->far, w->gradient);
    if (has_level(w))
        w->gradient[w->count] = vector_sum(w->far, w->n);
    for (int64_t j = 0; j < w->total; j++)
        w->gradient[j] = -w->gradient[j];
    for (int64_t e = 0; e < all; e++) {
        w->value[e] = e < w->count ? w->x[e] : w->r[w->sample[e - w->count]];
        w->side[e] = w->value[e] < 0 ? -1 : 1;
    }
    for (int64_t k = 0; k < w->total; k++)
        if (w->held[k] >= 0)
            w->side[w->held[k]] = 0;
    for (int64_t e = 0; e < all; e++)
        if (w->side[e] != 0)
            add_gradient(w, e, w->side[e]);
    price(w);
}

/* ---- one step -------------------------------------------------------------- */

/* The edge that falls most for its length; -1 at the optimum. */
static int64_t best_edge(const edge_walk *w)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < w->total; k++) {
        double own = w->held[k] >= 0 ? 1 : 0;
        double fall = (fabs(w->slope[k]) - own) / w->length[k];
        if (fabs(w->slope[k]) > own + BEYOND && fall > most) {
            most = fall;
            best = k;
        }
    }
    return best;
}

static void sink(edge_kink *heap, int64_t n, int64_t at)
{
    edge_kink item = heap[at];
    for (int64_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1].at < heap[child].at)
            child++;
        if (!(heap[child].at < item.at))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

/* The kinks ahead, as a heap; rates are along the way taken. */
static int64_t find_kinks(edge_walk *w, int64_t k, double way)
{
    const double least = LEAST_RATE * w->length[k];
    int64_t found = 0;
    for (int64_t e = 0; e < w->count + w->hand; e++) {
        if (w->side[e] == 0)
            continue;
        w->rate[e] = way * change(w, e, edge(w, k));
        double approach = -w->side[e] * w->rate[e];
        if (approach > least * w->size[e])
            w->kinks[found++] = (edge_kink){fmax(0, w->side[e] * w->value[e]) / approach, e};
    }
    for (int64_t at = found / 2 - 1; at >= 0; at--)
        sink(w->kinks, found, at);
    return found;
}

/* Goes over kinks as long as it leads downhill; the last one, or {.equation = -1}. */
static edge_kink go_along(edge_walk *w, int64_t found, double slope)
{
    while (found > 0) {
        edge_kink next = w->kinks[0];
        int64_t e = next.equation;
        slope += 2 * fabs(w->rate[e]);
        if (slope >= 0)
            return next;
        w->side[e] = -w->side[e];
        add_gradient(w, e, 2 * w->side[e]);
        w->kinks[0] = w->kinks[--found];
        sink(w->kinks, found, 0);
    }
    return (edge_kink){0, -1};
}

static void arrive(edge_walk *w, int64_t k, double way, const edge_kink *end)
{
    const int64_t out = w->held[k], in = end->equation;
    for (int64_t e = 0; e < w->count + w->hand; e++)
        if (w->side[e] != 0)
            w->value[e] += end->at * w->rate[e];
    if (out >= 0) {
        w->value[out] = way * end->at;
        w->side[out] = (int32_t)way;
        add_gradient(w, out, way);
    }
    add_gradient(w, in, -w->side[in]);
    w->side[in] = 0;
    w->value[in] = 0;
    changes_of(w, in);
    exchange(w, k, in);
    price(w);
}

static walk_end step(edge_walk *w)
{
    int64_t k = best_edge(w);
    if (k < 0)
        return NO_WAY_DOWN;
    double way = w->slope[k] > 0 ? -1 : 1, own = w->held[k] >= 0 ? 1 : 0;
    edge_kink end = go_along(w, find_kinks(w, k, way), own - fabs(w->slope[k]));
    if (end.equation < 0)
        return NO_END;
    arrive(w, k, way, &end);
    return GOING_ON;
}

/* ---- the walk --------------------------------------------------------------- */

/* The nearest of the samples not at hand come to hand. Returns how many. */
static int64_t call_nearest(edge_walk *w, int64_t wanted)
{
    const int64_t before = w->hand, most = before + wanted < w->room ? before + wanted : w->room;
    order_sort(&w->ranks, w->r, w->n);
    for (int64_t rank = 0; rank < w->n && w->hand < most; rank++)
        if (w->far[w->ranks.items[rank].place] != 0)
            take_in_hand(w, w->ranks.items[rank].place);
    return w->hand - before;
}

static void sort_samples(edge_walk *w)
{
    for (int64_t i = 0; i < w->n; i++)
        w->far[i] = w->r[i] < 0 ? -1 : 1;
    w->hand = 0;
    call_nearest(w, FIRST_AT_HAND * (w->total + FIRST_AT_HAND));
}

/* Far samples that changed their sign come to hand. Returns how many; -1: too many. */
static int64_t call_back(edge_walk *w)
{
    int64_t changed = 0;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->far[i] * w->r[i] >= 0)
            continue;
        if (w->hand == w->room)
            return -1;
        take_in_hand(w, i);
        changed++;
    }
    return changed;
}

static void find_dual(edge_walk *w)
{
    memcpy(w->u, w->far, (size_t)w->n * sizeof *w->u);
    for (int64_t h = 0; h < w->hand; h++)
        w->u[w->sample[h]] = w->side[w->count + h];
    for (int64_t k = 0; k < w->total; k++)
        if (w->held[k] >= w->count)
            w->u[w->sample[w->held[k] - w->count]] = -w->slope[k];
}

static walk_end walk(edge_walk *w)
{
    walk_end end = GOING_ON;
    for (int64_t most = PATIENCE * w->total; end == GOING_ON && most > 0; most--)
        end = step(w);
    return end;
}

/* Samples that matter and were not at hand. Without them the way down may have no end. */
static int64_t call_missing(edge_walk *w, walk_end end)
{
    if (end == NO_WAY_DOWN)
        return call_back(w);
    return end == NO_END && call_nearest(w, w->hand) > 0 ? 1 : -1;
}

int edge_walk_to_optimum(edge_walk *w, const double *x)
{
    int64_t missing = 1;
    for (int64_t j = 0; j < w->count; j++)
        w->size[j] = 1;
    find_residual(w, x);
    sort_samples(w);
    start_at_zero(w);
    go_near(w, x);
    stand_at_corner(w);
    find_residual(w, w->x);
    for (int again = 0; missing > 0 && again < RETURNS; again++) {
        look_around(w);
        walk_end end = walk(w);
        stand_at_corner(w);
        find_residual(w, w->x);
        missing = call_missing(w, end);
    }
    find_dual(w);
    return missing == 0;
}
