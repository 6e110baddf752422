#include "method/uncertainty.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/portable_math.h"
#include "base/student.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"
#include "method/effects.h"
#include "method/joint.h"
#include "robust/order_statistics.h"
#include "robust/ties.h"

#include <math.h>
#include <string.h>

static const double RATE = 0.03; /* of false discoveries among groups, unless given */
static const double MASS = 0.99; /* probability of the members of a group */

/* Of more members, correlations are those on some samples. */
enum { FEW_MEMBERS = 32 };

/* ---- final weights ------------------------------------------------------------ */

typedef struct final_weights {
    double *W, *w; /* n each, for sums: times the case weights */
} final_weights;

static void multiply_by_cases(const fit *f, final_weights *by)
{
    for (int64_t i = 0; i < f->n && f->case_weight && by->w; i++) {
        by->W[i] *= f->case_weight[i];
        by->w[i] *= f->case_weight[i];
    }
}

/* A constant in place of responses, far from the fit: trusted samples with the most frequent
 * response do not count if their residuals are much larger than those of the others. */
static roofs_status leave_ties_out(fit *f, const mixture *m, final_weights *out, roofs_error *err)
{
    const double larger = 4; /* mean square */
    double sums[4] = {0};
    tie largest;
    if (!order_statistics_are_few(&f->comm, f->n))
        return ROOFS_OK;
    TRY(ties_most_frequent(&f->comm, m->y, f->case_weight, f->n, &largest, err));
    const int found = tie_may_be_corrupt(&largest);
    for (int64_t i = 0; i < f->n && found; i++)
        if (out->w[i] > TRUSTED) {
            const int at = m->y[i] == largest.value ? 0 : 2;
            sums[at] += fit_cases(f, i) * m->r[i] * m->r[i];
            sums[at + 1] += fit_cases(f, i);
        }
    comm_sum(&f->comm, sums, 4);
    const int is_corrupt = sums[0] * sums[3] > larger * sums[2] * sums[1] && sums[3] > 0;
    for (int64_t i = 0; i < f->n && found && is_corrupt; i++)
        if (m->y[i] == largest.value)
            out->w[i] = out->W[i] = 0;
    return ROOFS_OK;
}

/* Where corruption is rare, the samples that are trusted in the end count, by the tails of the
 * noise: the weights of the solution give honest samples in the tail too little. */
static roofs_status weigh(fit *f, const mixture *m, const uncertainty_end *end, final_weights *out,
                          roofs_error *err)
{
    const int64_t n = f->n, padded = lanes_padded(n);
    TRY(memory_get(&out->W, 4 * padded, sizeof *out->W, "the groups of features", err));
    out->w = out->W + padded;
    /* Without a feature, samples that are not explained yet have no use. */
    memcpy(out->W, f->cols.count > 0 ? m->W : m->w, (size_t)n * sizeof *out->W);
    memcpy(out->w, m->w, (size_t)n * sizeof *out->w);
    if (!end->is_rare)
        return ROOFS_OK;
    double *z = out->w + padded, *variance = z + padded;
    for (int64_t i = 0; i < padded; i++)
        variance[i] = 1;
    for (int64_t i = 0; i < n; i++) {
        const double leverage = m->V[i] / m->now.s2, hat = fmin(m->W[i] * leverage, JOINT_HAT_MOST);
        z[i] = m->r[i] / (1 - hat);
        variance[i] = m->now.s2 * (1 + leverage / (1 - hat));
        out->w[i] = m->w[i] > TRUSTED;
    }
    noise_weight((noise){end->shape.tail, 0}, z, variance, n, out->W);
    for (int64_t i = 0; i < n; i++)
        out->W[i] *= out->w[i];
    return ROOFS_OK;
}

/* ---- the error of predictions ---------------------------------------------------- */

/* Of the kept columns: sum W z^2, estimate without shrinkage, what the column explains, by how much
 * it is shrunk, and the probability that it matters. */
typedef struct spread_lists {
    double *d, *R, *gain, *shrunk, *a;
    double squares, total, clean, kappa, s2, sb2;
} spread_lists;

/* From sum W z^2 and sum W z r over all samples. */
static void measure_column(const fit *f, int64_t j, double square, double slope, spread_lists *s)
{
    const double b = f->cols.items[j].coef;
    const double d = square > 0 ? square : 1e-12 * s->total; /* constant on the clean samples */
    s->d[j] = d;
    s->R[j] = b + slope / d;
    s->gain[j] = fmax(b * (2 * s->R[j] - b) * d, 0);
    s->shrunk[j] = s->R[j] != 0 ? b / s->R[j] : 0;
    s->a[j] = 0.5;
    if (fit_is_forced(f, j)) {
        s->gain[j] = 0;
        s->shrunk[j] = s->a[j] = 1;
    }
}

typedef struct measuring {
    const fit *f;
    spread_lists *s;
} measuring;

/* A coordinate update that changes nothing. */
static void measure_block(void *user, int64_t first, int64_t count,
                          const double slope[DEVICE_BLOCK],
                          const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                          double spread[DEVICE_BLOCK])
{
    const measuring *m = user;
    for (int64_t q = 0; q < count; q++) {
        delta[q] = spread[q] = 0;
        measure_column(m->f, first + q, gram[q][q], slope[q], m->s);
    }
}

/* One read of the columns; a device without products hands over one column at a time. scratch: n
 * numbers. */
static roofs_status measure_columns(fit *f, const mixture *m, const final_weights *by,
                                    spread_lists *s, double *scratch, roofs_error *err)
{
    if (f->cols.count == 0) /* columns of a stream without features have no device */
        return ROOFS_OK;
    if (f->cols.ops->products) {
        measuring own = {f, s};
        memset(scratch, 0, (size_t)f->n * sizeof *scratch);
        const device_sweep how = {by->W, m->r, scratch, measure_block, &own};
        columns_sweep(&f->cols, NULL, f->cols.count, &how);
        return comm_status(&f->comm, err);
    }
    for (int64_t j = 0; j < f->cols.count; j++) {
        double sums[2] = {0};
        TRY(columns_fetch(&f->cols, j, scratch, err));
        for (int64_t i = 0; i < f->n; i++) {
            sums[0] += by->W[i] * scratch[i] * scratch[i];
            sums[1] += by->W[i] * scratch[i] * m->r[i];
        }
        measure_column(f, j, sums[0], sums[1], s);
    }
    return ROOFS_OK;
}

static void measure_samples(fit *f, const mixture *m, const final_weights *by, spread_lists *s)
{
    double sums[5] = {0};
    for (int64_t i = 0; i < f->n; i++) {
        const double square = by->W[i] * m->r[i] * m->r[i], cases = fit_cases(f, i);
        sums[0] += square;
        sums[1] += cases > 0 ? by->W[i] / cases * square : 0;
        sums[2] += by->W[i];
        sums[3] += by->w[i];
        sums[4] += m->weight[i] * m->V[i] / m->now.s2;
    }
    comm_sum(&f->comm, sums, 5);
    s->squares = sums[0];
    s->kappa = sums[0] > 0 ? fmin(1, sums[1] / sums[0]) : 1;
    s->total = fmax(sums[2], 1e-300);
    s->clean = sums[3];
    s->s2 = sums[0] / fmax(s->clean - sums[4], 0.1 * s->clean);
}

/* The kept columns are the best of all: one that does not matter has fitted noise. Its part of the
 * residual is put back. */
static void spread_step(const fit *f, spread_lists *s)
{
    double sum = 0, square = 0, back = 0, shrunk = 0;
    for (int64_t j = 0; j < f->cols.count; j++) {
        const double S = s->s2 / (s->kappa * s->d[j]);
        if (fit_is_forced(f, j)) {
            shrunk += 1;
            continue;
        }
        sum += s->a[j];
        square += s->a[j] * fmax(s->R[j] * s->R[j] - S, 0);
    }
    const double pi = fmin(fmax(sum, 0.5) / fmax((double)fit_free_seen(f), 1), 0.9);
    s->sb2 = fmax(square / fmax(sum, 1e-9), 1e-12 * s->squares / s->total);
    for (int64_t j = 0; j < f->cols.count; j++) {
        const double S = s->s2 / (s->kappa * s->d[j]), sb2 = s->sb2, R = s->R[j];
        if (fit_is_forced(f, j))
            continue;
        const double odds =
            math_log(pi / (1 - pi)) - 0.5 * math_log1p(sb2 / S) + R * R * sb2 / (2 * S * (S + sb2));
        s->a[j] = 1 / (1 + math_exp(-odds));
        back += (1 - s->a[j]) * s->gain[j];
        shrunk += s->a[j] * s->shrunk[j];
    }
    const double free = s->clean - (f->set.intercept != 0) - shrunk;
    s->s2 = (s->squares + back) / fmax(free, 0.1 * s->clean);
}

/* s2 of the last step but one gives S, as in the page. */
static void store_errors(fit *f, const spread_lists *s, double before)
{
    for (int64_t j = 0; j < f->cols.count; j++) {
        const double b = f->cols.items[j].coef, S = before / (s->kappa * s->d[j]);
        if (fit_is_forced(f, j)) { /* that of least squares */
            f->coef_error[j] = sqrt(S);
            continue;
        }
        const double v = 1 / (1 / S + 1 / s->sb2), off = v * s->R[j] / S - b, a = s->a[j];
        f->coef_error[j] = sqrt(a * (v + off * off) + (1 - a) * b * b);
    }
}

/* The share of the clean samples that are not trusted because they are in the tail of the noise. On
 * one side alone they may be corrupt; so may be as many as are at a larger distance. */
static double tail_of(fit *f, const mixture *m, const final_weights *by)
{
    const double near = 6 * sqrt(m->now.s2), far = 10 * sqrt(m->now.s2), least = 0.15;
    double sums[5] = {0}; /* near and far, above and below; trusted */
    for (int64_t i = 0; i < f->n; i++) {
        const double size = fabs(m->r[i]), cases = fit_cases(f, i);
        if (by->w[i] > TRUSTED * cases)
            sums[4] += cases;
        else if (size <= far)
            sums[2 * (size > near) + (m->r[i] > 0)] += cases;
    }
    comm_sum(&f->comm, sums, 5);
    const double both = sums[0] + sums[1], fewer = fmin(sums[0], sums[1]);
    const double tail = (fewer >= least * both ? both : 2 * fewer) - 1.5 * fmin(sums[2], sums[3]);
    return tail > 0 ? tail / (sums[4] + tail) : 0;
}

/* An interval need not be wider than that of the responses without a fit: where effects are weak,
 * s2 and the errors both count what is not explained. */
static void bound_spread(fit *f, const mixture *m, const final_weights *by, double nu,
                         spread_lists *s)
{
    const int64_t count = f->cols.count;
    const double level = 0.95,
                 tails = student_quantile(nu, level) / student_quantile(INFINITY, level);
    double sum = 0, square = 0, all = s->s2;
    for (int64_t i = 0; i < f->n; i++)
        sum += by->W[i] * m->y[i];
    const double mean = f->set.intercept ? comm_sum_of(&f->comm, sum) / s->total : 0;
    for (int64_t i = 0; i < f->n; i++)
        square += by->W[i] * (m->y[i] - mean) * (m->y[i] - mean);
    const double most = comm_sum_of(&f->comm, square) / (s->clean * tails * tails);
    for (int64_t j = 0; j < count; j++)
        all += f->coef_error[j] * f->coef_error[j] * s->d[j] / s->total;
    if (!(all > most))
        return;
    s->s2 *= most / all;
    for (int64_t j = 0; j < count; j++)
        f->coef_error[j] *= sqrt(most / all);
}

static roofs_status find_spread(fit *f, const mixture *m, const uncertainty_end *end,
                                const final_weights *by, roofs_error *err)
{
    enum { STEPS = 10, LISTS = 5 };
    const int64_t count = f->cols.count;
    double *lists = NULL, *z = by->w + lanes_padded(f->n), before = 0;
    TRY(memory_get(&f->coef_error, count, sizeof *f->coef_error, "the errors", err));
    TRY(memory_get(&lists, LISTS * count, sizeof *lists, "the errors", err));
    spread_lists s = {.d = lists,
                      .R = lists + count,
                      .gain = lists + 2 * count,
                      .shrunk = lists + 3 * count,
                      .a = lists + 4 * count};
    measure_samples(f, m, by, &s);
    roofs_status status = measure_columns(f, m, by, &s, z, err);
    for (int step = 0; step < STEPS && s.clean > 0 && s.squares > 0; step++) {
        before = s.s2;
        spread_step(f, &s);
    }
    if (before > 0 && isfinite(s.s2)) {
        store_errors(f, &s, before);
        bound_spread(f, m, by, noise_nu(end->shape), &s);
        f->noise = (fit_noise){.s2 = s.s2,
                               .intercept = f->set.intercept ? s.s2 / s.total : 0,
                               .nu = noise_nu(end->shape),
                               .skew = end->shape.skew,
                               .tail = tail_of(f, m, by)};
    }
    memory_free(lists);
    return status;
}

/* ---- groups ---------------------------------------------------------------------- */

static void group_clear(group *g)
{
    for (int64_t i = 0; g->members && i < g->count; i++)
        memory_free(g->members[i].name);
    memory_free(g->members);
    *g = (group){0};
}

void groups_clear(groups *g)
{
    for (int64_t k = 0; k < g->count; k++)
        group_clear(&g->items[k]);
    memory_free(g->items);
    *g = (groups){0};
}

static int64_t feature_of(const effects *e, int64_t k)
{
    return k < e->kept ? e->f->cols.items[k].feature : e->p->entries[k - e->kept].feature;
}

static const char *name_of(const effects *e, int64_t k)
{
    return k < e->kept ? e->f->cols.items[k].name : e->p->entries[k - e->kept].name;
}

/* The smallest correlation between two members. */
static roofs_status smallest_correlation(effects *e, const effect *l, const ranked *list,
                                         int64_t count, double *least, roofs_error *err)
{
    *least = 1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = l->near[list[i].place];
        if (count <= FEW_MEMBERS)
            TRY(effects_column(e, at, e->h, err));
        for (int64_t k = i + 1; k < count; k++) {
            const int64_t other = l->near[list[k].place];
            double found = 0;
            if (count <= FEW_MEMBERS) {
                TRY(effects_column(e, other, e->z, err));
                found = effects_correlation(e, e->h, e->z);
            } else {
                found = screen_pair(&e->some, &e->rows, at, other);
            }
            *least = fmin(*least, fabs(found));
        }
    }
    return ROOFS_OK;
}

static roofs_status fill_members(const effects *e, const effect *l, const ranked *list, group *g,
                                 roofs_error *err)
{
    TRY(memory_get(&g->members, g->count, sizeof *g->members, "the groups of features", err));
    for (int64_t i = 0; i < g->count; i++) {
        const int64_t k = l->near[list[i].place];
        g->members[i] = (group_feature){.feature = feature_of(e, k), .probability = list[i].value};
        g->mass += list[i].value;
        if (name_of(e, k))
            TRY(memory_copy_text(&g->members[i].name, name_of(e, k), err));
    }
    return ROOFS_OK;
}

static void fill_effect(const effects *e, const effect *l, group *g)
{
    double square = 0;
    for (int64_t k = 0; k < l->count; k++)
        g->effect += l->alpha[k] * l->mean[k];
    for (int64_t k = 0; k < l->count; k++)
        square += l->alpha[k] * (l->variance + math_square(l->mean[k] - g->effect));
    g->error = sqrt(square);
    g->exists = l->a;
    g->is_complete = e->p->is_complete;
}

static void fill_unit(const effects *e, int64_t k, group *g)
{
    const double factor =
        k < e->kept ? e->f->cols.places[k].factor : e->p->entries[k - e->kept].factor;
    g->unit = e->scale[k] > 0 ? factor / e->scale[k] : 0;
    g->exponent = k < e->kept ? e->f->cols.items[k].exponent : e->p->entries[k - e->kept].exponent;
}

static roofs_status make_group(effects *e, const effect *l, double rate, group *g, roofs_error *err)
{
    ranked *list = NULL;
    double mass = 0;
    *g = (group){.fdr = rate};
    TRY(order_rank(&list, l->alpha, l->count, err));
    while (g->count < l->count && mass < MASS)
        mass += list[g->count++].value;
    fill_effect(e, l, g);
    fill_unit(e, l->near[list[0].place], g);
    roofs_status status = fill_members(e, l, list, g, err);
    if (status == ROOFS_OK)
        status = smallest_correlation(e, l, list, g->count, &g->correlation, err);
    memory_free(list);
    return status;
}

static int shares_member(const groups *found, const group *g)
{
    for (int64_t k = 0; k < found->count; k++)
        for (int64_t i = 0; i < found->items[k].count; i++)
            for (int64_t q = 0; q < g->count; q++)
                if (found->items[k].members[i].feature == g->members[q].feature)
                    return 1;
    return 0;
}

/* Effects that are discoveries become groups, the largest Bayes factor first. Of groups that share
 * a member the first stays. */
static roofs_status collect(effects *e, double q, const double *rate, const ranked *list,
                            roofs_error *err)
{
    groups *found = &e->f->found;
    for (int64_t i = 0; i < e->count; i++) {
        const int64_t l = list[i].place;
        if (rate[l] > q)
            continue;
        group *g = &found->items[found->count];
        const roofs_status status = make_group(e, &e->items[l], rate[l], g, err);
        if (status != ROOFS_OK || shares_member(found, g))
            group_clear(g);
        else
            found->count++;
        TRY(status);
    }
    return ROOFS_OK;
}

static roofs_status find_groups(effects *e, double q, roofs_error *err)
{
    double *numbers = NULL;
    ranked *list = NULL;
    TRY(effects_find(e, q, err));
    TRY(memory_get(&e->f->found.items, e->count + 1, sizeof(group), "the groups of features", err));
    TRY(memory_get(&numbers, 2 * e->count + 1, sizeof *numbers, "the groups of features", err));
    double *rate = numbers, *factor = numbers + e->count;
    for (int64_t l = 0; l < e->count; l++)
        factor[l] = e->items[l].log_bf;
    roofs_status status = effects_rates(e, rate, err);
    if (status == ROOFS_OK)
        status = order_rank(&list, factor, e->count, err);
    if (status == ROOFS_OK)
        status = collect(e, q, rate, list, err);
    e->f->found.is_known = status == ROOFS_OK;
    memory_free(list);
    memory_free(numbers);
    return status;
}

/* ---- both --------------------------------------------------------------------------- */

int64_t uncertainty_bytes(const roofs_settings *set, int64_t n)
{
    const int64_t weights = memory_bytes(n + LANES, 4 * sizeof(double));
    const int64_t errors = memory_bytes(fit_capacity(set), 6 * sizeof(double));
    return memory_sum(memory_sum(weights, errors), effects_bytes(set, n));
}

void uncertainty_clear(fit *f)
{
    groups_clear(&f->found);
    memory_free(f->coef_error);
    f->coef_error = NULL;
    f->noise = (fit_noise){0};
}

roofs_status uncertainty_find(fit *f, const pool *p, const mixture *samples,
                              const uncertainty_end *end, roofs_error *err)
{
    final_weights by = {0};
    effects e = {0};
    uncertainty_clear(f);
    roofs_status status = comm_agree(&f->comm, weigh(f, samples, end, &by, err), err);
    if (status == ROOFS_OK && by.w)
        status = leave_ties_out(f, samples, &by, err);
    multiply_by_cases(f, &by);
    if (status == ROOFS_OK && by.w)
        status = find_spread(f, samples, end, &by, err);
    if (status == ROOFS_OK && by.w && f->set.groups != ROOFS_GROUPS_OFF) {
        status = effects_create(&e, f, p, samples->y, by.W, by.w, err);
        if (status == ROOFS_OK)
            status = find_groups(&e, f->set.fdr > 0 ? f->set.fdr : RATE, err);
        effects_destroy(&e);
    }
    memory_free(by.W);
    return status;
}
