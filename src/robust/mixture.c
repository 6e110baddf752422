#include "robust/mixture.h"

#include "base/memory.h"
#include "base/portable_math.h"
#include "linalg/lanes_math.h"
#include "linalg/vector.h"
#include "robust/scale.h"

#include <math.h>
#include <string.h>

enum { ARRAYS = 9, TRANSFERRED = 5 }; /* and one more with case weights */

void mixture_destroy(mixture *m)
{
    memory_free(m->y); /* one block holds all arrays */
    *m = (mixture){0};
}

int64_t mixture_bytes(int64_t n)
{
    return memory_bytes(n, (ARRAYS + 1) * sizeof(double));
}

/* Arrays are padded to whole lanes; the padding has weight 0. */
static roofs_status mixture_allocate(mixture *m, roofs_error *err)
{
    const int64_t size = lanes_padded(m->n), arrays_needed = ARRAYS + (m->case_weight != NULL);
    TRY(memory_get(&m->y, arrays_needed * size, sizeof *m->y, "the samples", err));
    double **arrays[ARRAYS - 1] = {&m->r, &m->w, &m->W, &m->V, &m->z, &m->f, &m->clean, &m->h};
    for (int k = 0; k < ARRAYS - 1; k++)
        *arrays[k] = m->y + (k + 1) * size;
    m->weight = m->case_weight ? m->y + ARRAYS * size : m->W;
    return ROOFS_OK;
}

void mixture_weigh_samples(mixture *m)
{
    for (int64_t i = 0; i < m->n && m->case_weight; i++)
        m->weight[i] = m->case_weight[i] * m->W[i];
}

/* ---- sums over samples ------------------------------------------------- */

/* By m->weight. */
static double weighted_mean(const mixture *m, const double *x)
{
    double sums[2] = {vector_dot(m->weight, x, m->n), vector_sum(m->weight, m->n)};
    comm_sum(m->comm, sums, 2);
    return sums[0] / sums[1];
}

/* The case weights of samples i..i + LANES - 1; 0 beyond the last. */
LANES_INLINE lanes load_cases(const mixture *m, int64_t i)
{
    lanes cases = {0};
    if (!m->case_weight)
        return 1.0 + cases;
    const int64_t left = m->n - i;
    memcpy(&cases, m->case_weight + i, (size_t)(left < LANES ? left : LANES) * sizeof(double));
    return cases;
}

/* sum w x y over all samples */
EVERY_WIDTH static double product_by_w(const mixture *m, const double *x, const double *y)
{
    lanes sum = {0};
    for (int64_t i = 0; i < m->n; i += LANES)
        sum += load_cases(m, i) * lanes_load_f64(m->w + i) * lanes_load_f64(x + i) *
               lanes_load_f64(y + i);
    return lanes_total(sum);
}

/* sum w over the samples of this rank */
static double sum_of_w(const mixture *m)
{
    return vector_weighted_sum(m->case_weight, m->w, m->n);
}

double mixture_span(const mixture *m, const double *x)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        if (mixture_cases(m, i) == 0)
            continue;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    low = -comm_largest_of(m->comm, -low);
    high = comm_largest_of(m->comm, high);
    return mixture_spread(low, high, m->has_intercept);
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* ---- start ------------------------------------------------------------- */

/* w of each sample for a normal density about `center` and a uniform one. */
EVERY_WIDTH static void weigh_start(const double *y, double center, double s2, double pc,
                                    double range, int64_t n, double *w)
{
    const double height = pc / sqrt(TWO_PI * s2), floor = (1 - pc) / range;
    for (int64_t i = 0; i < n; i += LANES) {
        lanes off = lanes_load_f64(y + i) - center;
        lanes clean = height * lanes_exp(-0.5 / s2 * (off * off));
        lanes weight = clean / (clean + floor);
        memcpy(w + i, &weight, sizeof weight);
    }
}

static void clear_padding(const mixture *m, double *x)
{
    memset(x + m->n, 0, (size_t)(lanes_padded(m->n) - m->n) * sizeof *x);
}

/* r = y - center; returns the weighted mean square. */
static double set_residual(mixture *m, double center)
{
    for (int64_t i = 0; i < m->n; i++)
        m->r[i] = m->y[i] - center;
    double sums[2] = {product_by_w(m, m->r, m->r), sum_of_w(m)};
    comm_sum(m->comm, sums, 2);
    return sums[0] / sums[1];
}

/* The mean of y by w. */
static double mean_of_clean(const mixture *m)
{
    const double *w = m->w;
    if (m->case_weight) {
        for (int64_t i = 0; i < m->n; i++)
            m->h[i] = m->case_weight[i] * m->w[i];
        w = m->h;
    }
    double sums[2] = {vector_dot(w, m->y, m->n), vector_sum(w, m->n)};
    comm_sum(m->comm, sums, 2);
    return sums[0] / sums[1];
}

/* Repeats the updates of center and m->now.s2 from their start values until s2 converges. */
static void converge_from(mixture *m, double center)
{
    const double least = S2_OF_EQUALS;
    const double spread = mixture_span(m, m->y), range = spread > 0 ? spread : 1;
    m->now.pc = mixture_share(m->ratio, 0.7);
    m->now.s2 = fmax(m->now.s2, least);
    for (int round = 0; round < 300; round++) {
        double before = m->now.s2;
        weigh_start(m->y, center, m->now.s2, m->now.pc, range, lanes_padded(m->n), m->w);
        clear_padding(m, m->w);
        if (m->has_intercept)
            center = mean_of_clean(m);
        m->now.s2 = fmax(set_residual(m, center), least);
        m->now.pc = mixture_share(m->ratio, comm_sum_of(m->comm, sum_of_w(m)) / m->all);
        if (fabs(m->now.s2 - before) < 1e-8 * before)
            break;
    }
    m->intercept = center;
}

/* The mean of y, or zero without an intercept. */
static double level_of(const mixture *m)
{
    return m->has_intercept ? comm_weighted_sum(m->comm, m->case_weight, m->y, m->n) / m->all : 0;
}

/* Sets all samples clean; returns the level. */
static double set_all_clean(mixture *m)
{
    for (int64_t i = 0; i < m->n; i++)
        m->w[i] = 1;
    m->intercept = level_of(m);
    m->now.s2 = set_residual(m, m->intercept);
    m->now.pc = PC_HIGH;
    return m->intercept;
}

/* The kurtosis of y about its level; NAN if y is constant. */
static double kurtosis(const mixture *m)
{
    double level = level_of(m), square = 0, fourth = 0;
    for (int64_t i = 0; i < m->n; i++)
        square += mixture_cases(m, i) * (m->y[i] - level) * (m->y[i] - level) / m->all;
    square = comm_sum_of(m->comm, square);
    for (int64_t i = 0; i < m->n; i++) {
        double share = (m->y[i] - level) * (m->y[i] - level) / square;
        fourth += mixture_cases(m, i) * share * share / m->all;
    }
    return comm_sum_of(m->comm, fourth);
}

/* Sets all samples clean if y has two modes of about the same size and no outliers (a kurtosis
 * below that of a uniform distribution): either mode could be the corrupt one. */
static void check_two_modes(mixture *m)
{
    const double half = 0.55, uniform = 1.8;
    double within = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (m->r[i] * m->r[i] <= 9 * m->now.s2)
            within += mixture_cases(m, i);
    within = comm_sum_of(m->comm, within);
    if (m->ratio > 0 || within >= half * m->all)
        return;
    if (kurtosis(m) < uniform)
        set_all_clean(m);
}

/* The shortest half; without an intercept, the shortest one that is symmetric about zero. */
static roofs_status find_half(const mixture *m, double *center, double *length, roofs_error *err)
{
    if (m->has_intercept)
        return shortest_half(m->comm, m->y, m->case_weight, m->n, center, length, err);
    for (int64_t i = 0; i < m->n; i++)
        m->z[i] = fabs(m->y[i]);
    *center = 0;
    TRY(lower_median(m->comm, m->z, m->case_weight, m->n, length, err));
    *length *= 2;
    return ROOFS_OK;
}

/* Converges from all samples and from the shortest half. Usually both end at the same values. If
 * the shortest half consists of samples whose relevant features are all zero, they do not, and the
 * end with many more clean samples is the right one. */
static void converge_start(mixture *m, double center, double spread)
{
    const double many_more = 0.15;
    converge_from(m, set_all_clean(m));
    const double from_all = m->now.pc;
    m->now.s2 = spread * spread;
    converge_from(m, center);
    if (from_all > m->now.pc + many_more)
        converge_from(m, set_all_clean(m));
    else
        check_two_modes(m);
}

roofs_status mixture_start_background(mixture *m, const double *z, roofs_error *err)
{
    double *chosen = m->f, *cases = m->case_weight ? m->h : NULL, middle = 0, number = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (m->w[i] < TRUSTED) {
            number += mixture_cases(m, i);
            if (cases)
                cases[count] = m->case_weight[i];
            chosen[count++] = z[i];
        }
    m->now.bc = m->now.g = 0;
    m->now.q = m->is_rare ? 0 : 0.5;
    m->now.S2 = 2 * BACKGROUND_AT_LEAST * m->now.s2;
    if (comm_sum_of(m->comm, number) < 10)
        return ROOFS_OK;
    TRY(lower_median(m->comm, chosen, cases, count, &m->now.bc, err));
    for (int64_t k = 0; k < count; k++)
        chosen[k] = fabs(chosen[k] - m->now.bc);
    TRY(lower_median(m->comm, chosen, cases, count, &middle, err));
    m->now.S2 = fmax(m->now.s2, NORMAL_PER_MEDIAN * middle * (NORMAL_PER_MEDIAN * middle));
    return ROOFS_OK;
}

static roofs_status mixture_start(mixture *m, roofs_error *err)
{
    const double reach = 1e12; /* a response farther from the center is certainly corrupt */
    double center = 0, length = 0;
    TRY(find_half(m, &center, &length, err));
    for (int64_t i = 0; i < m->n; i++)
        m->y[i] = clamp(m->y[i], center - reach, center + reach);
    converge_start(m, center, length / (2 * 0.6745));
    m->now.tau2 = m->total = m->now.s2;
    m->now.kap = 1;
    TRY(mixture_start_background(m, m->r, err));
    mixture_judge(m, 0);
    return ROOFS_OK;
}

roofs_status mixture_create(mixture *m, comm *c, mixture_samples of, int has_intercept,
                            double ratio, roofs_error *err)
{
    *m = (mixture){.n = of.n, .comm = c, .has_intercept = has_intercept, .ratio = ratio};
    m->case_weight = of.case_weight;
    m->all = comm_cases(c, of.case_weight, of.n);
    TRY(mixture_allocate(m, err));
    memcpy(m->y, of.y, (size_t)of.n * sizeof *of.y);
    return mixture_start(m, err);
}

roofs_status mixture_create_like(mixture *m, const mixture *of, roofs_error *err)
{
    *m = (mixture){.n = of->n, .all = of->all, .comm = of->comm, .ratio = of->ratio};
    m->has_intercept = of->has_intercept;
    m->case_weight = of->case_weight;
    m->total = of->total;
    TRY(mixture_allocate(m, err));
    memcpy(m->y, of->y, (size_t)m->n * sizeof *m->y);
    return ROOFS_OK;
}

void mixture_start_with_all(mixture *m)
{
    set_all_clean(m);
    m->now.s2 = fmax(m->now.s2, S2_OF_EQUALS);
    m->now.pc = mixture_share(m->ratio, 0.7);
    m->now.tau2 = m->total = m->now.s2;
    m->now.kap = 1;
    m->now.bc = m->now.g = 0;
    m->now.q = 0.5;
    m->now.S2 = 2 * BACKGROUND_AT_LEAST * m->now.s2;
    mixture_judge(m, 0);
}

/* ---- variances --------------------------------------------------------- */

/* sum w V over the samples of this rank */
static double clean_variances(const mixture *m)
{
    if (!m->case_weight)
        return vector_dot(m->w, m->V, m->n);
    double sum = 0;
    for (int64_t i = 0; i < m->n; i++)
        sum += m->case_weight[i] * m->w[i] * m->V[i];
    return sum;
}

void mixture_variances(mixture *m)
{
    double sums[3] = {product_by_w(m, m->r, m->r), clean_variances(m), sum_of_w(m)};
    comm_sum(m->comm, sums, 3);
    mixture_learn_variances(&m->now, sums[0], sums[1], sums[2], m->total);
}

void mixture_recentre(mixture *m)
{
    if (!m->has_intercept)
        return;
    double shift = weighted_mean(m, m->r);
    m->intercept += shift;
    for (int64_t i = 0; i < m->n; i++)
        m->r[i] -= shift;
}

/* ---- judge ------------------------------------------------------------- */

/* z, f and clean */
EVERY_WIDTH static void leave_one_out(const mixture *m, int64_t n)
{
    const mixture_parameters now = m->now;
    for (int64_t i = 0; i < n; i += LANES) {
        mixture_left_out out = mixture_leave_one_out(
            &now, lanes_load_f64(m->r + i), lanes_load_f64(m->W + i), lanes_load_f64(m->V + i),
            lanes_load_f64(m->y + i) - m->intercept);
        memcpy(m->z + i, &out.z, sizeof out.z);
        memcpy(m->f + i, &out.f, sizeof out.f);
        memcpy(m->clean + i, &out.clean, sizeof out.clean);
    }
    clear_padding(m, m->z);
    clear_padding(m, m->f);
}

/* w and h */
EVERY_WIDTH static void weigh_samples(mixture *m, double range, int64_t n)
{
    const mixture_scales scales = mixture_scales_of(&m->now, range);
    for (int64_t i = 0; i < n; i += LANES) {
        mixture_weights out = mixture_weigh(&scales, lanes_load_f64(m->z + i),
                                            lanes_load_f64(m->f + i), lanes_load_f64(m->clean + i));
        memcpy(m->w + i, &out.w, sizeof out.w);
        memcpy(m->h + i, &out.h, sizeof out.h);
    }
    clear_padding(m, m->w);
    clear_padding(m, m->h);
}

EVERY_WIDTH static background_sums sum_background(const mixture *m, int64_t n)
{
    lanes weight = {0}, sz = {0}, sf = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes h = load_cases(m, i) * lanes_load_f64(m->h + i);
        weight += h;
        sz += h * lanes_load_f64(m->z + i);
        sf += h * lanes_load_f64(m->f + i);
    }
    return (background_sums){0, lanes_total(weight), lanes_total(sz), lanes_total(sf)};
}

EVERY_WIDTH static background_products multiply_background(const mixture *m, background_means mean,
                                                           int64_t n)
{
    lanes zz = {0}, fz = {0}, ff = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes h = load_cases(m, i) * lanes_load_f64(m->h + i);
        lanes z = lanes_load_f64(m->z + i) - mean.z;
        lanes f = lanes_load_f64(m->f + i) - mean.f;
        zz += h * z * z;
        fz += h * f * z;
        ff += h * f * f;
    }
    return (background_products){lanes_total(zz), lanes_total(fz), lanes_total(ff)};
}

static background_sums sum_samples(const mixture *m)
{
    background_sums own = sum_background(m, lanes_padded(m->n));
    own.clean = sum_of_w(m);
    comm_sum(m->comm, &own.clean, sizeof own / sizeof own.clean);
    return own;
}

/* Returns M2. */
static double learn_background(mixture *m, background_sums sums)
{
    if (!mixture_has_background(sums))
        return mixture_clear_background(&m->now);
    background_products products = multiply_background(m, mixture_means(sums), lanes_padded(m->n));
    comm_sum(m->comm, &products.zz, sizeof products / sizeof products.zz);
    return mixture_learn_background(&m->now, sums, products);
}

double mixture_classify(mixture *m, double range)
{
    double M2 = 0;
    for (int round = 0; round < JUDGE_ROUNDS; round++) {
        const mixture_parameters before = m->now;
        weigh_samples(m, range, lanes_padded(m->n));
        const background_sums sums = sum_samples(m);
        mixture_learn_shares(&m->now, sums, m->all, m->ratio);
        if (m->is_rare)
            m->now.q = 0;
        M2 = learn_background(m, sums);
        if (mixture_has_settled(&m->now, &before))
            break;
    }
    return M2;
}

void mixture_judge(mixture *m, int at_end)
{
    mixture_variances(m);
    const double range = mixture_range(&m->now, mixture_span(m, m->r));
    leave_one_out(m, lanes_padded(m->n));
    const double M2 = mixture_classify(m, range);
    const double each = mixture_unexplained(&m->now, M2, at_end);
    for (int64_t i = 0; i < m->n; i++)
        m->W[i] = m->w[i] + each * m->h[i];
    mixture_weigh_samples(m);
}

double mixture_corrupt_density(const mixture_scales *s, double z, double f)
{
    const double off = z - s->bc - s->g * f;
    const double normal =
        s->height > 0 ? s->height * math_exp(fmax(s->narrow * off * off, -700)) : 0;
    return (1 - s->pc) * (s->floor + normal);
}

double mixture_score(mixture *m)
{
    const double range = mixture_range(&m->now, mixture_span(m, m->r)), least = 1e-300;
    const mixture_scales scales = mixture_scales_of(&m->now, range);
    double sums[2] = {0};
    leave_one_out(m, lanes_padded(m->n));
    for (int64_t i = 0; i < m->n; i++) {
        const double corrupt = mixture_corrupt_density(&scales, m->z[i], m->f[i]);
        sums[0] += mixture_cases(m, i) * math_log(scales.pc * m->clean[i] + corrupt + least);
        sums[1] += m->w[i] <= TRUSTED ? mixture_cases(m, i) : 0;
    }
    comm_sum(m->comm, sums, 2);
    return (sums[0] - mixture_price(sums[1])) / m->all;
}

/* ---- calibrate --------------------------------------------------------- */

double mixture_calibrate(mixture *m)
{
    const double highest = 1.25;
    leave_one_out(m, lanes_padded(m->n));
    double mf = m->has_intercept ? weighted_mean(m, m->f) : 0;
    double my = m->has_intercept ? weighted_mean(m, m->y) - m->intercept : 0;
    double sums[3] = {0}, *ff = &sums[0], *fy = &sums[1];
    for (int64_t i = 0; i < m->n; i++) {
        double f = m->f[i] - mf;
        *ff += m->weight[i] * f * f;
        *fy += m->weight[i] * f * (m->y[i] - m->intercept - my);
    }
    sums[2] = vector_sum(m->weight, m->n);
    comm_sum(m->comm, sums, 3);
    if (!(*ff > 0))
        return 1;
    double times = clamp(*fy / *ff, 0, highest), vf = *ff / sums[2];
    if (times > 1)
        times = 1 + (times - 1) * fmax(0, 1 - (m->now.tau2 - m->now.s2) / vf);
    for (int64_t i = 0; i < m->n; i++) {
        double level = m->y[i] - m->intercept;
        m->r[i] = level - times * (level - m->r[i]);
    }
    return times;
}

/* ---- transfer ---------------------------------------------------------- */

/* z, f, clean and h are recomputed before each use. */
void mixture_transfer(mixture *m, archive *a)
{
    mixture_parameters *now = &m->now;
    double *const numbers[] = {&m->intercept, &now->pc, &now->s2, &now->tau2, &now->kap,
                               &m->total,     &now->bc, &now->g,  &now->S2,   &now->q};
    double *const samples[TRANSFERRED] = {m->y, m->r, m->w, m->W, m->V};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        archive_f64(a, numbers[k]);
    for (int k = 0; k < TRANSFERRED; k++) {
        archive_mark(a, ARCHIVE_SAMPLES);
        archive_doubles(a, samples[k], m->n);
    }
    mixture_weigh_samples(m);
}

int64_t mixture_transfer_bytes(int64_t n)
{
    return memory_bytes(n,
                        (TRANSFERRED + 1) * sizeof(double)); /* one more than the arrays: numbers */
}
