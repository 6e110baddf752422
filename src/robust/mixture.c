#include "base/memory.h"
#include "base/portable_math.h"
#include "linalg/vector.h"
#include "robust/mixture_sums.h"

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

void mixture_over_samples(const mixture *m, int cost, workers_piece piece, mixture_job *job,
                          int numbers, double *total)
{
    job->m = m;
    workers_sum(m->workers, m->n, cost, piece, job, numbers, total);
}

void mixture_clear_padding(const mixture *m, int64_t end, double *x)
{
    if (end == m->n)
        memset(x + end, 0, (size_t)(lanes_padded(end) - end) * sizeof *x);
}

EVERY_WIDTH static void clean_sums(const mixture *m, const double *x, const double *s,
                                   int64_t begin, int64_t end, double sums[3])
{
    lanes number = {0}, first = {0}, square = {0};
    for (int64_t i = begin; i < end; i += LANES) {
        const lanes w = mixture_load_cases(m, i) * lanes_load_f64(m->w + i);
        const lanes off = lanes_load_f64(s + i);
        number += w;
        first += w * lanes_load_f64(x + i);
        square += w * off * off;
    }
    sums[0] = lanes_total(number);
    sums[1] = lanes_total(first);
    sums[2] = lanes_total(square);
}

void mixture_clean_sums(const mixture *m, const double *x, const double *s, int64_t begin,
                        int64_t end, double sums[3])
{
    clean_sums(m, x, s, begin, end, sums);
}

static void mean_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const double *weight = j->m->weight + begin;
    sums[0] = vector_dot(weight, j->x + begin, end - begin);
    sums[1] = vector_sum(weight, end - begin);
}

/* By m->weight. */
static double weighted_mean(const mixture *m, const double *x)
{
    mixture_job job = {.x = x};
    double sums[2];
    mixture_over_samples(m, MIXTURE_PASS, mean_piece, &job, 2, sums);
    comm_sum(m->comm, sums, 2);
    return sums[0] / sums[1];
}

static void span_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    mixture_job *j = user;
    double low = INFINITY, high = -INFINITY;
    (void)sums;
    for (int64_t i = begin; i < end; i++) {
        if (mixture_cases(j->m, i) == 0)
            continue;
        low = j->x[i] < low ? j->x[i] : low;
        high = j->x[i] > high ? j->x[i] : high;
    }
    j->low[begin / j->rows] = low;
    j->high[begin / j->rows] = high;
}

double mixture_span(const mixture *m, const double *x)
{
    const workers_pieces pieces = workers_pieces_of(m->n);
    mixture_job job = {.x = x, .rows = pieces.rows};
    double low = INFINITY, high = -INFINITY;
    mixture_over_samples(m, MIXTURE_PASS, span_piece, &job, 0, NULL);
    for (int64_t k = 0; k < pieces.count; k++) {
        low = job.low[k] < low ? job.low[k] : low;
        high = job.high[k] > high ? job.high[k] : high;
    }
    low = -comm_largest_of(m->comm, -low);
    high = comm_largest_of(m->comm, high);
    return mixture_spread(low, high, m->has_intercept);
}

/* ---- life -------------------------------------------------------------- */

roofs_status mixture_create(mixture *m, comm *c, mixture_samples of, int has_intercept,
                            double ratio, roofs_error *err)
{
    *m = (mixture){.n = of.n, .comm = c, .has_intercept = has_intercept, .ratio = ratio};
    m->case_weight = of.case_weight;
    m->workers = of.workers;
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
    m->workers = of->workers;
    m->total = of->total;
    TRY(mixture_allocate(m, err));
    memcpy(m->y, of->y, (size_t)m->n * sizeof *m->y);
    return ROOFS_OK;
}

/* ---- variances --------------------------------------------------------- */

static void variances_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture *m = ((const mixture_job *)user)->m;
    mixture_clean_sums(m, m->V, m->r, begin, end, sums);
}

void mixture_variances(mixture *m)
{
    mixture_job job = {0};
    double sums[3];
    mixture_over_samples(m, MIXTURE_PASS, variances_piece, &job, 3, sums);
    comm_sum(m->comm, sums, 3);
    mixture_learn_variances(&m->now, sums[2], sums[1], sums[0], m->total);
}

static void shift_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    (void)sums;
    for (int64_t i = begin; i < end; i++)
        j->m->r[i] -= j->number;
}

void mixture_recentre(mixture *m)
{
    if (!m->has_intercept)
        return;
    mixture_job job = {.number = weighted_mean(m, m->r)};
    m->intercept += job.number;
    mixture_over_samples(m, MIXTURE_PASS, shift_piece, &job, 0, NULL);
}

/* ---- judge ------------------------------------------------------------- */

/* z, f and clean of samples begin..end - 1 */
EVERY_WIDTH static void leave_out(const mixture *m, int64_t begin, int64_t end)
{
    const mixture_parameters now = m->now;
    for (int64_t i = begin; i < end; i += LANES) {
        mixture_left_out out = mixture_leave_one_out(
            &now, lanes_load_f64(m->r + i), lanes_load_f64(m->W + i), lanes_load_f64(m->V + i),
            lanes_load_f64(m->y + i) - m->intercept);
        memcpy(m->z + i, &out.z, sizeof out.z);
        memcpy(m->f + i, &out.f, sizeof out.f);
        memcpy(m->clean + i, &out.clean, sizeof out.clean);
    }
}

static void leave_out_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture *m = ((const mixture_job *)user)->m;
    (void)sums;
    leave_out(m, begin, end);
    mixture_clear_padding(m, end, m->z);
    mixture_clear_padding(m, end, m->f);
}

static void leave_one_out(const mixture *m)
{
    mixture_job job = {0};
    mixture_over_samples(m, MIXTURE_EXP, leave_out_piece, &job, 0, NULL);
}

/* w and h of samples begin..end - 1 */
EVERY_WIDTH static void weigh_samples(const mixture *m, const mixture_scales *scales, int64_t begin,
                                      int64_t end)
{
    const mixture_scales s = *scales;
    for (int64_t i = begin; i < end; i += LANES) {
        mixture_weights out = mixture_weigh(&s, lanes_load_f64(m->z + i), lanes_load_f64(m->f + i),
                                            lanes_load_f64(m->clean + i));
        memcpy(m->w + i, &out.w, sizeof out.w);
        memcpy(m->h + i, &out.h, sizeof out.h);
    }
}

/* The numbers of background_sums. */
EVERY_WIDTH static void sum_background(const mixture *m, int64_t begin, int64_t end, double *sums)
{
    lanes clean = {0}, weight = {0}, sz = {0}, sf = {0};
    for (int64_t i = begin; i < end; i += LANES) {
        const lanes cases = mixture_load_cases(m, i), h = cases * lanes_load_f64(m->h + i);
        clean += cases * lanes_load_f64(m->w + i);
        weight += h;
        sz += h * lanes_load_f64(m->z + i);
        sf += h * lanes_load_f64(m->f + i);
    }
    sums[0] = lanes_total(clean);
    sums[1] = lanes_total(weight);
    sums[2] = lanes_total(sz);
    sums[3] = lanes_total(sf);
}

static void weigh_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const mixture *m = j->m;
    weigh_samples(m, &j->scales, begin, end);
    mixture_clear_padding(m, end, m->w);
    mixture_clear_padding(m, end, m->h);
    sum_background(m, begin, end, sums);
}

EVERY_WIDTH static void multiply_background(const mixture *m, background_means mean, int64_t begin,
                                            int64_t end, double *sums)
{
    lanes zz = {0}, fz = {0}, ff = {0};
    for (int64_t i = begin; i < end; i += LANES) {
        lanes h = mixture_load_cases(m, i) * lanes_load_f64(m->h + i);
        lanes z = lanes_load_f64(m->z + i) - mean.z;
        lanes f = lanes_load_f64(m->f + i) - mean.f;
        zz += h * z * z;
        fz += h * f * z;
        ff += h * f * f;
    }
    sums[0] = lanes_total(zz);
    sums[1] = lanes_total(fz);
    sums[2] = lanes_total(ff);
}

static void products_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    multiply_background(j->m, j->mean, begin, end, sums);
}

/* Returns M2. */
static double learn_background(mixture *m, background_sums sums)
{
    if (!mixture_has_background(sums))
        return mixture_clear_background(&m->now);
    mixture_job job = {.mean = mixture_means(sums)};
    double products[3];
    mixture_over_samples(m, MIXTURE_PASS, products_piece, &job, 3, products);
    comm_sum(m->comm, products, 3);
    return mixture_learn_background(&m->now, sums,
                                    (background_products){products[0], products[1], products[2]});
}

double mixture_classify(mixture *m, double range)
{
    double M2 = 0;
    for (int round = 0; round < JUDGE_ROUNDS; round++) {
        const mixture_parameters before = m->now;
        mixture_job job = {.scales = mixture_scales_of(&m->now, range)};
        double all[4];
        mixture_over_samples(m, MIXTURE_EXP, weigh_piece, &job, 4, all);
        comm_sum(m->comm, all, 4);
        const background_sums sums = {all[0], all[1], all[2], all[3]};
        mixture_learn_shares(&m->now, sums, m->all, m->ratio);
        if (m->is_rare)
            m->now.q = 0;
        M2 = learn_background(m, sums);
        if (mixture_has_settled(&m->now, &before))
            break;
    }
    return M2;
}

static void weight_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const mixture *m = j->m;
    (void)sums;
    for (int64_t i = begin; i < end; i++)
        m->W[i] = m->w[i] + j->number * m->h[i];
    for (int64_t i = begin; i < end && m->case_weight; i++)
        m->weight[i] = m->case_weight[i] * m->W[i];
}

void mixture_judge(mixture *m, int at_end)
{
    mixture_variances(m);
    const double range = mixture_range(&m->now, mixture_span(m, m->r));
    leave_one_out(m);
    const double M2 = mixture_classify(m, range);
    mixture_job job = {.number = mixture_unexplained(&m->now, M2, at_end)};
    mixture_over_samples(m, MIXTURE_PASS, weight_piece, &job, 0, NULL);
}

double mixture_corrupt_density(const mixture_scales *s, double z, double f)
{
    const double off = z - s->bc - s->g * f;
    const double normal =
        s->height > 0 ? s->height * math_exp(fmax(s->narrow * off * off, -700)) : 0;
    return (1 - s->pc) * (s->floor + normal);
}

static void score_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const mixture_job *j = user;
    const mixture *m = j->m;
    const double least = 1e-300;
    sums[0] = sums[1] = 0;
    for (int64_t i = begin; i < end; i++) {
        const double corrupt = mixture_corrupt_density(&j->scales, m->z[i], m->f[i]);
        sums[0] += mixture_cases(m, i) * math_log(j->scales.pc * m->clean[i] + corrupt + least);
        sums[1] += m->w[i] <= TRUSTED ? mixture_cases(m, i) : 0;
    }
}

double mixture_score(mixture *m)
{
    const double range = mixture_range(&m->now, mixture_span(m, m->r));
    mixture_job job = {.scales = mixture_scales_of(&m->now, range)};
    double sums[2];
    leave_one_out(m);
    mixture_over_samples(m, MIXTURE_EXP, score_piece, &job, 2, sums);
    comm_sum(m->comm, sums, 2);
    return (sums[0] - mixture_price(sums[1])) / m->all;
}

/* ---- calibrate --------------------------------------------------------- */

double mixture_calibrate(mixture *m)
{
    const double highest = 1.25;
    leave_one_out(m);
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
    double times = fmin(fmax(*fy / *ff, 0), highest), vf = *ff / sums[2];
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
