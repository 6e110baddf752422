#include "base/sorted.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

roofs_status sorted_copy(double **out, const double *values, int64_t n, roofs_error *err)
{
    TRY(memory_get(out, n, sizeof **out, "a sorted copy", err));
    memcpy(*out, values, (size_t)n * sizeof **out);
    qsort(*out, (size_t)n, sizeof **out, ascending);
    return ROOFS_OK;
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
