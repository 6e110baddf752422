/* The spread of the response, not moved by less than half of bad samples. */
#ifndef ROBUST_SCALE_H
#define ROBUST_SCALE_H

#include "base/status.h"

/* 1.4826 times the median of |y - median(y)|; where that is zero the mean of the
 * same, and 1 where that is zero too. Medians are the lower of the middle two. */
roofs_status robust_scale(const double *y, int64_t n, double *scale, roofs_error *err);

#endif
