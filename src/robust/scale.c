#include "robust/scale.h"

#include "base/memory.h"
#include "base/order.h"
#include "linalg/vector.h"

#include <math.h>

/* order_sort ranks magnitudes; shifted by the smallest value y is all magnitudes. */
static double lower_median(order *ranks, const double *y, int64_t n, double *scratch)
{
    double smallest = y[0];
    for (int64_t i = 1; i < n; i++)
        smallest = y[i] < smallest ? y[i] : smallest;
    for (int64_t i = 0; i < n; i++)
        scratch[i] = y[i] - smallest;
    order_sort(ranks, scratch, n);
    return y[ranks->items[(n - 1) / 2].place];
}

roofs_status robust_scale(const double *y, int64_t n, double *scale, roofs_error *err)
{
    order ranks = {0};
    double *away = NULL;
    roofs_status status = order_create(&ranks, n, err);
    if (status == ROOFS_OK)
        status = memory_get(&away, n, sizeof *away, "the spread of y", err);
    if (status == ROOFS_OK) {
        double middle = lower_median(&ranks, y, n, away);
        for (int64_t i = 0; i < n; i++)
            away[i] = fabs(y[i] - middle);
        order_sort(&ranks, away, n);
        *scale = 1.4826 * order_median(&ranks);
        if (*scale == 0)
            *scale = vector_sum(away, n) / (double)n;
        if (*scale == 0)
            *scale = 1;
    }
    memory_free(away);
    order_destroy(&ranks);
    return status;
}
