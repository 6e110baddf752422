/* Cholesky on the Gram matrix, then one step of refinement, which gives the accuracy of an
 * orthogonal factorisation. Where columns are nearly dependent, QR instead. Both are our own: the
 * bits of LAPACK depend on the threads of its BLAS (docs/decisions.md). */
#include "method/baseline/least_squares.h"

#include "base/memory.h"
#include "method/baseline/cholesky.h"
#include "method/baseline/qr.h"

#include <math.h>
#include <string.h>

/* For a column of length 1: the squared distance from the span of those before it below which the
 * Gram matrix is too inaccurate, and the distance below which QR treats it as dependent. */
static const double LEAST_PIVOT = 1e-6, LEAST_DISTANCE = 1e-9;

roofs_status least_squares_reserve(least_squares *s, int64_t count, int64_t n, roofs_error *err)
{
    const char *what = "least squares";
    if (!s->residual)
        TRY(memory_get(&s->residual, n, sizeof *s->residual, what, err));
    if (count <= s->columns)
        return ROOFS_OK;
    memory_free(s->gram);
    memory_free(s->scale);
    memory_free(s->slope);
    s->gram = s->scale = s->slope = NULL;
    s->columns = 0;
    TRY(memory_get(&s->gram, memory_bytes(count, count), sizeof *s->gram, what, err));
    TRY(memory_get(&s->scale, count, sizeof *s->scale, what, err));
    TRY(memory_get(&s->slope, count, sizeof *s->slope, what, err));
    s->columns = count;
    return ROOFS_OK;
}

void least_squares_destroy(least_squares *s)
{
    memory_free(s->gram);
    memory_free(s->scale);
    memory_free(s->slope);
    memory_free(s->residual);
    memory_free(s->dense);
    *s = (least_squares){0};
}

int64_t least_squares_bytes(int64_t count, int64_t n)
{
    int64_t square = memory_bytes(count, memory_bytes(count + 2, sizeof(double)));
    int64_t dense = memory_bytes(count + 1, memory_bytes(n, sizeof(double)));
    return memory_sum(square, dense);
}

/* gram = D Z'WZ D with ones on the diagonal; scale = D. A column of zeros keeps its zeros. */
static void scale_gram(least_squares *s, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        double square = s->gram[k * count + k];
        s->scale[k] = square > 0 ? 1 / sqrt(square) : 1;
    }
    for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l < count; l++)
            s->gram[k * count + l] *= s->scale[k] * s->scale[l];
}

/* x += D G^-1 D Z'W (target - Z x) */
static void refine_solution(least_squares *s, const cholesky *factor, columns *c,
                            const int64_t *which, const double *mask, const double *target,
                            double *x)
{
    for (int64_t k = 0; k < factor->n; k++)
        s->slope[k] = -x[k];
    memcpy(s->residual, target, (size_t)c->n * sizeof *target);
    columns_add(c, which, factor->n, s->slope, s->residual);
    for (int64_t i = 0; i < c->n; i++)
        s->residual[i] *= mask[i];
    columns_products(c, which, factor->n, s->residual, s->slope);
    for (int64_t k = 0; k < factor->n; k++)
        s->slope[k] *= s->scale[k];
    cholesky_solve(factor, s->slope);
    for (int64_t k = 0; k < factor->n; k++)
        x[k] += s->slope[k] * s->scale[k];
}

/* s->dense, column k = the trusted rows of the column, scaled to length 1. */
static void copy_trusted_rows(least_squares *s, columns *c, const int64_t *which, int64_t k,
                              const double *mask, int64_t samples)
{
    int64_t own = which ? which[k] : k, row = 0;
    memset(s->residual, 0, (size_t)c->n * sizeof *s->residual);
    columns_add(c, &own, 1, &s->scale[k], s->residual);
    for (int64_t i = 0; i < c->n; i++)
        if (mask[i] != 0)
            s->dense[k * samples + row++] = s->residual[i];
}

/* Replaces this rank's rows in s->dense by the compressed rows of all ranks. */
static roofs_status gather_rows(least_squares *s, columns *c, int64_t count, int64_t *samples,
                                roofs_error *err)
{
    double *mine = NULL, *all = NULL;
    int64_t own = 0, numbers = 0, most = *samples < count ? *samples : count;
    TRY(memory_get(&mine, memory_bytes(most, count + 1), sizeof *mine, "least squares", err));
    roofs_status status = qr_compress(s->dense, *samples, count, s->residual, mine, &own, err);
    if (status == ROOFS_OK)
        status = comm_gather_all(c->comm, mine, own * (count + 1), &all, &numbers, err);
    const int64_t rows = numbers / (count + 1);
    if (status == ROOFS_OK)
        status = memory_grow(&s->dense, &s->dense_capacity, memory_bytes(rows, count + 1),
                             sizeof *s->dense, "least squares", err);
    for (int64_t i = 0; i < rows && status == ROOFS_OK; i++)
        for (int64_t k = 0; k <= count; k++) /* the last column holds the responses */
            s->dense[k * rows + i] = all[i * (count + 1) + k];
    memory_free(mine);
    memory_free(all);
    *samples = rows;
    return status;
}

static roofs_status solve_by_qr(least_squares *s, columns *c, const int64_t *which, int64_t count,
                                const double *mask, const double *target, double *x,
                                roofs_error *err)
{
    int64_t rank = 0, row = 0, samples = 0;
    for (int64_t i = 0; i < c->n; i++)
        samples += mask[i] != 0;
    TRY(memory_grow(&s->dense, &s->dense_capacity, memory_bytes(samples, count), sizeof *s->dense,
                    "least squares", err));
    for (int64_t k = 0; k < count; k++)
        copy_trusted_rows(s, c, which, k, mask, samples);
    for (int64_t i = 0; i < c->n; i++)
        if (mask[i] != 0)
            s->residual[row++] = target[i];
    double *response = s->residual;
    if (!comm_is_alone(c->comm)) {
        TRY(gather_rows(s, c, count, &samples, err));
        response = s->dense + count * samples;
    }
    TRY(qr_least_squares(s->dense, samples, count, response, LEAST_DISTANCE, x, &rank, err));
    for (int64_t k = 0; k < count; k++)
        x[k] *= s->scale[k];
    return ROOFS_OK;
}

roofs_status least_squares_solve(least_squares *s, columns *c, const int64_t *which, int64_t count,
                                 const double *mask, int64_t samples, const double *target,
                                 double *x, roofs_error *err)
{
    cholesky factor = {.r = s->gram, .stride = count};
    columns_gram(c, which, count, mask, s->gram);
    scale_gram(s, count);
    if (count > samples || !cholesky_factor(&factor, s->gram, count, LEAST_PIVOT))
        return solve_by_qr(s, c, which, count, mask, target, x, err);
    memset(x, 0, (size_t)count * sizeof *x);
    refine_solution(s, &factor, c, which, mask, target, x);
    refine_solution(s, &factor, c, which, mask, target, x);
    return ROOFS_OK;
}
