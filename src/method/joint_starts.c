/* Starts of the joint solutions: which samples count at first. */
#include "base/memory.h"
#include "linalg/vector.h"
#include "method/joint.h"
#include "robust/order_statistics.h"
#include "robust/scale.h"

#include <math.h>
#include <string.h>

/* Residuals farther than this from 0 are left out, in medians: three normal standard deviations. */
static const double FAR = 3 * NORMAL_PER_MEDIAN;

static roofs_status median_size(joint *j, const double *x, double *middle, roofs_error *err)
{
    for (int64_t i = 0; i < j->f->n; i++)
        j->scratch[i] = fabs(x[i]);
    return lower_median(&j->f->comm, j->scratch, j->f->n, middle, err);
}

/* Most samples of a majority lie close together, also beside a second cluster. */
roofs_status start_shortest_half(joint *j, roofs_error *err)
{
    const double slack = 1 + 1e-9;
    double middle = 0, length = 0;
    TRY(shortest_half(&j->f->comm, j->now.z, j->f->n, &middle, &length, err));
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
        ridge_weigh(&j->solver, j->start);
        TRY(joint_dense(j, j->trial.y, step == 0 ? 2 : step == 3 || step == 8, err));
        TRY(median_size(j, j->now.z, &middle, err));
        for (int64_t i = 0; i < n; i++)
            j->start[i] = least / fmax(fabs(j->now.z[i]) / fmax(middle, 1e-300), least);
    }
    for (int64_t i = 0; i < n; i++)
        j->start[i] = fabs(j->now.z[i]) <= FAR * middle;
    return ROOFS_OK;
}

/* ---- mirrored responses ---------------------------------------------------------- */

/* Suppose that some responses have the wrong sign. The squares do not show it: the directions in
 * which they are large belong to the coefficients. The largest eigenvector of Z'diag(y^2) Z is a
 * first fit, and the expectation-maximisation of y = +f or -f follows from there. */
typedef struct mirror {
    double *t0, *t, *f; /* y less its median; times tanh; the fit */
    double square;      /* mean of t0^2 */
    slab_parameters prior;
} mirror;

static void normalise(double *v, int64_t m)
{
    const double norm = vector_norm(v, m);
    for (int64_t q = 0; q < m; q++)
        v[q] = norm > 0 ? v[q] / norm : 1;
}

/* f = Z v for the largest eigenvector v. */
static roofs_status find_direction(joint *j, mirror *s, roofs_error *err)
{
    enum { STEPS = 60 };
    const int64_t n = j->f->n;
    double middle = 0, mean = 0, *v = j->now.b, *weight = j->variance;
    TRY(median_size(j, s->t0, &middle, err));
    for (int64_t i = 0; i < n; i++) {
        weight[i] = fmin(s->t0[i] * s->t0[i], 9 * middle * middle);
        mean += weight[i];
    }
    mean = comm_sum_of(&j->f->comm, mean) / (double)j->trial.all;
    memset(j->scratch, 0, (size_t)n * sizeof *j->scratch);
    ridge_inner(&j->solver, s->t0, v);
    for (int step = 0; step < STEPS; step++) {
        normalise(v, j->m);
        ridge_residual(&j->solver, j->scratch, 0, v, s->f); /* -Z v */
        for (int64_t i = 0; i < n; i++)
            s->t[i] = (mean - weight[i]) * s->f[i];
        ridge_inner(&j->solver, s->t, v);
    }
    return comm_status(&j->f->comm, err);
}

static void scale_fit(joint *j, mirror *s)
{
    const double explained = 0.7; /* of the squares, at first */
    const double square = comm_dot(&j->f->comm, s->f, s->f, j->f->n) / (double)j->trial.all;
    const double times = square > 0 ? sqrt(explained * s->square / square) : 0;
    for (int64_t i = 0; i < j->f->n; i++)
        s->f[i] *= times;
}

/* One step: the sign of each response given the fit, then the fit given the signs. */
static roofs_status mirror_step(joint *j, mirror *s, double *s2, roofs_error *err)
{
    const int64_t n = j->f->n;
    const double all = (double)j->trial.all;
    double left = 0;
    for (int64_t i = 0; i < n; i++)
        s->t[i] = s->t0[i] * tanh(s->t0[i] * s->f[i] / *s2);
    TRY(joint_sparse(j, s->t, &s->prior, *s2, err));
    for (int64_t i = 0; i < n; i++) {
        const double fitted = s->t[i] - j->trial.r[i];
        left += s->t0[i] * s->t0[i] - 2 * s->t[i] * fitted + fitted * fitted;
        s->f[i] = s->t[i] - j->now.z[i];
    }
    left = comm_sum_of(&j->f->comm, left) / all;
    *s2 = fmax(left / fmax(1 - j->now.trace / all, 0.1), 1e-6 * s->square);
    joint_update_inclusion(j, &s->prior, *s2);
    return ROOFS_OK;
}

/* The larger of the two groups whose responses agree and disagree with the fit in sign. */
static void choose_group(joint *j, const mirror *s)
{
    double agree = 0;
    for (int64_t i = 0; i < j->f->n; i++) {
        j->start[i] = s->t0[i] * s->f[i] > 0;
        agree += j->start[i];
    }
    agree = comm_sum_of(&j->f->comm, agree);
    for (int64_t i = 0; i < j->f->n && agree < 0.5 * (double)j->trial.all; i++)
        j->start[i] = 1 - j->start[i];
}

roofs_status start_mirrored(joint *j, roofs_error *err)
{
    enum { STEPS = 30 };
    const int64_t n = j->f->n;
    const double tenth = (double)j->trial.all / 10;
    mirror s = {.t0 = j->before, .t = j->w_before, .f = j->background, .prior = *j->prior};
    double middle = 0;
    if (j->trial.has_intercept)
        TRY(lower_median(&j->f->comm, j->trial.y, n, &middle, err));
    for (int64_t i = 0; i < n; i++) {
        s.t0[i] = j->trial.y[i] - middle;
        j->start[i] = 1;
    }
    s.square = comm_dot(&j->f->comm, s.t0, s.t0, n) / (double)j->trial.all;
    s.prior.mean = 0;
    s.prior.variance = fmax(s.square / fmax(1, fmin((double)j->m, tenth)), 1e-300);
    ridge_weigh(&j->solver, j->start);
    TRY(find_direction(j, &s, err));
    scale_fit(j, &s);
    j->now.kind = (joint_kind){.is_fresh = 1};
    for (int64_t q = 0; q < j->m; q++)
        j->now.a[q] = 1;
    double s2 = fmax(0.5 * s.square, 1e-300);
    for (int step = 0; step < STEPS; step++)
        TRY(mirror_step(j, &s, &s2, err));
    choose_group(j, &s);
    return ROOFS_OK;
}

/* ---- ties ------------------------------------------------------------------------ */

/* The most frequent of ascending numbers; returns how often it occurs. */
static int64_t most_frequent(const double *sorted, int64_t count, double *value)
{
    int64_t most = 0, first = 0;
    for (int64_t i = 0; i < count; i++) {
        if (sorted[i] != sorted[first])
            first = i;
        if (i - first + 1 > most) {
            most = i - first + 1;
            *value = sorted[i];
        }
    }
    return most;
}

roofs_status start_without_ties(joint *j, int *found, roofs_error *err)
{
    const double few = 0.05, most = 0.5;
    double *sorted = NULL, value = 0;
    int64_t count = 0;
    *found = 0;
    if (!order_statistics_are_few(&j->f->comm, j->f->n))
        return ROOFS_OK;
    TRY(order_statistics_sort(&j->f->comm, j->trial.y, j->f->n, &sorted, &count, err));
    const double ties = (double)most_frequent(sorted, count, &value);
    memory_free(sorted);
    *found = ties >= fmax(5, few * (double)count) && ties <= most * (double)count;
    for (int64_t i = 0; i < j->f->n; i++)
        j->start[i] = j->trial.y[i] != value;
    return ROOFS_OK;
}
