/* How many samples to trust: eq. (5) of the paper. */
#ifndef ROBUST_TAU_H
#define ROBUST_TAU_H

#include <stdint.h>

/* sorted: the n absolute residuals, ascending. squares and sums: scratch, n
 * values each. O(n log n). */
int64_t tau_eq5(const double *sorted, int64_t n, double *squares, double *sums);

/* The same with tau' = floor(tau/2), as in RLHH (Zhang et al., IJCAI 2017). */
int64_t tau_rlhh(const double *sorted, int64_t n, double *squares, double *sums);

#endif
