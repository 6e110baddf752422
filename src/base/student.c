#include "base/student.h"

#include "base/portable_math.h"

#include <math.h>

static const double SKEW_UNIT = 0.3; /* log of the scale of a side per unit of skew */
static const double PI = 3.14159265358979323846;

int student_is_known(double nu)
{
    return nu == INFINITY || (nu >= 1 && nu <= STUDENT_MOST && nu == floor(nu));
}

/* The series of the distribution function, for whole nu; its terms are powers of cos^2. */
static double student_series(int nu, double cosine)
{
    double term = nu % 2 ? cosine : 1, sum = 0;
    for (int k = 2 + nu % 2; k <= nu; k += 2) {
        sum += term;
        term *= cosine * cosine * (k - 1) / k;
    }
    return sum;
}

static double student_below(double nu, double x)
{
    if (isinf(nu))
        return math_erfc(-x / sqrt(2)) / 2;
    const double tangent = x / sqrt(nu), flat = fabs(tangent) > 1 ? 1 / tangent : tangent;
    const double larger = 1 / sqrt(1 + flat * flat), smaller = larger * flat; /* sine and cosine */
    const int is_steep = fabs(tangent) > 1;
    const double sine = is_steep ? copysign(larger, x) : smaller;
    const double series = student_series((int)nu, is_steep ? fabs(smaller) : larger);
    if ((int)nu % 2)
        return 0.5 + (math_atan(tangent) + sine * series) / PI;
    return (1 + sine * series) / 2;
}

/* The quantile for p below 1/2 is between the ends of an interval that is halved until its ends are
 * neighbours. */
static double lower_quantile(double nu, double p)
{
    double low = -1, high = 0;
    while (student_below(nu, low) > p && low > -1e300)
        low *= 2;
    for (double middle = low / 2; middle > low && middle < high; middle = low + (high - low) / 2)
        if (student_below(nu, middle) < p)
            low = middle;
        else
            high = middle;
    return low;
}

double student_quantile(double nu, double p)
{
    if (p == 0.5)
        return 0;
    return p < 0.5 ? lower_quantile(nu, p) : -lower_quantile(nu, 1 - p);
}

double skewed_quantile(double nu, double skew, double p)
{
    const double left = math_exp(-SKEW_UNIT * skew), right = math_exp(SKEW_UNIT * skew);
    const double below = left / (left + right);
    if (p < below)
        return left * student_quantile(nu, p / (2 * below));
    return -right * student_quantile(nu, (1 - p) / (2 * (1 - below)));
}
