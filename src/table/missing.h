/* Replaces missing values (NaN) in a block of features. */
#ifndef TABLE_MISSING_H
#define TABLE_MISSING_H

#include "base/status.h"

typedef enum missing_policy {
    MISSING_ERROR = 0,     /* do nothing: the reader or the fit refuses them */
    MISSING_DROP = 1,      /* a feature with a missing value becomes zero; indices stay the same */
    MISSING_MEDIAN = 2,    /* each becomes the median of the other values of its feature */
    MISSING_MEAN = 3,      /* the same with the mean */
    MISSING_INDICATOR = 4, /* as MEAN, and one more feature shows where: tables only */
    MISSING_KEEP = 5       /* they stay: the caller replaces them */
} missing_policy;

typedef struct missing_count {
    int64_t values, features; /* missing values, and features that have any */
} missing_count;

/* What replaces the missing values of a feature: the mean or the median of its other values; 0 if
 * there are none. */
roofs_status missing_statistic(missing_policy policy, const double *values, int64_t n,
                               double *statistic, roofs_error *err);

/* Replaces the missing values of `block` in `values`, its memory, and adds to *count. A feature
 * with only missing values becomes zero. */
roofs_status missing_replace(missing_policy policy, const roofs_block *block, void *values,
                             missing_count *count, roofs_error *err);

#endif
