/* The quirks of text tables, and the errors for broken ones. */
#include "test_stream_open.h"

static void assert_table(const char *path, const char *text, orientation orient, int64_t features,
                         int64_t n, const double *wanted, const char *const *names)
{
    roofs_block block;
    source *s = open_file(path, text, (source_options){.orient = orient});
    assert_int_equal(source_samples(s), n);
    assert_fine(source_next(s, 100, &block, &err));
    assert_int_equal(block.count, features);
    assert_same_doubles(block.values, wanted, features * n);
    assert_int_equal(block.names != NULL, names != NULL);
    for (int64_t k = 0; names && k < features; k++)
        assert_string_equal(block.names[k], names[k]);
    assert_fine(source_next(s, 100, &block, &err));
    assert_int_equal(block.count, 0);
    source_close(s);
}

static void test_features_are_columns(void **state)
{
    static const double wanted[] = {1, 4, 2, 5, 3, 6};
    static const char *const names[] = {"a", "b", "c"};
    static const char *const with_names[] = {
        "a,b,c\n1,2,3\n4,5,6\n",
        "a,b,c\r\n1,2,3\r\n4,5,6\r\n",
        "a,b,c\n1,2,3\n4,5,6",
        "a,b,c\n1,2,3\n4,5,6\n\n  \n\r\n",
        "\xef\xbb\xbf"
        "a,b,c\n1,2,3\n4,5,6\n",
        "\"a\",\"b\",\"c\"\n\"1\",\"2\",\"3\"\n4,5,6\n",
        "a;b;c\n1;2;3\n4;5;6\n",
        "a\tb\tc\n1\t2\t3\n4\t5\t6\n",
        " a , b , c \n 1 , 2,3 \n+4,5.,.6e1\n",
        " \"a\" ,b,c\n1e0,0.2E1,3\n4,5,6\n",
    };
    (void)state;
    for (size_t k = 0; k < sizeof with_names / sizeof *with_names; k++)
        assert_table("x.csv", with_names[k], ORIENT_AUTO, 3, 2, wanted, names);
    assert_table("x.tsv", "1\t2\t3\n4\t5\t6\n", ORIENT_SAMPLES, 3, 2, wanted, NULL);
    assert_table("x", "1,2,3\n4,5,6\n", ORIENT_AUTO, 3, 2, wanted, NULL);
}

static void test_odd_names_are_read(void **state)
{
    static const double wanted[] = {1, 2, 3};
    static const char *const names[] = {"a, b", "say \"hi\"", "two\nlines"};
    static const char *const numbers[] = {"10", "x", "30"};
    static const char *const holes[] = {"f0", "x", "f2"};
    (void)state;
    assert_table("x.csv", "\"a, b\",\"say \"\"hi\"\"\",\"two\nlines\"\n1,2,3\n", ORIENT_AUTO, 3, 1,
                 wanted, names);
    assert_table("x.csv", "\"10\",\"x\",\"30\"\n1,2,3\n", ORIENT_AUTO, 3, 1, wanted, numbers);
    assert_table("x.csv", ",x,\n1,2,3\n", ORIENT_AUTO, 3, 1, wanted, holes);
}

static void test_features_may_be_rows(void **state)
{
    static const double wanted[] = {1, 2, 3, 4, 5, 6};
    static const char *const names[] = {"g1", "7"};
    (void)state;
    assert_table("x.csv", "1,2,3\n4,5,6\n", ORIENT_FEATURES, 2, 3, wanted, NULL);
    assert_table("x.csv", "g1,1,2,3\n\"7\",4,5,6\n", ORIENT_FEATURES, 2, 3, wanted, names);
    assert_table("x.csv", "id,s1,s2,s3\ng1,1,2,3\n\"7\",4,5,6\n", ORIENT_FEATURES, 2, 3, wanted,
                 names);
    assert_table("x.csv", "s1,s2,s3\ng1,1,2,3\n\"7\",4,5,6\n", ORIENT_FEATURES, 2, 3, wanted,
                 names);
    assert_table("x.csv", "s1,s2,s3\n1,2,3\n4,5,6\n", ORIENT_FEATURES, 2, 3, wanted, NULL);
}

/* Longer than every buffer, with a record that does not end where the buffer does. */
static void test_long_lines_are_read(void **state)
{
    enum { WIDTH = 60000, ROWS = 4 };
    char *text = malloc(WIDTH * ROWS * 10), *at = text;
    roofs_block block;
    (void)state;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++)
            at += sprintf(at, "%d.%d%c", j, i, j + 1 < WIDTH ? ',' : '\n');
    for (int orient = ORIENT_FEATURES; orient <= ORIENT_SAMPLES; orient++) {
        int64_t features = orient == ORIENT_FEATURES ? ROWS : WIDTH;
        source *s = open_file("long.csv", text, (source_options){.orient = (orientation)orient});
        assert_fine(source_next(s, features, &block, &err));
        const double *values = block.values;
        int64_t j = 54321, i = 3;
        double got = orient == ORIENT_FEATURES ? values[i * WIDTH + j] : values[j * ROWS + i];
        assert_true(got == 54321.3);
        assert_int_equal(block.count, features);
        source_close(s);
    }
    free(text);
}

static roofs_status read_text(const char *text, orientation orient)
{
    return read_file("bad.csv", text, (source_options){.orient = orient});
}

static void test_broken_columns_are_named(void **state)
{
    const roofs_status bad = ROOFS_BAD_DATA;
    const orientation o = ORIENT_AUTO;
    (void)state;
    assert_refused(read_text("", o), bad, "bad.csv", "empty");
    assert_refused(read_text("\n\n", o), bad, "bad.csv", "empty");
    assert_refused(read_text("a,b\n", o), bad, "bad.csv", "no data");
    assert_refused(read_text("a,b\n1,2\n3\n", o), bad, "line 3", "expected 2", "found 1");
    assert_refused(read_text("a,b\n1,2\n3,4,5\n", o), bad, "line 3", "expected 2", "found 3");
    assert_refused(read_text("a,b\n1,2,\n", o), bad, "line 2", "expected 2", "found 3");
    assert_refused(read_text("a,b\n1,two\n", o), bad, "line 2", "column 2", "\"two\"");
    assert_refused(read_text("a,b\n1,2\n1,0x10\n", o), bad, "line 3", "column 2", "\"0x10\"");
    assert_refused(read_text("a,b\n1,2x\n", o), bad, "line 2", "column 2", "\"2x\"");
    assert_refused(read_text("a,b\n1,nan\n", o), bad, "line 2", "column 2", "fill missing values");
    assert_refused(read_text("1,-inf\n", o), bad, "line 1", "column 2", "not a finite");
    assert_refused(read_text("a,b\n,2\n", o), bad, "line 2", "column 1", "empty",
                   "fill missing values");
    assert_refused(read_text("a,b\n1,1e999\n", o), bad, "line 2", "column 2", "too large");
    assert_refused(read_text("a;b\n1,5;2\n", o), bad, "line 2", "column 1", "decimal");
    assert_refused(read_text("a,b\n1,2\n\n3,4\n", o), bad, "line 3", "blank");
    assert_refused(read_text("a,\"b\n1,2\n", o), bad, "line 1", "quote");
    assert_refused(read_text("\"a\nb\",c\n1,x\n", o), bad, "line 3", "column 2");
    assert_refused(read_text("1,\"2\"3\n", o), bad, "line 1", "column 2", "not clearly");
    assert_refused(read_text("10,x,30\n1,2,3\n", o), bad, "line 1", "column 2", "--header");
    assert_refused(read_text("a,M\xfcller\n1,2\n", o), bad, "line 1", "column 2", "UTF-8");
    assert_refused(read_text("a,\xed\xa0\x80\n1,2\n", o), bad, "line 1", "column 2", "UTF-8");
    assert_refused(read_text("a,\xe2\x82\n1,2\n", o), bad, "line 1", "column 2", "UTF-8");
    assert_int_equal(read_text("M\xc3\xbcller,\xe2\x82\xac,\xf0\x9f\x98\x80\n1,2,3\n", o),
                     ROOFS_OK);
}

static void test_broken_rows_are_named(void **state)
{
    const roofs_status bad = ROOFS_BAD_DATA;
    const orientation o = ORIENT_FEATURES;
    (void)state;
    assert_refused(read_text("g,1,2\nh,1\n", o), bad, "line 2", "expected 3", "found 2");
    assert_refused(read_text("1,2\nh,1\n", o), bad, "line 2", "column 1", "\"h\"");
    assert_refused(read_text("g,1,x\n", o), bad, "line 1", "column 3", "\"x\"");
    assert_refused(read_text("g,1,\n", o), bad, "line 1", "column 3", "empty");
    assert_refused(read_text("g,nan,nan\n", o), bad, "line 1", "column 2", "fill missing values");
    assert_refused(read_text("g\nh\n", o), bad, "line 1", "without values");
    assert_refused(read_text("id,a,b\n", o), bad, "bad.csv", "no data");
}

static void test_binary_is_not_text(void **state)
{
    const char *path = "bad.csv";
    source *s;
    source_options options = {0};
    (void)state;
    put_bytes(path,
              "1\0,\0"
              "2\0\n",
              8);
    assert_refused(source_open(&s, &path, 1, &options, &err), ROOFS_BAD_DATA, "bad.csv", "UTF-16");
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_are_columns),
        cmocka_unit_test(test_odd_names_are_read),
        cmocka_unit_test(test_features_may_be_rows),
        cmocka_unit_test(test_long_lines_are_read),
        cmocka_unit_test(test_broken_columns_are_named),
        cmocka_unit_test(test_broken_rows_are_named),
        cmocka_unit_test(test_binary_is_not_text),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
