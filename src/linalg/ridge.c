#include "linalg/ridge.h"

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/vector.h"

#include <math.h>
#include <omp.h>

/* So many columns of the matrix in panels are centred and scaled at a time: two panels of them fit
 * in the first cache. */
enum { CHUNK = 128 };

/* Threads are worth starting from so many multiplications on. */
static const int64_t WORTH_THREADS = 4 * (int64_t)ROOFS_WORTH_THREADS;

/* ---- life ---------------------------------------------------------------- */

/* The next `count` numbers of a block; NULL if there is no block yet. */
static double *slice(double *block, int64_t *used, int64_t count)
{
    double *at = block ? block + *used : NULL;
    *used = memory_sum(*used, count);
    return at;
}

/* Divides the block, and returns the length that it must have. */
static int64_t lay_out(ridge *r, double *block)
{
    const int64_t n = lanes_padded(r->shape.n), m = lanes_padded(r->shape.m),
                  rows = lanes_padded(r->rows);
    const int64_t lower = memory_bytes(rows, rows + LANES) / 2;
    int64_t used = 0;
    r->values = slice(block, &used, memory_bytes(rows, lanes_padded(r->depth)));
    r->gram = slice(block, &used, lower);
    r->factor = slice(block, &used, lower);
    r->chunk = slice(block, &used, memory_bytes(rows, CHUNK));
    r->sides = slice(block, &used, memory_bytes(rows, 2 * LANES * r->shape.threads));
    r->weight = slice(block, &used, n);
    r->root = slice(block, &used, n);
    r->residual = slice(block, &used, n);
    r->center = slice(block, &used, m + LANES);
    r->sums = slice(block, &used, m + LANES);
    r->spread = slice(block, &used, m);
    r->coef = slice(block, &used, m);
    r->prior = slice(block, &used, m);
    r->solution = slice(block, &used, rows);
    r->right = slice(block, &used, rows);
    r->inverse = slice(block, &used, rows);
    r->zeros = slice(block, &used, n > m ? n : m);
    return used;
}

static ridge empty_ridge(const ridge_shape *shape, int is_split)
{
    const int is_dual = !is_split && shape->m > shape->n;
    ridge r = {.shape = *shape, .is_dual = is_dual};
    r.shape.threads = threads_count(shape->threads);
    r.rows = is_dual ? shape->n : shape->m;
    r.depth = is_dual ? shape->m : shape->n;
    r.panels = panels_of(r.rows);
    r.stride = lanes_padded(r.depth) * LANES;
    return r;
}

int64_t ridge_bytes(const ridge_shape *shape, int is_split)
{
    ridge r = empty_ridge(shape, is_split);
    return memory_bytes(lay_out(&r, NULL), sizeof(double));
}

roofs_status ridge_create(ridge *r, comm *c, const ridge_shape *shape, roofs_error *err)
{
    *r = empty_ridge(shape, !comm_is_alone(c));
    r->comm = c;
    r->k = panels_best();
    TRY(memory_get(&r->block, lay_out(r, NULL), sizeof *r->block, "the columns of a joint solution",
                   err));
    lay_out(r, r->block);
    return ROOFS_OK;
}

void ridge_destroy(ridge *r)
{
    memory_free(r->block);
    *r = (ridge){0};
}

/* ---- the matrix ------------------------------------------------------------ */

/* The number of threads for a * b * c multiplications. */
static int team(const ridge *r, int64_t a, int64_t b, int64_t c)
{
    const double work = (double)a * (double)b * (double)c;
    return work < (double)WORTH_THREADS ? 1 : (int)r->shape.threads;
}

roofs_status ridge_load(ridge *r, columns *c, const int64_t *which, roofs_error *err)
{
    const int64_t n = r->shape.n;
    for (int64_t j = 0; j < r->shape.m; j++) {
        const int64_t from = which ? which[j] : j;
        TRY(columns_fetch(c, from, r->residual, err));
        for (int64_t i = 0; i < n; i++) {
            const int64_t row = r->is_dual ? i : j, at = r->is_dual ? j : i;
            r->values[row / LANES * r->stride + at * LANES + row % LANES] = r->residual[i];
        }
    }
    return ROOFS_OK;
}

/* out = M v, M being the matrix in panels. */
static void multiply(const ridge *r, const double *v, double *out)
{
#pragma omp parallel for schedule(static) num_threads(team(r, r->rows, r->depth, 1))
    for (int64_t a = 0; a < r->panels; a++)
        r->k->times(r->values + a * r->stride, v, r->depth, out + a * LANES);
}

/* out = M'v */
static void multiply_transposed(const ridge *r, const double *v, double *out)
{
#pragma omp parallel for schedule(static) num_threads(team(r, r->rows, r->depth, 1))
    for (int64_t first = 0; first < r->depth; first += CHUNK) {
        const int64_t last = first + CHUNK < r->depth ? first + CHUNK : r->depth;
        r->k->transposed_times(r->values, r->panels, r->stride, v, first, last, out);
    }
}

/* sums = Z'v, then the sum of v, over all ranks; v is padded. */
static void sum_samples(ridge *r, const double *v, double *sums)
{
    (r->is_dual ? multiply_transposed : multiply)(r, v, sums);
    sums[r->shape.m] = vector_sum(v, r->shape.n);
    comm_sum(r->comm, sums, r->shape.m + 1);
}

/* out = t - intercept - Z b, b being r->coef. */
static void update_residual(ridge *r, const double *t, double intercept)
{
    (r->is_dual ? multiply : multiply_transposed)(r, r->coef, r->residual);
    for (int64_t i = 0; i < r->shape.n; i++)
        r->residual[i] = t[i] - intercept - r->residual[i];
}

void ridge_residual(ridge *r, const double *t, double intercept, const double *b, double *out)
{
    memcpy(r->coef, b, (size_t)r->shape.m * sizeof *b);
    update_residual(r, t, intercept);
    memcpy(out, r->residual, (size_t)r->shape.n * sizeof *out);
}

void ridge_inner(ridge *r, const double *v, double *out)
{
    memcpy(r->residual, v, (size_t)r->shape.n * sizeof *v); /* the padding stays 0 */
    sum_samples(r, r->residual, r->sums);
    memcpy(out, r->sums, (size_t)r->shape.m * sizeof *out);
}

/* The panels of some columns of the matrix, centred and times W^1/2 (primal) or D (dual). */
static void scale_chunk(ridge *r, int64_t a, int64_t first, int64_t count)
{
    const double *of_row = r->is_dual ? r->zeros : r->center + a * LANES;
    const double *of_column = r->is_dual ? r->center + first : r->zeros;
    const double *scale = (r->is_dual ? r->spread : r->root) + first;
    r->k->scale(r->values + a * r->stride + first * LANES, of_row, of_column, scale, count,
                r->chunk + a * CHUNK * LANES);
}

/* gram = Zc'W Zc (primal) or Zc D^2 Zc' (dual). Threads divide pairs of panels, longest first. */
static void compute_gram(ridge *r)
{
    const int64_t pairs = (r->panels + 1) / 2;
    memset(r->gram, 0, (size_t)lower_panel(r->panels) * sizeof *r->gram);
#pragma omp parallel num_threads(team(r, r->rows, r->rows, r->depth / 2))
    for (int64_t first = 0; first < r->depth; first += CHUNK) {
        const int64_t count = first + CHUNK < r->depth ? CHUNK : r->depth - first;
#pragma omp for schedule(static)
        for (int64_t a = 0; a < r->panels; a++)
            scale_chunk(r, a, first, count);
#pragma omp for schedule(static, 1)
        for (int64_t k = 0; k < pairs; k++) {
            const int64_t a = 2 * (pairs - 1 - k);
            r->k->gram(r->chunk, CHUNK * LANES, count, a, a + 1 < r->panels, r->gram);
        }
    }
}

void ridge_weigh(ridge *r, const double *weight)
{
    for (int64_t i = 0; i < r->shape.n; i++) {
        r->weight[i] = weight[i];
        r->root[i] = sqrt(weight[i]);
    }
    sum_samples(r, r->weight, r->center);
    r->total = r->center[r->shape.m];
    const int has_mean = r->shape.has_intercept && r->total > 0;
    for (int64_t j = 0; j < r->shape.m; j++)
        r->center[j] = has_mean ? r->center[j] / r->total : 0;
    r->center[r->shape.m] = 0; /* padding */
    if (r->is_dual)
        return;
    compute_gram(r);
    comm_sum(r->comm, r->gram, lower_panel(r->panels));
}

/* ---- the solution ------------------------------------------------------------ */

/* factor = diag(d) gram diag(d) + I = L L'. Threads divide the panels below each diagonal tile. */
static void factorise(ridge *r, const double *d)
{
#pragma omp parallel num_threads(team(r, r->rows, r->rows, r->rows / 6))
    {
#pragma omp for schedule(static, 1)
        for (int64_t a = 0; a < r->panels; a++)
            r->k->plus_identity(r->gram, d, a, r->factor);
        for (int64_t b = 0; b < r->panels; b++) {
#pragma omp single
            r->k->factor_diagonal(r->factor, b, r->inverse);
#pragma omp for schedule(static)
            for (int64_t a = b + 1; a < r->panels; a += 2)
                r->k->factor_below(r->factor, b, a, a + 1 < r->panels, r->inverse);
        }
    }
}

/* Right-hand side of the correction to the solution u of (D Zc'W Zc D + I) u = D Zc'W (t - Z b0),
 * from the residual of b = b0 + D u. */
static void primal_side(ridge *r)
{
    for (int64_t i = 0; i < r->shape.n; i++)
        r->residual[i] *= r->weight[i];
    sum_samples(r, r->residual, r->sums);
    const double total = r->sums[r->shape.m];
    for (int64_t j = 0; j < r->shape.m; j++)
        r->right[j] = r->spread[j] * (r->sums[j] - r->center[j] * total) - r->solution[j];
}

/* The same for (I + W^1/2 Zc D^2 Zc'W^1/2) v = W^1/2 (t - Z b0), b = b0 + D^2 Zc'W^1/2 v. */
static void dual_side(ridge *r)
{
    for (int64_t i = 0; i < r->shape.n; i++)
        r->right[i] = r->root[i] * r->residual[i] - r->solution[i];
}

static void primal_coef(ridge *r)
{
    for (int64_t j = 0; j < r->shape.m; j++)
        r->coef[j] = r->prior[j] + r->spread[j] * r->solution[j];
}

static void dual_coef(ridge *r)
{
    for (int64_t i = 0; i < r->shape.n; i++)
        r->residual[i] = r->root[i] * r->solution[i];
    sum_samples(r, r->residual, r->sums);
    const double total = r->sums[r->shape.m];
    for (int64_t j = 0; j < r->shape.m; j++) {
        const double slope = r->sums[j] - r->center[j] * total;
        r->coef[j] = r->prior[j] + r->spread[j] * (r->spread[j] * slope);
    }
}

static double intercept_of(const ridge *r, double mean)
{
    return r->shape.has_intercept ? mean - vector_dot(r->center, r->coef, r->shape.m) : 0;
}

/* Solves, then once more for the remainder: this gives back the digits that the Gram matrix of
 * nearly dependent columns loses. */
static double solve_twice(ridge *r, const double *t)
{
    const double sum = r->shape.has_intercept ? comm_dot(r->comm, r->weight, t, r->shape.n) : 0;
    const double mean = r->total > 0 ? sum / r->total : 0;
    memset(r->solution, 0, (size_t)lanes_padded(r->rows) * sizeof *r->solution);
    memcpy(r->coef, r->prior, (size_t)r->shape.m * sizeof *r->coef);
    for (int step = 0; step < 2; step++) {
        update_residual(r, t, intercept_of(r, mean));
        memset(r->right, 0, (size_t)lanes_padded(r->rows) * sizeof *r->right);
        (r->is_dual ? dual_side : primal_side)(r);
        r->k->solve(r->factor, r->panels, r->inverse, r->right);
        vector_add(r->solution, 1, r->right, r->rows);
        (r->is_dual ? dual_coef : primal_coef)(r);
    }
    return intercept_of(r, mean);
}

/* ---- leverage ------------------------------------------------------------------ */

/* The right-hand sides D (z_i - zbar) of eight samples: their leverage is |L^-1 side|^2. */
static void primal_sides(const ridge *r, int64_t sample, double *x)
{
    for (int64_t a = 0; a < r->panels; a++) {
        double tile[TILE];
        r->k->transpose(r->values + a * r->stride + sample * LANES, tile);
        r->k->scale(tile, r->zeros, r->center + a * LANES, r->spread + a * LANES, LANES,
                    x + a * TILE);
    }
}

static double diagonal_of(const double *lower, int64_t i)
{
    const int64_t a = i / LANES;
    return lower[lower_panel(a) + i * LANES + i % LANES];
}

/* In the dual case eight samples are side by side. */
static double dual_square(const ridge *r, int64_t j)
{
    double sum = 0;
    for (int64_t i = 0; i < r->shape.n; i++) {
        const double off = r->values[i / LANES * r->stride + j * LANES + i % LANES] - r->center[j];
        sum += r->weight[i] * (off * off);
    }
    return sum;
}

void ridge_squares(const ridge *r, double *out)
{
    for (int64_t j = 0; j < r->shape.m; j++)
        out[j] = r->is_dual ? dual_square(r, j) : diagonal_of(r->gram, j);
}

/* Whether 1 - leverage W_i, an entry of the diagonal of the inverse, is the better way to the
 * leverage of a sample in the dual case. The other way subtracts from K_ii, K = Zc D^2 Zc'. */
static int is_inverse_better(const ridge *r, int64_t i)
{
    return r->weight[i] * diagonal_of(r->gram, i) > 1;
}

/* The right-hand sides W^1/2 K_i, or unit vectors where the inverse is needed. */
static void dual_sides(const ridge *r, int64_t sample, double *x)
{
    const int64_t own = sample / LANES;
    for (int64_t b = 0; b < r->panels; b++) {
        const double *from = r->gram + lower_panel(own) + b * TILE;
        double tile[TILE];
        if (b > own)
            r->k->transpose(r->gram + lower_panel(b) + own * TILE, tile);
        r->k->scale(b > own ? tile : from, r->zeros, r->zeros, r->root + b * LANES, LANES,
                    x + b * TILE);
    }
    for (int64_t q = 0; q < LANES && sample + q < r->shape.n; q++)
        for (int64_t k = 0; is_inverse_better(r, sample + q) && k < r->panels * LANES; k++)
            x[k * LANES + q] = k == sample + q;
}

/* The leverage of sample i from the squared norm of the solution; rounding errors are cut. */
static double leverage_of(const ridge *r, int64_t i, double squares)
{
    const double weight = r->weight[i];
    double leverage = squares;
    if (r->is_dual && is_inverse_better(r, i))
        leverage = (1 - squares) / weight;
    else if (r->is_dual)
        leverage = diagonal_of(r->gram, i) - squares;
    leverage = leverage > 0 ? leverage : 0;
    if (r->shape.has_intercept && r->total > 0)
        leverage += 1 / r->total;
    return weight * leverage > 1 ? 1 / weight : leverage;
}

/* Two panels of eight samples. */
static void pair_leverages(const ridge *r, int64_t sample, double *x, double *leverage)
{
    double squares[2 * LANES] = {0}, *y = x + r->panels * TILE;
    void (*const fill)(const ridge *, int64_t, double *) = r->is_dual ? dual_sides : primal_sides;
    fill(r, sample, x);
    if (sample + LANES < r->shape.n)
        fill(r, sample + LANES, y);
    else
        memset(y, 0, (size_t)(r->panels * TILE) * sizeof *y);
    r->k->solve_panels(r->factor, r->panels, r->inverse, x, squares);
    for (int64_t i = sample; i < sample + 2 * LANES && i < r->shape.n; i++)
        leverage[i] = leverage_of(r, i, squares[i - sample]);
}

static void compute_leverages(ridge *r, double *leverage)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(team(r, r->rows, r->rows, r->shape.n / 2))
    for (int64_t sample = 0; sample < r->shape.n; sample += 2 * LANES)
        pair_leverages(r, sample, r->sides + omp_get_thread_num() * 2 * r->panels * TILE, leverage);
}

/* The trace of the hat matrix without leverages, from the inverse of the factorised matrix: fewer
 * right-hand sides where there are fewer rows than samples. */
static double trace_of_inverse(ridge *r)
{
    double sum = 0;
    for (int64_t first = 0; first < r->rows; first += 2 * LANES) {
        double squares[2 * LANES] = {0}, *x = r->sides;
        memset(x, 0, (size_t)(2 * r->panels * TILE) * sizeof *x);
        for (int64_t q = 0; q < 2 * LANES && first + q < r->rows; q++)
            x[q / LANES * r->panels * TILE + (first + q) * LANES + q % LANES] = 1;
        r->k->solve_panels(r->factor, r->panels, r->inverse, x, squares);
        for (int64_t q = 0; q < 2 * LANES && first + q < r->rows; q++)
            sum += squares[q];
    }
    const int has_mean = r->shape.has_intercept && r->total > 0;
    return (double)r->rows - sum + has_mean;
}

roofs_status ridge_solve(ridge *r, const double *t, const double *omega, const double *b0,
                         ridge_answer *answer, roofs_error *err)
{
    for (int64_t j = 0; j < r->shape.m; j++) {
        r->spread[j] = sqrt(omega[j]);
        r->prior[j] = b0 ? b0[j] : 0;
    }
    if (r->is_dual)
        compute_gram(r);
    factorise(r, r->is_dual ? r->root : r->spread);
    answer->intercept = solve_twice(r, t);
    memcpy(answer->b, r->coef, (size_t)r->shape.m * sizeof *answer->b);
    if (answer->leverage) {
        compute_leverages(r, answer->leverage);
        answer->trace = comm_dot(r->comm, r->weight, answer->leverage, r->shape.n);
    } else {
        answer->trace = trace_of_inverse(r);
    }
    return comm_status(r->comm, err);
}
