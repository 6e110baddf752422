#include "cli/fills.h"

#include "base/block.h"
#include "base/memory.h"
#include "cli/interrupt.h"

#include <math.h>
#include <string.h>

int64_t fills_copy(const roofs_block *column, double *values)
{
    const block_range range = block_values(column, 0);
    int64_t missing = 0;
    memset(values, 0, (size_t)column->n * sizeof *values);
    for (int64_t k = 0; k < range.count; k++) {
        const int64_t place = range.first + k * range.step;
        const double value = block_value(column, place);
        values[block_sample_of(column, place, k)] = value;
        missing += isnan(value);
    }
    return missing;
}

static roofs_status read_fills(const roofs_result *model, source *s, missing_policy policy,
                               double *values, double *fills, roofs_error *err)
{
    int64_t at = 0;
    for (int64_t k = 0; k < model->selected; k++) {
        roofs_block column = {0};
        TRY(source_skip(s, model->features[k].index - at, err));
        TRY(source_next(s, 1, &column, err));
        if (interrupt_signal())
            return fail(err, ROOFS_CANCELLED, "interrupted");
        if (column.count == 0)
            return fail(err, ROOFS_BAD_DATA,
                        "the files have fewer features than in the fit: they have changed");
        fills_copy(&column, values);
        TRY(missing_statistic(policy, values, column.n, &fills[k], err));
        at = model->features[k].index + 1;
    }
    return ROOFS_OK;
}

roofs_status fills_find(const roofs_result *model, source *s, missing_policy policy, double **fills,
                        roofs_error *err)
{
    double *values = NULL;
    TRY(memory_get(fills, model->selected, sizeof **fills, "statistics of the features", err));
    roofs_status status =
        memory_get(&values, source_own_samples(s), sizeof *values, "a feature", err);
    if (status == ROOFS_OK)
        status = read_fills(model, s, policy, values, *fills, err);
    memory_free(values);
    if (status != ROOFS_OK) {
        memory_free(*fills);
        *fills = NULL;
    }
    return status;
}
