/* Bounds on sums of squares of independent normal numbers (docs/theory.md, "The noise"). */
#ifndef CLI_THEORY_NOISE_H
#define CLI_THEORY_NOISE_H

#include <stdint.h>

/* All bounds together fail with at most this probability. */
#define THEORY_RISK 0.01

/* Bound on the length of any `count` of n standard normal numbers. */
double noise_any(int64_t n, int64_t count);

/* Bound on the length of the projection of standard normal numbers onto `columns` columns, for
 * any choice of `chosen` of them among `among`. */
double noise_projected(int64_t columns, int64_t among, int64_t chosen);

/* The mean square of those standard normal numbers that are among the `share` smallest. */
double noise_trimmed_square(double share);

#endif
