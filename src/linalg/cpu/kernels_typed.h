/* The dense kernels for one storage type. The including file defines VALUE (the type), LOAD (eight
 * values as lanes) and KERNELS (the name of the table). */
#include "base/block.h"
#include "base/memory.h"
#include "linalg/cpu/kernels.h"
#include "linalg/lanes_math.h"
#include "linalg/moments_formula.h"

#include <float.h>
#include <math.h>

/* The last `left` values, fewer than eight; the other lanes are 0. */
LANES_INLINE lanes load_some(const VALUE *x, int64_t left)
{
    lanes v = {0};
    for (int k = 0; k < left; k++)
        v[k] = (double)x[k];
    return v;
}

LANES_INLINE lanes load_some_weights(const double *w, int64_t left)
{
    lanes v = {0};
    for (int k = 0; k < left; k++)
        v[k] = w[k];
    return v;
}

/* Prefetches eight values of four columns. */
LANES_INLINE void prefetch_four(const VALUE *a0, const VALUE *a1, const VALUE *a2, const VALUE *a3)
{
    __builtin_prefetch(a0, 0, 2);
    __builtin_prefetch(a1, 0, 2);
    __builtin_prefetch(a2, 0, 2);
    __builtin_prefetch(a3, 0, 2);
}

EVERY_WIDTH static void dense_dots(const void *const x[DEVICE_BLOCK],
                                   const void *const ahead[DEVICE_BLOCK], const double *r,
                                   int64_t n, int64_t piece, double *out, int64_t stride)
{
    const VALUE *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    const VALUE *a0 = ahead[0], *a1 = ahead[1], *a2 = ahead[2], *a3 = ahead[3];
    for (int64_t begin = 0; begin < n; begin += piece, out += stride) {
        const int64_t end = n - begin < piece ? n : begin + piece;
        lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        int64_t i = begin;
        for (; i + LANES <= end; i += LANES) {
            lanes ri = lanes_load_f64(r + i);
            prefetch_four(a0 + i, a1 + i, a2 + i, a3 + i);
            s0 += LOAD(x0 + i) * ri;
            s1 += LOAD(x1 + i) * ri;
            s2 += LOAD(x2 + i) * ri;
            s3 += LOAD(x3 + i) * ri;
        }
        lanes_totals(s0, s1, s2, s3, out);
        for (; i < end; i++) {
            out[0] += (double)x0[i] * r[i];
            out[1] += (double)x1[i] * r[i];
            out[2] += (double)x2[i] * r[i];
            out[3] += (double)x3[i] * r[i];
        }
    }
}

EVERY_WIDTH static void dense_accumulate(const void *const x[DEVICE_BLOCK],
                                         const double weight[DEVICE_BLOCK], int64_t n,
                                         double *restrict out)
{
    const VALUE *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    const double w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    for (int64_t i = 0; i < n; i++)
        out[i] +=
            (w0 * (double)x0[i] + w1 * (double)x1[i]) + (w2 * (double)x2[i] + w3 * (double)x3[i]);
}

LANES_INLINE void add_magnitudes(lanes v, lanes *largest, lanes_int *finite)
{
    const lanes zero = {0}, size = lanes_choose(v < zero, -v, v);
    *finite &= size <= DBL_MAX;
    *largest = lanes_choose(size > *largest, size, *largest);
}

/* *all_finite = 0 if a value is NaN or infinite: the comparison with DBL_MAX is then false. */
EVERY_WIDTH static double largest_magnitude(const VALUE *x, int64_t n, int *all_finite)
{
    lanes largest = {0};
    lanes_int finite = ~(lanes_int){0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_magnitudes(LOAD(x + i), &largest, &finite);
    add_magnitudes(load_some(x + i, n - i), &largest, &finite);
    double most = 0;
    *all_finite = 1;
    for (int k = 0; k < LANES; k++) {
        most = largest[k] > most ? largest[k] : most;
        *all_finite &= finite[k] != 0;
    }
    return most;
}

static int64_t first_not_finite(const VALUE *x, int64_t n)
{
    int64_t i = 0;
    while (i < n && isfinite(x[i]))
        i++;
    return i;
}

/* ---- moments ----------------------------------------------------------- */

/* total + v[0] + v[1] + ..., for the first `left` lanes */
LANES_INLINE double add_some(double total, lanes v, int64_t left)
{
    for (int k = 0; k < left; k++)
        total += v[k];
    return total;
}

EVERY_WIDTH static double sum_for_mean(const VALUE *x, double origin, const double *weight,
                                       int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += mean_term(LOAD(x + i), origin, lanes_load_f64(weight + i));
    lanes last = mean_term(load_some(x + i, n - i), origin, load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

EVERY_WIDTH static double sum_for_scale(const VALUE *x, double about, const double *weight,
                                        int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += scale_term(LOAD(x + i), about, lanes_load_f64(weight + i));
    lanes last = scale_term(load_some(x + i, n - i), about, load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

EVERY_WIDTH static double sum_for_flatness(const VALUE *x, double about, double factor,
                                           const double *weight, int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += flatness_term(LOAD(x + i), about, factor, lanes_load_f64(weight + i));
    lanes last =
        flatness_term(load_some(x + i, n - i), about, factor, load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

static int dense_is_constant(const VALUE *x, double origin, const double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (differs_from_origin((double)x[i], origin, weight[i]))
            return 0;
    return 1;
}

static void dense_moments(const VALUE *x, const survey_options *how, int64_t n, device_facts *facts)
{
    const double *weight = how->weight, total = how->total;
    const double origin = (double)x[moments_origin(weight, n)];
    facts->mean = mean_of(sum_for_mean(x, origin, weight, n), total, origin);
    facts->constant = dense_is_constant(x, origin, weight, n);
    const double about = how->centred ? facts->mean : 0.0;
    facts->scale = scale_of(sum_for_scale(x, about, weight, n), total);
    if (how->flatness && facts->scale > 0)
        facts->flatness =
            flatness_of(sum_for_flatness(x, about, 1 / facts->scale, weight, n), total);
}

static void dense_survey(const void *column, const survey_options *how, int64_t n,
                         device_facts *facts)
{
    const VALUE *x = column;
    int all_finite;
    *facts = (device_facts){.not_finite = -1};
    facts->largest = largest_magnitude(x, n, &all_finite);
    if (!all_finite)
        facts->not_finite = first_not_finite(x, n);
    else if (how->weight)
        dense_moments(x, how, n, facts);
}

/* ---- sweeps ------------------------------------------------------------ */

/* The loops use u = x - center. The factors of z = u factor are applied to the sums, and to the
 * changes before they are added. */

/* Adds eight samples of four columns, v = u w. All sums stay in registers. */
LANES_INLINE void add_slopes(lanes t[4], lanes v0, lanes v1, lanes v2, lanes v3, lanes r)
{
    t[0] += v0 * r;
    t[1] += v1 * r;
    t[2] += v2 * r;
    t[3] += v3 * r;
}

/* 00, 10 11, 20 21 22, 30 31 32 33 */
LANES_INLINE void add_products(lanes t[10], lanes u0, lanes u1, lanes u2, lanes u3, lanes w)
{
    const lanes v0 = u0 * w, v1 = u1 * w, v2 = u2 * w, v3 = u3 * w;
    t[0] += v0 * u0;
    t[1] += v1 * u0;
    t[2] += v1 * u1;
    t[3] += v2 * u0;
    t[4] += v2 * u1;
    t[5] += v2 * u2;
    t[6] += v3 * u0;
    t[7] += v3 * u1;
    t[8] += v3 * u2;
    t[9] += v3 * u3;
}

LANES_INLINE void store_slopes(const sweep_block *b, const lanes t[4], double slope[SLOPES])
{
    lanes_totals(t[0], t[1], t[2], t[3], slope);
    for (int q = 0; q < 4; q++)
        slope[q] *= b->factor[q];
}

LANES_INLINE void store_gram(const sweep_block *b, const lanes t[10], double gram[PRODUCTS])
{
    const lanes zero = {0};
    lanes_totals(t[0], t[1], t[2], t[3], gram);
    lanes_totals(t[4], t[5], t[6], t[7], gram + 4);
    lanes_totals(t[8], t[9], zero, zero, gram + 8);
    for (int q = 0, at = 0; q < 4; q++)
        for (int p = 0; p <= q; p++)
            gram[at++] *= b->factor[q] * b->factor[p];
}

/* Eight samples of a column less its center; fewer at the end, where the weights are 0. */
LANES_INLINE lanes centred(const sweep_block *b, int q, int64_t i, int64_t left)
{
    const VALUE *x = (const VALUE *)b->x[q] + i;
    return (left < LANES ? load_some(x, left) : LOAD(x)) - b->center[q];
}

LANES_INLINE lanes some_lanes(const double *x, int64_t left)
{
    return left < LANES ? load_some_weights(x, left) : lanes_load_f64(x);
}

LANES_INLINE void prefetch_block(const sweep_block *b, int64_t i)
{
    prefetch_four((const VALUE *)b->x[0] + i, (const VALUE *)b->x[1] + i,
                  (const VALUE *)b->x[2] + i, (const VALUE *)b->x[3] + i);
}

/* The whole lanes first, then the rest: `left` is a constant in the inlined loop. */
LANES_INLINE void sum_samples(const sweep_block *b, int64_t at, int64_t left, const double *w,
                              const double *r, lanes slope[4], lanes gram[10])
{
    const lanes u0 = centred(b, 0, at, left), u1 = centred(b, 1, at, left);
    const lanes u2 = centred(b, 2, at, left), u3 = centred(b, 3, at, left);
    const lanes wi = some_lanes(w, left);
    if (slope)
        add_slopes(slope, u0 * wi, u1 * wi, u2 * wi, u3 * wi, some_lanes(r, left));
    if (gram)
        add_products(gram, u0, u1, u2, u3, wi);
}

EVERY_WIDTH static void dense_sum_block(const sweep_block *b, int64_t begin, int64_t rows,
                                        const double *w, const double *r, const sweep_block *next,
                                        int64_t ahead, double slope[SLOPES], double gram[PRODUCTS])
{
    const sweep_block own = *b, later = *next;
    lanes s[4] = {{0}}, g[10] = {{0}};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        prefetch_block(&later, ahead + i);
        sum_samples(&own, begin + i, LANES, w + i, r + i, s, g);
    }
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, r + i, s, g);
    store_slopes(b, s, slope);
    store_gram(b, g, gram);
}

EVERY_WIDTH static void dense_sum_gram(const sweep_block *b, int64_t begin, int64_t rows,
                                       const double *w, const sweep_block *next, int64_t ahead,
                                       double gram[PRODUCTS])
{
    const sweep_block own = *b, later = *next;
    lanes g[10] = {{0}};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        prefetch_block(&later, ahead + i);
        sum_samples(&own, begin + i, LANES, w + i, NULL, NULL, g);
    }
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, NULL, NULL, g);
    store_gram(b, g, gram);
}

EVERY_WIDTH static void dense_sum_slopes(const sweep_block *b, int64_t begin, int64_t rows,
                                         const double *w, const double *r, double slope[SLOPES])
{
    const sweep_block own = *b;
    lanes s[4] = {{0}};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        sum_samples(&own, begin + i, LANES, w + i, r + i, s, NULL);
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, r + i, s, NULL);
    store_slopes(b, s, slope);
}

EVERY_WIDTH static void dense_apply_block(const sweep_block *b, int64_t begin, int64_t rows,
                                          double *restrict r, double *restrict variance)
{
    const VALUE *x0 = (const VALUE *)b->x[0] + begin, *x1 = (const VALUE *)b->x[1] + begin;
    const VALUE *x2 = (const VALUE *)b->x[2] + begin, *x3 = (const VALUE *)b->x[3] + begin;
    const double c0 = b->center[0], c1 = b->center[1], c2 = b->center[2], c3 = b->center[3];
    const double f0 = b->factor[0], f1 = b->factor[1], f2 = b->factor[2], f3 = b->factor[3];
    const double d0 = b->delta[0] * f0, d1 = b->delta[1] * f1;
    const double d2 = b->delta[2] * f2, d3 = b->delta[3] * f3;
    const double s0 = b->spread[0] * (f0 * f0), s1 = b->spread[1] * (f1 * f1);
    const double s2 = b->spread[2] * (f2 * f2), s3 = b->spread[3] * (f3 * f3);
    for (int64_t i = 0; i < rows; i++) {
        const double u0 = (double)x0[i] - c0, u1 = (double)x1[i] - c1;
        const double u2 = (double)x2[i] - c2, u3 = (double)x3[i] - c3;
        r[i] -= (d0 * u0 + d1 * u1) + (d2 * u2 + d3 * u3);
        variance[i] += (s0 * (u0 * u0) + s1 * (u1 * u1)) + (s2 * (u2 * u2) + s3 * (u3 * u3));
    }
}

/* ---- Gram matrices ----------------------------------------------------- */

LANES_INLINE lanes standardised(const sweep_block *b, int q, int64_t i, int64_t left)
{
    const VALUE *x = (const VALUE *)b->x[q] + i;
    lanes v = left < LANES ? load_some(x, left) : LOAD(x);
    return (v - b->center[q]) * b->factor[q];
}

LANES_INLINE void add_cross(lanes sum[4][4], const sweep_block *left, const sweep_block *right,
                            int64_t i, int64_t rows, lanes w)
{
    lanes b0 = standardised(right, 0, i, rows), b1 = standardised(right, 1, i, rows);
    lanes b2 = standardised(right, 2, i, rows), b3 = standardised(right, 3, i, rows);
    for (int q = 0; q < 4; q++) {
        lanes a = standardised(left, q, i, rows) * w;
        sum[q][0] += a * b0;
        sum[q][1] += a * b1;
        sum[q][2] += a * b2;
        sum[q][3] += a * b3;
    }
}

EVERY_WIDTH static void dense_cross(const sweep_block *left, const sweep_block *right, int64_t n,
                                    const double *w, double out[DEVICE_BLOCK][DEVICE_BLOCK])
{
    lanes sum[4][4] = {{{0}}};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_cross(sum, left, right, i, LANES, lanes_load_f64(w + i));
    if (i < n)
        add_cross(sum, left, right, i, n - i, load_some_weights(w + i, n - i));
    for (int q = 0; q < 4; q++)
        for (int p = 0; p < 4; p++)
            out[q][p] = lanes_total(sum[q][p]);
}

static double dense_value(const void *x, int64_t i)
{
    return (double)((const VALUE *)x)[i];
}

/* ---- copies ------------------------------------------------------------ */

static void dense_gather(void *to, const roofs_block *block, int64_t k)
{
    VALUE *out = to;
    const int64_t n = block->n, first = k * block->feature_stride, step = block->sample_stride;
    const double *wide = (const double *)block->values + first;
    const float *narrow = (const float *)block->values + first;
    for (int64_t i = 0; i < n && block->dtype == ROOFS_F64; i++)
        out[i] = (VALUE)wide[i * step];
    for (int64_t i = 0; i < n && block->dtype == ROOFS_F32; i++)
        out[i] = (VALUE)narrow[i * step];
    for (int64_t i = 0; i < n && dtype_is_packed(block->dtype); i++)
        out[i] = (VALUE)block_at(block, k, i);
}

static void dense_rescale(void *to, const void *from, int exponent, int64_t n)
{
    VALUE *out = to;
    const VALUE *in = from;
    for (int64_t i = 0; i < n; i++)
        out[i] = (VALUE)ldexp((double)in[i], -exponent);
}

const kernels KERNELS = {
    .size = sizeof(VALUE),
    .dots = dense_dots,
    .accumulate = dense_accumulate,
    .survey = dense_survey,
    .sum_block = dense_sum_block,
    .sum_gram = dense_sum_gram,
    .sum_slopes = dense_sum_slopes,
    .apply_block = dense_apply_block,
    .cross = dense_cross,
    .value = dense_value,
    .gather = dense_gather,
    .rescale = dense_rescale,
};
