#include "stream/missing.h"
#include "base/block.h"

#include "base/memory.h"
#include "base/sorted.h"

#include <math.h>
#include <string.h>

/* The stored values of one feature: first..end-1. The others, up to n, are zero. */
typedef struct feature {
    const roofs_block *block;
    int64_t first, end;
} feature;

static feature feature_of(const roofs_block *b, int64_t k)
{
    if (b->starts)
        return (feature){b, block_start(b, k), block_start(b, k + 1)};
    return (feature){b, k * b->feature_stride, k * b->feature_stride + b->n};
}

static int64_t count_missing(const feature *f)
{
    int64_t missing = 0;
    for (int64_t at = f->first; at < f->end; at++)
        missing += isnan(block_value(f->block, at));
    return missing;
}

/* Sets all values, or only the missing ones, to `value`. */
static void replace(const feature *f, int everything, double value, void *values)
{
    for (int64_t at = f->first; at < f->end; at++) {
        if (!everything && !isnan(block_value(f->block, at)))
            continue;
        if (f->block->dtype == ROOFS_F32)
            ((float *)values)[at] = (float)value;
        else
            ((double *)values)[at] = value;
    }
}

static roofs_status median_of(const feature *f, int64_t missing, double *median, roofs_error *err)
{
    int64_t count = f->block->n - missing, used = 0;
    double *present, *sorted = NULL;
    *median = 0;
    if (count == 0)
        return ROOFS_OK;
    TRY(memory_get(&present, count, sizeof *present, "a median", err)); /* zeroed */
    for (int64_t at = f->first; at < f->end; at++)
        if (!isnan(block_value(f->block, at)))
            present[used++] = block_value(f->block, at);
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
        feature f = feature_of(block, k);
        int64_t missing = count_missing(&f);
        double median = 0;
        if (missing == 0)
            continue;
        count->values += missing;
        count->features++;
        if (policy == MISSING_MEDIAN)
            TRY(median_of(&f, missing, &median, err));
        replace(&f, policy == MISSING_DROP, median, values);
    }
    return ROOFS_OK;
}
