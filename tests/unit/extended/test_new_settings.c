/* A setting of each kind is one field and one row. CMake makes a copy of roofs.h and settings.def
 * with the fields and rows of extended.cmake, and compiles src/api/settings*.c and this file with
 * it. */
#include "../test_base_help.h"
#include "api/settings.h"

#include <stddef.h>

static roofs_error err;

static roofs_settings usual(void)
{
    roofs_settings s;
    memset(&s, 0x5a, sizeof s);
    roofs_settings_init(&s);
    s.mu = 5;
    return s;
}

static const struct {
    const char *name;
    roofs_setting_kind kind;
    int in_model;
    const char *standard, *other, *wrong, *reason;
} added[] = {
    {"new_int", ROOFS_SETTING_INT, 1, "7", "9", "10", "between 1 and 9"},
    {"new_auto", ROOFS_SETTING_INT, 1, "auto", "4", "automatic", "between 0 and 9, or auto"},
    {"new_real", ROOFS_SETTING_REAL, 1, "0.5", "0.25", "2", "between 0 and 1"},
    {"new_flag", ROOFS_SETTING_FLAG, 1, "0", "1", "2", "between 0 and 1"},
    {"new_choice", ROOFS_SETTING_CHOICE, 1, "green", "red", "blue", "choose one of: red, green"},
    {"new_text", ROOFS_SETTING_TEXT, 1, "os", "rlhh", "oss", "choose one of: roofs, "},
    {"run_int", ROOFS_SETTING_INT, 0, "3", "4", "-1", "between 0 and 9"},
    {"run_real", ROOFS_SETTING_REAL, 0, "0.125", "1", "-2", "between 0 and 1"},
    {"run_flag", ROOFS_SETTING_FLAG, 0, "1", "0", "x", "whole number"},
    {"run_choice", ROOFS_SETTING_CHOICE, 0, "red", "green", "", "choose one of: red, green"},
    {"run_text", ROOFS_SETTING_TEXT, 0, "roofs", "os", "", "choose one of: roofs, "},
};
enum { ADDED = sizeof added / sizeof *added };

static void set_others(roofs_settings *s)
{
    for (int k = 0; k < ADDED; k++)
        assert_fine(roofs_settings_set(s, added[k].name, added[k].other, &err));
}

static void assert_others(const roofs_settings *s, int of_model, int of_run)
{
    assert_int_equal(s->new_int, of_model ? 9 : 7);
    assert_int_equal(s->new_auto, of_model ? 4 : 0);
    assert_true(s->new_real == (of_model ? 0.25 : 0.5));
    assert_int_equal(s->new_flag, of_model);
    assert_int_equal(s->new_choice, of_model ? ROOFS_COLOUR_RED : ROOFS_COLOUR_GREEN);
    assert_string_equal(s->new_text, of_model ? "rlhh" : "os");
    assert_int_equal(s->run_int, of_run ? 4 : 3);
    assert_true(s->run_real == (of_run ? 1 : 0.125));
    assert_int_equal(s->run_flag, !of_run);
    assert_int_equal(s->run_choice, of_run ? ROOFS_COLOUR_GREEN : ROOFS_COLOUR_RED);
    assert_string_equal(s->run_text, of_run ? "os" : "roofs");
}

static void test_new_settings_have_defaults_and_ranges(void **state)
{
    (void)state;
    roofs_settings s = usual(), other = usual();
    assert_others(&s, 0, 0);
    set_others(&other);
    assert_others(&other, 1, 1);
    assert_fine(roofs_settings_check(&s, &err));
    assert_fine(roofs_settings_check(&other, &err));
    for (int k = 0; k < ADDED; k++)
        assert_refused(roofs_settings_set(&s, added[k].name, added[k].wrong, &err),
                       ROOFS_BAD_SETTING, added[k].name, added[k].reason);
    s.new_choice = 2;
    assert_refused(roofs_settings_check(&s, &err), ROOFS_BAD_SETTING, "unknown new_choice \"2\"");
}

static void test_new_settings_are_described(void **state)
{
    roofs_setting_info info;
    (void)state;
    for (int k = 0; k < ADDED; k++) {
        assert_int_equal(roofs_setting_describe(roofs_setting_find(added[k].name), &info), 1);
        assert_string_equal(info.name, added[k].name);
        assert_int_equal(info.kind, added[k].kind);
        assert_int_equal(info.in_model, added[k].in_model);
        assert_string_equal(info.default_text, added[k].standard);
        assert_string_equal(info.help, "added by a test");
    }
    assert_string_equal(roofs_setting_choice(roofs_setting_find("run_choice"), 1), "green");
    assert_null(roofs_setting_choice(roofs_setting_find("run_choice"), 2));
}

static void test_models_record_new_settings(void **state)
{
    (void)state;
    roofs_settings s = usual();
    set_others(&s);
    json_t *object = settings_to_json(&s);
    assert_int_equal(json_integer_value(json_object_get(object, "new_int")), 9);
    assert_int_equal(json_integer_value(json_object_get(object, "new_auto")), 4);
    assert_true(json_real_value(json_object_get(object, "new_real")) == 0.25);
    assert_true(json_is_true(json_object_get(object, "new_flag")));
    assert_string_equal(json_string_value(json_object_get(object, "new_choice")), "red");
    assert_string_equal(json_string_value(json_object_get(object, "new_text")), "rlhh");
    for (int k = 0; k < ADDED; k++)
        assert_int_equal(json_object_get(object, added[k].name) != NULL, added[k].in_model);
    json_decref(object);
}

static void test_checkpoints_store_new_settings(void **state)
{
    (void)state;
    roofs_settings s = usual(), loaded, run;
    archive a = {0};
    set_others(&s);
    archive_begin_saving(&a, &err);
    settings_transfer(&s, &a);
    assert_fine(archive_end(&a));
    archive_begin_loading(&a, &err);
    settings_transfer(&loaded, &a);
    assert_fine(archive_end(&a));
    assert_others(&loaded, 1, 1);
    roofs_settings_as_saved(&run);
    assert_fine(settings_override(&loaded, &run, &err));
    assert_others(&loaded, 1, 1);
    run = usual(); /* the defaults: only those that do not belong to the model are taken over */
    assert_fine(settings_override(&loaded, &run, &err));
    assert_others(&loaded, 1, 0);
    run.run_choice = 7;
    assert_refused(settings_override(&loaded, &run, &err), ROOFS_BAD_SETTING, "run_choice");
    archive_free(&a);
}

/* A program that was compiled before the fields existed: they have their defaults. */
static void test_older_callers_get_the_defaults(void **state)
{
    enum { OLDER = offsetof(roofs_settings, new_int) };
    roofs_settings s, own;
    (void)state;
    memset(&s, 0x5a, sizeof s);
    roofs_settings_init_sized(&s, OLDER);
    for (size_t k = OLDER; k < sizeof s; k++)
        assert_int_equal(((unsigned char *)&s)[k], 0x5a);
    s.mu = 5;
    assert_fine(roofs_settings_set(&s, "batch", "33", &err));
    assert_refused(roofs_settings_set(&s, "new_int", "9", &err), ROOFS_BAD_SETTING,
                   "unknown setting");
    assert_fine(roofs_settings_check(&s, &err));
    assert_fine(settings_import(&s, &own, &err));
    assert_int_equal(own.batch, 33);
    assert_others(&own, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_settings_have_defaults_and_ranges),
        cmocka_unit_test(test_new_settings_are_described),
        cmocka_unit_test(test_models_record_new_settings),
        cmocka_unit_test(test_checkpoints_store_new_settings),
        cmocka_unit_test(test_older_callers_get_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
