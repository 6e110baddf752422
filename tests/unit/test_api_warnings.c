/* Each warning: set where it must be, not set otherwise, and the same in models and checkpoints. */
#include "api/estimator.h"
#include "test_api_problem.h"
#include "test_api_stream.h"

static roofs_error err;

/* The flags after a whole fit. */
static int64_t flags_of(const problem *p)
{
    roofs_estimator *e = fit_all(p, NULL);
    const int64_t flags = view_of(e).warnings;
    roofs_destroy(e);
    return flags;
}

static problem clean_problem(void)
{
    problem p;
    make_problem(&p, 3);
    p.set.method = "roofs-bayes";
    return p;
}

static void test_ordinary_fit_has_no_warning(void **state)
{
    problem p = clean_problem();
    (void)state;
    assert_int_equal(flags_of(&p), 0);
}

/* ---- the response ------------------------------------------------------ */

static void test_equal_responses_are_found_from_a_fifth_on(void **state)
{
    problem p = clean_problem();
    (void)state;
    for (int i = 0; i < SAMPLES / 5 - 1; i++)
        p.y[3 * i] = -2;
    assert_int_equal(flags_of(&p) & ROOFS_WARNING_EQUAL_RESPONSES, 0);
    p.y[SAMPLES - 1] = -2;
    assert_true(flags_of(&p) & ROOFS_WARNING_EQUAL_RESPONSES);
    assert_int_equal(flags_of(&p) & ROOFS_WARNING_DISCRETE_RESPONSE, 0);
}

/* Two of eight responses are a quarter, but no sign of anything. */
static void test_few_equal_responses_are_no_sign(void **state)
{
    problem p = clean_problem();
    double y[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    (void)state;
    for (int equal = 2; equal <= 6; equal++) {
        roofs_estimator *e = NULL;
        for (int i = 0; i < equal; i++)
            y[i] = 1;
        assert_fine(roofs_create(&e, &p.set, y, 8, &err));
        assert_int_equal(view_of(e).warnings, equal >= 5 ? ROOFS_WARNING_EQUAL_RESPONSES : 0);
        roofs_destroy(e);
    }
}

static void test_discrete_responses_are_found_up_to_ten_values(void **state)
{
    problem p = clean_problem();
    (void)state;
    for (int values = 1; values <= 12; values++) {
        const int64_t both = ROOFS_WARNING_DISCRETE_RESPONSE | ROOFS_WARNING_EQUAL_RESPONSES;
        for (int i = 0; i < SAMPLES; i++)
            p.y[i] = i % values;
        assert_int_equal(flags_of(&p) & both, values == 1    ? ROOFS_WARNING_EQUAL_RESPONSES
                                              : values <= 10 ? ROOFS_WARNING_DISCRETE_RESPONSE
                                                             : 0);
    }
}

static void test_discrete_responses_need_fifty_samples(void **state)
{
    problem p = clean_problem();
    double y[50];
    (void)state;
    for (int i = 0; i < 50; i++)
        y[i] = i % 8;
    for (int64_t n = 49; n <= 50; n++) {
        roofs_estimator *e = NULL;
        assert_fine(roofs_create(&e, &p.set, y, n, &err));
        assert_int_equal(view_of(e).warnings, n == 50 ? ROOFS_WARNING_DISCRETE_RESPONSE : 0);
        roofs_destroy(e);
    }
}

/* ---- the fit ----------------------------------------------------------- */

static void test_few_trusted_samples_are_found(void **state)
{
    problem p = clean_problem();
    (void)state;
    roofs_estimator *e = fit_all(&p, NULL);
    const int64_t counts[] = {SAMPLES / 2, SAMPLES * 6 / 10 - 1, SAMPLES * 6 / 10, SAMPLES};
    for (int k = 0; k < 4; k++) {
        e->f->trusted.count = counts[k]; /* as a method may find them */
        assert_int_equal(view_of(e).warnings, k < 2 ? ROOFS_WARNING_FEW_TRUSTED : 0);
    }
    roofs_destroy(e);
}

/* The caller has asked for it. */
static void test_few_trusted_samples_may_be_wanted(void **state)
{
    problem p = clean_problem();
    (void)state;
    p.set.method = "roofs";
    p.set.clean_ratio = 0.5;
    roofs_estimator *e = fit_all(&p, NULL);
    assert_int_equal(view_of(e).trusted, SAMPLES / 2);
    assert_int_equal(view_of(e).warnings & ROOFS_WARNING_FEW_TRUSTED, 0);
    roofs_destroy(e);
}

/* Every method that stops at max_iter says so in both fields. */
static void test_stop_at_max_iter_is_a_warning(void **state)
{
    int capped = 0;
    (void)state;
    for (int64_t k = 0; roofs_method_name(k); k++)
        for (int64_t rounds = 1; rounds <= 1000; rounds += 999) {
            problem p = clean_problem();
            p.set.method = roofs_method_name(k);
            p.set.clean_ratio = 0.8;
            p.set.max_iter = rounds;
            roofs_estimator *e = fit_all(&p, NULL);
            const roofs_result view = view_of(e);
            assert_int_equal(view.stop == ROOFS_STOP_MAX_ITER,
                             (view.warnings & ROOFS_WARNING_NOT_SETTLED) != 0);
            capped += rounds == 1 && view.stop == ROOFS_STOP_MAX_ITER;
            roofs_destroy(e);
        }
    assert_true(capped > 0);
}

/* A method sets flags in its fit; the result, its stop and the model follow. */
static void test_flags_of_a_method_reach_the_model(void **state)
{
    problem p = clean_problem();
    (void)state;
    roofs_estimator *e = fit_all(&p, NULL);
    assert_int_equal(view_of(e).stop, ROOFS_STOP_SETTLED);
    e->f->warnings = ROOFS_WARNING_NOT_SETTLED | ROOFS_WARNING_UNDECIDED;
    roofs_model *m = model_of(e);
    roofs_result view;
    roofs_model_view(m, &view);
    assert_int_equal(view.warnings, ROOFS_WARNING_NOT_SETTLED | ROOFS_WARNING_UNDECIDED);
    assert_int_equal(view.stop, ROOFS_STOP_MAX_ITER);
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* A fit that is loaded finds the flags of its responses again. */
static void test_loaded_fit_has_the_same_warnings(void **state)
{
    static store saved;
    problem p = clean_problem();
    roofs_estimator *e, *again = NULL;
    roofs_block all = block_of(&p, 0, FEATURES);
    (void)state;
    p.set.method = "roofs";
    p.set.max_iter = 1;
    for (int i = 0; i < SAMPLES / 3; i++)
        p.y[3 * i] = 1e300; /* beyond the range of the unit of the fit, and still equal */
    e = open_fit(&p);
    assert_fine(roofs_consume(e, &all, &err));
    store_save(&saved, e);
    assert_fine(store_load(&saved, NULL, &again, &err));
    assert_fine(roofs_finish(e, &err));
    assert_fine(roofs_finish(again, &err));
    assert_same_fits(e, again);
    assert_true(view_of(again).warnings & ROOFS_WARNING_NOT_SETTLED);
    assert_true(view_of(again).warnings & ROOFS_WARNING_EQUAL_RESPONSES);
    roofs_destroy(e);
    roofs_destroy(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ordinary_fit_has_no_warning),
        cmocka_unit_test(test_equal_responses_are_found_from_a_fifth_on),
        cmocka_unit_test(test_few_equal_responses_are_no_sign),
        cmocka_unit_test(test_discrete_responses_are_found_up_to_ten_values),
        cmocka_unit_test(test_discrete_responses_need_fifty_samples),
        cmocka_unit_test(test_few_trusted_samples_are_found),
        cmocka_unit_test(test_few_trusted_samples_may_be_wanted),
        cmocka_unit_test(test_stop_at_max_iter_is_a_warning),
        cmocka_unit_test(test_flags_of_a_method_reach_the_model),
        cmocka_unit_test(test_loaded_fit_has_the_same_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
