#include "model/model.h"

#include <math.h>

/* Sums over the trusted samples, of all ranks after comm_sum. */
enum { COUNT = 0, RESIDUALS, SQUARES, RESPONSES, RESPONSE_SQUARES, SUMS };

static double weight_of(const model_samples *s, int64_t i)
{
    return s->case_weight ? s->case_weight[i] : 1;
}

static void add_samples(double *sums, const model_samples *s, const roofs_result *view)
{
    for (int64_t i = 0; i < view->n; i++) {
        if (!view->trust[i])
            continue;
        const double r = s->residual[i], y = s->y[i] - s->pivot, w = weight_of(s, i);
        sums[COUNT] += w;
        sums[RESIDUALS] += w * fabs(r);
        sums[SQUARES] += w * r * r;
        sums[RESPONSES] += w * y;
        sums[RESPONSE_SQUARES] += w * y * y;
    }
}

static double add_differences(const model_samples *s, const roofs_result *view, double constant)
{
    double sum = 0;
    for (int64_t i = 0; i < view->n; i++)
        sum += view->trust[i] ? weight_of(s, i) * fabs(s->y[i] - constant) : 0;
    return sum;
}

roofs_quality quality_of(const model_samples *s, const roofs_result *view, comm *c)
{
    const roofs_quality none = {0};
    double sums[SUMS] = {0};
    add_samples(sums, s, view);
    comm_sum(c, sums, SUMS);
    if (!(sums[COUNT] > 0))
        return none;
    const double count = sums[COUNT], mean = sums[RESPONSES] / count;
    const double differences = comm_sum_of(c, add_differences(s, view, s->pivot + mean));
    const double variance = sums[RESPONSE_SQUARES] / count - mean * mean;
    const roofs_quality out = {.error = ldexp(sums[RESIDUALS] / count, s->exponent),
                               .constant_error = ldexp(differences / count, s->exponent),
                               .r2 = variance > 0 ? 1 - sums[SQUARES] / count / variance : 0};
    return isfinite(out.error) && isfinite(out.constant_error) && isfinite(out.r2) ? out : none;
}
