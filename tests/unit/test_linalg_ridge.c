/* Ridge regression against the normal equations, solved by elimination in long double, and against
 * fits without one of the samples. */
#include "linalg/ridge.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

enum { MOST_N = 60, MOST_M = 60, LARGE = 400 };

typedef enum prior_kind { PRIOR_MODERATE, PRIOR_SOME_HELD, PRIOR_EXTREME, PRIOR_KINDS } prior_kind;

typedef struct problem {
    int64_t n, m;
    int has_intercept;
    int has_prior_mean;
    int is_dependent; /* columns are copies and sums of others */
    int64_t threads;
    const panel_kernels *kernels; /* NULL: those of the machine */
    double *z;                    /* one column after the other */
    double *weight, *t, *omega, *b0;
} problem;

typedef struct solution {
    double b[LARGE], leverage[LARGE], residual[LARGE], intercept, trace;
    roofs_status status;
} solution;

/* ---- problems ----------------------------------------------------------------- */

static double random_omega(uint64_t *random, prior_kind kind)
{
    if (kind == PRIOR_EXTREME)
        return pow(10, -12 + 18 * random_unit(random));
    if (kind == PRIOR_SOME_HELD && random_below(random, 3) == 0)
        return 0;
    return exp(2 * random_bell(random));
}

static double random_weight(uint64_t *random, prior_kind kind)
{
    if (random_below(random, 4) == 0)
        return 0;
    return kind == PRIOR_EXTREME ? pow(10, -12 * random_unit(random)) : random_unit(random);
}

static void fill_problem(problem *p, prior_kind kind, uint64_t *random)
{
    for (int64_t i = 0; i < p->n; i++) {
        p->weight[i] = random_weight(random, kind);
        p->t[i] = 5 + random_bell(random);
    }
    for (int64_t j = 0; j < p->m; j++) {
        p->omega[j] = random_omega(random, kind);
        p->b0[j] = p->has_prior_mean ? random_bell(random) : 0;
        for (int64_t i = 0; i < p->n; i++) {
            double *z = p->z + j * p->n + i;
            *z = 1 + random_bell(random);
            if (p->is_dependent && j % 3 == 1)
                *z = z[-p->n];
            if (p->is_dependent && j % 3 == 2)
                *z = z[-p->n] - 2 * z[-2 * p->n] + 3;
            p->t[i] += j < 4 ? *z : 0;
        }
    }
}

static problem new_problem(int64_t n, int64_t m)
{
    return (problem){.n = n,
                     .m = m,
                     .threads = 1,
                     .z = calloc((size_t)(n * m), sizeof(double)),
                     .weight = calloc((size_t)n, sizeof(double)),
                     .t = calloc((size_t)n, sizeof(double)),
                     .omega = calloc((size_t)m, sizeof(double)),
                     .b0 = calloc((size_t)m, sizeof(double))};
}

static void free_problem(problem *p)
{
    free(p->z);
    free(p->weight);
    free(p->t);
    free(p->omega);
    free(p->b0);
}

/* ---- the module --------------------------------------------------------------- */

/* Columns first..first + n of the samples of p, on the CPU. */
static roofs_status load_columns(columns *c, const problem *p, int64_t first, int64_t n,
                                 roofs_error *err)
{
    const ingest_options options = {0};
    const device_shape shape = {.n = n, .slots = p->m, .batch = p->m, .threads = 1};
    roofs_block block = with_strides(dense_block(p->z + first, ROOFS_F64, p->m, n), p->n, 1);
    TRY(columns_create(c, &device_cpu, &shape, err));
    return columns_arrive(c, &block, 0, &options, err);
}

/* Solves for the samples first..first + n; the answers of samples stand from `first` on. */
static roofs_status solve_shard(const problem *p, comm *ranks, int64_t first, int64_t n, columns *c,
                                ridge *r, solution *s, solution *samples)
{
    const ridge_shape shape = {
        .n = n, .m = p->m, .has_intercept = p->has_intercept, .threads = p->threads};
    ridge_answer answer = {.b = s->b, .leverage = samples->leverage + first};
    roofs_error err;
    TRY(load_columns(c, p, first, n, &err));
    if (!comm_is_alone(ranks))
        TRY(columns_split(c, ranks, &err));
    TRY(ridge_create(r, ranks, &shape, &err));
    r->k = p->kernels ? p->kernels : r->k;
    assert_int_equal(ridge_load(r, c, NULL, NULL), ROOFS_OK);
    ridge_weigh(r, p->weight + first);
    TRY(ridge_solve(r, p->t + first, p->omega, p->has_prior_mean ? p->b0 : NULL, &answer, &err));
    ridge_residual(r, p->t + first, answer.intercept, s->b, samples->residual + first);
    s->intercept = answer.intercept;
    s->trace = answer.trace;
    return ROOFS_OK;
}

static void solve_with_ridge(const problem *p, solution *s)
{
    columns c = {0};
    ridge r = {0};
    memset(s, 0, sizeof *s);
    assert_int_equal(solve_shard(p, NULL, 0, p->n, &c, &r, s, s), ROOFS_OK);
    assert_int_equal(r.is_dual, p->m > p->n);
    ridge_destroy(&r);
    columns_destroy(&c);
}

/* ---- the reference ------------------------------------------------------------ */

enum { UNKNOWNS = MOST_M + 1 };

typedef long double matrix[UNKNOWNS][UNKNOWNS];

/* Solves a x = x by elimination with the largest pivot; destroys a. */
static void eliminate(matrix a, long double *x, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < count; i++)
            best = fabsl(a[i][k]) > fabsl(a[best][k]) ? i : best;
        for (int64_t j = 0; j < count; j++) {
            long double other = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = other;
        }
        long double other = x[k];
        x[k] = x[best];
        x[best] = other;
        for (int64_t i = 0; i < count; i++) {
            if (i == k)
                continue;
            long double times = a[i][k] / a[k][k];
            for (int64_t j = k; j < count; j++)
                a[i][j] -= times * a[k][j];
            x[i] -= times * x[k];
        }
    }
    for (int64_t k = 0; k < count; k++)
        x[k] /= a[k][k];
}

/* Unknown k of sample i: the intercept, then the columns that no prior variance of 0 holds. */
static int64_t list_unknowns(const problem *p, int64_t *which)
{
    int64_t count = 0;
    if (p->has_intercept)
        which[count++] = -1;
    for (int64_t j = 0; j < p->m; j++)
        if (p->omega[j] > 0)
            which[count++] = j;
    return count;
}

static long double entry(const problem *p, int64_t unknown, int64_t i)
{
    return unknown < 0 ? 1 : p->z[unknown * p->n + i];
}

static void normal_matrix(const problem *p, const int64_t *which, int64_t count, matrix a)
{
    for (int64_t k = 0; k < count; k++)
        for (int64_t l = 0; l < count; l++) {
            a[k][l] = k == l && which[k] >= 0 ? 1 / (long double)p->omega[which[k]] : 0;
            for (int64_t i = 0; i < p->n; i++)
                a[k][l] += p->weight[i] * entry(p, which[k], i) * entry(p, which[l], i);
        }
}

static long double error_of_prior(const problem *p, int64_t i)
{
    long double error = p->t[i];
    for (int64_t j = 0; j < p->m; j++)
        error -= p->b0[j] * (long double)p->z[j * p->n + i];
    return error;
}

/* Coefficients and residuals. */
static void solve_slowly(const problem *p, solution *s)
{
    static matrix a;
    long double x[UNKNOWNS] = {0};
    int64_t which[UNKNOWNS] = {0}, count = list_unknowns(p, which);
    normal_matrix(p, which, count, a);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < p->n; i++)
            x[k] += p->weight[i] * entry(p, which[k], i) * error_of_prior(p, i);
    eliminate(a, x, count);
    s->intercept = 0;
    memcpy(s->b, p->b0, (size_t)p->m * sizeof *s->b);
    for (int64_t k = 0; k < count; k++)
        *(which[k] < 0 ? &s->intercept : &s->b[which[k]]) += (double)x[k];
    for (int64_t i = 0; i < p->n; i++) {
        long double left = error_of_prior(p, i);
        for (int64_t k = 0; k < count; k++)
            left -= x[k] * entry(p, which[k], i);
        s->residual[i] = (double)left;
    }
}

static double leverage_slowly(const problem *p, int64_t i)
{
    static matrix a;
    long double x[UNKNOWNS], sum = 0;
    int64_t which[UNKNOWNS] = {0}, count = list_unknowns(p, which);
    normal_matrix(p, which, count, a);
    for (int64_t k = 0; k < count; k++)
        x[k] = entry(p, which[k], i);
    eliminate(a, x, count);
    for (int64_t k = 0; k < count; k++)
        sum += x[k] * entry(p, which[k], i);
    return (double)sum;
}

/* The residual of sample i in a fit without it. */
static double residual_without(problem *p, int64_t i)
{
    static solution s;
    const double weight = p->weight[i];
    p->weight[i] = 0;
    solve_slowly(p, &s);
    p->weight[i] = weight;
    return s.residual[i];
}

/* ---- comparisons -------------------------------------------------------------- */

static void assert_solved(problem *p, double allowed)
{
    static solution fast, slow;
    double trace = 0;
    solve_with_ridge(p, &fast);
    solve_slowly(p, &slow);
    assert_close(fast.intercept, slow.intercept, allowed);
    for (int64_t j = 0; j < p->m; j++) {
        assert_close(fast.b[j], slow.b[j], allowed);
        assert_true(p->omega[j] > 0 || fast.b[j] == p->b0[j]);
    }
    for (int64_t i = 0; i < p->n; i++)
        assert_close(fast.residual[i], slow.residual[i], allowed);
    for (int64_t i = 0; i < p->n; i += 1 + p->n / 8) {
        const double leverage = leverage_slowly(p, i), hat = p->weight[i] * fast.leverage[i];
        assert_close(fast.leverage[i], leverage, allowed * (1 + leverage));
        assert_in_range((int64_t)(hat * 1e6), 0, 1000000);
        if (p->n > 1)
            assert_close(fast.residual[i] / (1 - hat), residual_without(p, i), allowed / (1 - hat));
    }
    for (int64_t i = 0; i < p->n; i++)
        trace += p->weight[i] * fast.leverage[i];
    assert_close(fast.trace, trace, 1e-12 * (double)p->m);
}

/* Sizes around the multiples of eight, more samples than columns and fewer. */
static void assert_all_sizes_solved(int is_dependent, prior_kind kind, double allowed)
{
    static const int64_t sizes[][2] = {{1, 1},   {3, 2},   {8, 8},   {9, 7},   {17, 16}, {40, 9},
                                       {60, 30}, {60, 60}, {2, 5},   {7, 8},   {8, 9},   {16, 40},
                                       {17, 17}, {33, 34}, {25, 60}, {60, 17}, {1, 9},   {41, 25}};
    uint64_t random = 3 + (uint64_t)kind;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int variant = 0; variant < 4; variant++) {
            problem p = new_problem(sizes[k][0], sizes[k][1]);
            p.has_intercept = variant % 2;
            p.has_prior_mean = variant / 2;
            p.is_dependent = is_dependent;
            fill_problem(&p, kind, &random);
            p.weight[0] = 1; /* an intercept needs a sample, also without any other one */
            p.weight[p.n - 1] = 0.5;
            assert_solved(&p, allowed);
            free_problem(&p);
        }
}

static void test_solutions_agree_with_normal_equations(void **state)
{
    (void)state;
    assert_all_sizes_solved(0, PRIOR_MODERATE, 1e-10);
}

static void test_held_coefficients_stay(void **state)
{
    (void)state;
    assert_all_sizes_solved(0, PRIOR_SOME_HELD, 1e-10);
}

static void test_dependent_columns_are_solved(void **state)
{
    (void)state;
    assert_all_sizes_solved(1, PRIOR_MODERATE, 1e-9);
}

static void test_extreme_weights_and_priors_are_solved(void **state)
{
    (void)state;
    assert_all_sizes_solved(0, PRIOR_EXTREME, 1e-7);
    assert_all_sizes_solved(1, PRIOR_EXTREME, 1e-7);
}

/* Nearly dependent columns with hardly any prior: the solution of the normal equations in double
 * precision alone has seven digits less. */
static void test_nearly_dependent_columns_keep_their_digits(void **state)
{
    uint64_t random = 12;
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        static solution fast, slow;
        problem p = new_problem(trial % 2 ? 50 : 30, trial % 2 ? 12 : 40);
        p.has_intercept = 1;
        fill_problem(&p, PRIOR_MODERATE, &random);
        for (int64_t j = 0; j < p.m; j++)
            p.omega[j] = 1e6;
        for (int64_t i = 0; i < p.n; i++)
            p.z[p.n + i] = p.z[i] + 1e-4 * p.z[p.n + i];
        solve_with_ridge(&p, &fast);
        solve_slowly(&p, &slow);
        for (int64_t j = 0; j < p.m; j++)
            assert_close(fast.b[j], slow.b[j], 1e-9 * (1 + fabs(slow.b[0])));
        free_problem(&p);
    }
}

/* More columns than samples and hardly any prior: residuals and 1 - hat value are both tiny, their
 * quotient is not. */
static void test_interpolated_samples_have_exact_residuals(void **state)
{
    uint64_t random = 13;
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        static solution fast;
        problem p = new_problem(20, 45);
        p.has_intercept = trial % 2;
        fill_problem(&p, PRIOR_MODERATE, &random);
        for (int64_t j = 0; j < p.m; j++)
            p.omega[j] = 1e4;
        solve_with_ridge(&p, &fast);
        for (int64_t i = 0; i < p.n; i++) {
            const double kept = 1 - p.weight[i] * fast.leverage[i];
            assert_close(fast.residual[i] / kept, residual_without(&p, i), 1e-6);
        }
        free_problem(&p);
    }
}

/* Rounding errors larger than the matrix I: the answers are still numbers, hat values at most 1. */
static void test_no_prior_at_all_gives_numbers(void **state)
{
    uint64_t random = 14;
    (void)state;
    for (int trial = 0; trial < 8; trial++) {
        static solution s;
        problem p = new_problem(trial % 2 ? 50 : 20, 30);
        p.has_intercept = trial / 2 % 2;
        p.is_dependent = 1;
        fill_problem(&p, PRIOR_MODERATE, &random);
        for (int64_t j = 0; j < p.m; j++)
            p.omega[j] = trial < 4 ? 1e20 : 1e100;
        solve_with_ridge(&p, &s);
        for (int64_t j = 0; j < p.m; j++)
            assert_true(isfinite(s.b[j]));
        for (int64_t i = 0; i < p.n; i++)
            assert_true(s.leverage[i] >= 0 && p.weight[i] * s.leverage[i] <= 1 + 1e-15);
        free_problem(&p);
    }
}

/* ---- ranks, threads, registers ---------------------------------------------- */

typedef struct split_case {
    const problem *p;
    solution *samples;           /* leverages and residuals of all ranks */
    solution answers[TEAM_MOST]; /* the rest, which all ranks have */
} split_case;

static void solve_on_rank(const roofs_comm *with, void *user)
{
    split_case *q = user;
    comm ranks;
    roofs_error err;
    columns c = {0};
    ridge r = {0};
    solution *s = &q->answers[with->rank];
    const int64_t first = shard_begin(q->p->n, with->rank, with->size);
    const int64_t n = shard_begin(q->p->n, with->rank + 1, with->size) - first;
    s->status = comm_join(&ranks, with, n, ROOFS_OK, &err);
    if (s->status == ROOFS_OK)
        s->status = solve_shard(q->p, &ranks, first, n, &c, &r, s, q->samples);
    ridge_destroy(&r);
    if (c.dev)
        columns_destroy(&c);
    comm_leave(&ranks);
}

static void assert_near(const double *got, const double *wanted, int64_t count, double allowed)
{
    for (int64_t k = 0; k < count; k++)
        assert_close(got[k], wanted[k], allowed);
}

/* With more columns than samples one rank uses the dual form, several the primal one. */
static void test_ranks_agree_with_one(void **state)
{
    static const int64_t sizes[][2] = {{60, 20}, {24, 60}, {5, 3}, {33, 33}, {16, 17}};
    uint64_t random = 5;
    (void)state;
    for (int trial = 0; trial < 30; trial++) {
        static solution one, samples;
        static split_case q;
        const int64_t ranks = 2 + trial % 3;
        problem p = new_problem(sizes[trial % 5][0], sizes[trial % 5][1]);
        p.has_intercept = trial % 2;
        p.has_prior_mean = trial % 4 / 2;
        p.is_dependent = trial % 3 == 1;
        fill_problem(&p, PRIOR_SOME_HELD, &random);
        p.weight[0] = 1;
        q = (split_case){.p = &p, .samples = &samples};
        solve_with_ridge(&p, &one);
        team_run(ranks, solve_on_rank, &q);
        for (int64_t k = 0; k < ranks; k++) {
            assert_int_equal(q.answers[k].status, ROOFS_OK);
            assert_same_doubles(q.answers[k].b, q.answers[0].b, p.m);
            assert_near(q.answers[k].b, one.b, p.m, 1e-10);
            assert_close(q.answers[k].intercept, one.intercept, 1e-10);
            assert_close(q.answers[k].trace, one.trace, 1e-10);
        }
        assert_near(samples.leverage, one.leverage, p.n, 1e-8);
        assert_near(samples.residual, one.residual, p.n, 1e-10);
        free_problem(&p);
    }
}

/* Communication fails at every possible call: all ranks return an error. */
static void test_lost_ranks_are_reported(void **state)
{
    uint64_t random = 6;
    int64_t calls = 0, failed = 0;
    problem p = new_problem(20, 9);
    (void)state;
    p.has_intercept = 1;
    fill_problem(&p, PRIOR_MODERATE, &random);
    for (int ended = 0; !ended; calls++) {
        static solution samples;
        static split_case q;
        q = (split_case){.p = &p, .samples = &samples};
        team_run_for(calls, 2, solve_on_rank, &q);
        ended = q.answers[0].status == ROOFS_OK;
        failed += q.answers[0].status == ROOFS_FAILED;
        assert_int_equal(q.answers[0].status, q.answers[1].status);
    }
    assert_true(calls > 5);
    assert_int_equal(failed, calls - 1);
    free_problem(&p);
}

static void assert_same_solution(const solution *a, const solution *b)
{
    assert_same_doubles(a->b, b->b, LARGE);
    assert_same_doubles(a->leverage, b->leverage, LARGE);
    assert_same_doubles(a->residual, b->residual, LARGE);
    assert_same_doubles(&a->intercept, &b->intercept, 1);
    assert_same_doubles(&a->trace, &b->trace, 1);
}

/* Large enough for threads in every step. */
static void test_threads_do_not_change_bits(void **state)
{
    static const int64_t sizes[][2] = {{397, 333}, {330, 400}};
    uint64_t random = 7;
    (void)state;
    for (int k = 0; k < 2; k++) {
        static solution one, many;
        problem p = new_problem(sizes[k][0], sizes[k][1]);
        p.has_intercept = 1;
        fill_problem(&p, PRIOR_MODERATE, &random);
        solve_with_ridge(&p, &one);
        for (p.threads = 2; p.threads <= 4; p.threads++) {
            solve_with_ridge(&p, &many);
            assert_same_solution(&one, &many);
        }
        free_problem(&p);
    }
}

static void test_width_of_registers_does_not_change_bits(void **state)
{
    static const int64_t sizes[][2] = {{60, 41}, {41, 60}, {5, 3}, {70, 9}};
    const panel_kernels *const widths[] = {&panels_w2,
                                           HAS_INSTRUCTIONS("avx2") ? &panels_w4 : &panels_w2,
                                           HAS_INSTRUCTIONS("avx512f") ? &panels_w8 : &panels_w2};
    uint64_t random = 8;
    (void)state;
    for (int k = 0; k < 4; k++) {
        static solution narrow, wide;
        problem p = new_problem(sizes[k][0], sizes[k][1]);
        p.has_intercept = 1;
        p.is_dependent = k == 1;
        fill_problem(&p, PRIOR_EXTREME, &random);
        p.kernels = widths[0];
        solve_with_ridge(&p, &narrow);
        for (int w = 1; w < 3; w++) {
            p.kernels = widths[w];
            solve_with_ridge(&p, &wide);
            assert_same_solution(&narrow, &wide);
        }
        free_problem(&p);
    }
}

/* ---- edges --------------------------------------------------------------------- */

static void test_samples_without_any_weight_give_the_prior(void **state)
{
    static const int64_t sizes[][2] = {{20, 9}, {9, 20}, {1, 1}};
    uint64_t random = 9;
    (void)state;
    for (int k = 0; k < 6; k++) {
        static solution s;
        problem p = new_problem(sizes[k % 3][0], sizes[k % 3][1]);
        p.has_intercept = k / 3;
        p.has_prior_mean = 1;
        fill_problem(&p, PRIOR_MODERATE, &random);
        memset(p.weight, 0, (size_t)p.n * sizeof *p.weight);
        solve_with_ridge(&p, &s);
        assert_same_doubles(s.b, p.b0, p.m);
        for (int64_t i = 0; i < p.n; i++) { /* the prior variance of the response */
            double variance = 0;
            for (int64_t j = 0; j < p.m; j++)
                variance += p.omega[j] * p.z[j * p.n + i] * p.z[j * p.n + i];
            assert_close(s.leverage[i], variance, 1e-12 * variance);
        }
        assert_true(s.trace == 0);
        free_problem(&p);
    }
}

/* Without leverages the trace comes from the inverse. */
static void test_trace_does_not_need_leverages(void **state)
{
    static const int64_t sizes[][2] = {{50, 20}, {20, 50}, {17, 1}, {1, 17}, {40, 33}};
    uint64_t random = 12;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        static solution full;
        const int64_t n = sizes[trial % 5][0], m = sizes[trial % 5][1];
        const ridge_shape shape = {.n = n, .m = m, .has_intercept = trial % 2, .threads = 1};
        roofs_error err;
        columns c;
        ridge r;
        problem p = new_problem(n, m);
        p.has_intercept = trial % 2;
        fill_problem(&p, trial % 3 == 0 ? PRIOR_SOME_HELD : PRIOR_MODERATE, &random);
        p.weight[0] = 1;
        solve_with_ridge(&p, &full);
        assert_fine(load_columns(&c, &p, 0, n, &err));
        assert_fine(ridge_create(&r, NULL, &shape, &err));
        assert_int_equal(ridge_load(&r, &c, NULL, NULL), ROOFS_OK);
        ridge_weigh(&r, p.weight);
        ridge_answer answer = {.b = full.b};
        assert_fine(ridge_solve(&r, p.t, p.omega, NULL, &answer, &err));
        assert_close(answer.trace, full.trace, 1e-9 * (1 + full.trace));
        ridge_destroy(&r);
        columns_destroy(&c);
        free_problem(&p);
    }
}

/* Each rank computes the squares and products of its samples, or one rank those of all. */
static void check_sums(const problem *p, comm *ranks, int64_t first, int64_t n)
{
    const ridge_shape shape = {.n = n, .m = p->m, .has_intercept = p->has_intercept, .threads = 1};
    double squares[MOST_M], inner[MOST_M];
    roofs_error err;
    columns c;
    ridge r;
    assert_fine(load_columns(&c, p, first, n, &err));
    if (ranks)
        assert_fine(columns_split(&c, ranks, &err));
    assert_fine(ridge_create(&r, ranks, &shape, &err));
    assert_int_equal(ridge_load(&r, &c, NULL, NULL), ROOFS_OK);
    ridge_weigh(&r, p->weight + first);
    ridge_squares(&r, squares);
    ridge_inner(&r, p->t + first, inner);
    for (int64_t j = 0; j < p->m; j++) {
        const double *z = p->z + j * p->n;
        double mean = 0, total = 0, square = 0, product = 0;
        for (int64_t i = 0; i < p->n; i++) {
            total += p->weight[i];
            mean += p->weight[i] * z[i];
            product += z[i] * p->t[i];
        }
        mean = p->has_intercept ? mean / total : 0;
        for (int64_t i = 0; i < p->n; i++)
            square += p->weight[i] * (z[i] - mean) * (z[i] - mean);
        assert_close(squares[j], square, 1e-10 * (1 + square));
        assert_close(inner[j], product, 1e-10 * (1 + fabs(product)));
    }
    ridge_destroy(&r);
    columns_destroy(&c);
}

static void check_sums_on_rank(const roofs_comm *with, void *user)
{
    const problem *p = user;
    comm ranks;
    roofs_error err;
    const int64_t first = shard_begin(p->n, with->rank, with->size);
    const int64_t n = shard_begin(p->n, with->rank + 1, with->size) - first;
    assert_fine(comm_join(&ranks, with, n, ROOFS_OK, &err));
    check_sums(p, &ranks, first, n);
    comm_leave(&ranks);
}

static void test_squares_and_products_are_those_of_columns(void **state)
{
    static const int64_t sizes[][2] = {{50, 20}, {20, 50}, {9, 1}, {33, 33}};
    uint64_t random = 13;
    (void)state;
    for (int trial = 0; trial < 8; trial++) {
        problem p = new_problem(sizes[trial % 4][0], sizes[trial % 4][1]);
        p.has_intercept = trial / 4;
        fill_problem(&p, PRIOR_MODERATE, &random);
        p.weight[0] = 1;
        check_sums(&p, NULL, 0, p.n);
        team_run(2, check_sums_on_rank, &p);
        free_problem(&p);
    }
}

/* One object serves many weights and responses; an answer does not depend on earlier ones. */
static void test_calls_do_not_depend_on_earlier_ones(void **state)
{
    static const int64_t sizes[][2] = {{50, 20}, {20, 50}};
    uint64_t random = 10;
    (void)state;
    for (int k = 0; k < 2; k++) {
        static solution first, again;
        const int64_t n = sizes[k][0], m = sizes[k][1];
        const ridge_shape shape = {.n = n, .m = m, .has_intercept = 1, .threads = 1};
        double spoilt[50]; /* not numbers */
        roofs_error err;
        columns c;
        ridge r;
        problem p = new_problem(n, m);
        fill_problem(&p, PRIOR_SOME_HELD, &random);
        p.has_intercept = 1;
        solve_with_ridge(&p, &first);
        assert_fine(load_columns(&c, &p, 0, n, &err));
        assert_fine(ridge_create(&r, NULL, &shape, &err));
        assert_int_equal(ridge_load(&r, &c, NULL, NULL), ROOFS_OK);
        ridge_answer answer = {.b = again.b};
        ridge_weigh(&r, p.t); /* other weights, and responses that spoil everything */
        memset(spoilt, 0xff, sizeof spoilt);
        assert_fine(ridge_solve(&r, spoilt, p.omega, p.omega, &answer, &err));
        ridge_weigh(&r, p.weight);
        assert_fine(ridge_solve(&r, p.t, p.omega, NULL, &answer, &err));
        assert_same_doubles(again.b, first.b, m);
        assert_close(answer.trace, first.trace, 1e-9);
        ridge_destroy(&r);
        columns_destroy(&c);
        free_problem(&p);
    }
}

static void test_chosen_columns_are_loaded_in_order(void **state)
{
    const int64_t which[] = {6, 0, 3};
    const ridge_shape shape = {.n = 30, .m = 3, .threads = 1};
    const double one[] = {1, 10, 100};
    double zero[30] = {0}, out[30];
    uint64_t random = 11;
    roofs_error err;
    columns c;
    ridge r;
    problem p = new_problem(30, 7);
    (void)state;
    fill_problem(&p, PRIOR_MODERATE, &random);
    assert_fine(load_columns(&c, &p, 0, 30, &err));
    assert_fine(ridge_create(&r, NULL, &shape, &err));
    assert_int_equal(ridge_load(&r, &c, which, NULL), ROOFS_OK);
    ridge_residual(&r, zero, -7, one, out);
    for (int64_t i = 0; i < 30; i++)
        assert_close(out[i], 7 - p.z[6 * 30 + i] - 10 * p.z[i] - 100 * p.z[3 * 30 + i], 1e-12);
    ridge_destroy(&r);
    columns_destroy(&c);
    free_problem(&p);
}

/* The last array of the block ends where the block ends. */
static void test_bytes_are_those_of_the_block(void **state)
{
    static const int64_t sizes[][2] = {{100, 30}, {30, 100}, {8, 8}, {1, 1}, {0, 5}, {5, 0}};
    roofs_error err;
    ridge r;
    (void)state;
    for (int k = 0; k < 6; k++) {
        const ridge_shape shape = {.n = sizes[k][0], .m = sizes[k][1], .threads = 3};
        const int64_t longest = shape.n > shape.m ? shape.n : shape.m;
        assert_fine(ridge_create(&r, NULL, &shape, &err));
        const double *end = r.zeros + panels_of(longest) * LANES;
        assert_int_equal((end - r.block) * (int64_t)sizeof *end, ridge_bytes(&shape, 0));
        assert_true(ridge_bytes(&shape, 0) <= ridge_bytes(&shape, 1));
        ridge_destroy(&r);
    }
}

static void test_too_large_problems_are_refused(void **state)
{
    const ridge_shape too_large = {.n = (int64_t)1 << 40, .m = (int64_t)1 << 39, .threads = 1};
    roofs_error err;
    ridge r;
    (void)state;
    assert_int_equal(ridge_bytes(&too_large, 0), INT64_MAX);
    assert_refused(ridge_create(&r, NULL, &too_large, &err), ROOFS_NO_MEMORY, "joint solution");
    ridge_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solutions_agree_with_normal_equations),
        cmocka_unit_test(test_held_coefficients_stay),
        cmocka_unit_test(test_dependent_columns_are_solved),
        cmocka_unit_test(test_extreme_weights_and_priors_are_solved),
        cmocka_unit_test(test_nearly_dependent_columns_keep_their_digits),
        cmocka_unit_test(test_interpolated_samples_have_exact_residuals),
        cmocka_unit_test(test_no_prior_at_all_gives_numbers),
        cmocka_unit_test(test_ranks_agree_with_one),
        cmocka_unit_test(test_lost_ranks_are_reported),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_width_of_registers_does_not_change_bits),
        cmocka_unit_test(test_samples_without_any_weight_give_the_prior),
        cmocka_unit_test(test_trace_does_not_need_leverages),
        cmocka_unit_test(test_squares_and_products_are_those_of_columns),
        cmocka_unit_test(test_calls_do_not_depend_on_earlier_ones),
        cmocka_unit_test(test_chosen_columns_are_loaded_in_order),
        cmocka_unit_test(test_bytes_are_those_of_the_block),
        cmocka_unit_test(test_too_large_problems_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
