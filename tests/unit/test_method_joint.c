/* Joint solutions: of given weights, from each start, and that the best one is stored. The linker
 * replaces posix_memalign in base/memory.c (tests/CMakeLists.txt): allocations are counted, and one
 * can fail. */
#include "method/coordinate_formula.h"
#include "method/joint.h"
#include "test_base_failing.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

/* ---- problems ------------------------------------------------------------------ */

enum { MOST_N = 420, MOST_M = 330 };

typedef struct problem {
    int64_t n, m, threads;
    double z[MOST_M][MOST_N], y[MOST_N], one[MOST_N], b[2][MOST_M];
    unsigned char is_corrupt[MOST_N];
} problem;

static problem p;

/* The first `used` of m features matter; samples follow y = Z b + noise. */
static void make_problem(int64_t n, int64_t m, int64_t used, uint64_t seed)
{
    memset(&p, 0, sizeof p);
    p.n = n;
    p.m = m;
    p.threads = 1;
    for (int64_t q = 0; q < m; q++) {
        for (int k = 0; k < 2; k++)
            p.b[k][q] = q < used ? (random_below(&seed, 2) ? 1 : -1) * (1 + random_unit(&seed)) : 0;
        for (int64_t i = 0; i < n; i++)
            p.z[q][i] = random_bell(&seed);
    }
    for (int64_t i = 0; i < n; i++) {
        p.one[i] = 1;
        p.y[i] = 0.2 * random_bell(&seed);
        for (int64_t q = 0; q < used; q++)
            p.y[i] += p.b[0][q] * p.z[q][i] / sqrt((double)used);
    }
}

/* Some samples follow the second model, or the first with the wrong sign. */
static void corrupt_by_models(int is_mirrored, int64_t every)
{
    for (int64_t i = 0; i < p.n; i++) {
        p.is_corrupt[i] = i % every == 1;
        double fits[2] = {0};
        for (int64_t q = 0; q < p.m; q++)
            for (int k = 0; k < 2; k++)
                fits[k] += p.b[k][q] * p.z[q][i];
        if (p.is_corrupt[i])
            p.y[i] += ((is_mirrored ? -fits[0] : fits[1]) - fits[0]) / 2;
    }
}

typedef struct bench {
    fit f;
    mixture samples;
    slab_parameters prior;
    joint j;
} bench;

/* The samples first..first + n. */
static roofs_status bench_open(bench *t, int64_t first, int64_t n, const roofs_comm *with,
                               roofs_error *err)
{
    const ingest_options options = {.standardize = 1, .flatness = 1, .weight = p.one};
    const device_shape shape = {.n = n, .slots = p.m, .batch = p.m, .threads = 1};
    const roofs_block all = with_strides(dense_block(&p.z[0][first], ROOFS_F64, p.m, n), MOST_N, 1);
    memset(t, 0, sizeof *t);
    t->f.comm = comm_self(n);
    if (with)
        TRY(comm_join(&t->f.comm, with, n, ROOFS_OK, err));
    roofs_settings_init(&t->f.set);
    t->f.threads = p.threads;
    t->f.n = n;
    t->f.y = p.y + first;
    t->f.features_seen = p.m;
    t->prior = (slab_parameters){.pi = 0.3, .mean = 0.05, .variance = 0.3};
    TRY(columns_create(&t->f.cols, &device_cpu, &shape, err));
    if (with)
        TRY(columns_split(&t->f.cols, &t->f.comm, err));
    TRY(columns_arrive(&t->f.cols, &all, 0, &options, err));
    for (int64_t q = 0; q < p.m; q++)
        t->f.cols.items[q].probability = 0.5;
    TRY(mixture_create(&t->samples, &t->f.comm, (mixture_samples){.y = t->f.y, .n = n}, 1, 0, err));
    return joint_create(&t->j, &t->f, &t->samples, &t->prior, err);
}

static void bench_close(bench *t)
{
    joint_destroy(&t->j);
    mixture_destroy(&t->samples);
    if (t->f.cols.dev)
        columns_destroy(&t->f.cols);
    comm_leave(&t->f.comm);
}

static roofs_error err;
static bench t;

static void open_bench(void)
{
    assert_fine(bench_open(&t, 0, p.n, NULL, &err));
}

static void weigh_equally(void)
{
    for (int64_t i = 0; i < p.n; i++)
        t.j.start[i] = t.j.trial.w[i] = 1;
    ridge_weigh(&t.j.solver, t.j.start);
}

/* ---- a solution ---------------------------------------------------------------- */

/* For standardised columns and equal weights z'Wz is the sum of the weights. A coefficient is then
 * a m of the sweep, for its inclusion probability a. */
static void test_sparse_solution_is_a_fixed_point_of_the_sweep(void **state)
{
    const double s2 = 0.07;
    const mixture_parameters samples = {.s2 = s2, .tau2 = s2, .kap = 1};
    double slope[MOST_M];
    (void)state;
    make_problem(90, 17, 5, 3);
    open_bench();
    weigh_equally();
    for (int64_t q = 0; q < p.m; q++)
        t.j.now.a[q] = (double)(q + 1) / (double)(p.m + 1);
    assert_fine(joint_sparse(&t.j, t.j.trial.y, &t.prior, s2, &err));
    columns_products(&t.f.cols, NULL, p.m, t.j.trial.r, slope);
    for (int64_t q = 0; q < p.m; q++) {
        const double d = (double)p.n, b = t.j.now.b[q];
        const coordinate c = coordinate_prepare(b, d, t.j.k[q], &samples, &t.prior);
        const double sb = t.prior.variance * t.j.k[q], mj = t.prior.mean * sqrt(t.j.k[q]);
        const double R = b + slope[q] / d, m = c.v * (c.P * R + mj / sb);
        assert_close(b, t.j.now.a[q] * m, 1e-9);
        assert_close((b - t.j.b0[q]) / t.j.omega[q], slope[q], 1e-7);
    }
    bench_close(&t);
}

static double error_at(int lambda)
{
    double sum = 0;
    t.j.now.lambda = lambda;
    assert_fine(joint_dense(&t.j, t.j.trial.y, 0, &err));
    for (int64_t i = 0; i < p.n; i++)
        sum += t.j.trial.r[i] * t.j.trial.r[i];
    return sum / pow(1 - t.j.now.trace / (double)p.n, 2);
}

static void test_penalty_has_the_least_error_of_its_neighbours(void **state)
{
    static const int64_t sizes[][2] = {{80, 10}, {60, 50}, {40, 120}};
    (void)state;
    for (int k = 0; k < 9; k++) {
        make_problem(sizes[k / 3][0], sizes[k / 3][1], 10, (uint64_t)k + 5);
        for (int64_t i = 0; i < p.n; i++)
            p.y[i] += (k % 3) * sin((double)i * 3); /* more noise, a larger penalty */
        open_bench();
        weigh_equally();
        t.j.now.lambda = JOINT_LAMBDA;
        assert_fine(joint_dense(&t.j, t.j.trial.y, 2, &err));
        const int found = t.j.now.lambda;
        const double least = error_at(found);
        assert_true(found > -14 && found < 4);
        assert_true(least <= error_at(found - 1) || t.j.now.trace > 0.6 * (double)p.n);
        assert_true(least <= error_at(found + 1));
        bench_close(&t);
    }
}

static void test_residuals_are_those_of_fits_without_the_sample(void **state)
{
    (void)state;
    make_problem(30, 6, 3, 9);
    for (int64_t out = 0; out < 30; out += 7) {
        open_bench();
        weigh_equally();
        t.j.now.lambda = -2;
        t.j.start[out] = 1;
        assert_fine(joint_dense(&t.j, t.j.trial.y, 0, &err));
        const double z = t.j.now.z[out];
        for (int64_t q = 0; q < p.m; q++) /* the same penalty for one weight fewer */
            t.j.omega[q] = 1 / (t.j.solver.total * pow(10, 0.5 * t.j.now.lambda));
        t.j.start[out] = 0;
        ridge_weigh(&t.j.solver, t.j.start);
        t.j.answer = (ridge_answer){.b = t.j.now.b};
        assert_fine(ridge_solve(&t.j.solver, t.j.trial.y, t.j.omega, NULL, &t.j.answer, &err));
        ridge_residual(&t.j.solver, t.j.trial.y, t.j.answer.intercept, t.j.now.b, t.j.trial.r);
        assert_close(z, t.j.trial.r[out], 1e-9);
        bench_close(&t);
    }
}

/* ---- starts -------------------------------------------------------------------- */

/* How many samples have a start on the wrong side. */
static int64_t count_wrong(void)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < p.n; i++)
        wrong += (t.j.start[i] > 0.5) == p.is_corrupt[i];
    return wrong;
}

static void test_mirrored_responses_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_problem(240, 8, 4, seed);
        corrupt_by_models(1, 3);
        open_bench();
        assert_fine(start_mirrored(&t.j, &err));
        assert_true(count_wrong() < p.n / 10); /* near the border both signs fit */
        bench_close(&t);
    }
}

static void test_two_models_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_problem(240, 8, 4, seed);
        corrupt_by_models(0, 3);
        open_bench();
        assert_fine(start_two_models(&t.j, &err));
        assert_true(count_wrong() < p.n / 5); /* where the models cross both fit */
        bench_close(&t);
    }
}

static void test_most_frequent_response_is_left_out(void **state)
{
    (void)state;
    for (int64_t equal = 0; equal <= 100; equal += 4) {
        int found = 0;
        make_problem(100, 4, 2, 7);
        for (int64_t i = 0; i < equal; i++) {
            p.is_corrupt[i] = 1;
            p.y[i] = -0.7;
        }
        open_bench();
        assert_fine(start_without_ties(&t.j, &found, &err));
        assert_int_equal(found, equal >= 5 && equal <= 50);
        if (found)
            assert_int_equal(count_wrong(), 0);
        bench_close(&t);
    }
}

static void test_least_absolute_residuals_leave_outliers_out(void **state)
{
    (void)state;
    make_problem(200, 6, 3, 8);
    for (int64_t i = 0; i < p.n; i += 5) {
        p.is_corrupt[i] = 1;
        p.y[i] += 15;
    }
    open_bench();
    assert_fine(start_least_absolute(&t.j, &err));
    for (int64_t i = 0; i < p.n; i++)
        assert_true(!p.is_corrupt[i] || t.j.start[i] == 0);
    assert_true(count_wrong() < p.n / 20);
    bench_close(&t);
}

/* ---- all starts ---------------------------------------------------------------- */

static void settle_and_store(joint_starts which)
{
    assert_fine(joint_settle(&t.j, which, &err));
    assert_fine(joint_store(&t.j, &t.samples, &err));
}

static void assert_labels(int64_t most_wrong)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < p.n; i++)
        wrong += (t.samples.w[i] > TRUSTED) == p.is_corrupt[i];
    assert_true(wrong <= most_wrong);
}

static void test_rare_corruption_is_labelled(void **state)
{
    (void)state;
    make_problem(200, 6, 3, 11);
    for (int64_t i = 0; i < p.n; i += 20) {
        p.is_corrupt[i] = 1;
        p.y[i] += i % 40 == 0 ? 12 : -9;
    }
    open_bench();
    settle_and_store(JOINT_ALL);
    assert_labels(2);
    bench_close(&t);
}

static void test_corruption_with_a_model_is_labelled(void **state)
{
    (void)state;
    make_problem(300, 8, 4, 12);
    corrupt_by_models(1, 3);
    open_bench();
    settle_and_store(JOINT_ALL);
    assert_labels(40);
    for (int64_t q = 0; q < p.m; q++) /* the columns have about scale 1 */
        assert_close(t.f.cols.items[q].coef, p.b[0][q] / 2, 0.2);
    bench_close(&t);
}

static void test_stored_residuals_are_those_of_the_coefficients(void **state)
{
    double fitted[MOST_N] = {0}, coef[MOST_M];
    (void)state;
    make_problem(70, 9, 4, 13);
    open_bench();
    settle_and_store(JOINT_ALL);
    for (int64_t q = 0; q < p.m; q++)
        coef[q] = t.f.cols.items[q].coef;
    columns_add(&t.f.cols, NULL, p.m, coef, fitted);
    for (int64_t i = 0; i < p.n; i++) {
        assert_close(t.samples.r[i], t.samples.y[i] - t.samples.intercept - fitted[i], 1e-10);
        assert_true(t.samples.V[i] >= 0 && t.samples.w[i] >= 0 && t.samples.w[i] <= 1);
    }
    assert_close(t.samples.now.kap, t.samples.now.tau2 / t.samples.now.s2, 1e-12);
    bench_close(&t);
}

static void assert_finite(void)
{
    for (int64_t i = 0; i < p.n; i++) {
        const double all = t.samples.r[i] + t.samples.w[i] + t.samples.W[i] + t.samples.V[i];
        assert_true(isfinite(all));
    }
    for (int64_t q = 0; q < p.m; q++)
        assert_true(isfinite(t.f.cols.items[q].coef + t.f.cols.items[q].probability));
    assert_true(isfinite(t.samples.now.s2 + t.samples.intercept) && t.samples.now.s2 > 0);
}

static void settle_hostile(int kind)
{
    for (int64_t i = 0; i < p.n; i++) {
        const double responses[] = {
            1,                            /* all equal */
            (double)(i % 2),              /* two values */
            i == 0,                       /* one differs */
            p.z[0][i],                    /* no noise */
            1e12 * p.y[i] * (i % 3 == 0), /* gross outliers, the rest equal */
        };
        p.y[i] = kind < 5 ? responses[kind] : p.y[i];
        for (int64_t q = 1; q < p.m && kind == 5; q++)
            p.z[q][i] = p.z[0][i]; /* equal columns */
        for (int64_t q = 0; q < p.m && kind == 6; q++)
            p.z[q][i] = i == q; /* each column one sample */
    }
    open_bench();
    if (kind == 7) /* no sample has any weight */
        memset(t.samples.W, 0, (size_t)p.n * sizeof *t.samples.W);
    if (kind == 8)
        for (int64_t i = 0; i < p.n; i++)
            t.samples.W[i] = t.samples.w[i] = 1e-300;
    settle_and_store(JOINT_ALL);
    assert_finite();
    bench_close(&t);
}

static void test_hostile_samples_give_numbers(void **state)
{
    static const int64_t sizes[][2] = {{4, 1}, {4, 9}, {5, 5}, {30, 1}, {30, 7}, {12, 40}};
    (void)state;
    for (int size = 0; size < 6; size++)
        for (int kind = 0; kind < 9; kind++) {
            make_problem(sizes[size][0], sizes[size][1], 1, (uint64_t)(10 * size + kind) + 1);
            settle_hostile(kind);
        }
}

/* ---- threads and ranks ------------------------------------------------------------ */

static void test_threads_do_not_change_bits(void **state)
{
    static double r[MOST_N], w[MOST_N];
    (void)state;
    for (int64_t threads = 1; threads <= 3; threads += 2) {
        make_problem(400, 322, 10, 14); /* enough work for threads */
        p.threads = threads;
        open_bench();
        assert_int_equal(t.j.solver.shape.threads, threads);
        settle_and_store(JOINT_WEIGHTS);
        if (threads == 1) {
            memcpy(r, t.samples.r, (size_t)p.n * sizeof *r);
            memcpy(w, t.samples.w, (size_t)p.n * sizeof *w);
        }
        assert_same_doubles(t.samples.r, r, p.n);
        assert_same_doubles(t.samples.w, w, p.n);
        bench_close(&t);
    }
}

typedef struct split_case {
    double r[MOST_N], w[MOST_N], coef[TEAM_MOST][MOST_M];
    roofs_status status[TEAM_MOST];
    int64_t failing_rank; /* whose memory is short; -1 = none */
} split_case;

static void settle_on_rank(const roofs_comm *with, void *user)
{
    split_case *q = user;
    bench own;
    roofs_error why;
    const int64_t first = shard_begin(p.n, with->rank, with->size);
    const int64_t n = shard_begin(p.n, with->rank + 1, with->size) - first;
    roofs_status status = bench_open(&own, first, n, with, &why);
    if (status == ROOFS_OK)
        status = joint_settle(&own.j, JOINT_ALL, &why);
    if (status == ROOFS_OK)
        status = joint_store(&own.j, &own.samples, &why);
    q->status[with->rank] = status;
    for (int64_t i = 0; i < n && status == ROOFS_OK; i++) {
        q->r[first + i] = own.samples.r[i];
        q->w[first + i] = own.samples.w[i];
    }
    for (int64_t k = 0; k < p.m && status == ROOFS_OK; k++)
        q->coef[with->rank][k] = own.f.cols.items[k].coef;
    bench_close(&own);
}

static void test_ranks_agree_with_one(void **state)
{
    static split_case one, many;
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        make_problem(trial == 3 ? 14 : 90, 18, 4, (uint64_t)trial + 20);
        if (trial == 1)
            corrupt_by_models(1, 3);
        for (int64_t i = 0; i < p.n && trial == 2; i += 6)
            p.y[i] += 8;
        team_run(1, settle_on_rank, &one);
        assert_int_equal(one.status[0], ROOFS_OK);
        for (int64_t ranks = 2; ranks <= 3; ranks++) {
            team_run(ranks, settle_on_rank, &many);
            for (int64_t i = 0; i < p.n; i++) {
                assert_close(many.r[i], one.r[i], 1e-8);
                assert_close(many.w[i], one.w[i], 1e-8);
            }
            for (int64_t k = 0; k < ranks; k++) {
                assert_int_equal(many.status[k], ROOFS_OK);
                assert_same_doubles(many.coef[k], many.coef[0], p.m);
                for (int64_t c = 0; c < p.m; c++)
                    assert_close(many.coef[k][c], one.coef[0][c], 1e-8);
            }
        }
    }
}

/* ---- memory ---------------------------------------------------------------------- */

static long long bytes_of_create(joint *j)
{
    const long long before = asked_bytes;
    assert_fine(joint_create(j, &t.f, &t.samples, &t.prior, &err));
    return asked_bytes - before;
}

static void test_bytes_bound_what_is_allocated(void **state)
{
    static const int64_t sizes[][2] = {{4, 1}, {50, 7}, {50, 50}, {30, 200}, {300, 31}};
    (void)state;
    for (int k = 0; k < 5; k++) {
        joint j = {0};
        make_problem(sizes[k][0], sizes[k][1], 1, 30);
        p.threads = 2;
        open_bench();
        const long long taken = bytes_of_create(&j);
        assert_true(taken <= joint_bytes(p.n, p.m, 2));
        assert_true(joint_bytes(p.n, p.m, 2) <= joint_bytes(p.n, p.m + 1, 2));
        joint_destroy(&j);
        bench_close(&t);
    }
}

/* The bound is that of the largest number of columns that is possible, also where more are kept. */
static void test_more_columns_than_possible_need_no_more(void **state)
{
    (void)state;
    for (int64_t n = 10; n <= 100000; n *= 10) {
        int64_t most = 1;
        while (joint_is_possible((double)n, most + 1, 0))
            most++;
        assert_false(joint_is_possible((double)n, most + 1, 1));
        assert_int_equal(joint_bytes(n, most + 1, 1), joint_bytes(n, 10 * most, 1));
        assert_true(joint_bytes(n, most - 1, 1) <= joint_bytes(n, most, 1));
    }
    assert_int_equal(joint_bytes(1000000000, 50, 1), 0);
}

static void test_every_allocation_may_fail(void **state)
{
    int64_t failures = 0;
    (void)state;
    make_problem(60, 5, 2, 31);
    corrupt_by_models(0, 3);
    for (roofs_status status = ROOFS_NO_MEMORY; status != ROOFS_OK; failures++) {
        joint j = {0};
        open_bench();
        const long long before = held;
        failing = asked + failures + 1;
        status = joint_create(&j, &t.f, &t.samples, &t.prior, &err);
        if (status == ROOFS_OK)
            status = joint_settle(&j, JOINT_ALL, &err);
        if (status == ROOFS_OK)
            status = joint_store(&j, &t.samples, &err);
        failing = 0;
        joint_destroy(&j);
        assert_int_equal(held, before);
        assert_true(status == ROOFS_OK || status == ROOFS_NO_MEMORY);
        bench_close(&t);
    }
    assert_true(failures > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_solution_is_a_fixed_point_of_the_sweep),
        cmocka_unit_test(test_penalty_has_the_least_error_of_its_neighbours),
        cmocka_unit_test(test_residuals_are_those_of_fits_without_the_sample),
        cmocka_unit_test(test_mirrored_responses_are_found),
        cmocka_unit_test(test_two_models_are_found),
        cmocka_unit_test(test_most_frequent_response_is_left_out),
        cmocka_unit_test(test_least_absolute_residuals_leave_outliers_out),
        cmocka_unit_test(test_rare_corruption_is_labelled),
        cmocka_unit_test(test_corruption_with_a_model_is_labelled),
        cmocka_unit_test(test_stored_residuals_are_those_of_the_coefficients),
        cmocka_unit_test(test_hostile_samples_give_numbers),
        cmocka_unit_test(test_threads_do_not_change_bits),
        cmocka_unit_test(test_ranks_agree_with_one),
        cmocka_unit_test(test_bytes_bound_what_is_allocated),
        cmocka_unit_test(test_more_columns_than_possible_need_no_more),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
