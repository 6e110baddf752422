#include "cli/arithmetic.h"

#include <stdlib.h>

/* Independent partial sums, which the compiler adds with SIMD. */
enum { PARTIALS = 8 };

static double add_partials(const double *partial)
{
    double sum = 0;
    for (int k = 0; k < PARTIALS; k++)
        sum += partial[k];
    return sum;
}

double sum_values(const double *x, int64_t n)
{
    double partial[PARTIALS] = {0};
    int64_t i = 0;
    for (; i + PARTIALS <= n; i += PARTIALS)
        for (int k = 0; k < PARTIALS; k++)
            partial[k] += x[i + k];
    for (; i < n; i++)
        partial[i % PARTIALS] += x[i];
    return add_partials(partial);
}

double dot_product(const double *x, const double *y, int64_t n)
{
    double partial[PARTIALS] = {0};
    int64_t i = 0;
    for (; i + PARTIALS <= n; i += PARTIALS)
        for (int k = 0; k < PARTIALS; k++)
            partial[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        partial[i % PARTIALS] += x[i] * y[i];
    return add_partials(partial);
}

static int compare_values(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double take_median(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare_values);
    return values[count / 2];
}
