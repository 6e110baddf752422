#include "robust/scale.h"

#include "base/memory.h"
#include "base/sorted.h"
#include "linalg/vector.h"

#include <math.h>

roofs_status lower_median(const double *values, int64_t n, double *median, roofs_error *err)
{
    double *sorted = NULL;
    TRY(sorted_copy(&sorted, values, n, err));
    *median = sorted[(n - 1) / 2];
    memory_free(sorted);
    return ROOFS_OK;
}

static roofs_status spread_around(double middle, const double *y, int64_t n, double *away,
                                  double *scale, roofs_error *err)
{
    double median = 0;
    for (int64_t i = 0; i < n; i++)
        away[i] = fabs(y[i] - middle);
    TRY(lower_median(away, n, &median, err));
    *scale = 1.4826 * median;
    if (*scale == 0)
        *scale = vector_sum(away, n) / (double)n;
    if (*scale == 0)
        *scale = 1;
    return ROOFS_OK;
}

roofs_status robust_scale(const double *y, int64_t n, double *scale, roofs_error *err)
{
    double middle = 0, *away = NULL;
    TRY(lower_median(y, n, &middle, err));
    TRY(memory_get(&away, n, sizeof *away, "the spread of y", err));
    roofs_status status = spread_around(middle, y, n, away, scale, err);
    memory_free(away);
    return status;
}

roofs_status shortest_half(const double *values, int64_t n, double *middle, double *length,
                           roofs_error *err)
{
    const int64_t half = (n + 1) / 2;
    double *sorted = NULL;
    int64_t best = 0;
    TRY(sorted_copy(&sorted, values, n, err));
    for (int64_t i = 1; i + half <= n; i++)
        if (sorted[i + half - 1] - sorted[i] < sorted[best + half - 1] - sorted[best])
            best = i;
    *middle = 0.5 * (sorted[best] + sorted[best + half - 1]);
    *length = sorted[best + half - 1] - sorted[best];
    memory_free(sorted);
    return ROOFS_OK;
}
