/* LIBSVM text: good files, and the errors for broken ones. */
#include "test_stream_open.h"

/* The features as "sample:value" texts, one feature after the other, ended by ";". */
static void assert_features(source *s, int64_t together, const char *wanted)
{
    char got[400] = "";
    roofs_block b;
    do {
        assert_fine(source_next(s, together, &b, &err));
        assert_non_null(b.starts);
        for (int64_t k = 0; k < b.count; k++) {
            const int64_t *starts = b.starts, *samples = b.samples;
            for (int64_t at = starts[k]; at < starts[k + 1]; at++) {
                size_t used = strlen(got);
                snprintf(got + used, sizeof got - used, "%lld:%g ", (long long)samples[at],
                         ((const double *)b.values)[at]);
            }
            strcat(got, ";");
        }
    } while (b.count > 0);
    assert_string_equal(got, wanted);
    source_close(s);
}

static void test_features_and_labels_are_read(void **state)
{
    static const char *const from_1[] = {
        "3 1:0.5 3:2\n-1 2:1e2\n",
        "3 1:0.5 3:2\n-1 2:1e2",
        "3 1:0.5 3:2\r\n-1 2:1e2\r\n",
        "# by \"hand\n\n3 qid:7 1:0.5 3:2 # first\n   \n-1 qid:8\t2:1e2\n# end\n",
        "+3  1:5e-1   3:+2 \n-1 2:100 3:0 \n",
    };
    (void)state;
    for (size_t k = 0; k < sizeof from_1 / sizeof *from_1; k++) {
        source *s = open_file("x.svm", from_1[k], (source_options){0});
        assert_int_equal(source_samples(s), 2);
        assert_int_equal(source_features(s), 3);
        assert_true(source_labels(s)[0] == 3 && source_labels(s)[1] == -1);
        assert_features(s, 2, "0:0.5 ;1:100 ;0:2 ;");
    }
}

static void test_first_index_is_found(void **state)
{
    const char *from_0 = "1 0:1 2:3\n1 0:2\n", *unclear = "1 1:1\n1 2:2\n";
    (void)state;
    assert_features(open_file("x.svm", from_0, (source_options){0}), 9, "0:1 1:2 ;;0:3 ;");
    assert_features(open_file("x.svm", unclear, (source_options){0}), 9, "0:1 ;1:2 ;");
    assert_features(open_file("x.svm", unclear, (source_options){.base = INDEX_FROM_0}), 9,
                    ";0:1 ;1:2 ;");
    assert_features(open_file("x.svm", "1\n2\n", (source_options){0}), 9, "");
}

/* Features that are zero everywhere still count where their number is known. */
static void test_known_number_of_features_is_used(void **state)
{
    const char *text = "1 1:1\n1 2:2\n";
    (void)state;
    assert_features(open_file("x.svm", text, (source_options){.features = 4}), 9, "0:1 ;1:2 ;;;");
    assert_features(open_file("x.svm", text, (source_options){.features = 1}), 9, "0:1 ;1:2 ;");
}

static void test_format_is_recognised_without_an_ending(void **state)
{
    (void)state;
    assert_features(open_file("x", "# c\n1 1:1 2:2\n", (source_options){0}), 9, "0:1 ;0:2 ;");
    assert_features(open_file("x.t", "1 qid:3 1:1\n", (source_options){0}), 9, "0:1 ;");
}

static void test_skipping_agrees_with_reading(void **state)
{
    source *s = open_file("x.svm", "1 1:1 2:2 3:3 4:4\n", (source_options){.n = 1});
    (void)state;
    assert_null(source_labels(s)); /* not read yet */
    assert_fine(source_skip(s, 2, &err));
    assert_features(s, 1, "0:3 ;0:4 ;");
}

/* Files that are not all sparse make a dense stream. */
static void test_mixed_files_are_one_stream(void **state)
{
    const char *const paths[] = {"a.svm", "b.csv", "a.svm"};
    const double wanted[] = {5, 0, 0, 7, 1, 2, 3, 4, 5, 0, 0, 7};
    source *s;
    roofs_block b;
    (void)state;
    put_text("a.svm", "1 1:5\n2 2:7\n");
    put_text("b.csv", "1,3\n2,4\n");
    assert_fine(source_open(&s, paths, 3, &(source_options){.n = 2}, &err));
    assert_fine(source_next(s, 5, &b, &err));
    assert_null(b.starts);
    assert_int_equal(b.count, 5);
    assert_same_doubles(b.values, wanted, 10);
    assert_fine(source_next(s, 5, &b, &err));
    assert_int_equal(b.count, 1);
    assert_same_doubles(b.values, wanted + 10, 2);
    source_close(s);
}

static roofs_status read_svm(const char *text, source_options options)
{
    return read_file("bad.svm", text, options);
}

static void test_broken_lines_are_named(void **state)
{
    const roofs_status bad = ROOFS_BAD_DATA;
    const source_options o = {0};
    (void)state;
    assert_refused(read_svm("", o), bad, "bad.svm", "no samples");
    assert_refused(read_svm("# only\n\n", o), bad, "bad.svm", "no samples");
    assert_refused(read_svm("1 1:1\nx 1:1\n", o), bad, "line 2, column 1", "\"x\"", "response");
    assert_refused(read_svm("nan 1:1\n", o), bad, "line 1, column 1", "\"nan\"");
    assert_refused(read_svm("1,2 1:1\n", o), bad, "line 1, column 1", "\"1,2\"");
    assert_refused(read_svm("1 1:1 2\n", o), bad, "line 1, column 7", "\"2\"", "index:value");
    assert_refused(read_svm("1 -1:1\n", o), bad, "line 1, column 3", "index:value");
    assert_refused(read_svm("1 99999999999:1\n", o), bad, "line 1, column 3", "index:value");
    assert_refused(read_svm("1 2147483647:1\n", o), bad, "line 1, column 3");
    assert_refused(read_svm("1 1:1 1:2\n", o), bad, "line 1, column 7", "out of order");
    assert_refused(read_svm("1 2:1 1:2\n", o), bad, "line 1, column 7", "out of order");
    assert_refused(read_svm("1 1:\n", o), bad, "line 1, column 3", "no finite number");
    assert_refused(read_svm("1 1:1e999\n", o), bad, "line 1, column 3", "no finite number");
    assert_refused(read_svm("1 1:1x\n", o), bad, "line 1, column 3", "no finite number");
    assert_refused(read_svm("1 1:\x01\n", o), bad, "line 1", "\"1:\\x01\"");
    assert_refused(read_svm("1 0:1\n", (source_options){.base = INDEX_FROM_1}), bad, "index 0");
    assert_refused(read_svm("1 1:1\n", (source_options){.n = 3}), bad, "1 samples", "has 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_and_labels_are_read),
        cmocka_unit_test(test_first_index_is_found),
        cmocka_unit_test(test_known_number_of_features_is_used),
        cmocka_unit_test(test_format_is_recognised_without_an_ending),
        cmocka_unit_test(test_skipping_agrees_with_reading),
        cmocka_unit_test(test_mixed_files_are_one_stream),
        cmocka_unit_test(test_broken_lines_are_named),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
