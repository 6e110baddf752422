#include "table/missing.h"
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

/* A running mean: no sum that overflows. */
static double mean_of(const double *values, int64_t n)
{
    double mean = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            mean += (values[i] - mean) / (double)++count;
    return mean;
}

static roofs_status median_of(const double *values, int64_t n, double *median, roofs_error *err)
{
    double *present, *sorted = NULL;
    int64_t count = 0;
    TRY(memory_get(&present, n, sizeof *present, "a median", err));
    for (int64_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            present[count++] = values[i];
    roofs_status status = count > 0 ? sorted_copy(&sorted, present, count, err) : ROOFS_OK;
    if (status == ROOFS_OK && count > 0)
        *median = sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2;
    memory_free(present);
    memory_free(sorted);
    return status;
}

roofs_status missing_statistic(missing_policy policy, const double *values, int64_t n,
                               double *statistic, roofs_error *err)
{
    *statistic = 0;
    if (policy == MISSING_MEDIAN)
        return median_of(values, n, statistic, err);
    *statistic = mean_of(values, n);
    return ROOFS_OK;
}

/* The statistic of all n values, including zeros that are not stored. */
static roofs_status statistic_of(missing_policy policy, const roofs_block *b, block_range values,
                                 double *statistic, roofs_error *err)
{
    double *all;
    TRY(memory_get(&all, b->n, sizeof *all, "a feature with missing values", err)); /* zeroed */
    for (int64_t k = 0; k < values.count; k++)
        all[k] = block_value(b, values.first + k);
    roofs_status status = missing_statistic(policy, all, b->n, statistic, err);
    memory_free(all);
    return status;
}

roofs_status missing_replace(missing_policy policy, const roofs_block *block, void *values,
                             missing_count *count, roofs_error *err)
{
    for (int64_t k = 0; k < block->count && policy != MISSING_ERROR && policy != MISSING_KEEP;
         k++) {
        const block_range range = block_values(block, k);
        int64_t missing = count_missing(block, range);
        double statistic = 0;
        if (missing == 0)
            continue;
        count->values += missing;
        count->features++;
        if (policy != MISSING_DROP)
            TRY(statistic_of(policy, block, range, &statistic, err));
        replace_values(block, range, policy == MISSING_DROP, statistic, values);
    }
    return ROOFS_OK;
}
