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
EVERY_WIDTH static double trusted_sum(const VALUE *x, double origin, const double *trusted,
                                      int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += (LOAD(x + i) - origin) * lanes_load_f64(trusted + i);
    double total = lanes_total(sum);
    for (; i < n; i++)
        total += ((double)x[i] - origin) * trusted[i];
    return total;
}

EVERY_WIDTH static double trusted_squares(const VALUE *x, double mean, const double *trusted,
                                          int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes off = (LOAD(x + i) - mean) * lanes_load_f64(trusted + i);
        sum += off * off;
    }
    double total = lanes_total(sum);
    for (; i < n; i++) {
        double off = ((double)x[i] - mean) * trusted[i];
        total += off * off;
    }
    return total;
}

static int all_equal(const VALUE *x, double origin, const double *trusted, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (trusted[i] != 0 && (double)x[i] != origin)
            return 0;
    return 1;
}

static void survey(const void *column, const double *trusted, int64_t count, int64_t n,
                   device_facts *facts)
{
    const VALUE *x = column;
    int all_finite;
    *facts = (device_facts){.not_finite = -1};
    facts->largest = largest_magnitude(x, n, &all_finite);
    if (!all_finite) {
        facts->not_finite = first_not_finite(x, n);
        return;
    }
    if (!trusted)
        return;
    int64_t first = 0;
    while (first < n - 1 && trusted[first] == 0)
        first++;
    double origin = (double)x[first];
    facts->mean = origin + trusted_sum(x, origin, trusted, n) / (double)count;
    facts->scale = sqrt(trusted_squares(x, facts->mean, trusted, n) / (double)count);
    facts->constant = all_equal(x, origin, trusted, n);
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
    .gather = gather,
    .rescale = rescale,
};
