/* Mean, scale and flatness of a feature x with weights W, and whether it is constant. Mean and
 * scale standardise the feature; the flatness enters k_j of docs/roofs-bayes.md. */
#ifndef LINALG_MOMENTS_FORMULA_H
#define LINALG_MOMENTS_FORMULA_H

#include "linalg/formula.h"

#include <stdint.h>

/* Samples with at most this weight are ignored when features are tested for being constant. */
static const double WEIGHTLESS = 1e-6;

FORMULA int has_weight(double weight)
{
    return weight > WEIGHTLESS;
}

/* The first sample with a weight, whose value is the origin; the last sample if none has one. */
FORMULA int64_t moments_origin(const double *weight, int64_t n)
{
    int64_t first = 0;
    while (first < n - 1 && !has_weight(weight[first]))
        first++;
    return first;
}

FORMULA int differs_from_origin(double x, double origin, double weight)
{
    return has_weight(weight) && x != origin;
}

/* Sums use x - origin: this keeps the digits of a feature far from zero, and the sum of a constant
 * feature is exactly zero. */
FORMULA real mean_term(real x, double origin, real weight)
{
    return (x - origin) * weight;
}

FORMULA double mean_term_of(double x, double origin) /* without the weight */
{
    return x - origin;
}

FORMULA double mean_of(double sum, double total, double origin)
{
    return origin + sum / total;
}

/* Scale and flatness are about the mean, or about zero. */
FORMULA real scale_term(real x, double about, real weight)
{
    const real off = x - about;
    return off * off * weight;
}

FORMULA double scale_term_of(double x, double about)
{
    const double off = x - about;
    return off * off;
}

FORMULA double scale_of(double sum, double total)
{
    return sqrt(sum / total);
}

/* factor = 1 / scale, so that fourth powers cannot overflow. */
FORMULA real flatness_term(real x, double about, double factor, real weight)
{
    const real off = (x - about) * factor, square = off * off;
    return square * square * weight;
}

FORMULA double flatness_term_of(double x, double about, double factor)
{
    const double off = (x - about) * factor, square = off * off;
    return square * square;
}

/* (mean square)^2 / mean fourth power */
FORMULA double flatness_of(double sum, double total)
{
    return total / sum;
}

#endif
