#include "method/baseline/dual_lagrangian.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* The first beta, in units of mean |y|: the middle of the best values on small problems. */
static const double BETA = 0.1;

int64_t dual_point_size(const dual_lagrangian *d)
{
    return 2 * (d->a.n + d->a.total);
}

dual_point dual_point_in(const dual_lagrangian *d, double *block)
{
    return (dual_point){.x = block,
                        .au = block + d->a.total,
                        .e = block + 2 * d->a.total,
                        .u = block + 2 * d->a.total + d->a.n};
}

void dual_lagrangian_destroy(dual_lagrangian *d)
{
    void *blocks[] = {d->v, d->ze, d->zx, d->g, d->t, d->gram, d->factor.r, d->best_x, d->at.x};
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

/* out += [A 1] x */
static void add_to_samples(dual_lagrangian *d, const double *x, double *out)
{
    columns_add(d->a.cols, d->a.which, d->a.count, x, out);
    for (int64_t i = 0; design_has_intercept(&d->a) && i < d->a.n; i++)
        out[i] += x[d->a.count];
}

/* Makes the Gram matrix and factors I + gram. */
static void factor_system(dual_lagrangian *d)
{
    const int64_t total = d->a.total;
    for (int64_t i = 0; i < d->a.n; i++)
        d->v[i] = 1;
    design_gram(&d->a, d->v, d->t, d->gram);
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

/* z = clip(B'u + X/beta); its entry for the intercept is 0. */
static void project_z(dual_lagrangian *d)
{
    for (int64_t k = 0; k < d->a.total; k++)
        d->zx[k] = k < d->a.count ? clip(d->at.au[k] + d->at.x[k] / d->beta) : 0;
    for (int64_t i = 0; i < d->a.n; i++)
        d->ze[i] = clip(d->at.u[i] + d->at.e[i] / d->beta);
}

/* With g = zx - x/beta and v = ze - (e - y)/beta the right-hand side is v + [A 1] g. Its
 * solution is u = v + [A 1](g - t) with (I + gram) t = [A 1]'v + gram g, and [A 1]'u = t. */
static void update_u(dual_lagrangian *d)
{
    for (int64_t k = 0; k < d->a.total; k++)
        d->g[k] = d->zx[k] - d->at.x[k] / d->beta;
    for (int64_t i = 0; i < d->a.n; i++)
        d->v[i] = d->ze[i] - (d->at.e[i] - d->a.y[i]) / d->beta;
    design_products(&d->a, d->v, d->t);
    for (int64_t k = 0; k < d->a.total; k++)
        d->t[k] += vector_dot(d->gram + k * d->a.total, d->g, d->a.total);
    cholesky_solve(&d->factor, d->t);
    for (int64_t k = 0; k < d->a.total; k++) {
        d->g[k] -= d->t[k];
        d->at.au[k] = d->t[k];
    }
    memcpy(d->at.u, d->v, (size_t)d->a.n * sizeof *d->v);
    add_to_samples(d, d->g, d->at.u);
}

static void update_multipliers(dual_lagrangian *d)
{
    for (int64_t k = 0; k < d->a.total; k++)
        d->at.x[k] += d->beta * (d->at.au[k] - d->zx[k]);
    for (int64_t i = 0; i < d->a.n; i++)
        d->at.e[i] += d->beta * (d->at.u[i] - d->ze[i]);
}

void dual_lagrangian_iterate(dual_lagrangian *d)
{
    project_z(d);
    update_u(d);
    update_multipliers(d);
}

/* ---- objective and bound --------------------------------------------------- */

/* The objective |x|_1 + |y - A x - c|_1; x is recorded where it is the best so far. */
static double update_objective(dual_lagrangian *d, const double *x)
{
    double sum = 0;
    for (int64_t k = 0; k < d->a.count; k++)
        sum += fabs(x[k]);
    design_residual(&d->a, x, d->t, d->v);
    for (int64_t i = 0; i < d->a.n; i++)
        sum += fabs(d->v[i]);
    if (sum < d->best_objective) {
        d->best_objective = sum;
        memcpy(d->best_x, x, (size_t)d->a.total * sizeof *x);
    }
    return sum;
}

double dual_lagrangian_gap(dual_lagrangian *d, const dual_point *p)
{
    const double objective = update_objective(d, p->x);
    const double bound = design_dual_bound(&d->a, p->u, d->t, d->v);
    d->best_bound = fmax(d->best_bound, bound);
    return objective - bound;
}

/* The columns inside their dual bound are zero in the limit of the iteration. */
void dual_lagrangian_sparse_x(const dual_lagrangian *d, const dual_point *p, double *x)
{
    memcpy(x, p->x, (size_t)d->a.total * sizeof *x);
    for (int64_t k = 0; k < d->a.count; k++)
        if (fabs(p->au[k] + p->x[k] / d->beta) <= 1)
            x[k] = 0;
}

roofs_status dual_lagrangian_create(dual_lagrangian *d, const design *a, roofs_error *err)
{
    const char *what = "the dual problem";
    const int64_t square = memory_bytes(a->total, a->total);
    double *block = NULL;
    *d = (dual_lagrangian){.a = *a};
    double **per_column[] = {&d->zx, &d->g, &d->t, &d->best_x};
    TRY(memory_get(&d->v, a->n, sizeof *d->v, what, err));
    TRY(memory_get(&d->ze, a->n, sizeof *d->ze, what, err));
    TRY(memory_get(&d->gram, square, sizeof *d->gram, what, err));
    TRY(memory_get(&d->factor.r, square, sizeof *d->factor.r, what, err));
    for (size_t k = 0; k < sizeof per_column / sizeof *per_column; k++)
        TRY(memory_get(per_column[k], a->count + 1, sizeof(double), what, err));
    TRY(memory_get(&block, dual_point_size(d), sizeof *block, what, err));
    d->at = dual_point_in(d, block);
    memcpy(d->at.e, a->y, (size_t)a->n * sizeof *a->y);
    for (int64_t i = 0; i < d->a.n; i++)
        d->best_objective += fabs(a->y[i]);
    d->beta = d->best_objective > 0 ? BETA * d->best_objective / (double)d->a.n : 1;
    factor_system(d);
    return ROOFS_OK;
}
