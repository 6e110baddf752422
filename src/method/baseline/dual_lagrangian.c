#include "method/baseline/dual_lagrangian.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* beta to begin with, in mean |y|: in the middle of what was best on small problems. */
static const double BETA = 0.1;

/* ---- life -------------------------------------------------------------- */

int64_t dual_point_size(const dual_lagrangian *d)
{
    return 2 * (d->n + d->total);
}

dual_point dual_point_in(const dual_lagrangian *d, double *block)
{
    return (dual_point){.x = block,
                        .au = block + d->total,
                        .e = block + 2 * d->total,
                        .u = block + 2 * d->total + d->n};
}

static roofs_status allocate(dual_lagrangian *d, roofs_error *err)
{
    const char *what = "the dual problem";
    const int64_t square = memory_bytes(d->total, d->total);
    double **long_ones[] = {&d->v, &d->ze};
    double **short_ones[] = {&d->zx, &d->g, &d->t, &d->best};
    double **squares[] = {&d->gram, &d->factor.r};
    for (size_t k = 0; k < sizeof long_ones / sizeof *long_ones; k++)
        TRY(memory_get(long_ones[k], d->n, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof short_ones / sizeof *short_ones; k++)
        TRY(memory_get(short_ones[k], d->count + 1, sizeof(double), what, err));
    for (size_t k = 0; k < sizeof squares / sizeof *squares; k++)
        TRY(memory_get(squares[k], square, sizeof(double), what, err));
    double *block = NULL;
    TRY(memory_get(&block, dual_point_size(d), sizeof *block, what, err));
    d->at = dual_point_in(d, block);
    return ROOFS_OK;
}

void dual_lagrangian_destroy(dual_lagrangian *d)
{
    void *blocks[] = {d->v, d->ze, d->zx, d->g, d->t, d->gram, d->factor.r, d->best, d->at.x};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    *d = (dual_lagrangian){0};
}

int64_t dual_lagrangian_bytes(int64_t count, int64_t n)
{
    int64_t squares = memory_bytes(count + 1, memory_bytes(count + 4, 2 * sizeof(double)));
    int64_t vectors = memory_bytes(n, 4 * sizeof(double));
    return memory_sum(squares, vectors);
}

/* ---- products with [A 1] ----------------------------------------------- */

static int has_level(const dual_lagrangian *d)
{
    return d->total > d->count;
}

static void products(dual_lagrangian *d, const double *v, double *out)
{
    columns_products(d->cols, d->which, d->count, v, out);
    if (has_level(d))
        out[d->count] = vector_sum(v, d->n);
}

static void add(dual_lagrangian *d, const double *x, double *out)
{
    columns_add(d->cols, d->which, d->count, x, out);
    for (int64_t i = 0; has_level(d) && i < d->n; i++)
        out[i] += x[d->count];
}

/* gram = [A 1]'[A 1] */
static void make_gram(dual_lagrangian *d)
{
    const int64_t count = d->count, total = d->total;
    double *out = d->gram;
    for (int64_t i = 0; i < d->n; i++)
        d->v[i] = 1;
    columns_gram(d->cols, d->which, count, d->v, out);
    for (int64_t k = count - 1; k > 0; k--) /* from rows of `count` to rows of `total` */
        memmove(out + k * total, out + k * count, (size_t)count * sizeof *out);
    products(d, d->v, d->t);
    for (int64_t k = 0; has_level(d) && k < total; k++)
        out[k * total + count] = out[count * total + k] = d->t[k];
}

static void make_factor(dual_lagrangian *d)
{
    const int64_t total = d->total;
    make_gram(d);
    d->factor.stride = total;
    memcpy(d->factor.r, d->gram, (size_t)(total * total) * sizeof *d->gram);
    for (int64_t k = 0; k < total; k++)
        d->factor.r[k * total + k] += 1;
    cholesky_factor(&d->factor, d->factor.r, total, 0);
}

/* ---- one iteration ------------------------------------------------------- */

static double clip(double value)
{
    return fmax(-1, fmin(1, value));
}

/* z; the level's place in the box is 0. */
static void project(dual_lagrangian *d)
{
    for (int64_t k = 0; k < d->total; k++)
        d->zx[k] = k < d->count ? clip(d->at.au[k] + d->at.x[k] / d->beta) : 0;
    for (int64_t i = 0; i < d->n; i++)
        d->ze[i] = clip(d->at.u[i] + d->at.e[i] / d->beta);
}

/* With g = zx - x/beta and v = ze - (e - y)/beta the right-hand side is v + [A 1] g. Its
 * solution is u = v + [A 1](g - t) with (I + gram) t = [A 1]'v + gram g, and [A 1]'u = t. */
static void solve_for_u(dual_lagrangian *d)
{
    const double *y = d->y;
    for (int64_t k = 0; k < d->total; k++)
        d->g[k] = d->zx[k] - d->at.x[k] / d->beta;
    for (int64_t i = 0; i < d->n; i++)
        d->v[i] = d->ze[i] - (d->at.e[i] - y[i]) / d->beta;
    products(d, d->v, d->t);
    for (int64_t k = 0; k < d->total; k++)
        d->t[k] += vector_dot(d->gram + k * d->total, d->g, d->total);
    cholesky_solve(&d->factor, d->t);
    for (int64_t k = 0; k < d->total; k++) {
        d->g[k] -= d->t[k];
        d->at.au[k] = d->t[k];
    }
    memcpy(d->at.u, d->v, (size_t)d->n * sizeof *d->v);
    add(d, d->g, d->at.u);
}

static void move_multipliers(dual_lagrangian *d)
{
    for (int64_t k = 0; k < d->total; k++)
        d->at.x[k] += d->beta * (d->at.au[k] - d->zx[k]);
    for (int64_t i = 0; i < d->n; i++)
        d->at.e[i] += d->beta * (d->at.u[i] - d->ze[i]);
}

void dual_lagrangian_iterate(dual_lagrangian *d)
{
    project(d);
    solve_for_u(d);
    move_multipliers(d);
}

/* ---- how good it is -------------------------------------------------------- */

/* y'u for u made to fit its constraints: a lower bound of the objective. */
static double raise_bound(dual_lagrangian *d, const double *u)
{
    double mean = has_level(d) ? vector_sum(u, d->n) / (double)d->n : 0;
    for (int64_t i = 0; i < d->n; i++)
        d->v[i] = u[i] - mean;
    products(d, d->v, d->t);
    double size = fmax(1, fmax(vector_largest(d->v, d->n), vector_largest(d->t, d->count)));
    double bound = vector_dot(d->y, d->v, d->n) / size;
    d->bound = fmax(d->bound, bound);
    return bound;
}

/* |x|_1 + |y - A x - level|_1, leaving the residual in v; remembered where it is the least so far.
 */
static double weigh(dual_lagrangian *d, const double *x)
{
    double sum = 0, level = has_level(d) ? x[d->count] : 0;
    for (int64_t k = 0; k < d->count; k++) {
        d->t[k] = -x[k];
        sum += fabs(x[k]);
    }
    for (int64_t i = 0; i < d->n; i++)
        d->v[i] = d->y[i] - level;
    columns_add(d->cols, d->which, d->count, d->t, d->v);
    for (int64_t i = 0; i < d->n; i++)
        sum += fabs(d->v[i]);
    if (sum < d->least) {
        d->least = sum;
        memcpy(d->best, x, (size_t)d->total * sizeof *x);
    }
    return sum;
}

double dual_lagrangian_gap(dual_lagrangian *d, const dual_point *p)
{
    return weigh(d, p->x) - raise_bound(d, p->u);
}

/* Columns inside their bound have no weight where the iterations are heading for. */
void dual_lagrangian_heading(const dual_lagrangian *d, const dual_point *p, double *x)
{
    memcpy(x, p->x, (size_t)d->total * sizeof *x);
    for (int64_t k = 0; k < d->count; k++)
        if (fabs(p->au[k] + p->x[k] / d->beta) <= 1)
            x[k] = 0;
}

/* ---- the start ----------------------------------------------------------- */

/* u = 0, X = (0, 0, y): B X = y. */
roofs_status dual_lagrangian_create(dual_lagrangian *d, columns *cols, const int64_t *which,
                                    int64_t count, const double *y, int with_level,
                                    roofs_error *err)
{
    *d = (dual_lagrangian){.cols = cols, .which = which, .y = y, .n = cols->n, .count = count};
    d->total = count + (with_level != 0);
    TRY(allocate(d, err));
    memcpy(d->at.e, y, (size_t)d->n * sizeof *y);
    for (int64_t i = 0; i < d->n; i++)
        d->least += fabs(y[i]);
    d->beta = d->least > 0 ? BETA * d->least / (double)d->n : 1;
    make_factor(d);
    return ROOFS_OK;
}
