/* hyper of docs/roofs-bayes.md: the prior of the coefficients, learned from the estimates R of all
 * features seen, their variances S and scales k. Names are those of that page. */
#ifndef METHOD_SLAB_FORMULA_H
#define METHOD_SLAB_FORMULA_H

#include "linalg/formula.h"

#include <stdint.h>

enum { SLAB_STEPS = 3 };

/* Features whose estimates are recorded, at most: of more features, every 2^t-th. */
enum { SLAB_CAPACITY = 16384 };

/* Weights of pi0 and T in the estimates of pi and of the variance, as numbers of features. */
static const double PI_STRENGTH = 100, VARIANCE_STRENGTH = 20;
static const double PI_LOW = 1e-4, PI_HIGH = 0.9;
static const double MEAN_ERRORS = 4; /* two standard errors, squared */

typedef struct slab_parameters {
    double pi;       /* probability that a coefficient is not zero */
    double mean;     /* m0 */
    double variance; /* sb2 */
} slab_parameters;

/* k_j from the flatness of a feature: 1 for a normal column, small for a rare word. */
FORMULA double slab_scale(double flatness)
{
    return fmin(1.0, 3 * flatness);
}

/* The place of a feature in a list of every `every`-th feature; -1 where it is not in the list. */
FORMULA int64_t slab_place(int64_t feature, int64_t every)
{
    return feature % every == 0 ? feature / every : -1;
}

/* The value at place `at` after a list has been thinned to every second place. */
FORMULA double slab_thinned(const double *list, int64_t at)
{
    return at < SLAB_CAPACITY / 2 ? list[2 * at] : 0;
}

/* The terms of one feature in the sums: 0 where it has no estimate yet (S = 0). */
typedef struct slab_terms {
    real count, p0, p1, pp, p2;
} slab_terms;

/* p: probability that the coefficient is not zero, given its estimate. u, v: its mean and variance
 * in that case, u in units of sqrt(k). */
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

/* pi0, m0 = 0 and T: the parameters at the first call of hyper. */
FORMULA slab_parameters slab_initial(double total, double mu, double seen)
{
    const slab_parameters initial = {fmin(mu / fmax(seen, mu), PI_HIGH), 0, total / mu};
    return initial;
}

/* One of the SLAB_STEPS steps of hyper. */
FORMULA slab_parameters slab_step(slab_sums g, slab_parameters initial)
{
    const double pi = (g.p0 + PI_STRENGTH * initial.pi) / (g.count + PI_STRENGTH);
    const double square = g.p1 * g.p1, held = VARIANCE_STRENGTH * initial.pi;
    slab_parameters next = {fmax(PI_LOW, fmin(PI_HIGH, pi)), 0, 0};
    if (square > 0)
        next.mean = g.p1 / (g.p0 + 1) * fmax(0.0, 1 - MEAN_ERRORS * g.pp / square);
    next.variance =
        (g.p2 - 2 * next.mean * g.p1 + next.mean * next.mean * g.p0 + held * initial.variance) /
        (g.p0 + held);
    return next;
}

#endif
