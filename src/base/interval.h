/* Prediction intervals (docs/uncertainty.md). The variance of a prediction is that of the noise, of
 * the intercept and of each coefficient. The library and the program add it up feature by feature,
 * in the order of the model, so that both give the same bits. */
#ifndef BASE_INTERVAL_H
#define BASE_INTERVAL_H

#include "base/status.h"

typedef struct interval {
    double low, high; /* ends around a prediction of standard deviation 1; low <= 0 <= high */
    double shrink;    /* a power of two: squares of the response times it do not overflow */
    double variance;  /* of noise and intercept. Variances are in units of shrink^-2 */
} interval;

/* BAD_CALL unless 0 < level < 1 and the model has the errors of its coefficients. `call` is for the
 * message. */
roofs_status interval_begin(interval *v, const roofs_result *model, double level, const char *call,
                            roofs_error *err);

/* What a feature with value x adds to the variance. */
static inline double interval_term(const interval *v, const roofs_spread *s, double x)
{
    const double change = s->error * (x - s->center) * v->shrink;
    return change * change;
}

void interval_ends(const interval *v, double prediction, double variance, double *low,
                   double *high);

#endif
