/* sweep of docs/roofs-bayes.md: the update of one coefficient. Names are those of that page. */
#ifndef METHOD_COORDINATE_FORMULA_H
#define METHOD_COORDINATE_FORMULA_H

#include "method/slab_formula.h"
#include "robust/mixture_formula.h"

/* The inputs of the update except the slope. Only the slope depends on the other coefficients. */
typedef struct coordinate {
    double before, P, v;
    formula_ratio gain;      /* of the slope c: kap c / d */
    formula_line mean;       /* of R: v (P R + mj/sb) */
    formula_ratio evidence;  /* of m^2: m^2 / (2v) */
    formula_product damping; /* of nv: (kap - 1) nv P */
    double log_odds;         /* log(pi/(1-pi)) + log(v/sb)/2 */
    double offset;           /* mj^2 / (2sb) */
} coordinate;

/* Returns 0 where d = 0 or k = 0: the coefficient becomes 0. */
FORMULA int coordinate_is_defined(const coordinate *c)
{
    return c->v > 0;
}

/* The results of the update, beside the move. */
typedef struct coordinate_estimate {
    double R, variance, probability;
} coordinate_estimate;

/* d = z'Wz; k: slab_scale */
FORMULA coordinate coordinate_prepare(double before, double d, double k,
                                      const mixture_parameters *samples,
                                      const slab_parameters *prior)
{
    coordinate c = {0};
    c.before = before;
    if (!(d > 0) || !(k > 0))
        return c;
    const double sb = prior->variance * k, mj = prior->mean * sqrt(k);
    c.P = d / samples->tau2;
    c.v = 1 / (c.P + 1 / sb);
    c.gain = formula_ratio_of(samples->kap, d);
    c.mean = formula_line_of(c.v, c.P, mj / sb);
    c.evidence = formula_ratio_of(1, 2 * c.v);
    c.damping = formula_product_of(samples->kap - 1, c.P);
    c.log_odds = formula_log(prior->pi / (1 - prior->pi)) + 0.5 * formula_log(c.v / sb);
    c.offset = mj * mj / (2 * sb);
    return c;
}

/* S_j: the variance of R_j. */
FORMULA double coordinate_variance(const coordinate *c)
{
    return 1 / c->P;
}

/* slope = z'Wr. Returns delta, the change of the coefficient. */
FORMULA double coordinate_move(const coordinate *c, double slope, coordinate_estimate *out)
{
    out->R = out->variance = out->probability = 0;
    if (!coordinate_is_defined(c))
        return -c->before;
    out->R = c->before + formula_ratio_at(&c->gain, slope);
    const double m = formula_line_at(&c->mean, out->R);
    const double logit = c->log_odds + formula_ratio_at(&c->evidence, m * m) - c->offset;
    const double a = formula_divide(1, 1 + formula_exp(-logit));
    out->variance = a * (c->v + m * m) - a * m * (a * m);
    out->probability = a;
    return formula_divide(a * m - c->before, 1 + formula_product_at(&c->damping, out->variance));
}

#endif
