/* Sparse streams through the whole library: every method finds what it finds on the same
 * values given dense, for any kind of index, split, mixture and number of threads. */
#include "test_api_problem.h"

enum { N = 240, P = 90, MOST = N * P };

typedef struct data {
    double x[P][N], y[N];
    double values[MOST + P];
    float narrow[MOST + P];
    int64_t samples[MOST + P], starts[P + 1];
    int32_t short_samples[MOST + P], short_starts[P + 1];
    char names[P][8];
    const char *pointers[P];
    roofs_settings set;
} data;

/* Few values, many, one, none, all; counts and measurements. */
static void make_feature(data *d, int j, uint64_t *random)
{
    static const int percent[] = {10, 30, 5, 50, 20, 60, 8};
    for (int i = 0; i < N; i++)
        if (random_below(random, 100) < percent[j % 7])
            d->x[j][i] =
                (float)(j % 4 ? random_bell(random) : (double)(1 + random_below(random, 5)));
    if (j == 40)
        memset(d->x[j], 0, sizeof d->x[j]);
    if (j == 41) {
        memset(d->x[j], 0, sizeof d->x[j]);
        d->x[j][N - 1] = 3;
    }
    for (int i = 0; j == 42 && i < N; i++)
        d->x[j][i] = 5;
    for (int i = 0; j == 43 && i < N; i++)
        d->x[j][i] = (float)(100 + random_bell(random));
}

static void compress(data *d)
{
    int64_t at = 0;
    for (int j = 0; j < P; j++) {
        d->starts[j] = at;
        for (int i = 0; i < N; i++)
            if (d->x[j][i] != 0 || (i == 7 && j % 3 == 0)) {
                d->values[at] = d->x[j][i];
                d->narrow[at] = (float)d->x[j][i];
                d->samples[at++] = i;
            }
    }
    d->starts[P] = at;
    for (int64_t k = 0; k < at; k++)
        d->short_samples[k] = (int32_t)d->samples[k];
    for (int j = 0; j <= P; j++)
        d->short_starts[j] = (int32_t)d->starts[j];
}

static void make_data(data *d, uint64_t seed)
{
    uint64_t random = seed * 7919 + 3;
    memset(d, 0, sizeof *d);
    for (int j = 0; j < P; j++) {
        make_feature(d, j, &random);
        snprintf(d->names[j], sizeof d->names[j], "f%d", j);
        d->pointers[j] = d->names[j];
    }
    for (int i = 0; i < N; i++)
        d->y[i] = 2 * d->x[3][i] - 3 * d->x[10][i] + d->x[31][i] + 2 * d->x[59][i] - d->x[80][i] +
                  1 + 0.05 * random_bell(&random) + (i % 7 == 3 ? 30 * random_bell(&random) : 0);
    compress(d);
    roofs_settings_init(&d->set);
    d->set.mu = 12;
    d->set.batch = 15;
    d->set.threads = 1;
}

typedef enum kind { DENSE, WIDE, SHORT, NARROW } kind;

static roofs_block slice_of(const data *d, kind how, int64_t first, int64_t count)
{
    if (how == DENSE)
        return dense_block(d->x[first], ROOFS_F64, count, N);
    return (roofs_block){.count = count,
                         .n = N,
                         .dtype = how == NARROW ? ROOFS_F32 : ROOFS_F64,
                         .values = how == NARROW ? (const void *)d->narrow : d->values,
                         .starts = how == WIDE ? (const void *)(d->starts + first)
                                               : d->short_starts + first,
                         .samples = how == WIDE ? (const void *)d->samples : d->short_samples,
                         .index = how == WIDE ? ROOFS_I64 : ROOFS_I32};
}

/* Blocks of `size` features; kinds[] by turns, one per block. */
static roofs_estimator *fit(const data *d, const kind *kinds, int turns, int64_t size)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    assert_fine(roofs_create(&e, &d->set, d->y, N, &err));
    for (int64_t pass = 1; pass == 1 || roofs_wants_pass(e); pass++) {
        if (pass > 1)
            assert_fine(roofs_next_pass(e, &err));
        for (int64_t first = 0, k = pass; first < P; first += size, k++) {
            int64_t left = P - first;
            roofs_block b = slice_of(d, kinds[k % turns], first, left < size ? left : size);
            assert_fine(roofs_consume(e, &b, &err));
        }
    }
    assert_fine(roofs_finish(e, &err));
    return e;
}

static void assert_agree(const roofs_result *a, const roofs_result *b, double allowed)
{
    assert_int_equal(a->selected, b->selected);
    assert_int_equal(a->constant, b->constant);
    assert_int_equal(a->trusted, b->trusted);
    assert_int_equal(a->rounds, b->rounds);
    assert_memory_equal(a->trust, b->trust, N);
    assert_close(a->intercept, b->intercept, allowed);
    for (int64_t k = 0; k < a->selected; k++) {
        assert_int_equal(a->features[k].index, b->features[k].index);
        assert_close(a->features[k].coef, b->features[k].coef, allowed);
        if (!isnan(a->features[k].probability))
            assert_close(a->features[k].probability, b->features[k].probability, allowed);
    }
    for (int i = 0; i < N; i++)
        assert_close(a->residual[i], b->residual[i], 10 * allowed);
}

static void compare(const data *d, const kind *kinds, int turns, double allowed)
{
    static const kind dense[] = {DENSE};
    roofs_estimator *a = fit(d, dense, 1, 15), *b = fit(d, kinds, turns, 15);
    roofs_result left = view_of(a), right = view_of(b);
    assert_true(left.selected > 0);
    assert_agree(&left, &right, allowed);
    roofs_destroy(a);
    roofs_destroy(b);
}

/* ---- every method ----------------------------------------------------------- */

static void each_method(data *d, const kind *kinds, int turns)
{
    for (int64_t k = 0; roofs_method_name(k); k++) {
        d->set.method = roofs_method_name(k);
        d->set.clean_ratio = strcmp(d->set.method, "torrent") == 0 ? 0.8 : 0;
        for (int how = 0; how < 4; how++) {
            d->set.standardize = how & 1;
            d->set.intercept = how >> 1;
            compare(d, kinds, turns, 1e-10);
        }
    }
}

static void test_every_method_agrees_with_dense(void **state)
{
    static const kind kinds[] = {WIDE, SHORT};
    static data d;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        make_data(&d, seed);
        each_method(&d, &kinds[seed % 2], 1);
    }
}

static void test_mixed_streams_agree(void **state)
{
    static const kind kinds[] = {SHORT, DENSE, WIDE};
    static data d;
    (void)state;
    make_data(&d, 4);
    each_method(&d, kinds, 3);
}

static void test_passes_and_a_reserve_agree(void **state)
{
    static const kind kinds[] = {SHORT, DENSE, DENSE, WIDE};
    static data d;
    (void)state;
    make_data(&d, 5);
    d.set.passes = 3;
    d.set.method = "roofs";
    compare(&d, kinds, 1, 1e-10);
    compare(&d, kinds, 4, 1e-10);
    d.set.method = "roofs-bayes";
    d.set.reserve = 0.5;
    compare(&d, kinds, 1, 1e-10);
    compare(&d, kinds, 4, 1e-10);
}

static void test_joint_reading_agrees(void **state)
{
    static const kind kinds[] = {WIDE};
    static const char *const methods[] = {"torrent", "rlhh", "homotopy", "dalm"};
    static data d;
    (void)state;
    make_data(&d, 6);
    d.set.reading = ROOFS_READING_JOINT;
    for (int k = 0; k < 4; k++) {
        d.set.method = methods[k];
        d.set.clean_ratio = k == 0 ? 0.8 : 0;
        compare(&d, kinds, 1, 1e-10);
    }
}

/* Values that are floats exactly: stored so, nothing changes but the memory. */
static void test_narrow_values_agree(void **state)
{
    static const kind kinds[] = {NARROW};
    static data d;
    (void)state;
    make_data(&d, 7);
    d.set.method = "roofs";
    compare(&d, kinds, 1, 1e-10);
    d.set.storage = ROOFS_STORAGE_F64;
    compare(&d, kinds, 1, 1e-10);
}

static void test_threads_do_not_change_the_bits(void **state)
{
    static const kind wide[] = {WIDE}, narrow[] = {SHORT};
    static const char *const methods[] = {"roofs", "roofs-bayes", "torrent"};
    static data d;
    (void)state;
    make_data(&d, 8);
    d.set.clean_ratio = 0.8;
    for (int k = 0; k < 3; k++) {
        d.set.method = methods[k];
        d.set.threads = 1;
        roofs_estimator *one = fit(&d, wide, 1, 15);
        d.set.threads = 4;
        roofs_estimator *four = fit(&d, wide, 1, 15), *whole = fit(&d, narrow, 1, P);
        roofs_estimator *cut = fit(&d, narrow, 1, 45);
        assert_same_fits(one, four);
        assert_same_fits(one, whole);
        assert_same_fits(one, cut);
        roofs_destroy(one);
        roofs_destroy(four);
        roofs_destroy(whole);
        roofs_destroy(cut);
    }
}

/* Powers of two change nothing but units, however large. */
static void test_extreme_values_are_fitted(void **state)
{
    static const kind kinds[] = {WIDE, SHORT};
    static data d;
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        make_data(&d, 9);
        for (int i = 0; i < N; i++) {
            d.x[10][i] *= 0x1p900;
            d.x[31][i] *= 0x1p-1000;
        }
        compress(&d);
        for (int k = 0; k < 2; k++) {
            d.set.method = k ? "roofs-bayes" : "roofs";
            roofs_estimator *a = fit(&d, (const kind[]){DENSE}, 1, 15);
            roofs_estimator *b = fit(&d, &kinds[turn], 1, 15);
            roofs_result left = view_of(a), right = view_of(b);
            assert_int_equal(left.selected, right.selected);
            for (int64_t j = 0; j < left.selected; j++) {
                assert_int_equal(left.features[j].index, right.features[j].index);
                assert_close(right.features[j].coef, left.features[j].coef,
                             1e-9 * fabs(left.features[j].coef));
            }
            roofs_destroy(a);
            roofs_destroy(b);
        }
    }
}

/* ---- what is refused -------------------------------------------------------- */

static void refuse(const data *d, const roofs_block *b, int64_t feature, const char *word,
                   const char *other)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    assert_fine(roofs_create(&e, &d->set, d->y, N, &err));
    assert_refused(roofs_consume(e, b, &err), ROOFS_BAD_DATA, word, other);
    assert_int_equal(err.feature, feature);
    roofs_destroy(e);
}

static void test_bad_patterns_are_refused(void **state)
{
    static data d;
    (void)state;
    make_data(&d, 10);
    d.set.batch = 30;
    roofs_block b = slice_of(&d, WIDE, 0, P);
    b.names = d.pointers;
    int64_t at = d.starts[50] + 2, was = d.samples[at];
    d.samples[at] = N;
    refuse(&d, &b, 50, "feature 50 (f50)", "sample 240");
    d.samples[at] = -1;
    refuse(&d, &b, 50, "feature 50 (f50)", "sample -1");
    d.samples[at] = d.samples[at - 1];
    refuse(&d, &b, 50, "ascend", "value 2");
    d.samples[at] = was;
    was = d.starts[20];
    d.starts[20] = d.starts[21] + 1;
    refuse(&d, &b, 20, "starts must not decrease", "feature 20");
    d.starts[20] = INT64_MAX;
    refuse(&d, &b, 19, "starts must not decrease", "feature 19");
    d.starts[20] = was;
    d.starts[0] = -1;
    refuse(&d, &b, 0, "starts must not decrease", "feature 0");
    d.starts[0] = 0;
    d.values[at] = NAN;
    refuse(&d, &b, 50, "feature 50 (f50)", "not a finite number");
    d.values[at] = 1;
    b.samples = NULL;
    refuse(&d, &b, -1, "without the samples", "90");
    b = slice_of(&d, WIDE, 0, P);
    b.values = NULL;
    refuse(&d, &b, -1, "without values", "90");
    b = slice_of(&d, WIDE, 0, P);
    b.index = (roofs_index)7;
    refuse(&d, &b, -1, "unknown type", "7");
    b = slice_of(&d, WIDE, 0, P);
    b.n = (int64_t)1 << 31;
    refuse(&d, &b, -1, "dense", "2147483648");
}

static void test_values_too_large_for_narrow_storage_are_refused(void **state)
{
    static data d;
    (void)state;
    make_data(&d, 11);
    d.set.storage = ROOFS_STORAGE_F32;
    d.values[d.starts[4] + 1] = 1e300;
    roofs_block b = slice_of(&d, SHORT, 0, P);
    refuse(&d, &b, 4, "feature 4", "storage to f64");
}

/* ---- predictions ------------------------------------------------------------ */

static void test_predictions_agree_with_dense(void **state)
{
    static data d;
    static double dense[N], sparse[N], few[N];
    roofs_error err;
    roofs_result view;
    (void)state;
    make_data(&d, 12);
    roofs_estimator *e = fit(&d, (const kind[]){SHORT}, 1, 15);
    roofs_model *m = model_of(e);
    roofs_model_view(m, &view);
    roofs_block all = slice_of(&d, DENSE, 0, P);
    assert_fine(roofs_predict(m, &all, dense, &err));
    for (kind how = WIDE; how <= SHORT; how++) {
        roofs_block b = slice_of(&d, how, 0, P);
        assert_fine(roofs_predict(m, &b, sparse, &err));
        assert_memory_equal(dense, sparse, sizeof dense);
    }
    static double values[MOST];
    static int64_t samples[MOST], starts[P + 1];
    int64_t at = 0;
    for (int64_t k = 0; k < view.selected; k++) {
        int64_t j = view.features[k].index;
        starts[k] = at;
        for (int64_t from = d.starts[j]; from < d.starts[j + 1]; from++) {
            values[at] = d.values[from];
            samples[at++] = d.samples[from];
        }
    }
    starts[view.selected] = at;
    roofs_block chosen = {
        .count = view.selected, .n = N, .values = values, .starts = starts, .samples = samples};
    assert_fine(roofs_predict_selected(m, &chosen, few, &err));
    assert_memory_equal(dense, few, sizeof dense);
    samples[0] = N;
    assert_refused(roofs_predict_selected(m, &chosen, few, &err), ROOFS_BAD_DATA, "sample 240",
                   "samples");
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* ---- memory ----------------------------------------------------------------- */

/* The smallest limit under which a fit ends, by bisection. */
static int64_t least_memory(data *d, kind how)
{
    int64_t low = 0, high = 1 << 30;
    while (high - low > 1) {
        roofs_error err;
        roofs_estimator *e = NULL;
        d->set.max_memory = low + (high - low) / 2;
        roofs_status status = roofs_create(&e, &d->set, d->y, N, &err);
        for (int64_t first = 0; status == ROOFS_OK && first < P; first += 15) {
            roofs_block b = slice_of(d, how, first, 15);
            status = roofs_consume(e, &b, &err);
        }
        roofs_destroy(e);
        assert_true(status == ROOFS_OK || status == ROOFS_OVER_LIMIT);
        *(status == ROOFS_OK ? &high : &low) = d->set.max_memory;
    }
    d->set.max_memory = 0;
    return high;
}

static void test_memory_limit_counts_values(void **state)
{
    static data d;
    roofs_error err;
    int64_t bound = 0;
    (void)state;
    make_data(&d, 13);
    for (int j = 0; j < P; j++)
        for (int i = 0; i < N; i++)
            d.x[j][i] = (i + j) % 20 == 0 ? d.x[j][i] + 1 : 0;
    compress(&d);
    d.set.mu = 60;
    d.set.method = "roofs";
    assert_fine(roofs_memory_needed(&d.set, N, ROOFS_F64, &bound, &err));
    assert_int_equal(least_memory(&d, DENSE), bound);
    /* 60 columns of 12 values, and no dense ones: (60 + 15) of 240 */
    int64_t sparse = least_memory(&d, SHORT), columns = 75 * N * (int64_t)sizeof(double);
    assert_in_range(bound - sparse, columns - 60 * (13 * 12 + 128), columns);
    int64_t copied = least_memory(&d, WIDE);
    assert_in_range(copied - sparse, 15 * 11 * 12, 15 * 13 * 12);
    assert_fine(roofs_memory_needed_sparse(&d.set, N, ROOFS_F64, 12, &bound, &err));
    assert_in_range(bound, copied, copied + 15 * 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_agrees_with_dense),
        cmocka_unit_test(test_mixed_streams_agree),
        cmocka_unit_test(test_passes_and_a_reserve_agree),
        cmocka_unit_test(test_joint_reading_agrees),
        cmocka_unit_test(test_narrow_values_agree),
        cmocka_unit_test(test_threads_do_not_change_the_bits),
        cmocka_unit_test(test_extreme_values_are_fitted),
        cmocka_unit_test(test_bad_patterns_are_refused),
        cmocka_unit_test(test_values_too_large_for_narrow_storage_are_refused),
        cmocka_unit_test(test_predictions_agree_with_dense),
        cmocka_unit_test(test_memory_limit_counts_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
