#include "stream/missing.h"
#include "base/block.h"

#include "base/memory.h"
#include "base/sorted.h"

#include <math.h>
#include <string.h>

/* Here sample_stride is 1: the values of a feature are at first..first + count - 1. */
static int64_t count_missing(const roofs_block *b, block_range values)
{
    int64_t missing = 0;
    for (int64_t i = 0; i < values.count; i++)
        missing += isnan(block_value(b, values.first + i));
    return missing;
}

/* Sets all values, or only the missing ones, to `value`. */
static void replace_values(const roofs_block *b, block_range values, int everything, double value,
                           void *memory)
{
    for (int64_t at = values.first; at < values.first + values.count; at++) {
        if (!everything && !isnan(block_value(b, at)))
            continue;
        if (b->dtype == ROOFS_F32)
            ((float *)memory)[at] = (float)value;
        else
            ((double *)memory)[at] = value;
    }
}

/* The median of all n values that are not missing, including zeros that are not stored. */
static roofs_status median_of(const roofs_block *b, block_range values, int64_t missing,
                              double *median, roofs_error *err)
{
    int64_t count = b->n - missing, used = 0;
    double *present, *sorted = NULL;
    *median = 0;
    if (count == 0)
        return ROOFS_OK;
    TRY(memory_get(&present, count, sizeof *present, "a median", err)); /* zeroed */
    for (int64_t at = values.first; at < values.first + values.count; at++)
        if (!isnan(block_value(b, at)))
            present[used++] = block_value(b, at);
    roofs_status status = sorted_copy(&sorted, present, count, err);
    if (!status)
        *median = sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2;
    memory_free(present);
    memory_free(sorted);
    return status;
}

roofs_status missing_replace(missing_policy policy, const roofs_block *block, void *values,
                             missing_count *count, roofs_error *err)
{
    for (int64_t k = 0; k < block->count && policy != MISSING_ERROR; k++) {
        const block_range range = block_values(block, k);
        int64_t missing = count_missing(block, range);
        double median = 0;
        if (missing == 0)
            continue;
        count->values += missing;
        count->features++;
        if (policy == MISSING_MEDIAN)
            TRY(median_of(block, range, missing, &median, err));
        replace_values(block, range, policy == MISSING_DROP, median, values);
    }
    return ROOFS_OK;
}
