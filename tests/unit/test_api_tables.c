/* Tables in memory: columns of words, dates and numbers as features. */
#include "test_base_help.h"

#include <math.h>
#include <string.h>

enum { N = 8 };

static roofs_error err;

static const char *const streets[] = {"west", "east ", "north", "east", "NA", "south"};
static const int64_t street_codes[N] = {0, 1, 2, 3, 0, 1, 2, 3}; /* of streets: two of them equal */
static const double areas[N] = {1, 2, 3, 4, 5, 6, 7, NAN};
static const char *const dates[] = {"1970-01-02", "1970-02-01 12:00"};
static const int64_t date_codes[N] = {0, 1, 0, 1, 0, 1, 0, 1};
static const char *const answers[] = {"Yes", "no"};
static const char *const prices[] = {"1,234.5", "2", "yes", "?"};
static const int64_t price_codes[N] = {0, 1, 2, 3, -1, 0, 0, 0};

static const roofs_column street = {.name = "street",
                                    .kind = ROOFS_COLUMN_WORDS,
                                    .words = streets,
                                    .word_count = 6,
                                    .codes = street_codes};
static const roofs_column area = {.name = "area", .values = areas};
static const roofs_column sold = {.name = "sold",
                                  .kind = ROOFS_COLUMN_WORDS,
                                  .words = dates,
                                  .word_count = 2,
                                  .codes = date_codes};
static const roofs_column garden = {.name = "garden",
                                    .kind = ROOFS_COLUMN_WORDS,
                                    .words = answers,
                                    .word_count = 2,
                                    .codes = date_codes};

static roofs_table *create(const roofs_column *columns, int64_t count,
                           const roofs_table_options *options)
{
    roofs_table *t;
    assert_fine(roofs_table_create(&t, columns, count, N, options, &err));
    return t;
}

static void assert_feature(const roofs_table *t, int64_t k, const char *name,
                           const double expected[N])
{
    double values[N];
    assert_string_equal(roofs_table_feature_name(t, k), name);
    assert_fine(roofs_table_read(t, k, 1, values, &err));
    assert_memory_equal(values, expected, sizeof values);
}

static void test_columns_become_features(void **state)
{
    const roofs_column columns[] = {street, area, sold, garden};
    const roofs_table_options options = {.missing = ROOFS_MISSING_INDICATOR};
    (void)state;
    roofs_table *t = create(columns, 4, &options);
    assert_int_equal(roofs_table_features(t), 7);
    assert_feature(t, 0, "street=east", (double[N]){0, 1, 0, 1, 0, 1, 0, 1});
    assert_feature(t, 1, "street=north", (double[N]){0, 0, 1, 0, 0, 0, 1, 0});
    assert_feature(t, 2, "street=west", (double[N]){1, 0, 0, 0, 1, 0, 0, 0});
    assert_feature(t, 3, "area", (double[N]){1, 2, 3, 4, 5, 6, 7, 4});
    assert_feature(t, 4, "area is missing", (double[N]){0, 0, 0, 0, 0, 0, 0, 1});
    assert_feature(t, 5, "sold", (double[N]){1, 31.5, 1, 31.5, 1, 31.5, 1, 31.5});
    assert_feature(t, 6, "garden", (double[N]){1, 0, 1, 0, 1, 0, 1, 0});
    assert_null(roofs_table_feature_name(t, 7));
    assert_null(roofs_table_note(t, 0));
    double values[N];
    assert_refused(roofs_table_read(t, 6, 2, values, &err), ROOFS_BAD_CALL, "table that has 7");
    roofs_table_destroy(t);
}

static void test_rare_levels_and_date_parts_are_features(void **state)
{
    roofs_column columns[] = {street, sold};
    const roofs_table_options options = {.max_levels = 2, .date_parts = 1};
    columns[0].kind = ROOFS_COLUMN_CATEGORY;
    (void)state;
    roofs_table *t = create(columns, 2, &options);
    assert_int_equal(roofs_table_features(t), 3 + 1 + 7 + 12 + 24);
    assert_feature(t, 0, "street=east", (double[N]){0, 1, 0, 1, 0, 1, 0, 1});
    assert_feature(t, 1, "street=north", (double[N]){0, 0, 1, 0, 0, 0, 1, 0});
    assert_feature(t, 2, "street=(rare)", (double[N]){1, 0, 0, 0, 1, 0, 0, 0});
    assert_feature(t, 8, "sold weekday=Fri", (double[N]){1, 0, 1, 0, 1, 0, 1, 0});
    assert_feature(t, 12, "sold month=02", (double[N]){0, 1, 0, 1, 0, 1, 0, 1});
    roofs_table_destroy(t);
    columns[0].kind = ROOFS_COLUMN_WORDS; /* not asked for: left out, with a message */
    t = create(columns, 2, &options);
    assert_int_equal(roofs_table_features(t), 1 + 7 + 12 + 24);
    assert_non_null(strstr(roofs_table_note(t, 0), "\"street\" is left out: it has more than 2"));
    roofs_table_destroy(t);
}

static void test_dropped_features_are_zero(void **state)
{
    const roofs_table_options options = {.missing = ROOFS_MISSING_DROP_FEATURE};
    (void)state;
    roofs_table *t = create(&area, 1, &options);
    assert_feature(t, 0, "area", (double[N]){0});
    roofs_table_destroy(t);
}

static void refuse(const roofs_column *columns, int64_t count, const roofs_table_options *options,
                   roofs_status status, const char *text)
{
    roofs_table *t;
    assert_refused(roofs_table_create(&t, columns, count, N, options, &err), status, text);
    assert_null(t);
}

static void test_values_that_do_not_fit_are_refused(void **state)
{
    static const char *const mixed[] = {"west", "1.5", "1970-01-01", "1,5", "inf"};
    int64_t codes[N] = {0, 1, 0, 0, 0, 0, 0, 0};
    roofs_column c = street;
    const roofs_column twice[] = {street, street};
    (void)state;
    c.words = mixed;
    c.word_count = 5;
    c.codes = codes;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "column \"street\", sample 1");
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "is a number, but other values are words");
    codes[1] = 2;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "is a date, but other values are other words");
    codes[1] = 3;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "see the options decimal-comma and thousands");
    codes[0] = 1;
    codes[1] = 0;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "is not a number, as other values of the column are");
    codes[1] = 4;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "is not a finite number");
    codes[0] = 2;
    refuse(&c, 1, NULL, ROOFS_BAD_DATA, "is not a date, as other values are");
    codes[1] = 5;
    refuse(&c, 1, NULL, ROOFS_BAD_CALL, "sample 1 (counted from 0): there is no word 5");
    refuse(twice, 2, NULL, ROOFS_BAD_DATA, "two columns have the name \"street\"");
    refuse(&area, 1, NULL, ROOFS_BAD_DATA, "column \"area\" has 1 missing values");
    c = area;
    c.values = NULL;
    refuse(&c, 1, NULL, ROOFS_BAD_CALL, "has no values");
    c.kind = 9;
    refuse(&c, 1, NULL, ROOFS_BAD_CALL, "9 is not a kind of columns");
    c.name = NULL;
    refuse(&c, 1, NULL, ROOFS_BAD_CALL, "column 0 has no name");
    refuse(&street, 1, &(roofs_table_options){.missing = 9}, ROOFS_BAD_SETTING, "missing: 9");
    refuse(&street, 1, &(roofs_table_options){.max_levels = 1}, ROOFS_BAD_SETTING, "max_levels");
    refuse(&street, 1, &(roofs_table_options){.date_order = 3}, ROOFS_BAD_SETTING, "date_order");
    refuse(&street, -1, NULL, ROOFS_BAD_CALL, "a table of -1 columns");
}

static void test_texts_become_responses(void **state)
{
    const roofs_column price = {.name = "price",
                                .kind = ROOFS_COLUMN_WORDS,
                                .words = prices,
                                .word_count = 4,
                                .codes = price_codes};
    const roofs_table_options options = {.thousands = 1};
    double y[N];
    (void)state;
    assert_fine(roofs_column_numbers(&price, N, &options, y, &err));
    assert_true(y[0] == 1234.5 && y[1] == 2 && y[2] == 1 && isnan(y[3]) && isnan(y[4]));
    assert_refused(roofs_column_numbers(&price, N, NULL, y, &err), ROOFS_BAD_DATA, "thousands");
    assert_refused(roofs_column_numbers(&street, N, NULL, y, &err), ROOFS_BAD_DATA, "\"west\"");
    assert_fine(roofs_column_numbers(&area, N, NULL, y, &err));
    assert_memory_equal(y, areas, sizeof y);
}

/* ---- models ------------------------------------------------------------ */

static roofs_model *fit(const roofs_table *t, const double *y)
{
    roofs_settings s;
    roofs_estimator *e;
    roofs_model *m;
    double values[N];
    roofs_settings_init(&s);
    s.method = "torrent";
    s.mu = 10;
    s.clean_ratio = 1;
    assert_fine(roofs_create(&e, &s, y, N, &err));
    for (int64_t k = 0; k < roofs_table_features(t); k++) {
        const char *name = roofs_table_feature_name(t, k);
        assert_fine(roofs_table_read(t, k, 1, values, &err));
        roofs_block b = {.count = 1,
                         .n = N,
                         .values = values,
                         .feature_stride = N,
                         .sample_stride = 1,
                         .names = &name};
        assert_fine(roofs_consume(e, &b, &err));
    }
    assert_fine(roofs_finish(e, &err));
    assert_fine(roofs_model_create(&m, e, &err));
    assert_fine(roofs_table_store(t, m, &err));
    roofs_destroy(e);
    return m;
}

static void test_model_reads_other_tables(void **state)
{
    static const char *const ids[N] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    const roofs_column columns[] = {street, area, garden};
    const roofs_table_options options = {
        .missing = ROOFS_MISSING_MEAN, .response = "price", .id = "number", .ids = ids};
    const double y[N] = {3, 1, 4, 1, 5, 9, 2, 6};
    double here[N], there[N];
    roofs_table *t, *other;
    (void)state;
    t = create(columns, 3, &options);
    roofs_model *m = fit(t, y);
    roofs_result v;
    roofs_model_view(m, &v);
    assert_non_null(strstr(roofs_model_table(m), "\"response\":\"price\",\"id\":\"number\""));
    roofs_column moved[] = {garden, sold, area, street};
    assert_fine(roofs_table_apply(&other, m, moved, 4, N, &err));
    assert_int_equal(roofs_table_features(other), v.selected);
    for (int64_t k = 0; k < v.selected; k++) {
        assert_string_equal(roofs_table_feature_name(other, k), v.features[k].name);
        assert_fine(roofs_table_read(other, k, 1, there, &err));
        assert_fine(roofs_table_read(t, v.features[k].index, 1, here, &err));
        assert_memory_equal(here, there, sizeof here);
    }
    assert_null(roofs_table_note(other, 0));
    assert_refused(roofs_table_store(other, m, &err), ROOFS_BAD_CALL, "roofs_table_apply");
    roofs_table_destroy(other);

    int64_t codes[N] = {5, 5, 0, 0, 0, 0, 4, -1};
    moved[3].codes = codes; /* two unknown words, and two missing ones */
    assert_fine(roofs_table_apply(&other, m, moved, 4, N, &err));
    assert_string_equal(roofs_table_note(other, 0),
                        "column \"street\": 2 values are words that the fit did not have; they "
                        "match none of its levels");
    roofs_table_destroy(other);
    assert_refused(roofs_table_apply(&other, m, moved, 3, N, &err), ROOFS_BAD_DATA,
                   "the table has no column \"street\", which the model uses");
    moved[3].kind = ROOFS_COLUMN_NUMBERS;
    moved[3].values = areas;
    assert_refused(roofs_table_apply(&other, m, moved, 4, N, &err), ROOFS_BAD_DATA,
                   "held words in the fit, but it holds numbers here");
    moved[3] = street;
    moved[0].words = streets;
    assert_refused(roofs_table_apply(&other, m, moved, 4, N, &err), ROOFS_BAD_DATA,
                   "is not yes or no, as in the fit");
    roofs_model_destroy(m);
    roofs_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_become_features),
        cmocka_unit_test(test_rare_levels_and_date_parts_are_features),
        cmocka_unit_test(test_dropped_features_are_zero),
        cmocka_unit_test(test_values_that_do_not_fit_are_refused),
        cmocka_unit_test(test_texts_become_responses),
        cmocka_unit_test(test_model_reads_other_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
