/* What replaces missing values in predictions, for files that are no tables: a statistic of each
 * kept feature over the samples of the fit. */
#ifndef CLI_FILLS_H
#define CLI_FILLS_H

#include "stream/source.h"

/* Reads the features of the model from a stream that keeps missing values, and sets *fills to one
 * number for each. Free it with memory_free. */
roofs_status fills_find(const roofs_result *model, source *s, missing_policy policy, double **fills,
                        roofs_error *err);

/* Copies a block of one feature to n values, NaN where they are missing. Returns how many are. */
int64_t fills_copy(const roofs_block *column, double *values);

#endif
