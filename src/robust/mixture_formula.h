/* The formulas of variances and judge of docs/roofs-bayes.md, with the names of that page. */
#ifndef ROBUST_MIXTURE_FORMULA_H
#define ROBUST_MIXTURE_FORMULA_H

#include "linalg/formula.h"

enum { JUDGE_ROUNDS = 20 };

/* Bounds of pc, and the largest changes of pc and S2 that end the rounds. */
static const double PC_LOW = 0.5, PC_HIGH = 1 - 1e-6, PC_SETTLED = 1e-4, S2_SETTLED = 1e-3;
static const double SLOPE_VARIANCE = 16;     /* prior of the background's slope g */
static const double BACKGROUND_AT_LEAST = 2; /* least mean square of it, in units of tau2 */
static const double BACKGROUND_NONE = 1e-6;  /* q0 of a background without samples */
static const double RANGE_AT_LEAST = 6;      /* of the uniform density, in units of sqrt(tau2) */
static const double S2_AT_LEAST = 1e-10;     /* in units of the responses' variance */
static const double S2_OF_EQUALS = 1e-12; /* least variance of equal responses, of scale 1 to 2 */
static const double TRUSTED = 0.5;        /* a sample with a larger w is trusted */
static const double TWO_PI = 2 * M_PI;

typedef struct mixture_parameters {
    double pc;            /* share of clean samples */
    double s2, tau2, kap; /* noise variance; s2 + variance of the fit; tau2 / s2 */
    double bc, g, S2, q;  /* corrupt residuals: (1-q) uniform + q N(bc + g fit, S2) */
} mixture_parameters;

/* pc: the ratio if the user gives it, otherwise the estimate within bounds. */
FORMULA double mixture_share(double ratio, double estimate)
{
    const double share = ratio > 0 ? ratio : estimate, low = ratio > 0 ? 1e-6 : PC_LOW;
    return share < low ? low : share > PC_HIGH ? PC_HIGH : share;
}

/* s2, tau2 and kap, from the sums of w r^2, w V and w. */
FORMULA void mixture_learn_variances(mixture_parameters *p, double squares, double variances,
                                     double weight, double total)
{
    const double r2 = squares / weight, vb = variances / weight;
    p->s2 = fmax(0.5 * (r2 + sqrt(r2 * r2 + 4 * r2 * vb)), S2_AT_LEAST * total);
    p->tau2 = p->s2 + vb;
    p->kap = p->tau2 / p->s2;
}

/* ---- range ------------------------------------------------------------- */

/* The width of the uniform background, which is symmetric about zero without an intercept. */
FORMULA double mixture_spread(double low, double high, int has_intercept)
{
    return has_intercept ? high - low : 2 * fmax(-low, high);
}

FORMULA double mixture_range(const mixture_parameters *p, double spread)
{
    return fmax(spread, RANGE_AT_LEAST * sqrt(p->tau2));
}

/* ---- a sample ---------------------------------------------------------- */

/* Leave-one-out residual and fit of a sample, and the density of clean samples at the residual. */
typedef struct mixture_left_out {
    real z, f, clean;
} mixture_left_out;

/* level = y - intercept */
FORMULA mixture_left_out mixture_leave_one_out(const mixture_parameters *p, real r, real W, real V,
                                               real level)
{
    mixture_left_out out;
    const real variance = p->s2 + V;
    out.z = r * (1 + W * V / p->s2);
    out.f = level - out.z;
    out.clean = real_exp(-0.5 * (out.z * out.z) / variance) / (sqrt(TWO_PI) * real_sqrt(variance));
    return out;
}

/* pc, and the density of the background, floor + height exp(narrow off^2). */
typedef struct mixture_scales {
    double pc, floor, height, narrow, bc, g;
} mixture_scales;

FORMULA mixture_scales mixture_scales_of(const mixture_parameters *p, double range)
{
    const mixture_scales s = {
        p->pc, (1 - p->q) / range, p->q / sqrt(TWO_PI * p->S2), -0.5 / p->S2, p->bc, p->g};
    return s;
}

/* Probabilities: w of being clean, h of being corrupt with normal density. */
typedef struct mixture_weights {
    real w, h;
} mixture_weights;

FORMULA mixture_weights mixture_weigh(const mixture_scales *s, real z, real f, real density)
{
    mixture_weights out;
    const real off = z - s->bc - s->g * f;
    const real normal = s->height * real_exp(s->narrow * (off * off));
    const real background = s->floor + normal, clean = s->pc * density;
    const real share = 1 / (clean + (1 - s->pc) * background);
    out.w = clean * share;
    out.h = (1 - s->pc) * normal * share;
    return out;
}

/* ---- the background ---------------------------------------------------- */

/* Sums over the samples of w, h, h z and h f. */
typedef struct background_sums {
    double clean, weight, z, f;
} background_sums;

typedef struct background_means {
    double z, f;
} background_means;

/* mz and mf */
FORMULA background_means mixture_means(background_sums sums)
{
    const background_means means = {sums.z / sums.weight, sums.f / sums.weight};
    return means;
}

/* Sums weighted by h of products of z - mz and f - mf. Without centring, gross outliers would
 * cancel digits. */
typedef struct background_products {
    double zz, fz, ff;
} background_products;

/* pc and q, for `n` samples. */
FORMULA void mixture_learn_shares(mixture_parameters *p, background_sums sums, double n,
                                  double ratio)
{
    p->pc = mixture_share(ratio, (sums.clean + 1) / (n + 1));
    p->q = (sums.weight + 0.5) / (n - sums.clean + 1);
}

FORMULA int mixture_has_background(background_sums sums)
{
    return sums.weight > BACKGROUND_NONE;
}

/* bc, g and S2. Returns M2, the mean square of the normal density about the fit. */
FORMULA double mixture_learn_background(mixture_parameters *p, background_sums sums,
                                        background_products products)
{
    const double least = BACKGROUND_AT_LEAST * p->tau2, q0 = sums.weight;
    const double mz = mixture_means(sums).z, mf = mixture_means(sums).f;
    const double czz = products.zz / q0, cfz = products.fz / q0, cff = products.ff / q0;
    p->g = fmin(0.0, q0 * cfz / (q0 * cff + p->S2 / SLOPE_VARIANCE));
    p->bc = mz - p->g * mf;
    const double unexplained = czz - 2 * p->g * cfz + p->g * p->g * cff;
    const double explained = fmax(0.0, mz * mz + czz - unexplained);
    p->S2 = fmax(fmax((q0 * unexplained + least) / (q0 + 1), least - explained), p->tau2);
    return p->S2 + explained;
}

/* The same without a background. */
FORMULA double mixture_clear_background(mixture_parameters *p)
{
    p->bc = p->g = 0;
    p->S2 = 2 * (BACKGROUND_AT_LEAST * p->tau2);
    return p->S2;
}

FORMULA int mixture_has_settled(const mixture_parameters *p, const mixture_parameters *before)
{
    return fabs(p->pc - before->pc) < PC_SETTLED &&
           fabs(p->S2 - before->S2) < S2_SETTLED * before->S2;
}

/* What condemning samples as having a pattern costs, in log likelihood: honest residuals often have
 * one, too, and a mixture always explains it better than the noise does. */
FORMULA double mixture_price(double condemned)
{
    return 20 + 1.2 * condemned;
}

/* Returns the factor of h in W = w + factor h: residuals normal about the fit may be not explained
 * yet instead of corrupt. The factor is their precision, less for an offset or a slope against the
 * fit, and less again for an offset at the end of the stream. */
FORMULA double mixture_unexplained(const mixture_parameters *p, double M2, int at_end)
{
    const double each = fmax(0.0, 1 + p->g) * BACKGROUND_AT_LEAST * p->tau2 / M2;
    return each * (at_end ? p->S2 / M2 : 1);
}

#endif
