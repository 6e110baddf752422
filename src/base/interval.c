#include "base/interval.h"

#include "base/student.h"

#include <math.h>

/* Of the width: correlations of coefficients are not in the variance. */
static const double CAUTION = 1.02;

/* Samples that are not trusted but may be the tail of the noise are not in its scale: the level of
 * the others is higher. It is at most halfway to 1. */
static double level_of_trusted(double level, double tail)
{
    return fmin(level / (1 - tail), (1 + level) / 2);
}

/* The median residual is 0 if there is an intercept; otherwise the mode is. */
static void find_ends(interval *v, const roofs_noise *noise, double level)
{
    const double inside = level_of_trusted(level, noise->tail);
    const double middle = noise->intercept > 0 ? skewed_quantile(noise->nu, noise->skew, 0.5) : 0;
    v->low = fmin(0, skewed_quantile(noise->nu, noise->skew, (1 - inside) / 2) - middle);
    v->high = fmax(0, skewed_quantile(noise->nu, noise->skew, (1 + inside) / 2) - middle);
}

/* 2^-k, where the scale of the noise is about 2^k. */
static double shrink_to_one(double scale)
{
    int exponent = 0;
    if (scale > 0)
        frexp(scale, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

roofs_status interval_begin(interval *v, const roofs_result *model, double level, const char *call,
                            roofs_error *err)
{
    const roofs_noise *noise = &model->noise;
    if (!(level > 0 && level < 1))
        return fail(err, ROOFS_BAD_CALL, "%s: the level must be between 0 and 1, not %.15g", call,
                    level);
    if (!model->spread)
        return fail(err, ROOFS_BAD_CALL,
                    "%s: the model has no errors of its coefficients; fit it with method "
                    "roofs-bayes of this version, to responses that are not exact",
                    call);
    v->shrink = shrink_to_one(noise->scale);
    const double scale = noise->scale * v->shrink, intercept = noise->intercept * v->shrink;
    v->variance = scale * scale + intercept * intercept;
    find_ends(v, noise, level);
    return ROOFS_OK;
}

void interval_ends(const interval *v, double prediction, double variance, double *low, double *high)
{
    const double width = CAUTION * sqrt(variance) / v->shrink;
    *low = prediction + width * v->low;
    *high = prediction + width * v->high;
}
