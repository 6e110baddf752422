#include "base/sorted.h"

#include "base/memory.h"
#include "base/order.h"

/* `o` is sorted by magnitude: negative values come first, in reverse order. */
static void write_sorted(const order *o, const double *values, int64_t n, double *out)
{
    int64_t at = 0;
    for (int64_t k = n - 1; k >= 0; k--)
        if (values[o->items[k].place] < 0)
            out[at++] = values[o->items[k].place];
    for (int64_t k = 0; k < n; k++)
        if (!(values[o->items[k].place] < 0))
            out[at++] = values[o->items[k].place];
}

roofs_status sorted_copy(double **out, const double *values, int64_t n, roofs_error *err)
{
    order o = {0};
    roofs_status status = order_create(&o, n, err);
    if (status == ROOFS_OK)
        status = memory_get(out, n, sizeof **out, "a sorted copy", err);
    if (status == ROOFS_OK) {
        order_sort(&o, values, n);
        write_sorted(&o, values, n, *out);
    }
    order_destroy(&o);
    return status;
}

int64_t sorted_first(const double *sorted, int64_t n, double limit)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
