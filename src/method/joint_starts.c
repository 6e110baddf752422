/* Starts of the joint solutions: which samples count at first. */
#include "base/memory.h"
#include "base/portable_math.h"
#include "linalg/vector.h"
#include "method/joint.h"
#include "robust/order_statistics.h"
#include "robust/scale.h"
#include "robust/ties.h"

#include <math.h>
#include <string.h>

/* Residuals farther than this from 0 are left out, in medians: three normal standard deviations. */
static const double FAR = 3 * NORMAL_PER_MEDIAN;

/* Most samples of a majority lie close together, also beside a second cluster. */
roofs_status start_shortest_half(joint *j, roofs_error *err)
{
    const double slack = 1 + 1e-9;
    double middle = 0, length = 0;
    TRY(shortest_half(&j->f->comm, j->now.z, j->trial.case_weight, j->f->n, &middle, &length, err));
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = fabs(j->now.z[i] - middle) <= 0.5 * length * slack;
    return ROOFS_OK;
}

/* ---- least absolute residuals --------------------------------------------------- */

/* Samples within three standard deviations of a dense solution with the least absolute residuals,
 * which is found by weights 1 / |z|. */
roofs_status start_least_absolute(joint *j, roofs_error *err)
{
    enum { STEPS = 12 };
    const double least = 0.05; /* of a residual, in medians: bounds the weights */
    const int64_t n = j->f->n;
    double middle = 0;
    for (int64_t i = 0; i < n; i++)
        j->start[i] = j->trial.w[i] = 1;
    j->now.lambda = -4;
    for (int step = 0; step < STEPS; step++) {
        joint_weigh(j, j->start);
        TRY(joint_dense(j, j->trial.y, step == 0 ? 2 : step == 3 || step == 8, err));
        TRY(joint_median_size(j, j->now.z, &middle, err));
        for (int64_t i = 0; i < n; i++)
            j->start[i] = least / fmax(fabs(j->now.z[i]) / fmax(middle, 1e-300), least);
    }
    for (int64_t i = 0; i < n; i++)
        j->start[i] = fabs(j->now.z[i]) <= FAR * middle;
    return ROOFS_OK;
}

/* ---- two models --------------------------------------------------------------------- */

/* Suppose that the responses follow two models: y = f0 on some samples, y = f1 on the others, and
 * f1 = -f0 where responses have the wrong sign. The squares of the responses do not show which
 * model a sample follows: the directions in which they are large, the largest eigenvectors of
 * Z'diag(y^2) Z, belong to both. They are a first fit, and the expectation-maximisation of the two
 * regressions follows from there. */
typedef struct two_models {
    double *t0, *t; /* y less its median; scratch */
    double *f[2];   /* the fits */
    double square;  /* mean of t0^2 */
    double s2;      /* of the noise */
    slab_parameters prior;
} two_models;

static void normalise(double *v, int64_t m)
{
    const double norm = vector_norm(v, m);
    for (int64_t q = 0; q < m; q++)
        v[q] = norm > 0 ? v[q] / norm : 1;
}

/* v less its part along `other`; other may be NULL. */
static void remove_part(double *v, const double *other, int64_t m)
{
    if (other)
        vector_add(v, -vector_dot(v, other, m), other, m);
}

/* f = Z v for the largest eigenvector v that is orthogonal to `other`. */
static void find_direction(joint *j, two_models *s, const double *weight, const double *other,
                           double *v, double *f)
{
    enum { STEPS = 60 };
    memset(j->scratch, 0, (size_t)j->f->n * sizeof *j->scratch);
    for (int64_t i = 0; i < j->f->n; i++)
        s->t[i] = mixture_cases(&j->trial, i) * s->t0[i];
    ridge_inner(&j->solver, s->t, v);
    for (int step = 0; step < STEPS; step++) {
        remove_part(v, other, j->m);
        normalise(v, j->m);
        ridge_residual(&j->solver, j->scratch, 0, v, f); /* -Z v */
        for (int64_t i = 0; i < j->f->n; i++)
            s->t[i] = -mixture_cases(&j->trial, i) * weight[i] * f[i];
        ridge_inner(&j->solver, s->t, v);
    }
    remove_part(v, other, j->m);
    normalise(v, j->m);
}

/* Squares of the responses, cut and less their mean. */
static roofs_status weigh_squares(joint *j, const two_models *s, double *weight, roofs_error *err)
{
    const int64_t n = j->f->n;
    double middle = 0, mean = 0;
    TRY(joint_median_size(j, s->t0, &middle, err));
    for (int64_t i = 0; i < n; i++) {
        weight[i] = fmin(s->t0[i] * s->t0[i], 9 * middle * middle);
        mean += mixture_cases(&j->trial, i) * weight[i];
    }
    mean = comm_sum_of(&j->f->comm, mean) / j->trial.all;
    for (int64_t i = 0; i < n; i++)
        weight[i] -= mean;
    return ROOFS_OK;
}

/* sum x y over the samples of this rank, by their case weights */
static double weighted_dot(const joint *j, const double *x, const double *y)
{
    if (!j->trial.case_weight)
        return vector_dot(x, y, j->f->n);
    double sum = 0;
    for (int64_t i = 0; i < j->f->n; i++)
        sum += j->trial.case_weight[i] * x[i] * y[i];
    return sum;
}

/* Gives a fit the sign and most of the size of the responses. */
static void scale_fit(joint *j, const two_models *s, double *f)
{
    const double explained = 0.7; /* of the squares */
    double sums[2] = {weighted_dot(j, f, f), weighted_dot(j, f, s->t0)};
    comm_sum(&j->f->comm, sums, 2);
    const double square = sums[0] / j->trial.all;
    const double size = square > 0 ? sqrt(explained * s->square / square) : 0;
    for (int64_t i = 0; i < j->f->n; i++)
        f[i] *= sums[1] < 0 ? -size : size;
}

/* The two first fits; both inclusion probabilities are 1. */
static roofs_status begin_models(joint *j, two_models *s, roofs_error *err)
{
    const int64_t n = j->f->n;
    const double tenth = j->trial.all / 10;
    double middle = 0, *weight = j->trial.V;
    *s = (two_models){.t0 = j->before, .t = j->trial.f, .f = {j->background, j->w_before}};
    s->prior = *j->prior;
    if (j->trial.has_intercept)
        TRY(lower_median(&j->f->comm, j->trial.y, j->trial.case_weight, n, &middle, err));
    for (int64_t i = 0; i < n; i++) {
        s->t0[i] = j->trial.y[i] - middle;
        j->start[i] = 1;
    }
    s->square = comm_sum_of(&j->f->comm, weighted_dot(j, s->t0, s->t0)) / j->trial.all;
    s->square = fmax(s->square, 1e-300);
    s->prior.mean = 0;
    s->prior.variance = s->square / fmax(1, fmin((double)j->m, tenth));
    s->s2 = 0.5 * s->square;
    joint_weigh(j, j->start);
    TRY(weigh_squares(j, s, weight, err));
    find_direction(j, s, weight, NULL, j->other_a, s->f[0]);
    find_direction(j, s, weight, j->other_a, j->now.b, s->f[1]);
    for (int k = 0; k < 2; k++)
        scale_fit(j, s, s->f[k]);
    for (int64_t q = 0; q < j->m; q++)
        j->now.a[q] = j->other_a[q] = 1;
    j->now.kind = (joint_kind){.is_fresh = 1};
    return comm_status(&j->f->comm, err);
}

/* The share of the samples in j->start. */
static double start_share(joint *j)
{
    const double *cases = j->trial.case_weight;
    return comm_weighted_sum(&j->f->comm, cases, j->start, j->f->n) / j->trial.all;
}

/* The larger of two groups; j->start holds the probability of the first. */
static void choose_group(joint *j)
{
    const double share = start_share(j);
    for (int64_t i = 0; i < j->f->n && share < 0.5; i++)
        j->start[i] = 1 - j->start[i];
}

/* ---- mirrored responses: f1 = -f0 ------------------------------------------------ */

/* One step: the sign of each response given the fit, then the fit given the signs. */
static roofs_status mirror_step(joint *j, two_models *s, roofs_error *err)
{
    const int64_t n = j->f->n;
    const double all = j->trial.all;
    double left = 0, *f = s->f[0];
    for (int64_t i = 0; i < n; i++)
        s->t[i] = s->t0[i] * math_tanh(s->t0[i] * f[i] / s->s2);
    TRY(joint_sparse(j, s->t, &s->prior, s->s2, err));
    for (int64_t i = 0; i < n; i++) {
        const double fitted = s->t[i] - j->trial.r[i];
        left += mixture_cases(&j->trial, i) *
                (s->t0[i] * s->t0[i] - 2 * s->t[i] * fitted + fitted * fitted);
        f[i] = s->t[i] - j->now.z[i];
    }
    left = comm_sum_of(&j->f->comm, left) / all;
    s->s2 = fmax(left / fmax(1 - j->now.trace / all, 0.1), 1e-6 * s->square);
    joint_update_inclusion(j, &s->prior, s->s2);
    return ROOFS_OK;
}

roofs_status start_mirrored(joint *j, roofs_error *err)
{
    enum { STEPS = 30 };
    two_models s;
    TRY(begin_models(j, &s, err));
    for (int step = 0; step < STEPS; step++)
        TRY(mirror_step(j, &s, err));
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = s.t0[i] * s.f[0][i] > 0;
    choose_group(j);
    return ROOFS_OK;
}

/* ---- two regressions ---------------------------------------------------------------- */

/* The probability that a sample follows the first model, and their share. */
static void divide_samples(joint *j, const two_models *s, double *share)
{
    const double prior = math_log(*share / (1 - *share));
    for (int64_t i = 0; i < j->f->n; i++) {
        const double off0 = s->t0[i] - s->f[0][i], off1 = s->t0[i] - s->f[1][i];
        const double odds = prior + (off1 * off1 - off0 * off0) / (2 * s->s2);
        j->start[i] = 1 / (1 + math_exp(-fmax(-30, fmin(30, odds))));
    }
    const double mean = start_share(j);
    *share = fmax(0.2, fmin(0.8, mean));
}

/* One step: the model of each sample given the fits, then each fit given its samples. */
static roofs_status two_step(joint *j, two_models *s, double *share, roofs_error *err)
{
    const int64_t n = j->f->n;
    const double all = j->trial.all;
    double left = 0, parameters = 0, *weight = j->trial.V;
    divide_samples(j, s, share);
    for (int k = 0; k < 2; k++) {
        double *a = j->now.a;
        for (int64_t i = 0; i < n; i++)
            weight[i] = k == 0 ? j->start[i] : 1 - j->start[i];
        joint_weigh(j, weight);
        TRY(joint_sparse(j, s->t0, &s->prior, s->s2, err));
        for (int64_t i = 0; i < n; i++) {
            left += mixture_cases(&j->trial, i) * weight[i] * j->trial.r[i] * j->trial.r[i];
            s->f[k][i] = s->t0[i] - j->now.z[i];
        }
        parameters += j->now.trace;
        joint_update_inclusion(j, &s->prior, s->s2);
        j->now.a = j->other_a; /* that of the other model is next */
        j->other_a = a;
    }
    left = comm_sum_of(&j->f->comm, left);
    s->s2 = fmax(left / fmax(all - parameters, 0.1 * all), 1e-6 * s->square);
    return ROOFS_OK;
}

roofs_status start_two_models(joint *j, roofs_error *err)
{
    enum { STEPS = 20 };
    two_models s;
    double share = 0.5;
    TRY(begin_models(j, &s, err));
    for (int step = 0; step < STEPS; step++)
        TRY(two_step(j, &s, &share, err));
    divide_samples(j, &s, &share);
    choose_group(j);
    return ROOFS_OK;
}

/* ---- ties ------------------------------------------------------------------------ */

roofs_status start_without_ties(joint *j, int *found, roofs_error *err)
{
    tie largest;
    *found = 0;
    if (!order_statistics_are_few(&j->f->comm, j->f->n))
        return ROOFS_OK;
    TRY(ties_most_frequent(&j->f->comm, j->trial.y, j->trial.case_weight, j->f->n, &largest, err));
    *found = tie_may_be_corrupt(&largest);
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = j->trial.y[i] != largest.value;
    return ROOFS_OK;
}

/* ---- a rival -------------------------------------------------------------------- */

/* Fits the samples of j->start alone, as one step of two_step does. */
static roofs_status rival_step(joint *j, two_models *s, roofs_error *err)
{
    const double count = comm_weighted_sum(&j->f->comm, j->trial.case_weight, j->start, j->f->n);
    double left = 0;
    TRY(joint_sparse(j, j->trial.y, &s->prior, s->s2, err));
    for (int64_t i = 0; i < j->f->n; i++)
        left += mixture_cases(&j->trial, i) * j->start[i] * j->trial.r[i] * j->trial.r[i];
    left = comm_sum_of(&j->f->comm, left);
    s->s2 = fmax(left / fmax(count - j->now.trace, 0.1 * count), 1e-6 * s->square);
    joint_update_inclusion(j, &s->prior, s->s2);
    return ROOFS_OK;
}

/* The median of x over the samples of j->start, and that of the distances to it. */
static roofs_status rival_median(joint *j, const double *x, double *middle, double *distance,
                                 roofs_error *err)
{
    const double *given = j->trial.case_weight;
    double *cases = given ? j->background : NULL;
    int64_t count = 0;
    for (int64_t i = 0; i < j->f->n; i++)
        if (j->start[i] > 0) {
            if (cases)
                cases[count] = given[i];
            j->scratch[count++] = x[i];
        }
    TRY(lower_median(&j->f->comm, j->scratch, cases, count, middle, err));
    for (int64_t i = 0; i < count; i++)
        j->scratch[i] = fabs(j->scratch[i] - *middle);
    return lower_median(&j->f->comm, j->scratch, cases, count, distance, err);
}

roofs_status joint_find_rival(joint *j, roofs_error *err)
{
    enum { STEPS = 20 };
    const double many = 0.43;                /* of all samples */
    const double wider = 2, explained = 0.5; /* of the scale of the noise, of the responses */
    double middle = 0, size = 0, left = 0;
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = j->best.w[i] <= TRUSTED;
    if (start_share(j) < many)
        return ROOFS_OK;
    TRY(rival_median(j, j->trial.y, &middle, &size, err));
    two_models s = {.prior = *j->prior,
                    .square = fmax(math_square(NORMAL_PER_MEDIAN * size), 1e-300)};
    s.s2 = 0.5 * s.square;
    for (int64_t q = 0; q < j->m; q++)
        j->now.a[q] = 1;
    j->now.kind = (joint_kind){.is_fresh = 1};
    joint_weigh(j, j->start);
    for (int step = 0; step < STEPS; step++)
        TRY(rival_step(j, &s, err));
    TRY(rival_median(j, j->now.z, &middle, &left, err));
    j->is_undecided =
        left < explained * size && NORMAL_PER_MEDIAN * left <= wider * sqrt(j->best.now.s2);
    return ROOFS_OK;
}
