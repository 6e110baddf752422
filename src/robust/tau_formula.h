/* Eq. (5): the largest tau > n/2 with |r|_(tau) <= 2 tau |r|_(tau_o) / tau_o. The square of
 * |r|_(tau_o) is the one closest to the mean of the tau' = tau - ceil(n/2) smallest squares. */
#ifndef ROBUST_TAU_FORMULA_H
#define ROBUST_TAU_FORMULA_H

#include "linalg/formula.h"

#include <stdint.h>

/* tau for a given share of clean samples: round(ratio n), within 1..n. */
FORMULA int64_t tau_of_ratio(double ratio, int64_t n)
{
    const int64_t tau = llround(ratio * (double)n);
    return tau < 1 ? 1 : tau > n ? n : tau;
}

/* Two factors to multiply with one after the other: their product may overflow. */
typedef struct tau_unit {
    double once, again;
} tau_unit;

/* The unit of residuals before they are squared: a power of two, so nothing is rounded. The smaller
 * half is at most 1 in this unit, so the squares that means need can neither overflow nor
 * underflow. Larger squares may be infinite, and are then never the closest to a mean. */
FORMULA tau_unit tau_unit_of(double middle)
{
    const int exponent = middle > 0 ? formula_exponent(middle) : 0;
    const tau_unit unit = {formula_power_of_two(-exponent / 2),
                           formula_power_of_two(exponent / 2 - exponent)};
    return unit;
}

FORMULA double tau_square(tau_unit unit, double residual)
{
    const double scaled = residual * unit.once * unit.again;
    return scaled * scaled;
}

/* True if the upper neighbour is closer to the mean than the lower one. */
FORMULA int tau_takes_upper(double lower, double mean, double upper)
{
    return upper - mean < mean - lower;
}

/* The mean of two squares is equally close to both: a tie in spite of rounding, and tau_o = 1. */
FORMULA int tau_is_tie(int64_t smallest)
{
    return smallest == 2;
}

/* The upper bound of |r|_(tau). */
FORMULA double tau_bound(double tau, double residual_o, double tau_o)
{
    return 2.0 * tau * residual_o / tau_o;
}

#endif
