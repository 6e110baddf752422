/* The number of samples to trust: eq. (5) of the paper. */
#ifndef ROBUST_TAU_H
#define ROBUST_TAU_H

#include "robust/tau_formula.h"

/* tau': the number of smallest residuals whose mean square bounds |r|_(tau). */
typedef int64_t (*tau_rule)(int64_t tau, int64_t n);

int64_t tau_above_half(int64_t tau, int64_t n); /* tau - ceil(n/2): eq. (5) */
int64_t tau_half_of(int64_t tau, int64_t n);    /* floor(tau/2): RLHH (Zhang et al., IJCAI 2017) */

/* The largest tau of eq. (5). sorted: the n absolute residuals, ascending. squares and sums:
 * scratch of n values each. O(n log n). */
int64_t tau_largest(const double *sorted, int64_t n, double *squares, double *sums, tau_rule rule);

/* The squares of the sorted residuals, and their prefix sums. */
void tau_squares(tau_unit unit, const double *sorted, int64_t n, double *squares, double *sums);

#endif
