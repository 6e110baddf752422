/* Passes that the library chooses, and the features that it keeps by default. */
#include "test_api_stream.h"

static problem p;
static roofs_error err;

static void usual(const char *method, int64_t mu)
{
    make_problem(&p, 1);
    p.set.method = method;
    p.set.mu = mu;
}

static void read_all(roofs_estimator *e)
{
    roofs_block all = block_of(&p, 0, FEATURES);
    assert_fine(roofs_consume(e, &all, &err));
}

static roofs_description describe(const roofs_estimator *e)
{
    roofs_description now;
    roofs_describe(e, &now);
    return now;
}

/* Reads as often as the fit wants. Returns the finished fit. */
static roofs_estimator *fit_wanted(void)
{
    roofs_estimator *e = open_fit(&p);
    read_all(e);
    while (roofs_wants_pass(e)) {
        assert_fine(roofs_next_pass(e, &err));
        read_all(e);
    }
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(roofs_wants_pass(e), 0);
    return e;
}

/* ---- passes ------------------------------------------------------------ */

static void test_numbers_of_passes_are_made(void **state)
{
    (void)state;
    for (int64_t passes = 1; passes <= 5; passes++) {
        usual("roofs", 4);
        p.set.passes = passes;
        roofs_estimator *e = fit_wanted();
        assert_int_equal(describe(e).pass, passes);
        roofs_destroy(e);
    }
}

/* One feature is kept of three that matter: what is selected changes while others drop out. */
static void test_auto_stops_when_the_selection_stands_still(void **state)
{
    (void)state;
    int64_t fewest = ROOFS_AUTO_PASSES;
    for (int64_t mu = 1; mu <= 12; mu++) {
        usual("roofs-bayes", mu);
        p.set.passes = 0;
        roofs_estimator *automatic = fit_wanted();
        const int64_t passes = describe(automatic).pass;
        assert_true(passes >= 2 && passes <= ROOFS_AUTO_PASSES);
        p.set.passes = passes; /* the same bits as with this number */
        roofs_estimator *given = fit_wanted();
        assert_same_fits(automatic, given);
        roofs_destroy(automatic);
        roofs_destroy(given);
        fewest = passes < fewest ? passes : fewest;
    }
    assert_int_equal(fewest, 2); /* it stands still for some, and the limit is not needed */
}

static void test_auto_has_a_limit(void **state)
{
    (void)state;
    usual("roofs-bayes", 2);
    roofs_estimator *e = open_fit(&p);
    read_all(e);
    for (int k = 1; k < ROOFS_AUTO_PASSES; k++) {
        assert_fine(roofs_next_pass(e, &err));
        read_all(e);
    }
    assert_int_equal(roofs_wants_pass(e), 0);
    assert_refused(roofs_next_pass(e, &err), ROOFS_BAD_CALL, "pass 3 is the last");
    assert_fine(roofs_finish(e, &err));
    roofs_destroy(e);
}

static void test_auto_reads_once_if_nothing_is_dropped(void **state)
{
    (void)state;
    usual("roofs-bayes", FEATURES - 1);
    p.set.batch = 1;
    assert_int_equal(roofs_features_held(&p.set), FEATURES - 1);
    roofs_estimator *e = fit_wanted();
    assert_true(describe(e).pass > 1); /* one is dropped */
    roofs_destroy(e);
    for (int i = 0; i < SAMPLES; i++)
        p.x[3][i] = 5; /* a constant feature is not missed */
    e = fit_wanted();
    assert_int_equal(describe(e).pass, 1);
    roofs_destroy(e);
}

static void test_auto_is_one_pass_for_other_methods(void **state)
{
    roofs_method_info info;
    (void)state;
    for (int64_t k = 0; roofs_method_describe(k, &info); k++) {
        assert_int_equal(info.reads_again, strcmp(info.name, "roofs-bayes") == 0);
        if (info.reads_again)
            continue;
        usual(info.name, 3);
        p.set.clean_ratio = 0.8;
        roofs_estimator *e = open_fit(&p);
        read_all(e);
        assert_int_equal(roofs_wants_pass(e), 0);
        assert_refused(roofs_next_pass(e, &err), ROOFS_BAD_CALL, "pass 1 is the last");
        roofs_destroy(e);
    }
}

/* A checkpoint in a later pass restores what the pass before selected. */
static void test_checkpoints_restore_the_selection(void **state)
{
    static store saved;
    (void)state;
    usual("roofs-bayes", 3);
    roofs_estimator *whole = fit_wanted(), *e = open_fit(&p), *loaded = NULL;
    read_all(e);
    while (roofs_wants_pass(e)) {
        assert_fine(roofs_next_pass(e, &err));
        store_save(&saved, e);
        roofs_destroy(e);
        assert_fine(store_load(&saved, NULL, &loaded, &err));
        e = loaded;
        read_all(e);
    }
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(describe(e).pass, describe(whole).pass);
    assert_same_fits(e, whole);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void test_auto_is_a_word(void **state)
{
    char text[40];
    (void)state;
    usual("roofs-bayes", 3);
    assert_int_equal(p.set.passes, 0);
    assert_fine(roofs_settings_set(&p.set, "passes", "2", &err));
    assert_int_equal(p.set.passes, 2);
    assert_fine(roofs_settings_set(&p.set, "passes", "auto", &err));
    assert_int_equal(p.set.passes, 0);
    assert_refused(roofs_settings_set(&p.set, "mu", "auto", &err), ROOFS_BAD_SETTING, "mu");
    roofs_estimator *e = fit_wanted();
    roofs_model *m = model_of(e);
    assert_string_equal(roofs_model_setting(m, "passes", text, sizeof text), "auto");
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* ---- mu ---------------------------------------------------------------- */

static roofs_settings resolved(int64_t n, int64_t features)
{
    roofs_settings s = p.set;
    assert_fine(roofs_settings_resolve(&s, n, n, features, &err));
    return s;
}

static void test_default_mu_follows_memory(void **state)
{
    (void)state;
    usual("roofs-bayes", 0);
    assert_int_equal(resolved(100, 0).mu, 4000);
    assert_int_equal(resolved(4096, 0).mu, 2048); /* 64 MiB */
    assert_int_equal(resolved(1000000, 0).mu, 500);
    assert_int_equal(resolved(1000000, 20).mu, 20);
    assert_int_equal(resolved(1000000, 501).mu, 500);
    p.set.mu = 7;
    assert_int_equal(resolved(1000000, 5).mu, 7); /* a given number stays */
}

static void test_memory_limit_lowers_the_default(void **state)
{
    int64_t bytes = 0, more = 0;
    (void)state;
    usual("roofs-bayes", 0);
    p.set.max_memory = 8 << 20;
    roofs_settings s = resolved(500, 0);
    assert_in_range(s.mu, 1, 3999);
    assert_fine(roofs_memory_needed(&s, 500, ROOFS_F64, &bytes, &err));
    s.mu++;
    assert_fine(roofs_memory_needed(&s, 500, ROOFS_F64, &more, &err));
    assert_true(bytes <= p.set.max_memory && more > p.set.max_memory);
    assert_fine(roofs_memory_needed(&p.set, 500, ROOFS_F64, &more, &err));
    assert_int_equal(more, bytes); /* the same choice */
    p.set.max_memory = 1000;
    assert_refused(roofs_settings_resolve(&p.set, 500, 500, 0, &err), ROOFS_OVER_LIMIT,
                   "one feature", "1000");
    roofs_estimator *e;
    assert_refused(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_OVER_LIMIT, "max_memory");
    assert_null(e);
}

static void test_estimators_hold_the_number(void **state)
{
    char text[40];
    (void)state;
    usual("roofs-bayes", 0);
    roofs_estimator *e = fit_wanted();
    roofs_model *m = model_of(e);
    assert_int_equal(describe(e).settings->mu, 4000);
    assert_string_equal(roofs_model_setting(m, "mu", text, sizeof text), "4000");
    assert_int_equal(describe(e).pass, 1); /* all features are kept */
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* ---- features after several passes -------------------------------------- */

enum { EARLY = 21 }; /* three batches */

static void consume_some(roofs_estimator *e, int64_t first, int64_t count)
{
    roofs_block some = block_of(&p, first, count);
    some.names = p.pointers + first;
    assert_fine(roofs_consume(e, &some, &err));
}

/* Two passes over the early features; then the stream is extended by one batch. */
static roofs_estimator *fit_extended(void)
{
    usual("roofs-bayes", 2);
    roofs_estimator *e = open_fit(&p);
    consume_some(e, 0, EARLY);
    assert_fine(roofs_next_pass(e, &err));
    assert_refused(roofs_extend(e, &err), ROOFS_BAD_DATA, "pass 2 has 0 features");
    consume_some(e, 0, EARLY);
    assert_fine(roofs_extend(e, &err));
    consume_some(e, EARLY, 7);
    return e;
}

static void test_features_are_added_after_passes(void **state)
{
    (void)state;
    static store saved;
    roofs_estimator *loaded = NULL, *e = fit_extended();
    assert_int_equal(describe(e).features_seen, EARLY + 7);
    assert_int_equal(describe(e).position, EARLY + 7);
    assert_int_equal(describe(e).pass, 2);
    store_save(&saved, e);
    consume_some(e, EARLY + 7, FEATURES - EARLY - 7);
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(view_of(e).features_seen, FEATURES);
    assert_fine(store_load(&saved, NULL, &loaded, &err));
    assert_fine(roofs_extend(loaded, &err));
    consume_some(loaded, EARLY + 7, FEATURES - EARLY - 7);
    assert_fine(roofs_finish(loaded, &err));
    assert_same_fits(e, loaded);
    roofs_destroy(loaded);
    roofs_destroy(e);
}

static void test_later_passes_have_added_features(void **state)
{
    (void)state;
    roofs_estimator *e = fit_extended();
    roofs_block more = block_of(&p, 0, FEATURES);
    assert_fine(roofs_next_pass(e, &err));
    consume_some(e, 0, EARLY + 7);
    more.names = p.pointers;
    assert_refused(roofs_consume(e, &more, &err), ROOFS_BAD_DATA, "more than the 28 features");
    roofs_destroy(e);
}

/* A name of the early features is refused among the added ones, too. */
static void test_names_of_added_features_differ(void **state)
{
    (void)state;
    roofs_estimator *e = fit_extended();
    roofs_block again = block_of(&p, 0, 7);
    again.names = p.pointers;
    assert_refused(roofs_consume(e, &again, &err), ROOFS_BAD_DATA, "was used before");
    roofs_destroy(e);
}

/* ---- what counts as selected ------------------------------------------- */

static int64_t by_probability(const char *method, int64_t mu, int64_t select)
{
    usual(method, mu);
    p.set.select = select;
    roofs_estimator *e = fit_wanted();
    roofs_model *m = model_of(e);
    roofs_result of_model;
    roofs_model_view(m, &of_model);
    const roofs_result view = view_of(e);
    assert_int_equal(view.by_probability, of_model.by_probability);
    roofs_model_destroy(m);
    roofs_destroy(e);
    return view.by_probability;
}

static void test_probabilities_select_if_mu_is_not_given(void **state)
{
    (void)state;
    assert_int_equal(by_probability("roofs-bayes", 0, ROOFS_SELECT_AUTO), 1);
    assert_int_equal(by_probability("roofs-bayes", 5, ROOFS_SELECT_AUTO), 0);
    assert_int_equal(by_probability("roofs", 0, ROOFS_SELECT_AUTO), 0);
    assert_int_equal(by_probability("roofs-bayes", 0, ROOFS_SELECT_KEPT), 0);
    assert_int_equal(by_probability("roofs-bayes", 5, ROOFS_SELECT_LIKELY), 1);
    usual("roofs", 5);
    p.set.select = ROOFS_SELECT_LIKELY;
    roofs_estimator *e;
    assert_refused(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_SETTING,
                   "cannot estimate probabilities", "these can: roofs-bayes");
}

/* Programs that were compiled before `select` or `prior` existed. */
static void test_older_callers_can_resolve(void **state)
{
    (void)state;
    usual("roofs-bayes", 0);
    p.set.struct_size = offsetof(roofs_settings, select);
    p.set.select = 77;
    assert_fine(roofs_settings_resolve(&p.set, 100, 100, 30, &err));
    assert_int_equal(p.set.mu, 30);
    assert_int_equal(p.set.select, 77);
    usual("roofs-bayes", 0);
    p.set.struct_size = offsetof(roofs_settings, prior);
    p.set.prior = 77;
    assert_fine(roofs_settings_resolve(&p.set, 100, 100, 30, &err));
    assert_int_equal(p.set.select, ROOFS_SELECT_LIKELY);
    assert_int_equal(p.set.prior, 77);
}

/* The fit of settings that were resolved by the library or by the caller before. */
static roofs_estimator *fit_selecting(int64_t mu, int64_t select, int resolved)
{
    usual("roofs-bayes", mu);
    p.set.select = select;
    if (resolved)
        assert_fine(roofs_settings_resolve(&p.set, SAMPLES, SAMPLES, 0, &err));
    return fit_wanted();
}

/* With 4000 features in memory the fit is large: an expected number of mu differs from one that the
 * samples can separate. */
static void test_select_does_not_change_the_fit(void **state)
{
    (void)state;
    const int64_t default_mu = 4000;
    roofs_estimator *left_out = fit_selecting(0, ROOFS_SELECT_AUTO, 0);
    roofs_estimator *given = fit_selecting(default_mu, ROOFS_SELECT_AUTO, 0);
    assert_int_equal(describe(left_out).settings->mu, default_mu);
    assert_int_equal(describe(left_out).settings->prior, ROOFS_PRIOR_SAMPLES);
    assert_int_equal(describe(given).settings->prior, ROOFS_PRIOR_MU);
    assert_true(view_of(left_out).features[0].coef != view_of(given).features[0].coef);
    for (int64_t select = ROOFS_SELECT_AUTO; select <= ROOFS_SELECT_LIKELY; select++)
        for (int resolved = 0; resolved < 2; resolved++) {
            roofs_estimator *e = fit_selecting(0, select, resolved);
            assert_same_fits(e, left_out);
            roofs_destroy(e);
            e = fit_selecting(default_mu, select, resolved);
            assert_same_fits(e, given);
            roofs_destroy(e);
        }
    roofs_destroy(left_out);
    roofs_destroy(given);
}

static void test_prior_can_be_chosen(void **state)
{
    (void)state;
    roofs_estimator *left_out = fit_selecting(0, ROOFS_SELECT_AUTO, 0);
    usual("roofs-bayes", 4000);
    p.set.prior = ROOFS_PRIOR_SAMPLES;
    roofs_estimator *e = fit_wanted();
    assert_same_fits(e, left_out);
    roofs_destroy(left_out);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_passes_are_made),
        cmocka_unit_test(test_auto_stops_when_the_selection_stands_still),
        cmocka_unit_test(test_auto_has_a_limit),
        cmocka_unit_test(test_auto_reads_once_if_nothing_is_dropped),
        cmocka_unit_test(test_auto_is_one_pass_for_other_methods),
        cmocka_unit_test(test_checkpoints_restore_the_selection),
        cmocka_unit_test(test_features_are_added_after_passes),
        cmocka_unit_test(test_later_passes_have_added_features),
        cmocka_unit_test(test_names_of_added_features_differ),
        cmocka_unit_test(test_auto_is_a_word),
        cmocka_unit_test(test_default_mu_follows_memory),
        cmocka_unit_test(test_memory_limit_lowers_the_default),
        cmocka_unit_test(test_estimators_hold_the_number),
        cmocka_unit_test(test_probabilities_select_if_mu_is_not_given),
        cmocka_unit_test(test_older_callers_can_resolve),
        cmocka_unit_test(test_select_does_not_change_the_fit),
        cmocka_unit_test(test_prior_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
