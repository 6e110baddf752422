/* Numbers in ascending order. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include "base/status.h"

/* A copy of values[0..n) in ascending order. It allocates, so do not call it in every round. Free
 * *out with memory_free. */
roofs_status sorted_copy(double **out, const double *values, int64_t n, roofs_error *err);

/* Index of the first of n ascending numbers that is not below `limit`; n if all are. */
int64_t sorted_first(const double *sorted, int64_t n, double limit);

#endif
