#include "method/joint.h"

#include "base/memory.h"
#include "base/portable_math.h"
#include "linalg/vector.h"
#include "robust/scale.h"

#include <math.h>
#include <string.h>

/* Rounds of a start, and of the best one afterwards. */
enum { FIRST_ROUNDS = 10, MORE_ROUNDS = 40 };

/* A solution has settled when the fit moves by less than this, in units of the noise, and no w by
 * more than the other. */
static const double FIT_SETTLED = 1e-2, W_SETTLED = 2e-2;

/* Multiplications of one solution up to which the starts from the stream are followed; beyond, only
 * its weights. All starts are followed up to FIT_SMALL. */
static const double WORK_STREAM = 1e8;

/* After a few rounds a start is given up if it is so far behind the best, or if all samples are
 * weighed as in the best. */
enum { ROUNDS_TO_JUDGE = 4 };
static const double BEHIND = 0.5, SAME_W = 0.05;

/* What a dense solution pays per sample if all but a few of the features were dropped: those that
 * are left were chosen because they fit the responses, noise included. */
static const double DENSE_PRICE = 0.2;

static const double RARE_PC = 0.99;  /* share of clean samples at first, where corruption is rare */
static const double RARE_RANGE = 20; /* least range of the uniform density then, in scales */
static const double TAIL_GAIN = 0.5, SKEW_GAIN = 1.5; /* in log likelihood, to leave normal noise */

/* ---- the samples ------------------------------------------------------------- */

/* The mean square of the half of the residuals that is smallest. The clean samples are at least
 * half of all, so their variance is not smaller: equal responses cannot make it 0. */
static roofs_status smallest_half(joint *j, double *square, roofs_error *err)
{
    const int64_t n = j->f->n;
    double middle = 0, sums[2] = {0};
    TRY(joint_median_size(j, j->now.z, &middle, err));
    for (int64_t i = 0; i < n; i++)
        if (j->scratch[i] <= middle) {
            const double cases = mixture_cases(&j->trial, i);
            sums[0] += cases * j->scratch[i] * j->scratch[i];
            sums[1] += cases;
        }
    comm_sum(&j->f->comm, sums, 2);
    *square = sums[0] / sums[1];
    return ROOFS_OK;
}

/* s2 and tau2, and the variance of each leave-one-out residual. */
static roofs_status learn_scales(joint *j, double total, roofs_error *err)
{
    mixture *m = &j->trial;
    double sums[2] = {0}, half = 0;
    for (int64_t i = 0; i < m->n; i++)
        sums[0] += j->solver.weight[i] * (m->r[i] * m->r[i]);
    sums[1] = vector_weighted_sum(m->case_weight, m->w, m->n);
    comm_sum(m->comm, sums, 2);
    TRY(smallest_half(j, &half, err));
    const double free = fmax(sums[1] - j->now.trace, 0.1 * sums[1]);
    m->now.s2 = fmax(fmax(sums[0] / free, half), 1e-14 * total);
    m->now.tau2 = m->now.s2 * (1 + j->now.trace / j->solver.total);
    for (int64_t i = 0; i < m->n; i++) {
        const double hat = joint_hat(j, i);
        j->variance[i] = m->now.s2 * (1 + j->leverage[i] / (1 - hat));
    }
    return ROOFS_OK;
}

static void fill_background(joint *j, double range)
{
    const mixture *m = &j->trial;
    const mixture_scales s = mixture_scales_of(&m->now, range);
    for (int64_t i = 0; i < m->n; i++)
        j->background[i] = mixture_corrupt_density(&s, m->z[i], m->f[i]);
}

static double likelihood(joint *j, noise shape)
{
    const mixture *m = &j->trial;
    return noise_likelihood(shape, j->now.z, j->variance, m->now.pc, j->background, m->case_weight,
                            m->n);
}

/* The tail and the skewness that make the residuals most likely; normal noise unless another is
 * clearly better. */
static void learn_noise(joint *j)
{
    const int longest = j->now.kind.is_rare ? 0 : 1;
    double tails[NOISE_TAILS] = {0}, skews[NOISE_SKEWS] = {0};
    noise *shape = &j->now.shape;
    for (int tail = longest; tail < NOISE_TAILS; tail++)
        tails[tail] = likelihood(j, (noise){tail, shape->skew});
    comm_sum(&j->f->comm, tails, NOISE_TAILS);
    int tail = NOISE_NORMAL;
    for (int other = NOISE_NORMAL - 1; other >= longest; other--)
        tail = tails[other] > tails[tail] + TAIL_GAIN ? other : tail;
    for (int k = 0; k < NOISE_SKEWS; k++)
        skews[k] = likelihood(j, (noise){tail, k - NOISE_SKEWEST});
    comm_sum(&j->f->comm, skews, NOISE_SKEWS);
    int best = NOISE_SKEWEST;
    for (int k = 0; k < NOISE_SKEWS; k++)
        best = skews[k] > skews[best] + (best == NOISE_SKEWEST ? SKEW_GAIN : 0) ? k : best;
    *shape = (noise){tail, best - NOISE_SKEWEST};
}

static double range_of(const joint *j)
{
    const mixture *m = &j->trial;
    const double span = mixture_span(m, m->z);
    if (j->now.kind.is_rare)
        return fmax(span, RARE_RANGE * sqrt(m->now.s2));
    return mixture_range(&m->now, span);
}

/* judge of the page, with long tails and exact leave-one-out. Returns the mean log density. */
static double judge(joint *j, int learn)
{
    mixture *m = &j->trial;
    const double level = m->has_intercept ? m->intercept : 0;
    memcpy(m->z, j->now.z, (size_t)m->n * sizeof *m->z);
    for (int64_t i = 0; i < m->n; i++)
        m->f[i] = m->y[i] - level - m->z[i];
    const double range = range_of(j);
    if (learn) {
        fill_background(j, range);
        learn_noise(j);
    }
    noise_density(j->now.shape, j->now.z, j->variance, m->n, m->clean);
    const double M2 = mixture_classify(m, range);
    const double each = m->is_rare ? 0 : mixture_unexplained(&m->now, M2, 1);
    noise_weight(j->now.shape, j->now.z, j->variance, m->n, j->scratch);
    for (int64_t i = 0; i < m->n; i++)
        m->W[i] = m->w[i] * j->scratch[i] + each * m->h[i];
    fill_background(j, range);
    const double sum = comm_sum_of(m->comm, likelihood(j, j->now.shape));
    return sum / m->all;
}

/* ---- rounds ------------------------------------------------------------------ */

/* Whether the noise is learned anew in a round: often at first. */
static int learns_in(int round)
{
    return round < 3 || (round < 12 && round % 3 == 1) || round % 8 == 0;
}

/* The first step of the search for the penalty in a round; 0 = no search. */
static int search_in(int round)
{
    return round == 0 ? 2 : round == 1 || round % 4 == 3;
}

/* The weights of a start; all samples count if none does. */
static void take_start(joint *j, const double *start)
{
    mixture *m = &j->trial;
    const double sum = comm_weighted_sum(m->comm, m->case_weight, start, m->n);
    for (int64_t i = 0; i < m->n; i++) {
        m->W[i] = sum > 0 ? start[i] : 1;
        m->w[i] = m->is_rare ? 1 : fmin(m->W[i], 1);
    }
    mixture_weigh_samples(m);
}

/* *total = the variance of the responses, by their weights. */
static void begin_samples(joint *j, const double *start, double *total)
{
    mixture *m = &j->trial;
    double sums[3] = {0}, square = 0;
    m->is_rare = j->now.kind.is_rare;
    take_start(j, start);
    for (int64_t i = 0; i < m->n; i++) {
        sums[0] += m->weight[i];
        sums[1] += m->weight[i] * m->y[i];
        sums[2] += mixture_cases(m, i) * m->w[i];
    }
    comm_sum(m->comm, sums, 3);
    const double center = m->has_intercept ? sums[1] / sums[0] : 0;
    for (int64_t i = 0; i < m->n; i++)
        square += m->weight[i] * (m->y[i] - center) * (m->y[i] - center);
    *total = fmax(comm_sum_of(m->comm, square) / sums[0], S2_OF_EQUALS);
    m->now = (mixture_parameters){.pc = mixture_share(m->ratio, sums[2] / m->all)};
    if (m->is_rare)
        m->now.pc = RARE_PC;
    m->now.q = m->is_rare ? 0 : 0.5;
    m->now.s2 = fmin(fmax(j->samples->now.s2, 1e-10 * *total), *total);
    m->now.S2 = 2 * BACKGROUND_AT_LEAST * m->now.s2;
    j->now.shape = (noise){NOISE_NORMAL, 0};
}

static roofs_status solve_round(joint *j, int round, roofs_error *err)
{
    mixture *m = &j->trial;
    mixture_weigh_samples(m);
    ridge_weigh(&j->solver, m->weight);
    m->intercept = m->has_intercept ? comm_dot(m->comm, m->weight, m->y, m->n) / j->solver.total
                                    : 0; /* the level of the fitted values */
    if (j->now.kind.is_dense)
        return joint_dense(j, m->y, search_in(round), err);
    return joint_sparse(j, m->y, j->prior, m->now.s2, err);
}

/* How far the round has moved fit and weights. */
static int has_settled(joint *j)
{
    const mixture *m = &j->trial;
    double sum = 0, largest = 0;
    for (int64_t i = 0; i < m->n; i++) {
        const double off = m->r[i] - j->before[i], cases = mixture_cases(m, i);
        sum += cases * off * off;
        largest = fmax(largest, cases > 0 ? fabs(m->w[i] - j->w_before[i]) : 0);
    }
    sum = comm_sum_of(m->comm, sum) / m->all;
    largest = comm_largest_of(m->comm, largest);
    j->now.change = sqrt(sum / m->now.s2);
    return j->now.change < FIT_SETTLED && largest < W_SETTLED;
}

/* What the score of a solution is reduced by. A solution with nearly as many parameters as clean
 * samples is only taken if there is no other. */
static double price(const joint *j)
{
    const mixture *m = &j->trial;
    double sums[2] = {0};
    for (int64_t i = 0; i < m->n; i++) {
        sums[0] += mixture_cases(m, i) * m->w[i];
        sums[1] += m->w[i] <= TRUSTED ? mixture_cases(m, i) : 0;
    }
    comm_sum(m->comm, sums, 2);
    double paid = j->now.trace > JOINT_TRACE_MOST * sums[0] ? 1e6 : 0;
    if (!m->is_rare && m->ratio == 0)
        paid += mixture_price(sums[1]) / m->all;
    const int64_t seen = fit_free_seen(j->f), kept = fit_free(j->f);
    if (j->now.kind.is_dense && seen > kept)
        paid += DENSE_PRICE * (1 - (double)kept / (double)seen);
    return paid;
}

static int is_same_as_best(const joint *j)
{
    const joint_kind *now = &j->now.kind, *best = &j->best.kind;
    double largest = 0;
    if (now->is_dense != best->is_dense || now->is_rare != best->is_rare)
        return 0;
    for (int64_t i = 0; i < j->f->n; i++)
        if (mixture_cases(&j->trial, i) > 0)
            largest = fmax(largest, fabs(j->trial.w[i] - j->best.w[i]));
    return comm_largest_of(&j->f->comm, largest) < SAME_W;
}

static int is_hopeless(const joint *j, int round, double score)
{
    if (round + 1 < ROUNDS_TO_JUDGE || !isfinite(j->best.score))
        return 0;
    return score < j->best.score - BEHIND || (is_same_as_best(j) && score <= j->best.score);
}

static roofs_status rounds(joint *j, const double *start, int most, roofs_error *err)
{
    mixture *m = &j->trial;
    double total = 0;
    begin_samples(j, start, &total);
    for (int round = 0; round < most; round++) {
        memcpy(j->before, m->r, (size_t)m->n * sizeof *m->r);
        memcpy(j->w_before, m->w, (size_t)m->n * sizeof *m->w);
        TRY(solve_round(j, round, err));
        TRY(learn_scales(j, total, err));
        if (!j->now.kind.is_dense && round > 0)
            joint_update_inclusion(j, j->prior, m->now.s2);
        if (round == 0 && !m->is_rare)
            TRY(mixture_start_background(m, j->now.z, err));
        j->now.score = judge(j, learns_in(round)) - price(j);
        if ((has_settled(j) && round > 2) ||
            (most == FIRST_ROUNDS && is_hopeless(j, round, j->now.score)))
            break;
    }
    j->now.now = m->now;
    memcpy(j->now.w, m->w, (size_t)m->n * sizeof *m->w);
    memcpy(j->now.W, m->W, (size_t)m->n * sizeof *m->W);
    return ROOFS_OK;
}

/* Follows a start. */
static roofs_status follow(joint *j, joint_kind kind, const double *start, roofs_error *err)
{
    j->now.kind = kind;
    for (int64_t q = 0; q < j->m; q++)
        j->now.a[q] =
            kind.is_fresh ? 1 : fmax(j->f->cols.items[q].probability, JOINT_INCLUSION_LEAST);
    TRY(rounds(j, start, FIRST_ROUNDS, err));
    return fit_round_done(j->f, err);
}

/* The solution in progress becomes the best, and its arrays those of the next one. */
static void keep(joint *j)
{
    const joint_solution better = j->now;
    j->now = j->best;
    j->best = better;
}

static void keep_better(joint *j)
{
    if (j->now.score > j->best.score)
        keep(j);
}

/* More rounds of the best solution. */
static roofs_status continue_best(joint *j, roofs_error *err)
{
    const joint_solution *from = &j->best;
    j->now.kind = from->kind;
    j->now.lambda = from->lambda;
    memcpy(j->now.a, from->a, (size_t)j->m * sizeof *from->a);
    TRY(rounds(j, from->W, MORE_ROUNDS, err));
    keep(j);
    return ROOFS_OK;
}

roofs_status joint_follow(joint *j, joint_kind kind, int lambda, roofs_error *err)
{
    j->best.kind = kind;
    j->best.kind.is_fresh = 0;
    j->best.lambda = lambda;
    for (int64_t q = 0; q < j->m; q++)
        j->best.a[q] = fmax(j->f->cols.items[q].probability, JOINT_INCLUSION_LEAST);
    memcpy(j->best.W, j->samples->W, (size_t)j->f->n * sizeof *j->best.W);
    TRY(continue_best(j, err));
    j->best.score = NAN; /* of fewer columns: not to be compared */
    return ROOFS_OK;
}

/* ---- all starts ------------------------------------------------------------- */

static roofs_status try_start(joint *j, joint_kind kind, const double *start, roofs_error *err)
{
    TRY(follow(j, kind, start, err));
    keep_better(j);
    return ROOFS_OK;
}

/* From the weights of the stream, then from the shortest half of the residuals of that. In a small
 * fit also from the weights for rare corruption, so that all hypotheses are compared at the same
 * price. In a larger one corrupt samples with a model of their own have no start, and would be
 * taken for long tails. */
static roofs_status from_stream(joint *j, int is_dense, int is_small, roofs_error *err)
{
    const joint_kind kind = {.is_dense = is_dense};
    j->now.lambda = JOINT_LAMBDA;
    TRY(follow(j, kind, j->samples->W, err));
    TRY(start_shortest_half(j, err));
    const int lambda = j->now.lambda;
    keep_better(j);
    j->now.lambda = lambda;
    TRY(try_start(j, kind, j->start, err));
    if (!is_small || j->samples->ratio > 0)
        return ROOFS_OK;
    j->now.lambda = lambda;
    return try_start(j, (joint_kind){.is_dense = is_dense, .is_rare = 1}, j->samples->W, err);
}

static roofs_status from_all_samples(joint *j, roofs_error *err)
{
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = 1;
    j->now.lambda = JOINT_LAMBDA;
    TRY(try_start(j, (joint_kind){.is_dense = 1, .is_rare = 1}, j->start, err));
    return try_start(j, (joint_kind){.is_rare = 1, .is_fresh = 1}, j->start, err);
}

static roofs_status from_least_absolute(joint *j, roofs_error *err)
{
    TRY(start_least_absolute(j, err));
    const int lambda = j->now.lambda;
    for (int dense = 0; dense <= 1; dense++)
        for (int rare = 0; rare <= 1; rare++) {
            j->now.lambda = lambda;
            TRY(try_start(j, (joint_kind){.is_dense = dense, .is_rare = rare}, j->start, err));
        }
    return ROOFS_OK;
}

/* Whether much of the responses of the clean samples is noise so far. */
static roofs_status is_unexplained(joint *j, int *answer, roofs_error *err)
{
    const mixture *m = &j->trial;
    const double much = 0.2;
    const double level = comm_weighted_sum(m->comm, m->case_weight, m->y, m->n) / m->all;
    double *size = j->scratch, middle = 0;
    for (int64_t i = 0; i < m->n; i++)
        size[i] = fabs(m->y[i] - level);
    TRY(lower_median(m->comm, size, m->case_weight, m->n, &middle, err));
    *answer = j->best.now.s2 > much * math_square(NORMAL_PER_MEDIAN * middle);
    return ROOFS_OK;
}

/* Starts for corrupt samples that follow a model of their own. */
static roofs_status from_models(joint *j, roofs_error *err)
{
    const joint_kind kind = {.is_fresh = 1};
    int is_needed = 0;
    TRY(is_unexplained(j, &is_needed, err));
    if (!is_needed)
        return ROOFS_OK;
    TRY(start_mirrored(j, err));
    TRY(try_start(j, kind, j->start, err));
    TRY(start_two_models(j, err));
    return try_start(j, kind, j->start, err);
}

static roofs_status from_ties(joint *j, roofs_error *err)
{
    int found = 0;
    TRY(start_without_ties(j, &found, err));
    for (int dense = 0; dense <= 1 && found; dense++) {
        j->now.lambda = JOINT_LAMBDA;
        TRY(try_start(j, (joint_kind){.is_dense = dense}, j->start, err));
    }
    return ROOFS_OK;
}

roofs_status joint_settle(joint *j, joint_starts which, roofs_error *err)
{
    const double work = joint_work(j->f->cases, j->m);
    which = work > WORK_STREAM                         ? JOINT_WEIGHTS
            : work > FIT_SMALL && which > JOINT_STREAM ? JOINT_STREAM
                                                       : which;
    if (which == JOINT_WEIGHTS)
        TRY(try_start(j, (joint_kind){0}, j->samples->W, err));
    for (int dense = 0; dense <= 1 && which != JOINT_WEIGHTS; dense++)
        TRY(from_stream(j, dense, work <= FIT_SMALL, err));
    if (which == JOINT_ALL && j->samples->ratio == 0) {
        TRY(from_all_samples(j, err));
        TRY(from_least_absolute(j, err));
        TRY(from_ties(j, err));
        TRY(from_models(j, err));
    }
    if (which != JOINT_WEIGHTS && j->samples->ratio == 0)
        TRY(joint_find_rival(j, err));
    const double score = j->best.score;
    TRY(continue_best(j, err));
    j->best.score = score;
    return ROOFS_OK;
}

/* ---- result ------------------------------------------------------------------ */

/* Whether most of the samples that the solution condemns are far from it. */
static int are_far(const joint *j)
{
    const mixture *m = &j->trial;
    const double far = 0.5 * RARE_RANGE * sqrt(m->now.s2);
    double sums[2] = {0};
    for (int64_t i = 0; i < m->n; i++)
        if (m->w[i] <= TRUSTED) {
            sums[0] += mixture_cases(m, i);
            sums[1] += fabs(j->best.z[i]) > far ? mixture_cases(m, i) : 0;
        }
    comm_sum(m->comm, sums, 2);
    return sums[1] > 0.5 * sums[0];
}

/* Where corruption is rare and not far from the noise, it may be noise. The probability that a
 * sample is clean is then judged by long tails of at least the size of half of the residuals: only
 * what is beyond those is not trusted. */
static roofs_status label(joint *j, double *w, roofs_error *err)
{
    mixture *m = &j->trial;
    const int long_tail = 2; /* nu = 3 */
    const noise shape = {j->best.shape.tail < long_tail ? j->best.shape.tail : long_tail,
                         j->best.shape.skew};
    double middle = 0;
    memcpy(w, m->w, (size_t)m->n * sizeof *w);
    if (are_far(j))
        return ROOFS_OK;
    TRY(joint_median_size(j, j->best.z, &middle, err));
    const double wider = fmax(m->now.s2, math_square(NORMAL_PER_MEDIAN * middle)) - m->now.s2;
    for (int64_t i = 0; i < m->n; i++)
        j->variance[i] += wider;
    memcpy(m->z, j->best.z, (size_t)m->n * sizeof *m->z);
    noise_density(shape, j->best.z, j->variance, m->n, m->clean);
    m->now.pc = RARE_PC;
    mixture_classify(m, fmax(mixture_span(m, m->z), RARE_RANGE * sqrt(m->now.s2 + wider)));
    memcpy(w, m->w, (size_t)m->n * sizeof *w);
    return ROOFS_OK;
}

static void store_columns(joint *j)
{
    ridge_squares(&j->solver, j->squares);
    for (int64_t q = 0; q < j->m; q++) {
        column *c = &j->f->cols.items[q];
        coordinate_estimate found;
        joint_estimate(j, j->prior, j->trial.now.s2, q, &found);
        c->coef = j->now.b[q];
        c->variance = found.variance;
        c->probability = found.probability;
    }
}

roofs_status joint_store(joint *j, mixture *samples, roofs_error *err)
{
    mixture *m = &j->trial;
    const int64_t n = m->n;
    j->now.kind = j->best.kind;
    j->now.lambda = j->best.lambda;
    memcpy(j->now.a, j->best.a, (size_t)j->m * sizeof *j->now.a);
    memcpy(m->W, j->best.W, (size_t)n * sizeof *m->W);
    memcpy(m->w, j->best.w, (size_t)n * sizeof *m->w);
    m->now = j->best.now;
    m->is_rare = j->best.kind.is_rare;
    TRY(solve_round(j, 5, err)); /* with the last weights, without a search for the penalty */
    for (int64_t i = 0; i < n; i++)
        samples->V[i] = m->now.s2 * j->leverage[i];
    store_columns(j);
    memcpy(j->best.z, j->now.z, (size_t)n * sizeof *j->now.z);
    memcpy(samples->r, m->r, (size_t)n * sizeof *m->r);
    memcpy(samples->W, m->W, (size_t)n * sizeof *m->W);
    mixture_weigh_samples(samples);
    samples->intercept = j->answer.intercept;
    samples->now = m->now;
    samples->now.q = m->is_rare ? 0.5 : m->now.q;
    samples->now.kap = m->now.tau2 / m->now.s2;
    if (m->is_rare)
        return label(j, samples->w, err);
    memcpy(samples->w, m->w, (size_t)n * sizeof *m->w);
    return ROOFS_OK;
}
