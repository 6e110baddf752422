/* Eq. (5): the largest tau > n/2 with |r|_(tau) <= 2 tau |r|_(tau_o) / tau_o. The square of
 * |r|_(tau_o) is the one closest to the mean of the tau' = tau - ceil(n/2) smallest squares. */
#ifndef ROBUST_TAU_FORMULA_H
#define ROBUST_TAU_FORMULA_H

#include "linalg/formula.h"

#include <stdint.h>

/* tau where the share of clean samples is known: round(ratio n), within 1..n. */
FORMULA int64_t tau_of_ratio(double ratio, int64_t n)
{
    const int64_t tau = llround(ratio * (double)n);
    return tau < 1 ? 1 : tau > n ? n : tau;
}

/* Factors, to be applied one after the other: the product of both may overflow. */
typedef struct tau_unit {
    double once, again;
} tau_unit;

/* Squares are taken of residuals in a unit (a power of two, so nothing is
 * rounded) in which the smaller half is at most 1: the half whose mean is
 * needed can neither overflow nor vanish. Larger ones may reach infinity, which
 * is never the closest to a mean. */
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

/* Whether of two neighbours of the mean the upper is the closest; in a tie it is the lower. */
FORMULA int tau_takes_upper(double lower, double mean, double upper)
{
    return upper - mean < mean - lower;
}

/* The mean of two lies midway between them: a tie, whatever rounding says, and tau_o = 1. */
FORMULA int tau_is_tie(int64_t smallest)
{
    return smallest == 2;
}

/* What |r|_(tau) must not exceed. */
FORMULA double tau_bound(double tau, double residual_o, double tau_o)
{
    return 2.0 * tau * residual_o / tau_o;
}

#endif
