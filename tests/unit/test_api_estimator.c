/* The estimator's life: order of calls, what a block may look like, limits, predictions. */
#include "test_api_problem.h"

/* ---- order of calls ---------------------------------------------------------------- */

static void test_calls_out_of_order_are_refused(void **state)
{
    problem p;
    roofs_error err;
    roofs_result after;
    roofs_model *m = NULL;
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = fit_all(&p, NULL), *same = fit_all(&p, NULL);
    roofs_block b = block_of(&p, 0, 3);
    assert_refused(roofs_consume(e, &b, &err), ROOFS_BAD_CALL, "roofs_consume", "finished");
    assert_refused(roofs_finish(e, &err), ROOFS_BAD_CALL, "roofs_finish", "finished");
    assert_int_equal(roofs_consume(e, &b, NULL), ROOFS_BAD_CALL);
    assert_int_equal(roofs_finish(e, NULL), ROOFS_BAD_CALL);
    assert_same_fits(same, e); /* nothing has changed */
    roofs_destroy(e);
    roofs_destroy(same);

    e = open_fit(&p);
    b.n--;
    assert_int_equal(roofs_consume(e, &b, NULL), ROOFS_BAD_DATA);
    b.n++;
    m = (roofs_model *)&p;
    assert_refused(roofs_consume(e, &b, &err), ROOFS_BAD_CALL, "has failed");
    assert_refused(roofs_finish(e, &err), ROOFS_BAD_CALL, "has failed");
    assert_refused(roofs_view(e, &after, &err), ROOFS_BAD_CALL, "has failed");
    assert_refused(roofs_model_create(&m, e, &err), ROOFS_BAD_CALL, "has failed");
    assert_null(m);
    roofs_destroy(e);
    roofs_destroy(NULL);
    roofs_model_destroy(NULL);
}

static void test_view_before_the_first_block_is_empty(void **state)
{
    problem p;
    roofs_error err;
    roofs_result view;
    double mean = 0, largest = 0;
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    roofs_block none = block_of(&p, 0, 0);
    none.values = NULL;
    assert_fine(roofs_consume(e, &none, &err));
    view = view_of(e);
    for (int i = 0; i < SAMPLES; i++)
        mean += p.y[i] / SAMPLES;
    for (int i = 0; i < SAMPLES; i++) {
        assert_close(view.residual[i], p.y[i] - mean, 1e-12);
        assert_int_equal(view.trust[i], 1);
        largest = fmax(largest, fabs(view.residual[i]));
    }
    assert_close(view.intercept, mean, 1e-12);
    assert_true(view.cut == largest);
    assert_int_equal(view.selected, 0);
    assert_int_equal(view.trusted, SAMPLES);
    assert_int_equal(view.batches, 0);
    assert_int_equal(view.stop, ROOFS_STOP_EMPTY);
    roofs_destroy(e);
}

static void test_errors_may_be_ignored(void **state)
{
    problem p;
    roofs_result view;
    roofs_estimator *e = NULL;
    roofs_model *m = NULL;
    int64_t bytes = 0;
    double out[SAMPLES];
    (void)state;
    make_problem(&p, 1);
    roofs_block all = block_of(&p, 0, FEATURES);
    assert_int_equal(roofs_settings_set(&p.set, "mu", "3", NULL), ROOFS_OK);
    assert_int_equal(roofs_settings_set(&p.set, "mu", "x", NULL), ROOFS_BAD_SETTING);
    assert_int_equal(roofs_settings_set(&p.set, "x", "x", NULL), ROOFS_BAD_SETTING);
    assert_int_equal(roofs_memory_needed(&p.set, SAMPLES, ROOFS_F64, &bytes, NULL), ROOFS_OK);
    assert_int_equal(roofs_create(&e, &p.set, p.y, 3, NULL), ROOFS_BAD_DATA);
    assert_int_equal(roofs_create(&e, &p.set, p.y, SAMPLES, NULL), ROOFS_OK);
    assert_int_equal(roofs_consume(e, &all, NULL), ROOFS_OK);
    assert_int_equal(roofs_finish(e, NULL), ROOFS_OK);
    assert_int_equal(roofs_view(e, &view, NULL), ROOFS_OK);
    assert_int_equal(roofs_model_create(&m, e, NULL), ROOFS_OK);
    assert_int_equal(roofs_predict(m, &all, out, NULL), ROOFS_OK);
    all.count = 0;
    assert_int_equal(roofs_predict(m, &all, out, NULL), ROOFS_BAD_DATA);
    assert_int_equal(roofs_predict_selected(m, &all, out, NULL), ROOFS_BAD_DATA);
    assert_int_equal(roofs_model_write(m, "/nowhere/at/all", NULL), ROOFS_IO);
    roofs_model_destroy(m);
    assert_int_equal(roofs_model_read(&m, "/nowhere/at/all", NULL), ROOFS_BAD_DATA);
    assert_null(m);
    roofs_destroy(e);
    p.x[1][3] = NAN;
    all.count = FEATURES;
    e = open_fit(&p);
    assert_int_equal(roofs_consume(e, &all, NULL), ROOFS_BAD_DATA);
    roofs_destroy(e);
    p.pointers[4] = p.pointers[2];
    all.names = p.pointers;
    e = open_fit(&p);
    assert_int_equal(roofs_consume(e, &all, NULL), ROOFS_BAD_DATA);
    roofs_destroy(e);
}

/* ---- what is refused ------------------------------------------------------------------ */

static void test_unusable_responses_are_refused(void **state)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY};
    problem p;
    roofs_error err;
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = (roofs_estimator *)&p;
    for (int64_t n = -1; n < 4; n++) {
        assert_refused(roofs_create(&e, &p.set, p.y, n, &err), ROOFS_BAD_DATA, "too few", "4");
        assert_null(e);
    }
    assert_fine(roofs_create(&e, &p.set, p.y, 4, &err));
    roofs_destroy(e);
    for (int k = 0; k < 3; k++) {
        make_problem(&p, 1);
        p.y[17] = wild[k];
        p.y[18] = NAN;
        assert_refused(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_DATA, "sample 17 ",
                       "not a finite number");
        assert_null(e);
    }
}

/* A first block that is fine, a second one that is not. */
static void assert_second_refused(const roofs_block *first, const roofs_block *second,
                                  const char *one, const char *two)
{
    problem p;
    roofs_error err;
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    assert_fine(roofs_consume(e, first, &err));
    assert_refused(roofs_consume(e, second, &err), ROOFS_BAD_DATA, one, two);
    roofs_destroy(e);
}

static void test_unusable_blocks_are_refused(void **state)
{
    static float narrow[5 * SAMPLES];
    problem p;
    (void)state;
    make_problem(&p, 1);
    for (int i = 0; i < 5 * SAMPLES; i++)
        narrow[i] = (float)p.x[i / SAMPLES][i % SAMPLES];
    const roofs_block first = block_of(&p, 0, 5), good = block_of(&p, 5, 5);
    roofs_block f32 = first, named = first, bad = good;
    f32.dtype = ROOFS_F32;
    f32.values = narrow;
    named.names = p.pointers;
    assert_second_refused(&f32, &good, "features from 5 on are 64-bit", "32-bit");
    bad.n = SAMPLES + 1;
    assert_second_refused(&first, &bad, "61 samples", "60 responses");
    bad = good;
    bad.names = p.pointers + 5;
    assert_second_refused(&first, &bad, "feature 5 has a name", "unlike");
    assert_second_refused(&named, &good, "feature 5 has no name", "unlike");
    bad.names = p.pointers + 4;
    assert_second_refused(&named, &bad, "feature 5:", "'feature 4' was used before");
    bad = good;
    bad.values = NULL;
    assert_second_refused(&first, &bad, "5 features", "without values");
    bad = good;
    bad.count = -1;
    assert_second_refused(&first, &bad, "-1 features", "without values");
    bad = good;
    bad.dtype = (roofs_dtype)7;
    assert_second_refused(&first, &bad, "type 7", "");
    p.x[8][59] = -INFINITY;
    assert_second_refused(&first, &good, "feature 8:", "sample 59 ");
}

/* f64 and then f32 is fine, and so is anything once the storage is chosen. */
static void test_types_must_go_together(void **state)
{
    static float narrow[5 * SAMPLES];
    static const int64_t storage[] = {ROOFS_STORAGE_AUTO, ROOFS_STORAGE_F64, ROOFS_STORAGE_F32};
    problem p;
    roofs_error err;
    (void)state;
    make_problem(&p, 1);
    for (int i = 0; i < 5 * SAMPLES; i++)
        narrow[i] = (float)p.x[i / SAMPLES][i % SAMPLES];
    for (int k = 0; k < 3; k++)
        for (int order = k == 0; order < 2; order++) {
            p.set.storage = storage[k];
            roofs_block wide = block_of(&p, 5, 5), f32 = block_of(&p, 0, 5);
            f32.dtype = ROOFS_F32;
            f32.values = narrow;
            roofs_estimator *e = open_fit(&p);
            assert_fine(roofs_consume(e, order ? &wide : &f32, &err));
            assert_fine(roofs_consume(e, order ? &f32 : &wide, &err));
            assert_fine(roofs_finish(e, &err));
            roofs_destroy(e);
        }
}

/* ---- layouts ---------------------------------------------------------------------------- */

static void assert_blocks_give(const problem *p, const roofs_block *blocks, int count,
                               const roofs_result *wanted)
{
    roofs_error err;
    roofs_estimator *e = open_fit(p);
    for (int k = 0; k < count; k++)
        assert_fine(roofs_consume(e, &blocks[k], &err));
    assert_fine(roofs_finish(e, &err));
    const roofs_result view = view_of(e);
    assert_same_result(&view, wanted);
    roofs_destroy(e);
}

static void test_any_layout_gives_the_same_bits(void **state)
{
    static double transposed[SAMPLES][FEATURES], spaced[FEATURES][3 * SAMPLES],
        back[FEATURES][SAMPLES];
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        problem p;
        roofs_result wanted;
        make_problem(&p, seed);
        for (int j = 0; j < FEATURES; j++)
            for (int i = 0; i < SAMPLES; i++) {
                transposed[i][j] = spaced[j][3 * i] = p.x[j][i];
                back[FEATURES - 1 - j][SAMPLES - 1 - i] = p.x[j][i];
            }
        roofs_estimator *e = fit_all(&p, NULL);
        wanted = view_of(e);
        const void *const values[] = {transposed, spaced, &back[FEATURES - 1][SAMPLES - 1]};
        const int64_t strides[][2] = {{1, FEATURES}, {3 * SAMPLES, 3}, {-SAMPLES, -1}};
        for (int k = 0; k < 3; k++) {
            roofs_block b = dense_block(values[k], ROOFS_F64, FEATURES, SAMPLES);
            b = with_strides(b, strides[k][0], strides[k][1]);
            assert_blocks_give(&p, &b, 1, &wanted);
        }
        roofs_block batches[5];
        for (int k = 0; k < 5; k++)
            batches[k] = block_of(&p, 7 * k, k < 4 ? 7 : 2);
        assert_blocks_give(&p, batches, 5, &wanted);
        roofs_block halves[2] = {block_of(&p, 0, 14), block_of(&p, 14, 16)};
        assert_blocks_give(&p, halves, 2, &wanted);
        p.set.threads = 3;
        assert_blocks_give(&p, batches, 5, &wanted);
        roofs_destroy(e);
    }
}

/* f32 values in either storage, and f64 values that f32 can hold. */
static void test_any_type_gives_the_same_bits(void **state)
{
    static float narrow[FEATURES][SAMPLES];
    problem p;
    roofs_result wanted;
    (void)state;
    make_problem(&p, 3);
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < SAMPLES; i++)
            p.x[j][i] = (double)(narrow[j][i] = (float)p.x[j][i]);
    roofs_block f64 = block_of(&p, 0, FEATURES), f32 = f64;
    f32.dtype = ROOFS_F32;
    f32.values = narrow;
    roofs_estimator *e = fit_all(&p, NULL);
    wanted = view_of(e);
    static const int64_t storage[] = {ROOFS_STORAGE_AUTO, ROOFS_STORAGE_F64, ROOFS_STORAGE_F32};
    for (int k = 0; k < 3; k++) {
        p.set.storage = storage[k];
        assert_blocks_give(&p, &f32, 1, &wanted);
        assert_blocks_give(&p, &f64, 1, &wanted);
    }
    roofs_destroy(e);
}

static void check_caller_may_free(int64_t storage)
{
    problem p;
    roofs_error err;
    char method[] = "roofs";
    double y[SAMPLES], values[7 * SAMPLES];
    char names[7][20];
    const char *pointers[7];
    make_problem(&p, 2);
    p.set.storage = storage;
    roofs_estimator *e = fit_all(&p, p.pointers), *other = NULL;
    memcpy(y, p.y, sizeof y);
    p.set.method = method;
    assert_fine(roofs_create(&other, &p.set, y, SAMPLES, &err));
    memset(y, 0x7f, sizeof y);
    memset(method, 'x', 5);
    for (int64_t first = 0; first < FEATURES; first += 7) {
        roofs_block b = block_of(&p, first, first < 28 ? 7 : 2);
        for (int64_t k = 0; k < b.count; k++) {
            memcpy(values + k * SAMPLES, p.x[first + k], sizeof p.x[0]);
            memcpy(names[k], p.names[first + k], sizeof names[k]);
            pointers[k] = names[k];
        }
        b.values = values;
        b.names = pointers;
        assert_fine(roofs_consume(other, &b, &err));
        memset(values, 0x7f, sizeof values);
        memset(names, 'x', sizeof names);
    }
    assert_same_fits(e, other);
    for (int k = 0; k < 2; k++) { /* the settings, too, are the estimator's own */
        roofs_model *m = model_of(k ? other : e);
        assert_fine(roofs_model_write(m, k ? "b.json" : "a.json", &err));
        roofs_model_destroy(m);
    }
    assert_int_equal(system("cmp a.json b.json"), 0);
    roofs_destroy(e);
    roofs_destroy(other);
}

static void test_caller_may_free_at_once(void **state)
{
    (void)state;
    check_caller_may_free(ROOFS_STORAGE_F64);
    check_caller_may_free(ROOFS_STORAGE_AUTO);
}

/* ---- memory ------------------------------------------------------------------------------- */

static void test_memory_limit_is_respected(void **state)
{
    static float narrow[SAMPLES];
    problem p;
    roofs_error err;
    int64_t wide = 0, small = 0, more = 0;
    (void)state;
    make_problem(&p, 1);
    assert_fine(roofs_memory_needed(&p.set, SAMPLES, ROOFS_F64, &wide, &err));
    assert_fine(roofs_memory_needed(&p.set, SAMPLES, ROOFS_F32, &small, &err));
    assert_int_equal(wide - small, 4 * SAMPLES * (p.set.mu + p.set.batch));
    p.set.mu += 10;
    assert_fine(roofs_memory_needed(&p.set, SAMPLES, ROOFS_F64, &more, &err));
    assert_true(more - wide >= (int64_t)(10 * SAMPLES * sizeof(double)));
    p.set.mu -= 10;
    roofs_block b = block_of(&p, 0, 1), f32 = b;
    f32.dtype = ROOFS_F32;
    f32.values = narrow;
    for (int below = 0; below < 2; below++) {
        roofs_estimator *e = NULL;
        p.set.max_memory = wide - below;
        p.set.storage =
            ROOFS_STORAGE_F64; /* whether they are sparse is known with the first block */
        e = open_fit(&p);
        if (below)
            assert_refused(roofs_consume(e, &b, &err), ROOFS_OVER_LIMIT, "mu", "limit");
        else
            assert_fine(roofs_consume(e, &b, &err));
        roofs_destroy(e);
        p.set.storage = ROOFS_STORAGE_AUTO; /* and so is their type */
        e = open_fit(&p);
        assert_int_equal(roofs_consume(e, &b, &err), below ? ROOFS_OVER_LIMIT : ROOFS_OK);
        roofs_destroy(e);
        e = open_fit(&p);
        assert_fine(roofs_consume(e, &f32, &err));
        roofs_destroy(e);
        p.set.max_memory = small - below;
        e = open_fit(&p);
        assert_int_equal(roofs_consume(e, &f32, &err), below ? ROOFS_OVER_LIMIT : ROOFS_OK);
        roofs_destroy(e);
    }
    p.set.max_memory = 0;
    p.set.mu = 1000000000000;
    assert_fine(roofs_memory_needed(&p.set, INT64_MAX / 16, ROOFS_F64, &more, &err));
    assert_int_equal(more, INT64_MAX);
    p.set.mu = -1;
    assert_refused(roofs_memory_needed(&p.set, 10, ROOFS_F64, &more, &err), ROOFS_BAD_SETTING,
                   "mu");
}

/* ---- results ------------------------------------------------------------------------------- */

static void test_constant_features_and_cap_are_reported(void **state)
{
    problem p;
    roofs_error err;
    roofs_result view;
    (void)state;
    make_problem(&p, 1);
    for (int i = 0; i < SAMPLES; i++)
        p.x[3][i] = 5, p.x[9][i] = 0.1;
    p.set.max_iter = 1;
    roofs_estimator *e = fit_all(&p, NULL);
    view = view_of(e);
    assert_true(view.constant >= 2);
    assert_int_equal(view.stop, ROOFS_STOP_MAX_ITER);
    assert_int_equal(view.rounds, 5);
    for (int64_t k = 0; k < view.selected; k++)
        assert_true(view.features[k].index != 3 && view.features[k].index != 9);
    roofs_destroy(e);
    e = open_fit(&p);
    roofs_block only = block_of(&p, 3, 1);
    assert_fine(roofs_consume(e, &only, &err));
    view = view_of(e);
    assert_int_equal(view.constant, 1);
    assert_int_equal(view.stop, ROOFS_STOP_EMPTY);
    roofs_destroy(e);
}

/* Without standardising, a column of zeros stays among the columns, with coefficient 0. */
static void test_zero_columns_are_not_selected(void **state)
{
    problem p;
    roofs_error err;
    roofs_result view;
    (void)state;
    make_problem(&p, 1);
    memset(p.x[1], 0, sizeof p.x[1]);
    p.set.standardize = p.set.intercept = 0;
    roofs_estimator *e = open_fit(&p);
    roofs_block b = block_of(&p, 0, 3);
    assert_fine(roofs_consume(e, &b, &err));
    view = view_of(e);
    assert_int_equal(view.constant, 0);
    assert_int_equal(view.selected, 2);
    assert_int_equal(view.features[0].index, 0);
    assert_int_equal(view.features[1].index, 2);
    roofs_destroy(e);
}

/* predict, predict_selected and a plain sum: the same bits, in every layout. */
static void assert_predictions(const problem *p, const roofs_model *m, int named)
{
    enum { NEW = 17 };
    static double x[FEATURES][NEW], transposed[NEW][FEATURES], picked[FEATURES][NEW];
    double wanted[NEW], got[NEW];
    const char *mixed[FEATURES];
    roofs_error err;
    roofs_result view;
    uint64_t random = 5;
    roofs_model_view(m, &view);
    assert_true(view.selected > 1);
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < NEW; i++)
            transposed[i][j] = x[j][i] = random_bell(&random);
    for (int i = 0; i < NEW; i++) {
        wanted[i] = view.intercept;
        for (int64_t k = 0; k < view.selected; k++)
            wanted[i] += view.features[k].coef * (picked[k][i] = x[view.features[k].index][i]);
    }
    roofs_block b = dense_block(x, ROOFS_F64, FEATURES, NEW);
    assert_fine(roofs_predict(m, &b, got, &err));
    assert_same_doubles(got, wanted, NEW);
    roofs_block t = with_strides(dense_block(transposed, ROOFS_F64, FEATURES, NEW), 1, FEATURES);
    assert_fine(roofs_predict(m, &t, got, &err));
    assert_same_doubles(got, wanted, NEW);
    roofs_block s = dense_block(picked, ROOFS_F64, view.selected, NEW);
    assert_fine(roofs_predict_selected(m, &s, got, &err));
    assert_same_doubles(got, wanted, NEW);
    s.count--;
    assert_refused(roofs_predict_selected(m, &s, got, &err), ROOFS_BAD_DATA, "the model has");

    /* By name: the features the other way round, found nevertheless where there are names. */
    for (int j = 0; j < FEATURES; j++)
        mixed[FEATURES - 1 - j] = p->pointers[j];
    roofs_block r = with_strides(dense_block(x[FEATURES - 1], ROOFS_F64, FEATURES, NEW), -NEW, 1);
    r.names = mixed;
    assert_fine(roofs_predict(m, &r, got, &err));
    assert_true(!named == (memcmp(got, wanted, sizeof got) != 0));
    mixed[FEATURES - 1 - view.features[1].index] = "another";
    b.count = view.features[1].index; /* too few */
    assert_refused(roofs_predict(m, named ? &r : &b, got, &err), ROOFS_BAD_DATA,
                   "of the model is not among", named ? view.features[1].name : "");
    assert_int_equal(err.feature, view.features[1].index);
}

static void test_predictions_follow_the_model(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        problem p;
        make_problem(&p, 2);
        roofs_estimator *e = fit_all(&p, named ? p.pointers : NULL);
        roofs_model *m = model_of(e);
        roofs_destroy(e);
        assert_predictions(&p, m, named);
        roofs_model_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_out_of_order_are_refused),
        cmocka_unit_test(test_view_before_the_first_block_is_empty),
        cmocka_unit_test(test_errors_may_be_ignored),
        cmocka_unit_test(test_unusable_responses_are_refused),
        cmocka_unit_test(test_unusable_blocks_are_refused),
        cmocka_unit_test(test_types_must_go_together),
        cmocka_unit_test(test_any_layout_gives_the_same_bits),
        cmocka_unit_test(test_any_type_gives_the_same_bits),
        cmocka_unit_test(test_caller_may_free_at_once),
        cmocka_unit_test(test_memory_limit_is_respected),
        cmocka_unit_test(test_constant_features_and_cap_are_reported),
        cmocka_unit_test(test_zero_columns_are_not_selected),
        cmocka_unit_test(test_predictions_follow_the_model),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
