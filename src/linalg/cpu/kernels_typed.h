/* The kernels for one storage type: define VALUE, LOAD and KERNELS, include once. */
#include "linalg/cpu/kernels.h"
#include "linalg/lanes.h"

#include <float.h>
#include <math.h>

EVERY_WIDTH static void dots(const void *const x[GROUP], const double *r, int64_t n,
                             double out[GROUP])
{
    const VALUE *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes ri = lanes_load_f64(r + i);
        s0 += LOAD(x0 + i) * ri;
        s1 += LOAD(x1 + i) * ri;
        s2 += LOAD(x2 + i) * ri;
        s3 += LOAD(x3 + i) * ri;
    }
    double t0 = lanes_total(s0), t1 = lanes_total(s1), t2 = lanes_total(s2), t3 = lanes_total(s3);
    for (; i < n; i++) {
        t0 += (double)x0[i] * r[i];
        t1 += (double)x1[i] * r[i];
        t2 += (double)x2[i] * r[i];
        t3 += (double)x3[i] * r[i];
    }
    out[0] = t0;
    out[1] = t1;
    out[2] = t2;
    out[3] = t3;
}

EVERY_WIDTH static void accumulate(const void *const x[GROUP], const double weight[GROUP],
                                   int64_t n, double *restrict out)
{
    const VALUE *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    const double w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    for (int64_t i = 0; i < n; i++)
        out[i] +=
            (w0 * (double)x0[i] + w1 * (double)x1[i]) + (w2 * (double)x2[i] + w3 * (double)x3[i]);
}

/* A comparison that is false for NaN finds both NaN and infinity. */
EVERY_WIDTH static double largest_magnitude(const VALUE *x, int64_t n, int *all_finite)
{
    double largest = 0;
    int wild = 0;
    for (int64_t i = 0; i < n; i++) {
        double magnitude = fabs((double)x[i]);
        wild |= !(magnitude <= DBL_MAX);
        largest = magnitude > largest ? magnitude : largest;
    }
    *all_finite = !wild;
    return largest;
}

static int64_t first_not_finite(const VALUE *x, int64_t n)
{
    int64_t i = 0;
    while (i < n && isfinite(x[i]))
        i++;
    return i;
}

/* Sums are taken of x - origin, one of the values themselves: a column far from
 * zero keeps its digits, and a constant one gives exactly zero. */
EVERY_WIDTH static double weighted_sum(const VALUE *x, double origin, const double *weight,
                                       int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += (LOAD(x + i) - origin) * lanes_load_f64(weight + i);
    double total = lanes_total(sum);
    for (; i < n; i++)
        total += ((double)x[i] - origin) * weight[i];
    return total;
}

EVERY_WIDTH static double weighted_squares(const VALUE *x, double origin, const double *weight,
                                           int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes off = LOAD(x + i) - origin;
        sum += off * off * lanes_load_f64(weight + i);
    }
    double total = lanes_total(sum);
    for (; i < n; i++) {
        double off = (double)x[i] - origin;
        total += off * off * weight[i];
    }
    return total;
}

/* Of (x - origin) / scale: in the column's own unit fourth powers cannot overflow. */
EVERY_WIDTH static double weighted_fourths(const VALUE *x, double origin, double scale,
                                           const double *weight, int64_t n)
{
    const double factor = 1 / scale;
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes off = (LOAD(x + i) - origin) * factor;
        lanes square = off * off;
        sum += square * square * lanes_load_f64(weight + i);
    }
    double total = lanes_total(sum);
    for (; i < n; i++) {
        double off = ((double)x[i] - origin) * factor;
        total += off * off * (off * off) * weight[i];
    }
    return total;
}

static int all_equal(const VALUE *x, double origin, const double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (weight[i] != 0 && (double)x[i] != origin)
            return 0;
    return 1;
}

static void moments(const VALUE *x, const device_look *look, int64_t n, device_facts *facts)
{
    const double *weight = look->weight;
    int64_t first = 0;
    while (first < n - 1 && weight[first] == 0)
        first++;
    double origin = (double)x[first];
    facts->mean = origin + weighted_sum(x, origin, weight, n) / look->total;
    facts->constant = all_equal(x, origin, weight, n);
    double about = look->centred ? facts->mean : 0.0;
    facts->scale = sqrt(weighted_squares(x, about, weight, n) / look->total);
    if (look->flatness && facts->scale > 0)
        facts->flatness = look->total / weighted_fourths(x, about, facts->scale, weight, n);
}

static void survey(const void *column, const device_look *look, int64_t n, device_facts *facts)
{
    const VALUE *x = column;
    int all_finite;
    *facts = (device_facts){.not_finite = -1};
    facts->largest = largest_magnitude(x, n, &all_finite);
    if (!all_finite)
        facts->not_finite = first_not_finite(x, n);
    else if (look->weight)
        moments(x, look, n, facts);
}

EVERY_WIDTH static void standardise(const void *column, double center, double factor, int64_t n,
                                    double *restrict out)
{
    const VALUE *x = column;
    for (int64_t i = 0; i < n; i++)
        out[i] = ((double)x[i] - center) * factor;
}

static void gather(void *to, const void *from, roofs_dtype type, int64_t stride, int64_t n)
{
    VALUE *out = to;
    const double *wide = from;
    const float *narrow = from;
    for (int64_t i = 0; i < n; i++)
        out[i] = (VALUE)(type == ROOFS_F64 ? wide[i * stride] : (double)narrow[i * stride]);
}

static void rescale(void *to, const void *from, int exponent, int64_t n)
{
    VALUE *out = to;
    const VALUE *in = from;
    for (int64_t i = 0; i < n; i++)
        out[i] = (VALUE)ldexp((double)in[i], -exponent);
}

const kernels KERNELS = {
    .size = sizeof(VALUE),
    .dots = dots,
    .accumulate = accumulate,
    .survey = survey,
    .standardise = standardise,
    .gather = gather,
    .rescale = rescale,
};
