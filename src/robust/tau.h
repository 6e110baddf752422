/* How many samples to trust: eq. (5) of the paper. */
#ifndef ROBUST_TAU_H
#define ROBUST_TAU_H

#include <stdint.h>

/* How many of the smallest residuals give the mean that tau is measured by: tau'. */
typedef int64_t (*tau_rule)(int64_t tau, int64_t n);

int64_t tau_above_half(int64_t tau, int64_t n); /* tau - ceil(n/2): eq. (5) */
int64_t tau_half_of(int64_t tau, int64_t n);    /* floor(tau/2): RLHH (Zhang et al., IJCAI 2017) */

/* sorted: the n absolute residuals, ascending. squares and sums: scratch, n
 * values each. O(n log n). */
int64_t tau_largest(const double *sorted, int64_t n, double *squares, double *sums, tau_rule rule);

/* Factors, to be applied one after the other, that bring residuals into a unit in which `middle`
 * is at most 1, and the squares in it with their sums. */
typedef struct tau_unit {
    double once, again;
} tau_unit;

tau_unit tau_unit_of(double middle);
double tau_square(tau_unit unit, double residual);
void tau_squares(tau_unit unit, const double *sorted, int64_t n, double *squares, double *sums);

#endif
