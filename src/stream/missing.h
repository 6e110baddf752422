/* What is done about missing values (NaN) once a block of features is read. */
#ifndef STREAM_MISSING_H
#define STREAM_MISSING_H

#include "base/status.h"

typedef enum missing_policy {
    MISSING_ERROR = 0, /* they are refused, by the reader or by who takes the block */
    MISSING_DROP = 1,  /* a feature with one becomes zero: it keeps its place, but has no weight */
    MISSING_MEDIAN = 2 /* each becomes the median of the feature's other values */
} missing_policy;

typedef struct missing_count {
    int64_t values, features; /* missing values, and features with any */
} missing_count;

/* Mends the values of a block, which stand at `values`; adds to *count. A feature without
 * any value becomes zero. */
roofs_status missing_mend(missing_policy policy, const roofs_block *block, void *values,
                          missing_count *count, roofs_error *err);

#endif
