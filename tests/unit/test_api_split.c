/* Fits on samples split over ranks against the fit on one: the same features and trusted samples,
 * the same coefficients up to rounding. */
#include "test_base_help.h"
#include "test_linalg_team.h"

#include <math.h>

enum { FEATURES = 48, TRUE = 5 };

typedef struct job {
    roofs_settings set;
    int64_t n;
    double *x, *y;        /* x: feature by feature */
    const double *weight; /* of the samples; NULL = none */
    int sparse;
    roofs_status status[TEAM_MOST];
    roofs_error err[TEAM_MOST];
    roofs_model *model[TEAM_MOST];
} job;

static void make_job(job *j, int64_t n, int sparse, uint64_t seed)
{
    uint64_t random = seed * 2654435761u + 1;
    *j = (job){.n = n, .sparse = sparse};
    j->x = calloc((size_t)(n * FEATURES), sizeof *j->x);
    j->y = calloc((size_t)n, sizeof *j->y);
    for (int64_t k = 0; k < n * FEATURES; k++)
        if (!sparse || random_below(&random, 10) < 2)
            j->x[k] = random_bell(&random) + (sparse ? 1 : 0);
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < TRUE; k++)
            j->y[i] += (k % 2 ? -1 : 1) * (1 + 0.3 * k) * j->x[9 * k * n + i];
        j->y[i] += 0.7 + 0.05 * random_bell(&random) +
                   (random_below(&random, 10) == 0 ? 8 * random_signed(&random) : 0);
    }
    roofs_settings_init(&j->set);
    j->set.mu = TRUE + 2;
    j->set.batch = 13;
    j->set.threads = 1;
}

static void free_models(job *j)
{
    for (int p = 0; p < TEAM_MOST; p++) {
        roofs_model_destroy(j->model[p]);
        j->model[p] = NULL;
    }
}

static void free_job(job *j)
{
    free_models(j);
    free(j->x);
    free(j->y);
}

/* ---- one shard --------------------------------------------------------- */

static roofs_status consume_dense(const job *j, roofs_estimator *e, int64_t begin, int64_t n,
                                  roofs_error *err)
{
    const roofs_block block = {.count = FEATURES,
                               .n = n,
                               .dtype = ROOFS_F64,
                               .values = j->x + begin,
                               .feature_stride = j->n,
                               .sample_stride = 1};
    return roofs_consume(e, &block, err);
}

static roofs_status consume_sparse(const job *j, roofs_estimator *e, int64_t begin, int64_t n,
                                   roofs_error *err)
{
    double *values = malloc((size_t)(n * FEATURES) * sizeof *values);
    int64_t *samples = malloc((size_t)(n * FEATURES) * sizeof *samples), starts[FEATURES + 1] = {0};
    int64_t count = 0;
    for (int k = 0; k < FEATURES; k++) {
        for (int64_t i = 0; i < n; i++)
            if (j->x[k * j->n + begin + i] != 0) {
                values[count] = j->x[k * j->n + begin + i];
                samples[count++] = i;
            }
        starts[k + 1] = count;
    }
    const roofs_block block = {.count = FEATURES,
                               .n = n,
                               .dtype = ROOFS_F64,
                               .values = values,
                               .starts = starts,
                               .samples = samples,
                               .index = ROOFS_I64};
    roofs_status status = roofs_consume(e, &block, err);
    free(values);
    free(samples);
    return status;
}

static roofs_status fit_shard(job *j, const roofs_comm *with, roofs_estimator **e, roofs_error *err)
{
    int64_t begin = shard_begin(j->n, with->rank, with->size);
    int64_t n = shard_begin(j->n, with->rank + 1, with->size) - begin;
    const double *weight = j->weight ? j->weight + begin : NULL;
    TRY(roofs_create_weighted(e, &j->set, j->y + begin, weight, n, with, err));
    for (int64_t pass = 1; pass == 1 || roofs_wants_pass(*e); pass++) {
        if (pass > 1)
            TRY(roofs_next_pass(*e, err));
        TRY((j->sparse ? consume_sparse : consume_dense)(j, *e, begin, n, err));
    }
    TRY(roofs_finish(*e, err));
    return roofs_model_create(&j->model[with->rank], *e, err);
}

static void work(const roofs_comm *with, void *user)
{
    job *j = user;
    roofs_estimator *e = NULL;
    j->status[with->rank] = fit_shard(j, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

/* ---- tests ------------------------------------------------------------- */

static void assert_near_result(const roofs_model *one, const roofs_model *many)
{
    roofs_result a, b;
    roofs_model_view(one, &a);
    roofs_model_view(many, &b);
    assert_int_equal(a.n, b.n);
    assert_int_equal(a.rounds, b.rounds);
    assert_int_equal(a.trusted, b.trusted);
    assert_memory_equal(a.trust, b.trust, (size_t)a.n);
    assert_int_equal(a.selected, b.selected);
    for (int64_t k = 0; k < a.selected; k++) {
        assert_int_equal(a.features[k].index, b.features[k].index);
        assert_close(b.features[k].coef, a.features[k].coef, 1e-9 * fabs(a.features[k].coef));
    }
    assert_close(b.intercept, a.intercept, 1e-9 * fabs(a.intercept) + 1e-11);
    for (int64_t i = 0; a.clean && i < a.n; i++)
        assert_close(b.clean[i], a.clean[i], 1e-8);
    assert_int_equal(a.quantiles, b.quantiles);
    for (int64_t k = 0; k < a.quantiles; k++)
        assert_close(b.quantile[k], a.quantile[k], 1e-8);
}

static void compare(job *j, int64_t most)
{
    roofs_result alone;
    team_run(1, work, j);
    assert_int_equal(j->status[0], ROOFS_OK);
    roofs_model *one = j->model[0];
    roofs_model_view(one, &alone);
    assert_true(alone.selected >= TRUE || alone.selected == j->set.mu);
    j->model[0] = NULL;
    for (int64_t ranks = 2; ranks <= most; ranks++) {
        team_run(ranks, work, j);
        for (int64_t p = 0; p < ranks; p++) {
            if (j->status[p] != ROOFS_OK)
                fail_msg("%s, %d ranks: %s", j->set.method, (int)ranks, j->err[p].text);
            assert_near_result(one, j->model[p]);
        }
        free_models(j);
    }
    roofs_model_destroy(one);
}

/* For every method that works on split samples. */
static void for_split_methods(void (*check)(job *j), int64_t n, int sparse)
{
    roofs_method_info info;
    int methods = 0;
    for (int64_t k = 0; roofs_method_describe(k, &info); k++) {
        job j;
        if (!info.splits)
            continue;
        make_job(&j, n, sparse, (uint64_t)++methods);
        j.set.method = info.name;
        check(&j);
        free_job(&j);
    }
    assert_true(methods > 1);
}

static void compare_all(job *j)
{
    if (strcmp(j->set.method, "torrent") != 0) /* which needs the ratio */
        compare(j, 5);
    j->set.clean_ratio = 0.85;
    compare(j, 5);
}

static void test_methods_agree_on_1_to_5_ranks(void **state)
{
    (void)state;
    for_split_methods(compare_all, 403, 0);
    for_split_methods(compare_all, 403, 1);
}

static void test_readings_and_settings_agree(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        job j;
        make_job(&j, 301, k == 4, (uint64_t)(k + 20));
        j.set.method = k < 2 ? "torrent" : k < 4 ? "roofs-bayes" : "roofs";
        j.set.clean_ratio = 0.85;
        j.set.reading = k < 2 ? ROOFS_READING_JOINT : ROOFS_READING_ALONE;
        j.set.standardize = k % 2;
        j.set.intercept = k != 3 && k != 5;
        j.set.passes = k == 2 ? 2 : 1;
        compare(&j, 3);
        free_job(&j);
    }
}

/* Too many samples to be gathered. */
static void test_many_samples_agree(void **state)
{
    static const char *const few[] = {"roofs", "roofs-bayes", "rlhh"};
    (void)state;
    for (int m = 0; m < 3; m++) {
        job j;
        make_job(&j, 66001, 0, (uint64_t)(m + 7));
        j.set.method = few[m];
        compare(&j, 3);
        free_job(&j);
    }
}

static void test_weighted_samples_agree(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        static double weight[403];
        uint64_t random = (uint64_t)k + 3;
        job j;
        make_job(&j, 403, k == 3, (uint64_t)(k + 40));
        for (int64_t i = 0; i < j.n; i++)
            weight[i] = k % 2 ? 3 * random_unit(&random) : (double)random_below(&random, 3);
        j.weight = weight;
        j.set.hypotheses = k == 2 ? 1 : 2;
        compare(&j, 4);
        free_job(&j);
    }
}

/* Forced features alone on their batch, across batches, and with weights. */
static void test_forced_features_agree(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        static double weight[403];
        uint64_t random = (uint64_t)k + 3;
        job j;
        make_job(&j, 403, k == 1, (uint64_t)(k + 60));
        for (int64_t i = 0; i < j.n; i++)
            weight[i] = 2 * random_unit(&random);
        j.set.always = k == 0 ? 13 : 17;
        j.set.method = k == 4 ? "roofs" : "roofs-bayes";
        j.set.hypotheses = k == 2 ? 1 : 2;
        j.weight = k == 3 ? weight : NULL;
        compare(&j, 4);
        free_job(&j);
    }
}

static void assert_failed(const job *j, int rank, roofs_status status, const char *why)
{
    assert_int_equal(j->status[rank], status);
    assert_non_null(strstr(j->err[rank].text, why));
}

static void work_with_some_weights(const roofs_comm *with, void *user)
{
    job *j = user, own = *j;
    roofs_estimator *e = NULL;
    own.weight = with->rank == 1 ? j->weight : NULL;
    j->status[with->rank] = fit_shard(&own, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

static void test_weights_on_some_ranks_are_refused_on_all(void **state)
{
    static double weight[90];
    job j;
    (void)state;
    make_job(&j, 90, 0, 4);
    for (int64_t i = 0; i < j.n; i++)
        weight[i] = 2;
    j.weight = weight;
    team_run(3, work_with_some_weights, &j);
    for (int p = 0; p < 3; p++)
        assert_failed(&j, p, ROOFS_BAD_CALL, "others have none");
    weight[70] = -1; /* of the last rank */
    team_run(3, work, &j);
    for (int p = 0; p < 3; p++)
        assert_failed(&j, p, ROOFS_BAD_DATA, "sample 70");
    free_job(&j);
}

/* Dependent columns: an orthogonal factorisation of the rows of all ranks. */
static void test_dependent_columns_agree(void **state)
{
    job j;
    (void)state;
    make_job(&j, 203, 0, 3);
    j.set.method = "torrent";
    j.set.clean_ratio = 0.85;
    memcpy(j.x + 10 * j.n, j.x + 9 * j.n, (size_t)j.n * sizeof *j.x);
    compare(&j, 4);
    free_job(&j);
}

/* A stream that comes back many times: the fit stands still, up to rounding. Rounding must not
 * decide what happens to the coefficients then. */
static void compare_settled(job *j)
{
    for (int k = 0; k < 8; k++) {
        job again;
        make_job(&again, 41 + 20 * k, 0, (uint64_t)(k + 100));
        again.set.method = j->set.method;
        again.set.mu = 1 + k % 2;
        again.set.clean_ratio = strcmp(j->set.method, "torrent") == 0 ? 0.85 : 0;
        again.set.passes = 12;
        compare(&again, 3);
        free_job(&again);
    }
}

static void test_settled_fits_agree(void **state)
{
    (void)state;
    for_split_methods(compare_settled, 41, 0);
}

static void assert_all_fail(job *j, int64_t ranks, roofs_status status, const char *text)
{
    team_run(ranks, work, j);
    for (int64_t p = 0; p < ranks; p++) {
        assert_int_equal(j->status[p], status);
        if (!strstr(j->err[p].text, text))
            fail_msg("'%s' is not in '%s'", text, j->err[p].text);
    }
    free_models(j);
}

static void test_failures_are_the_same_on_all_ranks(void **state)
{
    job j;
    (void)state;
    make_job(&j, 101, 0, 3);
    j.x[17 * j.n + 90] = NAN;
    assert_all_fail(&j, 3, ROOFS_BAD_DATA, "rank 2: feature 17: the value of sample 90");
    j.x[17 * j.n + 90] = 0;
    j.y[40] = INFINITY;
    assert_all_fail(&j, 3, ROOFS_BAD_DATA, "rank 1: the response of sample 40");
    j.y[40] = 0;
    j.set.method = "homotopy";
    assert_all_fail(&j, 2, ROOFS_BAD_SETTING,
                    "homotopy cannot work on samples split over ranks; these can: roofs, ");
    j.set.method = "roofs";
    j.n = 3;
    assert_all_fail(&j, 2, ROOFS_BAD_DATA, "3 samples are too few");
    assert_all_fail(&j, 5, ROOFS_BAD_DATA, "has no samples; use fewer ranks");
    free_job(&j);
}

/* Whether the fit fails if communication does after `calls` calls: on all ranks or on none. */
static int fails_after(job *j, int64_t calls)
{
    team_run_for(calls, 2, work, j);
    for (int p = 0; p < 2; p++)
        if (j->status[p] != ROOFS_OK && j->status[p] != ROOFS_FAILED)
            fail_msg("%s, after %d calls: %s", j->set.method, (int)calls, j->err[p].text);
    assert_int_equal(j->status[0], j->status[1]);
    free_models(j);
    return j->status[0] != ROOFS_OK;
}

static void lose_ranks(job *j)
{
    int64_t calls = 0;
    j->set.clean_ratio = 0.85;
    while (fails_after(j, calls))
        calls += 1 + calls / 7;
    assert_true(calls > 10);
}

static void test_lost_ranks_are_reported(void **state)
{
    (void)state;
    for_split_methods(lose_ranks, 103, 0);
    for_split_methods(lose_ranks, 103, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_agree_on_1_to_5_ranks),
        cmocka_unit_test(test_readings_and_settings_agree),
        cmocka_unit_test(test_many_samples_agree),
        cmocka_unit_test(test_weighted_samples_agree),
        cmocka_unit_test(test_forced_features_agree),
        cmocka_unit_test(test_weights_on_some_ranks_are_refused_on_all),
        cmocka_unit_test(test_dependent_columns_agree),
        cmocka_unit_test(test_settled_fits_agree),
        cmocka_unit_test(test_failures_are_the_same_on_all_ranks),
        cmocka_unit_test(test_lost_ranks_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
