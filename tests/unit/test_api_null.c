/* Every public call with NULL in place of each pointer: a status that names the argument, or
 * nothing at all, but no crash. tests/install checks that no call is missing here. */
#include "test_api_problem.h"

/* The call is refused, and the reason names the argument. `err` is the variable of that name. */
#define REFUSED(call, argument)                                                                    \
    do {                                                                                           \
        memset(&err, 0x5a, sizeof err);                                                            \
        assert_refused(call, ROOFS_BAD_CALL, argument " must not be NULL");                        \
    } while (0)

static roofs_error err;
static problem p;

static int write_all(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

static int64_t read_none(void *user, void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

static int rewind_none(void *user)
{
    (void)user;
    return 0;
}

static void test_null_is_refused_by_settings(void **state)
{
    roofs_setting_info setting;
    roofs_method_info method;
    roofs_settings s = p.set;
    (void)state;
    roofs_settings_init(NULL);
    roofs_settings_init_sized(NULL, sizeof s);
    roofs_settings_as_saved(NULL);
    roofs_settings_as_saved_sized(NULL, sizeof s);
    REFUSED(roofs_settings_set(NULL, "mu", "1", &err), "s");
    REFUSED(roofs_settings_set(&s, NULL, "1", &err), "name");
    REFUSED(roofs_settings_set(&s, "mu", NULL, &err), "value");
    REFUSED(roofs_settings_check(NULL, &err), "s");
    REFUSED(roofs_settings_resolve(NULL, 9, 9, 0, &err), "s");
    assert_int_equal(roofs_wants_pass(NULL), 0);
    assert_int_equal(roofs_setting_describe(0, NULL), 0);
    assert_int_equal(roofs_setting_describe_sized(0, NULL, sizeof setting), 0);
    assert_int_equal(roofs_setting_find(NULL), -1);
    assert_null(roofs_setting_choice(roofs_setting_find("mu"), 0));
    assert_int_equal(roofs_method_describe(0, NULL), 0);
    assert_int_equal(roofs_method_describe_sized(0, NULL, sizeof method), 0);
    assert_int_equal(roofs_method_find(NULL), -1);
    assert_non_null(roofs_method_name(0));
    assert_non_null(roofs_method_summary(0));
    assert_non_null(roofs_status_text((roofs_status)99));
    assert_null(roofs_stop_text((roofs_stop)99));
    assert_non_null(roofs_version());
}

static void test_null_is_refused_when_creating(void **state)
{
    int64_t bytes, left;
    roofs_estimator *e;
    (void)state;
    REFUSED(roofs_create(NULL, &p.set, p.y, SAMPLES, &err), "out");
    REFUSED(roofs_create(&e, NULL, p.y, SAMPLES, &err), "settings");
    assert_null(e);
    REFUSED(roofs_create(&e, &p.set, NULL, SAMPLES, &err), "y");
    assert_null(e);
    REFUSED(roofs_create_split(NULL, &p.set, p.y, SAMPLES, NULL, &err), "out");
    REFUSED(roofs_create_split(&e, NULL, p.y, SAMPLES, NULL, &err), "settings");
    REFUSED(roofs_create_split(&e, &p.set, NULL, SAMPLES, NULL, &err), "y");
    REFUSED(roofs_create_weighted(NULL, &p.set, p.y, NULL, SAMPLES, NULL, &err), "out");
    REFUSED(roofs_create_weighted(&e, NULL, p.y, NULL, SAMPLES, NULL, &err), "settings");
    REFUSED(roofs_create_weighted(&e, &p.set, NULL, NULL, SAMPLES, NULL, &err), "y");
    assert_int_equal(roofs_create(NULL, NULL, NULL, 0, NULL), ROOFS_BAD_CALL);
    REFUSED(roofs_memory_needed(NULL, 9, ROOFS_F64, &bytes, &err), "settings");
    REFUSED(roofs_memory_needed(&p.set, 9, ROOFS_F64, NULL, &err), "bytes");
    REFUSED(roofs_memory_needed_sparse(NULL, 9, ROOFS_F64, 1, &bytes, &err), "settings");
    REFUSED(roofs_memory_needed_sparse(&p.set, 9, ROOFS_F64, 1, NULL, &err), "bytes");
    REFUSED(roofs_memory_on_device(NULL, 9, ROOFS_F64, &bytes, &left, &err), "settings");
    REFUSED(roofs_memory_on_device(&p.set, 9, ROOFS_F64, NULL, &left, &err), "bytes");
    REFUSED(roofs_memory_on_device(&p.set, 9, ROOFS_F64, &bytes, NULL, &err), "free_bytes");
    assert_int_equal(roofs_features_held(NULL), 0);
    assert_int_equal(roofs_hypotheses_followed(NULL), 0);
    assert_null(roofs_hypothesis_text(-1));
    assert_null(roofs_hypothesis_text(99));
    assert_null(roofs_warning_name(-1));
    assert_null(roofs_warning_name(99));
    assert_null(roofs_warning_text(-1));
    assert_null(roofs_warning_text(99));
}

/* A refused call changes nothing: the fit ends as if it had not been made. */
static void test_null_is_refused_by_a_running_fit(void **state)
{
    roofs_estimator *e = open_fit(&p), *other = fit_all(&p, p.pointers);
    const char *names[FEATURES];
    roofs_result view;
    roofs_description now;
    (void)state;
    memcpy(names, p.pointers, sizeof names);
    names[7] = NULL;
    roofs_block block = block_of(&p, 0, FEATURES);
    block.names = names;
    REFUSED(roofs_consume(NULL, &block, &err), "e");
    REFUSED(roofs_consume(e, NULL, &err), "block");
    REFUSED(roofs_consume(e, &block, &err), "names[7] of the block");
    roofs_prefetch(NULL, &block);
    roofs_prefetch(e, &block);
    roofs_prefetch(e, NULL);
    REFUSED(roofs_next_pass(NULL, &err), "e");
    REFUSED(roofs_extend(NULL, &err), "e");
    REFUSED(roofs_finish(NULL, &err), "e");
    REFUSED(roofs_view(NULL, &view, &err), "e");
    REFUSED(roofs_view(e, NULL, &err), "out");
    REFUSED(roofs_view_sized(e, NULL, sizeof view, &err), "out");
    REFUSED(roofs_save(NULL, write_all, NULL, &err), "e");
    REFUSED(roofs_save(e, NULL, NULL, &err), "write");
    REFUSED(roofs_save_with(NULL, "mine", "", 0, write_all, NULL, &err), "e");
    REFUSED(roofs_save_with(e, NULL, "", 0, write_all, NULL, &err), "name");
    REFUSED(roofs_save_with(e, "mine", NULL, 0, write_all, NULL, &err), "data");
    REFUSED(roofs_save_with(e, "mine", "", 0, NULL, NULL, &err), "write");
    roofs_describe(NULL, &now);
    assert_null(now.settings);
    roofs_describe(e, NULL);
    roofs_describe_sized(e, NULL, sizeof now);
    assert_null(roofs_device(NULL));
    assert_int_equal(roofs_samples(NULL), 0);
    assert_int_equal(roofs_failure_is_shared(NULL), 0);
    roofs_set_monitor(NULL, NULL, NULL);
    roofs_set_monitor(e, NULL, NULL);
    roofs_set_undo(NULL, 1);
    roofs_destroy(NULL);
    block.names = p.pointers;
    assert_fine(roofs_consume(e, &block, &err));
    assert_fine(roofs_finish(e, &err));
    assert_same_fits(e, other);
    roofs_destroy(e);
    roofs_destroy(other);
}

static void test_null_is_refused_when_loading(void **state)
{
    roofs_estimator *e;
    void *files[1] = {NULL};
    (void)state;
    REFUSED(roofs_load(NULL, read_none, NULL, NULL, &err), "out");
    REFUSED(roofs_load(&e, NULL, NULL, NULL, &err), "read");
    assert_null(e);
    REFUSED(roofs_load_split(NULL, read_none, rewind_none, files, 1, NULL, NULL, &err), "out");
    REFUSED(roofs_load_split(&e, NULL, rewind_none, files, 1, NULL, NULL, &err), "read");
    REFUSED(roofs_load_split(&e, read_none, NULL, files, 1, NULL, NULL, &err), "rewind");
    REFUSED(roofs_load_split(&e, read_none, rewind_none, NULL, 1, NULL, NULL, &err), "files");
    assert_null(e);
    assert_int_equal(roofs_load_split(&e, read_none, rewind_none, files, 0, NULL, NULL, &err),
                     ROOFS_BAD_CALL);
}

static void test_clocks_of_no_fit_stand_still(void **state)
{
    (void)state;
    assert_true(roofs_default_threads() >= 1);
    assert_non_null(roofs_phase_name(0));
    assert_null(roofs_phase_name(-1));
    assert_null(roofs_phase_name(1000));
    assert_true(roofs_phase_seconds(NULL, 0) == 0 && roofs_phase_bytes(NULL, 0) == 0);
}

static void test_null_is_refused_by_models(void **state)
{
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e), *none;
    roofs_result view;
    roofs_block x = block_of(&p, 0, FEATURES);
    double prediction[SAMPLES], other[SAMPLES];
    char text[40];
    (void)state;
    REFUSED(roofs_model_create(NULL, e, &err), "out");
    REFUSED(roofs_model_create(&none, NULL, &err), "e");
    assert_null(none);
    REFUSED(roofs_model_read(NULL, "a.json", &err), "out");
    REFUSED(roofs_model_read(&none, NULL, &err), "path");
    REFUSED(roofs_model_write(NULL, "a.json", &err), "m");
    REFUSED(roofs_model_write(m, NULL, &err), "path");
    roofs_model_view(NULL, &view);
    assert_null(view.features);
    roofs_model_view(m, NULL);
    roofs_model_view_sized(m, NULL, sizeof view);
    REFUSED(roofs_predict(NULL, &x, prediction, &err), "m");
    REFUSED(roofs_predict(m, NULL, prediction, &err), "x");
    REFUSED(roofs_predict(m, &x, NULL, &err), "prediction");
    REFUSED(roofs_predict_selected(NULL, &x, prediction, &err), "m");
    REFUSED(roofs_predict_selected(m, NULL, prediction, &err), "x");
    REFUSED(roofs_predict_selected(m, &x, NULL, &err), "prediction");
    REFUSED(roofs_predict_interval(NULL, &x, 0, 0.9, NULL, prediction, other, &err), "m");
    REFUSED(roofs_predict_interval(m, NULL, 0, 0.9, NULL, prediction, other, &err), "x");
    REFUSED(roofs_predict_interval(m, &x, 0, 0.9, NULL, NULL, other, &err), "low");
    REFUSED(roofs_predict_interval(m, &x, 0, 0.9, NULL, prediction, NULL, &err), "high");
    REFUSED(roofs_model_set_half_widths(NULL, 1, prediction, &err), "m");
    REFUSED(roofs_model_set_half_widths(m, 1, NULL, &err), "half_width");
    assert_int_equal(roofs_model_index_base(NULL), -1);
    assert_null(roofs_model_table(NULL));
    REFUSED(roofs_model_set_index_base(NULL, 0, &err), "m");
    REFUSED(roofs_model_set_table(NULL, "{}", &err), "m");
    REFUSED(roofs_model_set_table(m, NULL, &err), "json");
    assert_null(roofs_model_offset(NULL));
    REFUSED(roofs_model_set_offset(NULL, "", &err), "m");
    REFUSED(roofs_model_set_orders(NULL, 2, prediction, 1, 0, &err), "m");
    REFUSED(roofs_model_set_orders(m, 2, NULL, 1, 0, &err), "frequency");
    assert_null(roofs_model_setting(NULL, "mu", text, sizeof text));
    assert_null(roofs_model_setting(m, NULL, text, sizeof text));
    assert_null(roofs_model_setting(m, "mu", NULL, 0));
    roofs_model_destroy(NULL);
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static void test_null_is_refused_by_tables(void **state)
{
    const double values[2] = {1, 2};
    double out[2];
    const roofs_column column = {.name = "a", .values = values};
    roofs_table *t;
    roofs_estimator *e = fit_all(&p, p.pointers);
    roofs_model *m;
    (void)state;
    assert_fine(roofs_model_create(&m, e, &err));
    REFUSED(roofs_table_create(NULL, &column, 1, 2, NULL, &err), "out");
    REFUSED(roofs_table_create(&t, NULL, 1, 2, NULL, &err), "columns");
    assert_null(t);
    REFUSED(roofs_table_apply(NULL, m, &column, 1, 2, &err), "out");
    REFUSED(roofs_table_apply(&t, NULL, &column, 1, 2, &err), "m");
    REFUSED(roofs_table_apply(&t, m, NULL, 1, 2, &err), "columns");
    assert_int_equal(roofs_table_features(NULL), 0);
    assert_null(roofs_table_feature_name(NULL, 0));
    assert_null(roofs_table_note(NULL, 0));
    assert_fine(roofs_table_create(&t, &column, 1, 2, NULL, &err));
    REFUSED(roofs_table_read(NULL, 0, 1, out, &err), "t");
    REFUSED(roofs_table_read(t, 0, 1, NULL, &err), "values");
    REFUSED(roofs_table_store(NULL, m, &err), "t");
    REFUSED(roofs_table_store(t, NULL, &err), "m");
    REFUSED(roofs_column_numbers(NULL, 2, NULL, out, &err), "column");
    REFUSED(roofs_column_numbers(&column, 2, NULL, NULL, &err), "values");
    roofs_table_destroy(NULL);
    roofs_table_destroy(t);
    roofs_model_destroy(m);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_refused_by_settings),
        cmocka_unit_test(test_null_is_refused_when_creating),
        cmocka_unit_test(test_null_is_refused_by_a_running_fit),
        cmocka_unit_test(test_null_is_refused_when_loading),
        cmocka_unit_test(test_clocks_of_no_fit_stand_still),
        cmocka_unit_test(test_null_is_refused_by_models),
        cmocka_unit_test(test_null_is_refused_by_tables),
    };
    make_problem(&p, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
