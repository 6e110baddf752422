/* A sorted copy, for what is done once and not in every round. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include "base/status.h"

/* values[0..n) in ascending order; to be freed with memory_free. */
roofs_status sorted_copy(double **out, const double *values, int64_t n, roofs_error *err);

#endif
