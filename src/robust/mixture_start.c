/* How the mixture starts: the level, the noise and the share of clean samples, without a fit. */
#include "linalg/vector.h"
#include "robust/mixture_sums.h"
#include "robust/scale.h"

#include <math.h>
#include <string.h>

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

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

/* number: the center; scales.floor: the range. Sums of w and w y. */
static void start_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const mixture *m = j->m;
    double all[3];
    weigh_start(m->y + begin, j->number, m->now.s2, m->now.pc, j->scales.floor, end - begin,
                m->w + begin);
    mixture_clear_padding(m, end, m->w);
    mixture_clean_sums(m, m->y, m->y, begin, end, all);
    sums[0] = all[0];
    sums[1] = all[1];
}

/* number: the center. Sums of w and w r^2. */
static void residual_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const mixture *m = j->m;
    double all[3];
    for (int64_t i = begin; i < end; i++)
        m->r[i] = m->y[i] - j->number;
    mixture_clean_sums(m, m->r, m->r, begin, end, all);
    sums[0] = all[0];
    sums[1] = all[2];
}

/* r = y - center; returns the weighted mean square. */
static double set_residual(mixture *m, double center)
{
    mixture_job job = {.number = center};
    double sums[2];
    mixture_over_samples(m, MIXTURE_PASS, residual_piece, &job, 2, sums);
    comm_sum(m->comm, sums, 2);
    return sums[1] / sums[0];
}

/* Repeats the updates of center and m->now.s2 from their start values until s2 converges. */
static void converge_from(mixture *m, double center)
{
    const double least = S2_OF_EQUALS;
    const double spread = mixture_span(m, m->y), range = spread > 0 ? spread : 1;
    m->now.pc = mixture_share(m->ratio, 0.7);
    m->now.s2 = fmax(m->now.s2, least);
    for (int round = 0; round < 300; round++) {
        const double before = m->now.s2;
        mixture_job job = {.number = center, .scales.floor = range};
        double sums[2];
        mixture_over_samples(m, MIXTURE_EXP, start_piece, &job, 2, sums);
        comm_sum(m->comm, sums, 2);
        if (m->has_intercept)
            center = sums[1] / sums[0];
        m->now.s2 = fmax(set_residual(m, center), least);
        m->now.pc = mixture_share(m->ratio, sums[0] / m->all);
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

roofs_status mixture_start(mixture *m, roofs_error *err)
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
