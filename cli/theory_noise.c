#include "cli/theory_noise.h"

#include "base/portable_math.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

/* Three bounds share the risk. */
static double risk_term(void)
{
    return math_log(3 / THEORY_RISK);
}

/* c with P(|e| <= c) = share, for a standard normal e. */
static double normal_cut(double share)
{
    double low = 0, high = 40;
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            return high;
        if (math_erfc(middle / sqrt(2)) < 1 - share)
            high = middle;
        else
            low = middle;
    }
}

static double normal_density(double x)
{
    return math_exp(-x * x / 2) / sqrt(2 * PI);
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

/* log(count!), by Stirling's series from 16 on */
static double log_factorial(int64_t count)
{
    double product = 1;
    if (count < 16) {
        for (int64_t k = 2; k <= count; k++)
            product *= (double)k;
        return math_log(product);
    }
    const double n = (double)count, n2 = n * n;
    const double series = (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / n2) / n2) / n2) / n;
    return n * (math_log(n) - 1) + 0.5 * math_log(2 * PI * n) + series;
}

static double log_choices(int64_t among, int64_t chosen)
{
    return log_factorial(among) - log_factorial(chosen) - log_factorial(among - chosen);
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
