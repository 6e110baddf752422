/* Surveys and updates of columns whose values are computed with one by one: all but ROOFS_2BIT. The
 * including file defines the macros of kernels_load.h except BLOCK, and then includes
 * kernels_typed.h. */
#define BLOCK sweep_block
#define OWN(b) (*(b))
#define OWN_CENTRED(b) (*(b))
#define OWN_STANDARDISED(b) (*(b))
#define CENTRED(b, q, v) ((v) - (b)->center[q])
#define STANDARDISED(b, q, v) (((v) - (b)->center[q]) * (b)->factor[q])
#include "linalg/cpu/kernels_load.h"

/* ---- surveys ----------------------------------------------------------- */

LANES_INLINE void add_magnitudes(lanes v, lanes *largest, lanes_int *finite)
{
    const lanes zero = {0}, size = lanes_choose(v < zero, -v, v);
    *finite &= size <= DBL_MAX;
    *largest = lanes_choose(size > *largest, size, *largest);
}

/* *all_finite = 0 if a value is NaN or infinite: the comparison with DBL_MAX is then false. */
KERNEL double largest_magnitude(const sweep_block *b, int64_t n, int *all_finite)
{
    lanes largest = {0};
    lanes_int finite = ~(lanes_int){0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_magnitudes(LOAD(b, 0, i), &largest, &finite);
    add_magnitudes(load_some(b, 0, i, n - i), &largest, &finite);
    double most = 0;
    *all_finite = 1;
    for (int k = 0; k < LANES; k++) {
        most = largest[k] > most ? largest[k] : most;
        *all_finite &= finite[k] != 0;
    }
    return most;
}

static int64_t first_not_finite(const sweep_block *b, int64_t n)
{
    int64_t i = 0;
    while (i < n && isfinite(ITEM(b, 0, i)))
        i++;
    return i;
}

KERNEL double sum_for_mean(const sweep_block *b, double origin, const double *weight, int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += mean_term(LOAD(b, 0, i), origin, lanes_load_f64(weight + i));
    lanes last = mean_term(load_some(b, 0, i, n - i), origin, load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

KERNEL double sum_for_scale(const sweep_block *b, double about, const double *weight, int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += scale_term(LOAD(b, 0, i), about, lanes_load_f64(weight + i));
    lanes last = scale_term(load_some(b, 0, i, n - i), about, load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

KERNEL double sum_for_flatness(const sweep_block *b, double about, double factor,
                               const double *weight, int64_t n)
{
    lanes sum = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += flatness_term(LOAD(b, 0, i), about, factor, lanes_load_f64(weight + i));
    lanes last = flatness_term(load_some(b, 0, i, n - i), about, factor,
                               load_some_weights(weight + i, n - i));
    return add_some(lanes_total(sum), last, n - i);
}

static int dense_is_constant(const sweep_block *b, double origin, const double *weight, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (differs_from_origin(ITEM(b, 0, i), origin, weight[i]))
            return 0;
    return 1;
}

static void dense_moments(const sweep_block *b, const survey_options *how, int64_t n,
                          device_facts *facts)
{
    const double *weight = how->weight, total = how->total;
    const double origin = ITEM(b, 0, moments_origin(weight, n));
    facts->mean = mean_of(sum_for_mean(b, origin, weight, n), total, origin);
    facts->constant = dense_is_constant(b, origin, weight, n);
    const double about = how->centred ? facts->mean : 0.0;
    facts->scale = scale_of(sum_for_scale(b, about, weight, n), total);
    if (how->flatness && facts->scale > 0)
        facts->flatness =
            flatness_of(sum_for_flatness(b, about, 1 / facts->scale, weight, n), total);
}

static void dense_survey(const sweep_block *b, const survey_options *how, int64_t n,
                         device_facts *facts)
{
    int all_finite;
    *facts = (device_facts){.not_finite = -1};
    facts->largest = largest_magnitude(b, n, &all_finite);
    if (!all_finite)
        facts->not_finite = first_not_finite(b, n);
    else if (how->weight)
        dense_moments(b, how, n, facts);
}

/* ---- updates ----------------------------------------------------------- */

KERNEL void dense_accumulate(const sweep_block *block, int64_t begin, int64_t rows,
                             const double weight[DEVICE_BLOCK], double *restrict out)
{
    const sweep_block b = *block;
    const double w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    int64_t i = 0, at = begin;
    for (; i + LANES <= rows; i += LANES, at += LANES)
        store_lanes(out + i,
                    lanes_load_f64(out + i) + ((w0 * LOAD(&b, 0, at) + w1 * LOAD(&b, 1, at)) +
                                               (w2 * LOAD(&b, 2, at) + w3 * LOAD(&b, 3, at))));
    for (; i < rows; i++, at++)
        out[i] += (w0 * ITEM(&b, 0, at) + w1 * ITEM(&b, 1, at)) +
                  (w2 * ITEM(&b, 2, at) + w3 * ITEM(&b, 3, at));
}

/* The changes of eight samples: sum_q d_q u_q and sum_q s_q u_q^2. */
LANES_INLINE lanes linear_change(const lanes u[4], const double d[4])
{
    return (d[0] * u[0] + d[1] * u[1]) + (d[2] * u[2] + d[3] * u[3]);
}

LANES_INLINE lanes square_change(const lanes u[4], const double s[4])
{
    return (s[0] * (u[0] * u[0]) + s[1] * (u[1] * u[1])) +
           (s[2] * (u[2] * u[2]) + s[3] * (u[3] * u[3]));
}

KERNEL void dense_apply_block(const sweep_block *block, int64_t begin, int64_t rows,
                              double *restrict r, double *restrict variance)
{
    const sweep_block b = *block;
    double d[4], s[4];
    for (int q = 0; q < 4; q++) {
        d[q] = b.delta[q] * b.factor[q];
        s[q] = b.spread[q] * (b.factor[q] * b.factor[q]);
    }
    int64_t i = 0, at = begin;
    for (; i + LANES <= rows; i += LANES, at += LANES) {
        const lanes u[4] = {centred(&b, 0, at, LANES), centred(&b, 1, at, LANES),
                            centred(&b, 2, at, LANES), centred(&b, 3, at, LANES)};
        store_lanes(r + i, lanes_load_f64(r + i) - linear_change(u, d));
        store_lanes(variance + i, lanes_load_f64(variance + i) + square_change(u, s));
    }
    const int64_t left = rows - i;
    const lanes u[4] = {centred(&b, 0, at, left), centred(&b, 1, at, left),
                        centred(&b, 2, at, left), centred(&b, 3, at, left)};
    const lanes change = linear_change(u, d), more = square_change(u, s);
    for (int k = 0; k < left; k++) {
        r[i + k] -= change[k];
        variance[i + k] += more[k];
    }
}
