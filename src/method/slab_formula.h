/* hyper of docs/roofs-bayes.md: the prior of the coefficients, learned from the estimates R of all
 * features seen, their variances S and scales k. Names are those of that page. */
#ifndef METHOD_SLAB_FORMULA_H
#define METHOD_SLAB_FORMULA_H

#include "linalg/formula.h"

#include <stdint.h>

enum { SLAB_STEPS = 3 };

/* Estimates of so many features at most; of every 2^t-th where there are more. */
enum { SLAB_MOST = 16384 };

/* Pseudo-features that hold pi and the variance near what mu and y suggest. */
static const double PI_STRENGTH = 100, VARIANCE_STRENGTH = 20;
static const double PI_LOW = 1e-4, PI_HIGH = 0.9;
static const double MEAN_DOUBT = 4; /* two standard errors, squared */

typedef struct slab_parameters {
    double pi;       /* probability of not being zero */
    double mean;     /* m0: of a feature with k = 1 */
    double variance; /* sb2 */
} slab_parameters;

/* k_j, from the flatness of a feature: 1 on normal columns, small for rare words. */
FORMULA double slab_scale(double flatness)
{
    return fmin(1.0, 3 * flatness);
}

/* Where the estimate of a feature is recorded, in a list of every `every`-th; -1: nowhere. */
FORMULA int64_t slab_place(int64_t feature, int64_t every)
{
    return feature % every == 0 ? feature / every : -1;
}

/* What place `at` of a list holds when only every second place stays. */
FORMULA double slab_thinned(const double *list, int64_t at)
{
    return at < SLAB_MOST / 2 ? list[2 * at] : 0;
}

/* What a feature adds to the sums; nothing where it has no estimate yet (S = 0). */
typedef struct slab_terms {
    real count, p0, p1, pp, p2;
} slab_terms;

/* p: probability that the feature is not zero, given its estimate; u, v: mean and
 * variance of its coefficient, then, in units of sqrt(k). */
FORMULA slab_terms slab_terms_of(slab_parameters now, real R, real S, real k)
{
    const double odds = now.pi / (1 - now.pi), m0 = now.mean, sb2 = now.variance;
    const real zero = {0}, one = 1.0 + zero;
    const real_mask known = S > zero;
    S = real_choose(known, S, one);
    k = real_choose(known, k, one);
    const real root = real_sqrt(k), s1 = sb2 * k, t = R - m0 * root;
    const real inverse = 1 / S, both = 1 / (s1 + S), unit = 1 / root;
    const real evidence = 0.5 * (R * R * inverse - t * t * both);
    const real ratio = odds * real_sqrt(S * both) * real_exp(evidence);
    const real p = real_choose(known, 1 - 1 / (1 + ratio), zero);
    const real v = s1 * S * both, u = v * unit * (R * inverse + m0 / sb2 * unit);
    const slab_terms terms = {real_choose(known, one, zero), p, p * u, p * p * (u * u),
                              p * (u * u + v * (unit * unit))};
    return terms;
}

typedef struct slab_sums {
    double count, p0, p1, pp, p2;
} slab_sums;

/* What mu and y suggest: pi0, and T for the variance. */
FORMULA slab_parameters slab_usual(double total, double mu, double seen)
{
    const slab_parameters usual = {fmin(mu / fmax(seen, mu), PI_HIGH), 0, total / mu};
    return usual;
}

/* One of the SLAB_STEPS steps. */
FORMULA slab_parameters slab_step(slab_sums g, slab_parameters usual)
{
    const double pi = (g.p0 + PI_STRENGTH * usual.pi) / (g.count + PI_STRENGTH);
    const double square = g.p1 * g.p1, held = VARIANCE_STRENGTH * usual.pi;
    slab_parameters next = {fmax(PI_LOW, fmin(PI_HIGH, pi)), 0, 0};
    if (square > 0)
        next.mean = g.p1 / (g.p0 + 1) * fmax(0.0, 1 - MEAN_DOUBT * g.pp / square);
    next.variance =
        (g.p2 - 2 * next.mean * g.p1 + next.mean * next.mean * g.p0 + held * usual.variance) /
        (g.p0 + held);
    return next;
}

#endif
