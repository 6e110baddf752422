/* Every row of the settings table: default, ends of the range, and what lies beyond. */
#include "test_base_help.h"

#include <stddef.h>

/* The offset of each field, from the table itself: a new setting is tested, too. */
static const struct place {
    const char *name;
    size_t offset;
} places[] = {
#define PLACE(field) {#field, offsetof(roofs_settings, field)},
#define INT(field, scope, standard, low, high, help) PLACE(field)
#define AUTO(field, scope, high, help) PLACE(field)
#define REAL(field, scope, standard, low, high, help) PLACE(field)
#define FLAG(field, scope, standard, help) PLACE(field)
#define TEXT(field, scope, words, standard, help) PLACE(field)
#define CHOICE(field, scope, list, standard, help) PLACE(field)
#include "api/settings.def"
};

static void *field_at(roofs_settings *s, int64_t k)
{
    return (char *)s + places[k].offset;
}

static roofs_settings usual(void)
{
    roofs_settings s;
    memset(&s, 0x5a, sizeof s); /* init must fill every field */
    roofs_settings_init(&s);
    s.mu = 5;
    return s;
}

static void put_number(roofs_settings *s, int64_t k, roofs_setting_kind kind, double value)
{
    if (kind == ROOFS_SETTING_REAL)
        *(double *)field_at(s, k) = value;
    else
        *(int64_t *)field_at(s, k) = value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

/* The number next to the range, below or above. */
static double beyond(const roofs_setting_info *info, int above)
{
    if (info->kind == ROOFS_SETTING_REAL)
        return above ? nextafter(info->high, INFINITY) : nextafter(info->low, -INFINITY);
    return above ? info->high + 1 : info->low - 1;
}

static int has_words(const roofs_setting_info *info)
{
    return info->kind == ROOFS_SETTING_TEXT || info->kind == ROOFS_SETTING_CHOICE;
}

static void test_table_describes_every_field(void **state)
{
    roofs_setting_info info;
    const int64_t count = (int64_t)(sizeof places / sizeof *places);
    (void)state;
    for (int64_t k = 0; k < count; k++) {
        assert_int_equal(roofs_setting_describe(k, &info), 1);
        assert_string_equal(info.name, places[k].name);
        assert_true(strlen(info.help) > 5);
        assert_true(has_words(&info) || info.low < info.high);
        assert_int_equal(has_words(&info), roofs_setting_choice(k, 0) != NULL);
        assert_int_equal(roofs_setting_find(info.name), k);
    }
    assert_int_equal(roofs_setting_describe(count, &info), 0);
    assert_int_equal(roofs_setting_describe(-1, &info), 0);
    assert_null(roofs_setting_choice(-1, 0));
    assert_null(roofs_setting_choice(count, 0));
    assert_int_equal(roofs_setting_find("nothing"), -1);
}

/* The default as text and the default as a value are the same, and allowed. */
static void test_defaults_are_valid(void **state)
{
    roofs_setting_info info;
    roofs_error err;
    (void)state;
    for (int64_t k = 0; roofs_setting_describe(k, &info); k++) {
        roofs_settings plain = usual(), set = usual();
        roofs_settings_init(&plain);
        roofs_settings_init(&set);
        assert_fine(roofs_settings_check(&plain, &err));
        if (info.kind == ROOFS_SETTING_TEXT)
            assert_string_equal(*(const char **)field_at(&plain, k), info.default_text);
        else if (info.kind == ROOFS_SETTING_CHOICE)
            *(int64_t *)field_at(&set, k) = 99;
        else
            put_number(&set, k, info.kind, info.high); /* so that setting it back shows */
        assert_fine(roofs_settings_set(&set, info.name, info.default_text, &err));
        if (info.kind != ROOFS_SETTING_TEXT)
            assert_memory_equal(&plain, &set, sizeof plain);
    }
}

/* Through text: both ends are fine, one step beyond names the setting and changes nothing. */
static void test_ranges_hold_by_name(void **state)
{
    roofs_setting_info info;
    roofs_error err;
    (void)state;
    for (int64_t k = 0; roofs_setting_describe(k, &info); k++) {
        if (has_words(&info))
            continue;
        const int real = info.kind == ROOFS_SETTING_REAL;
        const char *format = real ? "%.17g" : "%.0f";
        roofs_settings s = usual(), before;
        char text[60];
        snprintf(text, sizeof text, format, info.low);
        assert_fine(roofs_settings_set(&s, info.name, text, &err));
        if (info.high < 0x1p63) {
            snprintf(text, sizeof text, format, info.high);
            assert_fine(roofs_settings_set(&s, info.name, text, &err));
            assert_fine(roofs_settings_check(&s, &err));
        }
        before = s;
        const char *wrong[] = {"",
                               "x",
                               "5x",
                               "1,5",
                               "nan",
                               "inf",
                               "-inf",
                               "1e999",
                               "--1",
                               "0x",
                               "9223372036854775808",
                               NULL,
                               NULL};
        char low[60], high[60];
        snprintf(low, sizeof low, format, beyond(&info, 0));
        snprintf(high, sizeof high, format, beyond(&info, 1));
        wrong[11] = low;
        wrong[12] = high;
        for (int w = 0; w < 13; w++) {
            assert_refused(roofs_settings_set(&s, info.name, wrong[w], &err), ROOFS_BAD_SETTING,
                           info.name, "between");
            assert_memory_equal(&s, &before, sizeof s);
            assert_int_equal(roofs_settings_set(&s, info.name, wrong[w], NULL), ROOFS_BAD_SETTING);
        }
        if (!real)
            assert_refused(roofs_settings_set(&s, info.name, "1.5", &err), ROOFS_BAD_SETTING,
                           info.name, "whole number");
    }
}

static void test_ranges_hold_in_the_struct(void **state)
{
    roofs_setting_info info;
    roofs_error err;
    (void)state;
    for (int64_t k = 0; roofs_setting_describe(k, &info); k++) {
        if (has_words(&info))
            continue;
        const int real = info.kind == ROOFS_SETTING_REAL;
        const double wrong[] = {beyond(&info, 0), beyond(&info, 1), NAN, INFINITY, -INFINITY};
        for (int w = 0; w < (real ? 5 : 2); w++) {
            roofs_settings s = usual();
            if (!real && info.high >= 0x1p63 && w == 1)
                continue; /* no larger number exists */
            put_number(&s, k, info.kind, wrong[w]);
            assert_refused(roofs_settings_check(&s, &err), ROOFS_BAD_SETTING, info.name);
            assert_int_equal(roofs_settings_check(&s, NULL), ROOFS_BAD_SETTING);
            roofs_estimator *e = (roofs_estimator *)&s;
            assert_refused(roofs_create(&e, &s, (double[]){1, 2, 3, 4}, 4, &err), ROOFS_BAD_SETTING,
                           info.name);
            assert_null(e);
        }
        for (int end = 0; end < 2; end++) {
            roofs_settings s = usual();
            put_number(&s, k, info.kind, end ? info.high : info.low);
            assert_fine(roofs_settings_check(&s, &err));
        }
    }
}

/* Every setting that is a word: its words are taken, others are refused with the choice. */
static void test_words_are_taken_or_refused(void **state)
{
    static const char *const wrong[] = {"", "Roofs", "roofs ", "f16", "AUTO", "unknown"};
    roofs_setting_info info;
    roofs_error err;
    (void)state;
    for (int64_t k = 0; roofs_setting_describe(k, &info); k++) {
        if (!has_words(&info))
            continue;
        for (int w = 0; w < 6; w++) {
            char expected[80];
            roofs_settings s = usual(), before = s;
            snprintf(expected, sizeof expected, "unknown %s \"%s\"; choose one of: %s", info.name,
                     wrong[w], roofs_setting_choice(k, 0));
            assert_refused(roofs_settings_set(&s, info.name, wrong[w], &err), ROOFS_BAD_SETTING,
                           expected);
            assert_memory_equal(&s, &before, sizeof s);
            if (info.kind == ROOFS_SETTING_TEXT)
                *(const char **)field_at(&s, k) = w ? wrong[w] : NULL;
            else
                *(int64_t *)field_at(&s, k) = w ? w + 10 : -1;
            assert_refused(roofs_settings_check(&s, &err), ROOFS_BAD_SETTING, info.name,
                           "choose one of: ");
        }
        for (int64_t c = 0; roofs_setting_choice(k, c); c++) {
            roofs_settings s = usual();
            assert_fine(roofs_settings_set(&s, info.name, roofs_setting_choice(k, c), &err));
            assert_fine(roofs_settings_check(&s, &err));
            if (info.kind == ROOFS_SETTING_CHOICE)
                assert_int_equal(*(int64_t *)field_at(&s, k), c);
        }
    }
    roofs_settings s = usual();
    assert_fine(roofs_settings_set(&s, "storage", "f32", &err));
    assert_int_equal(s.storage, ROOFS_STORAGE_F32);
}

/* A method describes what it can do; the error for what it cannot do names those that can. */
static void test_methods_describe_what_they_can(void **state)
{
    const double y[] = {1, 2, 3, 5};
    roofs_method_info info;
    roofs_error err;
    int64_t k = 0;
    (void)state;
    for (; roofs_method_describe(k, &info); k++) {
        roofs_settings reserve = usual(), joint = usual();
        roofs_estimator *e;
        assert_string_equal(info.name, roofs_method_name(k));
        assert_string_equal(info.summary, roofs_method_summary(k));
        assert_int_equal(roofs_method_find(info.name), k);
        reserve.method = joint.method = info.name;
        reserve.reserve = 1;
        joint.reading = ROOFS_READING_JOINT;
        reserve.clean_ratio = joint.clean_ratio = 0.8;
        assert_int_equal(roofs_create(&e, &reserve, y, 4, &err) == ROOFS_OK, info.reserve);
        assert_true(e ||
                    strstr(err.text, "cannot keep a reserve (reserve must be 0); these can: "));
        roofs_destroy(e);
        assert_int_equal(roofs_create(&e, &joint, y, 4, &err) == ROOFS_OK, info.joint);
        assert_true(e || strstr(err.text, "these can: torrent, rlhh, homotopy, dalm"));
        roofs_destroy(e);
    }
    assert_string_equal(roofs_method_name(0), "roofs");
    assert_null(roofs_method_name(-1));
    assert_null(roofs_method_summary(-1));
    assert_null(roofs_method_name(k));
    assert_null(roofs_method_summary(k));
    assert_int_equal(roofs_method_describe(-1, &info), 0);
    assert_int_equal(roofs_method_find("nothing"), -1);
}

static void test_unknown_names_are_refused(void **state)
{
    static const char *const names[] = {"", "Mu", "mu ", "clean-ratio", "nothing"};
    roofs_error err;
    (void)state;
    for (int k = 0; k < 5; k++) {
        roofs_settings s = usual(), before = s;
        assert_refused(roofs_settings_set(&s, names[k], "1", &err), ROOFS_BAD_SETTING,
                       "unknown setting", names[k]);
        assert_memory_equal(&s, &before, sizeof s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_describes_every_field),
        cmocka_unit_test(test_defaults_are_valid),
        cmocka_unit_test(test_ranges_hold_by_name),
        cmocka_unit_test(test_ranges_hold_in_the_struct),
        cmocka_unit_test(test_words_are_taken_or_refused),
        cmocka_unit_test(test_methods_describe_what_they_can),
        cmocka_unit_test(test_unknown_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
