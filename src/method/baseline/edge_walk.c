#include "method/baseline/edge_walk.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* A dual variable may exceed 1 by DUAL_TOLERANCE. A smaller rate, relative to the norms of its two
 * factors, is rounding. */
static const double DUAL_TOLERANCE = 1e-9, LEAST_RATE = 1e-10;

/* Per column: samples in the first working set and at most, and steps of one walk. Then the number
 * of walks, each with a larger working set. */
enum { FIRST_WORKING = 5, MOST_WORKING = 20, MOST_STEPS = 30, MOST_WALKS = 50 };

typedef enum walk_end { WALK_UNFINISHED, WALK_OPTIMAL, WALK_UNBOUNDED } walk_end;

static int64_t working_capacity(int64_t total, int64_t n)
{
    int64_t most = MOST_WORKING * (total + MOST_WORKING);
    return most < n ? most : n;
}

roofs_status edge_walk_create(edge_walk *w, const design *a, roofs_error *err)
{
    const char *what = "the simplex method";
    *w = (edge_walk){.a = *a, .capacity = working_capacity(a->total, a->n)};
    const int64_t total = a->total, all = a->count + w->capacity;
    double **per_equation[] = {&w->value, &w->rate, &w->norm};
    double **per_column[] = {&w->length, &w->slope, &w->x, &w->gradient, &w->row};
    double **per_sample[] = {&w->fixed_sign, &w->r, &w->u};
    for (size_t k = 0; k < sizeof per_equation / sizeof *per_equation; k++)
        TRY(memory_get(per_equation[k], all, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof per_column / sizeof *per_column; k++)
        TRY(memory_get(per_column[k], total, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof per_sample / sizeof *per_sample; k++)
        TRY(memory_get(per_sample[k], a->n, sizeof(double), what, err));
    TRY(memory_get(&w->side, all, sizeof *w->side, what, err));
    TRY(memory_get(&w->kinks, all, sizeof *w->kinks, what, err));
    TRY(memory_get(&w->sample, w->capacity, sizeof *w->sample, what, err));
    TRY(memory_get(&w->basis, total, sizeof *w->basis, what, err));
    TRY(memory_get(&w->edges, memory_bytes(total, total), sizeof *w->edges, what, err));
    TRY(memory_reserve(&w->rows, memory_bytes(w->capacity, total), sizeof *w->rows, what, err));
    return order_create(&w->ascending, a->n, err);
}

void edge_walk_destroy(edge_walk *w)
{
    void *blocks[] = {w->value,    w->rate,   w->norm,       w->length, w->slope, w->x,
                      w->gradient, w->row,    w->fixed_sign, w->r,      w->u,     w->side,
                      w->kinks,    w->sample, w->basis,      w->edges,  w->rows};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    order_destroy(&w->ascending);
    *w = (edge_walk){0};
}

int64_t edge_walk_bytes(int64_t count, int64_t n)
{
    const int64_t total = count + 1, capacity = working_capacity(total, n);
    int64_t squares = memory_bytes(total, memory_bytes(total + capacity + 6, sizeof(double)));
    int64_t equations = memory_bytes(count + capacity, 5 * sizeof(double) + sizeof(edge_kink));
    int64_t samples = memory_bytes(n, 3 * sizeof(double) + 2 * sizeof(order_item));
    return memory_sum(squares, memory_sum(equations, samples));
}

/* ---- rows of equations ---------------------------------------------------- */

static double *working_row(const edge_walk *w, int64_t equation)
{
    return w->rows + (equation - w->a.count) * w->a.total;
}

static double *edge_of(const edge_walk *w, int64_t k)
{
    return w->edges + k * w->a.total;
}

/* The change of an equation's value along d: d_j for a column, -a_i'd for a sample. */
static double value_change(const edge_walk *w, int64_t equation, const double *d)
{
    if (equation < w->a.count)
        return d[equation];
    return -vector_dot(working_row(w, equation), d, w->a.total);
}

/* gradient += times * (gradient of an equation's value) */
static void add_gradient(edge_walk *w, int64_t equation, double times)
{
    if (equation < w->a.count)
        w->gradient[equation] += times;
    else
        vector_add(w->gradient, -times, working_row(w, equation), w->a.total);
}

static void add_to_working_set(edge_walk *w, int64_t i)
{
    const int64_t equation = w->a.count + w->working++;
    double *row = working_row(w, equation);
    design_row(&w->a, i, row);
    w->sample[equation - w->a.count] = i;
    w->norm[equation] = sqrt(vector_dot(row, row, w->a.total));
    w->fixed_sign[i] = 0;
}

/* ---- vertices ---------------------------------------------------------------- */

/* Equation `in` replaces equation k of the basis. Edge k is scaled to change `in` by 1, and a
 * multiple of it is subtracted from the other edges so that they keep `in`. w->row holds the
 * changes of `in` along the edges. */
static void exchange_equation(edge_walk *w, int64_t k, int64_t in)
{
    double *own = edge_of(w, k);
    const double scale = 1 / w->row[k];
    for (int64_t j = 0; j < w->a.total; j++)
        own[j] *= scale;
    for (int64_t l = 0; l < w->a.total; l++)
        if (l != k && w->row[l] != 0)
            vector_add(edge_of(w, l), -w->row[l], own, w->a.total);
    w->basis[k] = in;
}

/* w->row = the changes of an equation's value along the edges. */
static void basis_changes(edge_walk *w, int64_t equation)
{
    for (int64_t l = 0; l < w->a.total; l++)
        w->row[l] = value_change(w, equation, edge_of(w, l));
}

/* The basis of x = 0: the equations of all columns. */
static void start_at_zero(edge_walk *w)
{
    memset(w->edges, 0, (size_t)(w->a.total * w->a.total) * sizeof *w->edges);
    for (int64_t k = 0; k < w->a.total; k++) {
        edge_of(w, k)[k] = 1;
        w->basis[k] = k < w->a.count ? k : -1;
    }
}

/* Samples, those of the smallest residual first, replace the columns that are not zero in x. */
static void choose_start_basis(edge_walk *w, const double *x)
{
    int64_t to_leave = design_has_intercept(&w->a);
    for (int64_t j = 0; j < w->a.count; j++)
        to_leave += x[j] != 0;
    for (int64_t in = w->a.count; in < w->a.count + w->working && to_leave > 0; in++) {
        int64_t best = -1;
        double most = 1e-6 * w->norm[in];
        basis_changes(w, in);
        for (int64_t k = 0; k < w->a.total; k++) {
            int may_leave = w->basis[k] < 0 || (w->basis[k] < w->a.count && x[w->basis[k]] != 0);
            if (may_leave && fabs(w->row[k]) > most) {
                most = fabs(w->row[k]);
                best = k;
            }
        }
        if (best < 0)
            continue;
        exchange_equation(w, best, in);
        to_leave--;
    }
}

/* x += the step that makes all equations of the basis hold, but for rounding. */
static void refine_vertex(edge_walk *w)
{
    for (int64_t k = 0; k < w->a.total; k++) {
        int64_t e = w->basis[k];
        int is_sample = e >= w->a.count;
        w->row[k] = is_sample ? w->a.y[w->sample[e - w->a.count]] + value_change(w, e, w->x) : 0;
    }
    for (int64_t k = 0; k < w->a.total; k++)
        vector_add(w->x, -w->row[k], edge_of(w, k), w->a.total);
}

/* x = the vertex of the basis; the second step removes most of the rounding of the first. */
static void find_vertex(edge_walk *w)
{
    memset(w->x, 0, (size_t)w->a.total * sizeof *w->x);
    refine_vertex(w);
    refine_vertex(w);
    for (int64_t k = 0; k < w->a.total; k++)
        if (w->basis[k] >= 0 && w->basis[k] < w->a.count)
            w->x[w->basis[k]] = 0;
}

/* Slopes and norms of all edges. */
static void price_edges(edge_walk *w)
{
    for (int64_t k = 0; k < w->a.total; k++) {
        w->slope[k] = vector_dot(edge_of(w, k), w->gradient, w->a.total);
        w->length[k] = sqrt(vector_dot(edge_of(w, k), edge_of(w, k), w->a.total));
    }
}

/* Values, sides, gradient and slopes at the vertex. */
static void evaluate_vertex(edge_walk *w)
{
    const int64_t all = w->a.count + w->working;
    design_products(&w->a, w->fixed_sign, w->gradient);
    for (int64_t j = 0; j < w->a.total; j++)
        w->gradient[j] = -w->gradient[j];
    for (int64_t e = 0; e < all; e++) {
        w->value[e] = e < w->a.count ? w->x[e] : w->r[w->sample[e - w->a.count]];
        w->side[e] = w->value[e] < 0 ? -1 : 1;
    }
    for (int64_t k = 0; k < w->a.total; k++)
        if (w->basis[k] >= 0)
            w->side[w->basis[k]] = 0;
    for (int64_t e = 0; e < all; e++)
        if (w->side[e] != 0)
            add_gradient(w, e, w->side[e]);
    price_edges(w);
}

/* ---- one step -------------------------------------------------------------- */

/* The edge with the steepest descent; -1 at the optimum. */
static int64_t best_edge(const edge_walk *w)
{
    int64_t best = -1;
    double most = 0;
    for (int64_t k = 0; k < w->a.total; k++) {
        double own = w->basis[k] >= 0 ? 1 : 0;
        double fall = (fabs(w->slope[k]) - own) / w->length[k];
        if (fabs(w->slope[k]) > own + DUAL_TOLERANCE && fall > most) {
            most = fall;
            best = k;
        }
    }
    return best;
}

static void heap_sift_down(edge_kink *heap, int64_t n, int64_t at)
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

/* Finds the kinks ahead on edge k, as a heap with the nearest on top, and the rates along it.
 * Returns the number of kinks. */
static int64_t find_kinks(edge_walk *w, int64_t k, double direction)
{
    const double least = LEAST_RATE * w->length[k];
    int64_t found = 0;
    for (int64_t e = 0; e < w->a.count + w->working; e++) {
        if (w->side[e] == 0)
            continue;
        w->rate[e] = direction * value_change(w, e, edge_of(w, k));
        double approach = -w->side[e] * w->rate[e];
        if (approach > least * w->norm[e])
            w->kinks[found++] = (edge_kink){fmax(0, w->side[e] * w->value[e]) / approach, e};
    }
    for (int64_t at = found / 2 - 1; at >= 0; at--)
        heap_sift_down(w->kinks, found, at);
    return found;
}

/* Passes kinks as long as the slope stays negative. Returns the kink where it ends; its equation is
 * -1 where there is none. */
static edge_kink line_search(edge_walk *w, int64_t found, double slope)
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
        heap_sift_down(w->kinks, found, 0);
    }
    return (edge_kink){0, -1};
}

/* Moves along edge k to a kink; its equation enters the basis in place of equation k. */
static void walk_pivot(edge_walk *w, int64_t k, double direction, const edge_kink *end)
{
    const int64_t out = w->basis[k], in = end->equation;
    for (int64_t e = 0; e < w->a.count + w->working; e++)
        if (w->side[e] != 0)
            w->value[e] += end->at * w->rate[e];
    if (out >= 0) {
        w->value[out] = direction * end->at;
        w->side[out] = (int32_t)direction;
        add_gradient(w, out, direction);
    }
    add_gradient(w, in, -w->side[in]);
    w->side[in] = 0;
    w->value[in] = 0;
    basis_changes(w, in);
    exchange_equation(w, k, in);
    price_edges(w);
}

static walk_end walk_step(edge_walk *w)
{
    int64_t k = best_edge(w);
    if (k < 0)
        return WALK_OPTIMAL;
    double direction = w->slope[k] > 0 ? -1 : 1, own = w->basis[k] >= 0 ? 1 : 0;
    edge_kink end = line_search(w, find_kinks(w, k, direction), own - fabs(w->slope[k]));
    if (end.equation < 0)
        return WALK_UNBOUNDED;
    walk_pivot(w, k, direction, &end);
    return WALK_UNFINISHED;
}

/* ---- the walk --------------------------------------------------------------- */

/* Adds the `wanted` samples of smallest |r| to the working set. Returns how many were added. */
static int64_t add_nearest(edge_walk *w, int64_t wanted)
{
    const int64_t before = w->working;
    const int64_t most = before + wanted < w->capacity ? before + wanted : w->capacity;
    order_sort(&w->ascending, w->r, w->a.n);
    for (int64_t k = 0; k < w->a.n && w->working < most; k++)
        if (w->fixed_sign[w->ascending.items[k].place] != 0)
            add_to_working_set(w, w->ascending.items[k].place);
    return w->working - before;
}

static void start_working_set(edge_walk *w)
{
    for (int64_t i = 0; i < w->a.n; i++)
        w->fixed_sign[i] = w->r[i] < 0 ? -1 : 1;
    w->working = 0;
    add_nearest(w, FIRST_WORKING * (w->a.total + FIRST_WORKING));
}

/* Adds the samples whose fixed sign is wrong. Returns their number; -1 where they are too many. */
static int64_t add_sign_changes(edge_walk *w)
{
    int64_t changed = 0;
    for (int64_t i = 0; i < w->a.n; i++) {
        if (w->fixed_sign[i] * w->r[i] >= 0)
            continue;
        if (w->working == w->capacity)
            return -1;
        add_to_working_set(w, i);
        changed++;
    }
    return changed;
}

static void find_dual(edge_walk *w)
{
    memcpy(w->u, w->fixed_sign, (size_t)w->a.n * sizeof *w->u);
    for (int64_t h = 0; h < w->working; h++)
        w->u[w->sample[h]] = w->side[w->a.count + h];
    for (int64_t k = 0; k < w->a.total; k++)
        if (w->basis[k] >= w->a.count)
            w->u[w->sample[w->basis[k] - w->a.count]] = -w->slope[k];
}

static walk_end walk_edges(edge_walk *w)
{
    walk_end end = WALK_UNFINISHED;
    for (int64_t most = MOST_STEPS * w->a.total; end == WALK_UNFINISHED && most > 0; most--)
        end = walk_step(w);
    return end;
}

/* Adds the samples that the walk has missed. On an unbounded edge the working set needs more
 * samples with kinks. Returns 0 where none is missing, -1 where the working set cannot be extended.
 */
static int64_t extend_working_set(edge_walk *w, walk_end end)
{
    if (end == WALK_OPTIMAL)
        return add_sign_changes(w);
    return end == WALK_UNBOUNDED && add_nearest(w, w->working) > 0 ? 1 : -1;
}

int edge_walk_to_optimum(edge_walk *w, const double *x)
{
    int64_t missing = 1;
    for (int64_t j = 0; j < w->a.count; j++)
        w->norm[j] = 1;
    design_residual(&w->a, x, w->row, w->r);
    start_working_set(w);
    start_at_zero(w);
    choose_start_basis(w, x);
    find_vertex(w);
    design_residual(&w->a, w->x, w->row, w->r);
    for (int again = 0; missing > 0 && again < MOST_WALKS; again++) {
        evaluate_vertex(w);
        walk_end end = walk_edges(w);
        find_vertex(w);
        design_residual(&w->a, w->x, w->row, w->r);
        missing = extend_working_set(w, end);
    }
    find_dual(w);
    return missing == 0;
}
