#include "method/baseline/design.h"

#include "linalg/vector.h"

#include <math.h>
#include <string.h>

design design_of(columns *cols, const int64_t *which, int64_t count, const double *y,
                 int with_intercept)
{
    return (design){.cols = cols,
                    .which = which,
                    .y = y,
                    .n = cols->n,
                    .count = count,
                    .total = count + (with_intercept != 0)};
}

void design_products(const design *a, const double *v, double *out)
{
    columns_products(a->cols, a->which, a->count, v, out);
    if (design_has_intercept(a))
        out[a->count] = vector_sum(v, a->n);
}

/* A'WA comes in rows of `count` numbers; with an intercept they move apart to rows of `total`. */
void design_gram(const design *a, const double *weight, double *scratch, double *gram)
{
    const int64_t count = a->count, total = a->total;
    columns_gram(a->cols, a->which, count, weight, gram);
    if (!design_has_intercept(a))
        return;
    for (int64_t k = count - 1; k > 0; k--)
        memmove(gram + k * total, gram + k * count, (size_t)count * sizeof *gram);
    design_products(a, weight, scratch);
    for (int64_t k = 0; k < total; k++)
        gram[k * total + count] = gram[count * total + k] = scratch[k];
}

void design_row(const design *a, int64_t i, double *row)
{
    columns_sample(a->cols, a->which, a->count, i, row);
    if (design_has_intercept(a))
        row[a->count] = 1;
}

void design_residual(const design *a, const double *x, double *scratch, double *r)
{
    const double intercept = design_intercept(a, x);
    for (int64_t k = 0; k < a->count; k++)
        scratch[k] = -x[k];
    for (int64_t i = 0; i < a->n; i++)
        r[i] = a->y[i] - intercept;
    columns_add(a->cols, a->which, a->count, scratch, r);
}

double design_dual_bound(const design *a, const double *u, double *scratch, double *v)
{
    double mean = design_has_intercept(a) ? vector_sum(u, a->n) / (double)a->n : 0;
    for (int64_t i = 0; i < a->n; i++)
        v[i] = u[i] - mean;
    design_products(a, v, scratch);
    double size = fmax(1, fmax(vector_largest(v, a->n), vector_largest(scratch, a->count)));
    return vector_dot(a->y, v, a->n) / size;
}
