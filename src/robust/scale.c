#include "robust/scale.h"

#include "base/memory.h"
#include "base/order.h"
#include "linalg/vector.h"

#include <math.h>

/* order_sort ranks magnitudes: the negative ones from the largest down, then the
 * others from the smallest up, are all in order. */
static double lower_median(order *ranks, const double *y, int64_t n)
{
    int64_t before = (n - 1) / 2;
    order_sort(ranks, y, n);
    for (int64_t k = n - 1; k >= 0; k--)
        if (y[ranks->items[k].place] < 0 && before-- == 0)
            return y[ranks->items[k].place];
    int64_t k = 0;
    while (y[ranks->items[k].place] < 0 || before-- > 0)
        k++;
    return y[ranks->items[k].place];
}

roofs_status robust_scale(const double *y, int64_t n, double *scale, roofs_error *err)
{
    order ranks = {0};
    double *away = NULL;
    roofs_status status = order_create(&ranks, n, err);
    if (status == ROOFS_OK)
        status = memory_get(&away, n, sizeof *away, "the spread of y", err);
    if (status == ROOFS_OK) {
        double middle = lower_median(&ranks, y, n);
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
