#include "cli/theory_noise.h"

#include <math.h>

/* Three bounds share the risk. */
static double risk_term(void)
{
    return log(3 / THEORY_RISK);
}

/* c with P(|e| <= c) = share, for a standard normal e. */
static double normal_cut(double share)
{
    double low = 0, high = 40;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            return high;
        if (erfc(middle / sqrt(2)) < 1 - share)
            high = middle;
        else
            low = middle;
    }
}

static double normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * acos(-1));
}

double noise_any(int64_t n, int64_t count)
{
    if (count <= 0)
        return 0;
    double mean = (double)n;
    if (count < n) {
        const double cut = normal_cut(1 - (double)count / (double)n);
        mean = (double)count + (double)n * 2 * cut * normal_density(cut);
    }
    return sqrt(mean) + sqrt(2 * risk_term());
}

static double log_choices(int64_t among, int64_t chosen)
{
    return lgamma((double)among + 1) - lgamma((double)chosen + 1) -
           lgamma((double)(among - chosen) + 1);
}

double noise_projected(int64_t columns, int64_t among, int64_t chosen)
{
    return sqrt((double)columns) + sqrt(2 * (log_choices(among, chosen) + risk_term()));
}

double noise_trimmed_square(double share)
{
    if (share >= 1)
        return 1;
    const double cut = normal_cut(share);
    return 1 - 2 * cut * normal_density(cut) / share;
}
