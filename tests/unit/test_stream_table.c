/* Tables: dates, words, recipes, and the features that come of them. */
#include "test_stream_open.h"

#include "base/memory.h"
#include "stream/name_list.h"
#include "table/levels.h"
#include "table/recipe.h"

#include <math.h>

/* ---- dates ------------------------------------------------------------- */

static double days_of(const char *text, date_order order)
{
    double days = NAN;
    return date_read(text, text + strlen(text), order, &days) == DATE_FINE ? days : NAN;
}

static void test_dates_count_days(void **state)
{
    (void)state;
    assert_true(days_of("1970-01-01", DATE_ORDER_NONE) == 0);
    assert_true(days_of("1969-12-31", DATE_ORDER_NONE) == -1);
    assert_true(days_of("2000-02-29", DATE_ORDER_NONE) == 11016);
    assert_true(days_of("1900-03-01", DATE_ORDER_NONE) == -25508);
    assert_true(days_of("3.4.2020", DATE_ORDER_NONE) == days_of("2020-04-03", DATE_ORDER_NONE));
    assert_true(days_of("3/4/2020", DATE_ORDER_DMY) == days_of("2020/4/3", DATE_ORDER_NONE));
    assert_true(days_of("3/4/2020", DATE_ORDER_MDY) == days_of("2020-03-04", DATE_ORDER_NONE));
    assert_true(days_of("1970-01-02T12:00", DATE_ORDER_NONE) == 1.5);
    assert_true(days_of("1970-01-02 06:00:00.000Z", DATE_ORDER_NONE) == 1.25);
    assert_true(days_of("1970-01-02T02:00+02:00", DATE_ORDER_NONE) == 1);
    assert_true(days_of("1970-01-01T22:00-0200", DATE_ORDER_NONE) == 1);
}

static void test_other_texts_are_no_dates(void **state)
{
    static const char *const wrong[] = {
        "1900-02-29",       "2020-13-01", "2020-00-10",  "2020-1-",          "2020-01-32",
        "20200101",         "2020-01/01", "2020-01-01x", "2020-01-01T25:00", "1-2-3",
        "2020-01-01T1:2:3", "3/4/2020",   "192.168.1.1"};
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (!isnan(days_of(wrong[k], DATE_ORDER_NONE)))
            fail_msg("%s is taken for a date", wrong[k]);
    double days;
    assert_int_equal(date_read("3/4/2020", "3/4/2020" + 8, DATE_ORDER_NONE, &days), DATE_UNCLEAR);
}

static void test_parts_of_dates_are_found(void **state)
{
    const double days = days_of("2026-11-16T23:59:59", DATE_ORDER_NONE); /* a Monday */
    (void)state;
    assert_int_equal(date_weekday(days), 0);
    assert_int_equal(date_month(days), 10);
    assert_int_equal(date_hour(days), 23);
    assert_int_equal(date_weekday(-4), 6); /* 1969-12-28, a Sunday */
    assert_int_equal(date_month(-1), 11);
    for (int64_t day = -80000; day < 80000; day += 7) /* every month begins with its first day */
        assert_in_range(date_month((double)day), 0, 11);
}

/* ---- words ------------------------------------------------------------- */

static void test_words_have_codes_in_order(void **state)
{
    enum { WORDS = 3000 };
    levels l = {0};
    char word[64];
    (void)state;
    for (int round = 0; round < 2; round++)
        for (int64_t k = 0; k < WORDS; k++) {
            const int length = snprintf(word, sizeof word, "%.*s%d", (int)(k % 31),
                                        "a long word that repeats itself", (int)k);
            const int64_t code = levels_find(&l, word, length);
            assert_int_equal(code, round ? k : -1);
            if (!round)
                assert_fine(levels_add(&l, word, length, &err));
        }
    assert_int_equal(levels_find(&l, "", 0), -1);
    levels_free(&l);
}

static void test_lists_match_names_and_globs(void **state)
{
    names list = {0};
    const char *text = "a,x*,b c,[z";
    (void)state;
    assert_fine(name_list_split(text, &list, &err));
    assert_int_equal(list.count, 4);
    assert_int_equal(name_list_find(&list, text, "a"), 0);
    assert_int_equal(name_list_find(&list, text, "xyz"), 1);
    assert_int_equal(name_list_find(&list, text, "[z"), 3);
    assert_int_equal(name_list_find(&list, text, "ab"), -1);
    assert_int_equal(name_list_find(&list, text, text), 0);
    names_free(&list);
}

/* ---- features ---------------------------------------------------------- */

static void assert_features(const roofs_block *b, const char *const *wanted, const double *values)
{
    for (int64_t k = 0; k < b->count; k++)
        assert_string_equal(b->names[k], wanted[k]);
    for (int64_t k = 0; k < b->count * b->n; k++)
        if (value_at(b, k) != values[k])
            fail_msg("value %d is %g, not %g", (int)k, value_at(b, k), values[k]);
}

static const char *const mixed = "s,day,w,n\nb,1970-01-02,yes,1\na,1970-01-03,no,NA\nc,,no,3\n"
                                 "a,1970-01-05,yes,5\nb,1970-01-06,yes,6\na,1970-01-01,no,0\n";

static void test_columns_become_features(void **state)
{
    static const char *const wanted[] = {"s=a", "s=b", "s=c",         "day", "day is missing",
                                         "w",   "n",   "n is missing"};
    static const double values[] = {0, 1, 0, 1, 0,   1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0,
                                    0, 0, 1, 2, 2.4, 4, 5, 0, 0, 0, 1, 0, 0, 0, 1, 0,
                                    0, 1, 1, 0, 1,   3, 3, 5, 6, 0, 0, 1, 0, 0, 0, 0};
    const table_options table = {.max_levels = 3};
    const source_options options = {.missing = MISSING_INDICATOR, .table = &table};
    source *s = open_file("x.csv", mixed, options);
    roofs_block block;
    (void)state;
    assert_int_equal(source_features(s), 8);
    assert_fine(source_next(s, 100, &block, &err));
    assert_int_equal(block.count, 8);
    assert_features(&block, wanted, values);
    assert_int_equal(source_missing(s).values, 2);
    source_close(s);
}

/* One feature at a time, with everything in a temporary file: the same values. */
static void test_features_do_not_depend_on_blocks(void **state)
{
    const table_options table = {.max_levels = 3, .date_parts = 1};
    const source_options options = {.missing = MISSING_MEDIAN, .table = &table},
                         small = {.missing = MISSING_MEDIAN, .table = &table, .transpose_bytes = 1};
    source *s = open_file("x.csv", mixed, options);
    roofs_block all, one;
    int64_t k = 0;
    (void)state;
    assert_fine(source_next(s, 100, &all, &err));
    source *t = open_file("x.csv", mixed, small);
    for (;; k++) {
        assert_fine(source_next(t, 1, &one, &err));
        if (one.count == 0)
            break;
        assert_string_equal(one.names[0], all.names[k]);
        for (int64_t i = 0; i < one.n; i++)
            assert_true(value_at(&one, i) == value_at(&all, k * one.n + i));
    }
    assert_int_equal(k, all.count);
    source_close(s);
    source_close(t);
}

static void test_recipes_survive_json(void **state)
{
    const table_options table = {.categories = "s", .max_levels = 2, .date_parts = 1};
    const source_options options = {.missing = MISSING_MEAN, .table = &table};
    source *s = open_file("x.csv", mixed, options);
    roofs_block block;
    json_t *list;
    recipe r;
    (void)state;
    assert_fine(source_next(s, 100, &block, &err));
    assert_fine(source_recipes(s, &list, &err));
    json_t *object = json_pack("{s:O, s:s}", "columns", list, "missing", "mean");
    char *text = json_dumps(object, JSON_REAL_PRECISION(17));
    assert_fine(recipe_parse(&r, text, &err));
    assert_int_equal(r.count, json_array_size(list));
    assert_int_equal(r.missing, MISSING_MEAN);
    for (int64_t k = 0; k < r.count; k++) {
        json_t *again = recipe_column_to_json(&r.columns[k]);
        assert_true(json_equal(again, json_array_get(list, (size_t)k)));
        json_decref(again);
    }
    const table_options fitted = {.fitted = &r};
    const source_options apply = {.missing = MISSING_MEAN, .table = &fitted};
    source *t = open_file("y.csv", "n,x,w,s,day\n,q,no,zz,1970-01-02\n", apply);
    assert_fine(source_check_fitted(t, &err));
    assert_fine(source_next(t, 2, &block, &err));
    assert_string_equal(block.names[0], "n");
    assert_true(value_at(&block, 0) == 3); /* the mean of the fit */
    assert_true(value_at(&block, 1) == 0);
    assert_int_equal(source_notes(t)->count, 1); /* zz is a new word */
    source_close(t);
    source_close(s);
    recipe_free(&r);
    free(text);
    json_decref(object);
    json_decref(list);
}

static void test_damaged_recipes_are_refused(void **state)
{
    static const char *const damaged[] = {
        "",
        "[]",
        "{\"columns\": 1}",
        "{\"columns\": [1]}",
        "{\"columns\": [{\"name\": \"a\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"kind\": \"none\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"kind\": \"category\"}]}",
        "{\"columns\": [{\"name\": \"a\", \"kind\": \"category\", \"levels\": [1]}]}",
        "{\"columns\": [{\"name\": \"a\", \"kind\": \"date\", \"order\": \"ymd\"}]}",
        "{\"columns\": [], \"missing\": \"guess\"}",
    };
    recipe r;
    (void)state;
    for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++)
        assert_refused(recipe_parse(&r, damaged[k], &err), ROOFS_BAD_DATA, "damaged");
}

static void test_words_are_refused_without_options(void **state)
{
    (void)state;
    assert_refused(read_file("x.csv", "a,b\n1,x\n", (source_options){0}), ROOFS_BAD_DATA, "line 2",
                   "column 2 (\"b\")", "\"x\" is not a number");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates_count_days),
        cmocka_unit_test(test_other_texts_are_no_dates),
        cmocka_unit_test(test_parts_of_dates_are_found),
        cmocka_unit_test(test_words_have_codes_in_order),
        cmocka_unit_test(test_lists_match_names_and_globs),
        cmocka_unit_test(test_columns_become_features),
        cmocka_unit_test(test_features_do_not_depend_on_blocks),
        cmocka_unit_test(test_recipes_survive_json),
        cmocka_unit_test(test_damaged_recipes_are_refused),
        cmocka_unit_test(test_words_are_refused_without_options),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
