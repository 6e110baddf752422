/* The memory of joint solutions, and a solution for given weights of the samples. */
#include "base/memory.h"
#include "base/portable_math.h"
#include "linalg/vector.h"
#include "method/forced.h"
#include "method/joint.h"
#include "robust/scale.h"

#include <math.h>

/* Multiplications of one solution: beyond, the sweeps alone decide; and from where on several
 * threads are worth their barriers. */
static const double MOST_WORK = 2.5e8, WORTH_THREADS = 4e7;

enum { LAMBDA_LEAST = -14, LAMBDA_MOST = 4 };

/* ---- life ------------------------------------------------------------------ */

double joint_work(double n, int64_t m)
{
    return n * (double)m * fmin(n, (double)m);
}

int joint_is_possible(double n, int64_t m, int is_split)
{
    const double rows = (double)m;
    return m > 0 && (is_split ? n * rows * rows : joint_work(n, m)) <= MOST_WORK;
}

enum { COLUMN_ARRAYS = 5 + 2 * 2, SAMPLE_ARRAYS = 7 + 2 * 3 };

/* The most columns that are solved jointly, of m. */
static int64_t most_columns(int64_t n, int64_t m, int is_split)
{
    int64_t low = 0, high = m;
    while (low < high) {
        const int64_t middle = high - (high - low) / 2;
        if (joint_is_possible((double)n, middle, is_split))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* The same with n samples on each rank. More ranks have more samples and so fewer columns. */
static int64_t bytes_for(int64_t n, int64_t m, int64_t threads, int is_split)
{
    const int64_t most = most_columns(n, m, is_split);
    const ridge_shape shape = {.n = n, .m = most, .threads = threads};
    if (most == 0)
        return 0;
    const int64_t numbers =
        memory_sum(memory_bytes(lanes_padded(most), COLUMN_ARRAYS * sizeof(double)),
                   memory_bytes(lanes_padded(n), SAMPLE_ARRAYS * sizeof(double)));
    return memory_sum(memory_sum(ridge_bytes(&shape, is_split), numbers),
                      mixture_bytes(lanes_padded(n)));
}

int64_t joint_bytes(int64_t n, int64_t m, int64_t threads)
{
    const int64_t alone = bytes_for(n, m, threads, 0), split = bytes_for(n, m, threads, 1);
    return alone > split ? alone : split;
}

static double *take(double **block, int64_t count)
{
    double *taken = *block;
    *block += lanes_padded(count);
    return taken;
}

static void place_solution(joint_solution *s, double **block, int64_t n, int64_t m)
{
    s->b = take(block, m);
    s->a = take(block, m);
    s->w = take(block, n);
    s->W = take(block, n);
    s->z = take(block, n);
}

static void place_arrays(joint *j, int64_t n, int64_t m)
{
    double *block = j->block;
    double **of_columns[] = {&j->omega, &j->b0, &j->k, &j->squares, &j->other_a};
    double **of_samples[] = {&j->leverage, &j->variance, &j->background, &j->start,
                             &j->before,   &j->w_before, &j->scratch};
    for (size_t k = 0; k < sizeof of_columns / sizeof *of_columns; k++)
        *of_columns[k] = take(&block, m);
    for (size_t k = 0; k < sizeof of_samples / sizeof *of_samples; k++)
        *of_samples[k] = take(&block, n);
    place_solution(&j->now, &block, n, m);
    place_solution(&j->best, &block, n, m);
}

static roofs_status allocate(joint *j, int64_t threads, roofs_error *err)
{
    const int64_t n = j->f->n, m = j->m;
    const int64_t numbers = COLUMN_ARRAYS * lanes_padded(m) + SAMPLE_ARRAYS * lanes_padded(n);
    const ridge_shape shape = {n, m, j->samples->has_intercept, threads};
    TRY(memory_get(&j->block, numbers, sizeof *j->block, "the joint solutions", err));
    place_arrays(j, n, m);
    TRY(mixture_create_like(&j->trial, j->samples, err));
    return ridge_create(&j->solver, &j->f->comm, &shape, err);
}

roofs_status joint_create(joint *j, fit *f, const mixture *samples, const slab_parameters *prior,
                          roofs_error *err)
{
    const int64_t m = f->cols.count;
    const int64_t threads = joint_work((double)f->n, m) < WORTH_THREADS ? 1 : f->threads;
    *j = (joint){.f = f, .samples = samples, .prior = prior, .m = m};
    TRY(comm_agree(&f->comm, allocate(j, threads, err), err));
    TRY(ridge_load(&j->solver, &f->cols, NULL, err));
    for (int64_t q = 0; q < m; q++)
        j->k[q] = slab_scale(f->cols.items[q].flatness);
    j->best.score = -INFINITY;
    return ROOFS_OK;
}

void joint_destroy(joint *j)
{
    ridge_destroy(&j->solver);
    mixture_destroy(&j->trial);
    memory_free(j->block);
    *j = (joint){0};
}

roofs_status joint_median_size(joint *j, const double *x, double *middle, roofs_error *err)
{
    for (int64_t i = 0; i < j->f->n; i++)
        j->scratch[i] = fabs(x[i]);
    return lower_median(&j->f->comm, j->scratch, j->trial.case_weight, j->f->n, middle, err);
}

void joint_weigh(joint *j, const double *W)
{
    const double *case_weight = j->trial.case_weight;
    for (int64_t i = 0; i < j->f->n && case_weight; i++)
        j->scratch[i] = case_weight[i] * W[i];
    ridge_weigh(&j->solver, case_weight ? j->scratch : W);
}

double joint_hat(const joint *j, int64_t i)
{
    const double cases = mixture_cases(&j->trial, i);
    const double each = cases > 0 ? j->solver.weight[i] / cases : 0;
    return fmin(each * j->leverage[i], JOINT_HAT_MOST);
}

/* ---- one solution ---------------------------------------------------------- */

/* Residuals and leave-one-out residuals of the coefficients j->now.b. */
static void residuals(joint *j, const double *t)
{
    ridge_residual(&j->solver, t, j->answer.intercept, j->now.b, j->trial.r);
    for (int64_t i = 0; i < j->f->n; i++)
        j->now.z[i] = j->trial.r[i] / (1 - joint_hat(j, i));
}

static roofs_status solve(joint *j, const double *t, const double *b0, roofs_error *err)
{
    j->answer = (ridge_answer){.b = j->now.b, .leverage = j->leverage};
    TRY(ridge_solve(&j->solver, t, j->omega, b0, &j->answer, err));
    j->now.trace = j->answer.trace;
    residuals(j, t);
    return ROOFS_OK;
}

/* The prior variance of a forced coefficient: so large that it does not matter. */
static double forced_omega(const joint *j)
{
    return 1 / (FORCED_RIDGE * fmax(j->solver.total, 1e-300));
}

roofs_status joint_sparse(joint *j, const double *t, const slab_parameters *prior, double s2,
                          roofs_error *err)
{
    const double d = j->solver.total, least = 1e-12;
    for (int64_t q = 0; q < j->m; q++) {
        if (fit_is_forced(j->f, q)) {
            j->omega[q] = forced_omega(j);
            j->b0[q] = 0;
            continue;
        }
        const double a = j->now.a[q], sb = prior->variance * j->k[q];
        const double den = 1 + (1 - a) * sb * d / s2;
        j->omega[q] = a * sb / (den * s2) + least * prior->variance / s2;
        j->b0[q] = a * prior->mean * sqrt(j->k[q]) / den;
    }
    return solve(j, t, j->b0, err);
}

static void set_penalty(joint *j, int lambda)
{
    const double total = fmax(j->solver.total, 1e-300);
    const double omega = 1 / (total * math_pow(10, 0.5 * lambda));
    for (int64_t q = 0; q < j->m; q++)
        j->omega[q] = fit_is_forced(j->f, q) ? forced_omega(j) : omega;
}

/* The leave-one-out error of a penalty, by generalised cross-validation: without leverages. */
static roofs_status try_penalty(joint *j, const double *t, int lambda, double *error,
                                roofs_error *err)
{
    mixture *m = &j->trial;
    double sums[2] = {0};
    set_penalty(j, lambda);
    j->answer = (ridge_answer){.b = j->now.b};
    TRY(ridge_solve(&j->solver, t, j->omega, NULL, &j->answer, err));
    ridge_residual(&j->solver, t, j->answer.intercept, j->now.b, m->r);
    for (int64_t i = 0; i < m->n; i++) {
        sums[0] += j->solver.weight[i] * (m->r[i] * m->r[i]);
        sums[1] += mixture_cases(m, i) * m->w[i];
    }
    comm_sum(m->comm, sums, 2);
    const double free = 1 - j->answer.trace / sums[1];
    *error = free < 1 - JOINT_TRACE_MOST ? INFINITY : sums[0] / (free * free);
    return ROOFS_OK;
}

/* Moves lambda by `step` while that makes the error smaller. */
static roofs_status climb(joint *j, const double *t, int step, double known[], roofs_error *err)
{
    int moved = 1;
    while (moved) {
        moved = 0;
        for (int sign = 1; sign >= -1 && !moved; sign -= 2) {
            const int at = j->now.lambda, to = at + sign * step;
            if (to < LAMBDA_LEAST || to > LAMBDA_MOST)
                continue;
            if (known[to - LAMBDA_LEAST] < 0)
                TRY(try_penalty(j, t, to, &known[to - LAMBDA_LEAST], err));
            moved = known[to - LAMBDA_LEAST] < known[at - LAMBDA_LEAST] ||
                    (sign > 0 && isinf(known[at - LAMBDA_LEAST]));
            j->now.lambda = moved ? to : at;
        }
    }
    return ROOFS_OK;
}

roofs_status joint_dense(joint *j, const double *t, int step, roofs_error *err)
{
    double known[LAMBDA_MOST - LAMBDA_LEAST + 1];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        known[k] = -1;
    if (step > 0)
        TRY(try_penalty(j, t, j->now.lambda, &known[j->now.lambda - LAMBDA_LEAST], err));
    for (; step > 0; step--)
        TRY(climb(j, t, step, known, err));
    set_penalty(j, j->now.lambda);
    return solve(j, t, NULL, err);
}

void joint_estimate(joint *j, const slab_parameters *prior, double s2, int64_t q,
                    coordinate_estimate *found)
{
    const mixture_parameters samples = {.s2 = s2, .tau2 = s2, .kap = 1};
    if (fit_is_forced(j->f, q)) {
        const double square = j->squares[q];
        *found = (coordinate_estimate){j->now.b[q], square > 0 ? s2 / square : 0, 1};
        return;
    }
    const coordinate c = coordinate_prepare(j->now.b[q], j->squares[q], j->k[q], &samples, prior);
    const double b0 = j->now.kind.is_dense ? 0 : j->b0[q];
    coordinate_move(&c, (j->now.b[q] - b0) / j->omega[q], found); /* z'Wr of a solution */
}

void joint_update_inclusion(joint *j, const slab_parameters *prior, double s2)
{
    ridge_squares(&j->solver, j->squares);
    for (int64_t q = 0; q < j->m; q++) {
        coordinate_estimate found;
        joint_estimate(j, prior, s2, q, &found);
        j->now.a[q] = fmax(0.5 * (j->now.a[q] + found.probability), JOINT_INCLUSION_LEAST);
    }
}
