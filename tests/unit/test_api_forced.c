/* Forced features (the setting always): they never leave, are not shrunk and do not count. */
#include "test_api_problem.h"

enum { FORCED = 9 };

static int64_t forced_in(const roofs_result *r, int64_t always)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++)
        count += r->features[k].index < always;
    return count;
}

/* Some methods keep forced features, the others refuse them by name. */
static void test_forced_features_stay_or_are_refused(void **state)
{
    static problem p;
    roofs_error err;
    int kept = 0, refused = 0;
    (void)state;
    for (int64_t m = 0; roofs_method_name(m); m++) {
        roofs_estimator *e = NULL;
        make_problem(&p, 3);
        p.set.method = roofs_method_name(m);
        p.set.clean_ratio = 0.8;
        p.set.always = FORCED;
        if (roofs_create(&e, &p.set, p.y, SAMPLES, &err) == ROOFS_BAD_SETTING) {
            assert_non_null(strstr(err.text, p.set.method));
            assert_non_null(strstr(err.text, "always"));
            refused++;
            continue;
        }
        roofs_destroy(e);
        e = fit_all(&p, NULL);
        const roofs_result r = view_of(e);
        assert_int_equal(forced_in(&r, FORCED), FORCED);
        assert_int_equal(r.selected, FORCED + p.set.mu);
        assert_int_equal(r.warnings & ROOFS_WARNING_FORCED, 0);
        roofs_destroy(e);
        kept++;
    }
    assert_true(kept >= 4 && refused >= 1);
}

static void test_probability_is_one_and_groups_have_none(void **state)
{
    static problem p;
    (void)state;
    make_problem(&p, 4);
    p.set.method = "roofs-bayes";
    p.set.always = FORCED; /* feature 2 is one of them, and matters */
    roofs_estimator *e = fit_all(&p, NULL);
    const roofs_result r = view_of(e);
    for (int64_t k = 0; k < r.selected; k++)
        assert_true(r.features[k].index >= FORCED || r.features[k].probability == 1);
    assert_int_equal(r.groups, 2);
    for (int64_t g = 0; g < r.groups; g++)
        for (int64_t k = 0; k < r.group[g].count; k++)
            assert_true(r.group[g].members[k].index >= FORCED);
    assert_true(r.spread && r.spread[0].error > 0);
    roofs_destroy(e);
}

/* A constant one is left out, a copy of another shares its coefficient. Both are reported. */
static void test_constant_and_dependent_ones_are_reported(void **state)
{
    static problem p;
    (void)state;
    for (int k = 0; k < 2; k++) {
        make_problem(&p, 5);
        p.set.method = "roofs-bayes";
        p.set.always = FORCED;
        for (int i = 0; i < SAMPLES; i++)
            p.x[5][i] = k == 0 ? 1.5 : 3 - 2 * p.x[2][i];
        roofs_estimator *e = fit_all(&p, NULL);
        const roofs_result r = view_of(e);
        assert_int_equal(forced_in(&r, FORCED), FORCED - (k == 0));
        assert_int_equal(r.warnings & ROOFS_WARNING_FORCED, ROOFS_WARNING_FORCED);
        double sum = 0; /* what features 2 and 5 add up to, per unit of feature 2 */
        for (int64_t q = 0; q < r.selected; q++)
            sum += r.features[q].index == 2   ? r.features[q].coef
                   : r.features[q].index == 5 ? -2 * r.features[q].coef
                                              : 0;
        assert_close(sum, 3, 0.1);
        roofs_destroy(e);
    }
}

static void test_impossible_settings_are_refused(void **state)
{
    static problem p;
    roofs_error err;
    roofs_estimator *e = NULL;
    (void)state;
    make_problem(&p, 6);
    p.set.always = SAMPLES - 1;
    assert_int_equal(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_SETTING);
    assert_non_null(strstr(err.text, "always = 59"));
    p.set.intercept = 0;
    assert_fine(roofs_create(&e, &p.set, p.y, SAMPLES, &err));
    roofs_destroy(e);
    p.set.always = 2;
    p.set.device = ROOFS_DEVICE_CUDA;
    assert_int_equal(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_SETTING);
    assert_non_null(strstr(err.text, "forced features"));
    p.set.device = ROOFS_DEVICE_AUTO;
    assert_fine(roofs_create(&e, &p.set, p.y, SAMPLES, &err));
    roofs_destroy(e);
}

/* More are forced than arrive; the stream may also be empty. */
static void test_short_streams_are_fine(void **state)
{
    static problem p;
    roofs_error err;
    (void)state;
    for (int64_t count = 0; count < 4; count++) {
        make_problem(&p, 7);
        p.set.method = "roofs-bayes";
        p.set.always = FORCED;
        roofs_estimator *e = open_fit(&p);
        const roofs_block some = block_of(&p, 0, count);
        if (count > 0)
            assert_fine(roofs_consume(e, &some, &err));
        assert_fine(roofs_finish(e, &err));
        assert_int_equal(view_of(e).selected, count);
        roofs_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forced_features_stay_or_are_refused),
        cmocka_unit_test(test_probability_is_one_and_groups_have_none),
        cmocka_unit_test(test_constant_and_dependent_ones_are_reported),
        cmocka_unit_test(test_impossible_settings_are_refused),
        cmocka_unit_test(test_short_streams_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
