/* Several files as one stream: how they are split does not matter. */
#include "test_stream_open.h"

#include "stream/folder.h"
#include "stream/npy.h"

#include <sys/stat.h>

enum { N = 5, P = 230 };

static double cell(int64_t feature, int64_t sample)
{
    return (double)(feature * 100 + sample);
}

/* Features first to last - 1. */
static void put_npy(const char *path, int64_t first, int64_t last, int f32)
{
    FILE *file = fopen(path, "wb");
    npy_write_header(file, f32 ? "<f4" : "<f8", 2, (int64_t[]){last - first, N});
    for (int64_t j = first; j < last; j++)
        for (int64_t i = 0; i < N; i++) {
            double value = cell(j, i);
            float narrow = (float)value;
            fwrite(f32 ? (const void *)&narrow : (const void *)&value, f32 ? 4 : 8, 1, file);
        }
    fclose(file);
}

static void put_csv(const char *path, int64_t first, int64_t last, int named)
{
    FILE *file = fopen(path, "w");
    for (int64_t i = named ? -1 : 0; i < N; i++)
        for (int64_t j = first; j < last; j++) {
            const char *after = j + 1 < last ? "," : "\n";
            if (i < 0)
                fprintf(file, "x%lld%s", (long long)j, after);
            else
                fprintf(file, "%.17g%s", cell(j, i), after);
        }
    fclose(file);
}

static source *open_files(const char *const *paths, int64_t count, int64_t n)
{
    source *s;
    source_options options = {.n = n};
    assert_fine(source_open(&s, paths, count, &options, &err));
    return s;
}

/* Blocks of `most` features; skips every second one if `skipping`. */
static void assert_stream(source *s, int64_t most, int skipping)
{
    int64_t at = 0;
    roofs_block block;
    for (int step = 0;; step++) {
        if (skipping && step % 2 == 1) {
            assert_fine(source_skip(s, most, &err));
            at = at + most < P ? at + most : P;
            continue;
        }
        assert_fine(source_next(s, most, &block, &err));
        assert_int_equal(block.count, at + most < P ? most : P - at);
        for (int64_t k = 0; k < block.count * N; k++)
            assert_true(value_at(&block, k) == cell(at + k / N, k % N));
        at += block.count;
        if (block.count < most)
            break;
    }
    assert_int_equal(at, P);
    source_close(s);
}

static void test_files_are_one_stream(void **state)
{
    static const char *const split[] = {"a.npy", "none.npy", "b.csv", "c.npy", "d.csv"};
    (void)state;
    put_npy("a.npy", 0, 57, 0);
    put_npy("none.npy", 57, 57, 0);
    put_csv("b.csv", 57, 58, 1);
    put_npy("c.npy", 58, 150, 1);
    put_csv("d.csv", 150, P, 0);
    for (int64_t most = 1; most < 300; most = most * 2 + 1)
        for (int skipping = 0; skipping < 2; skipping++)
            assert_stream(open_files(split, 5, N), most, skipping);
}

static void test_names_and_files_are_known(void **state)
{
    static const char *const paths[] = {"a.npy", "b.csv", "d.csv"};
    roofs_block block;
    (void)state;
    put_npy("a.npy", 0, 3, 0);
    put_csv("b.csv", 3, 5, 1);
    put_csv("d.csv", 5, 6, 0);
    source *s = open_files(paths, 3, N);
    assert_fine(source_next(s, 4, &block, &err));
    assert_string_equal(block.names[0], "f0");
    assert_string_equal(block.names[3], "x3");
    assert_string_equal(source_file_of(s, 2), "a.npy");
    assert_string_equal(source_file_of(s, 3), "b.csv");
    assert_fine(source_next(s, 4, &block, &err));
    assert_int_equal(block.count, 2);
    assert_string_equal(block.names[0], "x4");
    assert_string_equal(block.names[1], "f5");
    assert_string_equal(source_file_of(s, 4), "b.csv");
    assert_string_equal(source_file_of(s, 5), "d.csv");
    source_close(s);
    s = open_files(paths, 1, N);
    assert_fine(source_next(s, 4, &block, &err));
    assert_null(block.names);
    source_close(s);
}

static void test_type_of_the_stream_is_the_widest(void **state)
{
    static const char *const both[] = {"f32.npy", "f64.npy"};
    (void)state;
    put_npy("f32.npy", 0, 3, 1);
    put_npy("f64.npy", 3, 6, 0);
    source *s = open_files(both, 2, N);
    assert_int_equal(source_kind_of(s).dtype, ROOFS_F64);
    source_close(s);
    s = open_files(both, 1, N);
    assert_int_equal(source_kind_of(s).dtype, ROOFS_F32);
    source_close(s);
}

static void test_samples_must_agree(void **state)
{
    const char *paths[] = {"one.csv", "two.csv"};
    const char *arrays[] = {"one.csv", "two.npy"};
    source *s;
    roofs_block block;
    source_options options = {0};
    (void)state;
    put_text("one.csv", "1\n2\n3\n");
    put_text("two.csv", "1\n2\n");
    put_npy("two.npy", 0, 2, 0);
    assert_refused(source_open(&s, arrays, 2, &options, &err), ROOFS_BAD_DATA, "two.npy", "one.csv",
                   "3");
    assert_null(s);
    assert_fine(source_open(&s, paths, 2, &options, &err));
    assert_int_equal(source_samples(s), 3);
    assert_refused(source_next(s, 9, &block, &err), ROOFS_BAD_DATA, "two.csv", "2", "one.csv", "3");
    source_close(s);
    options.n = 4;
    assert_fine(source_open(&s, paths, 1, &options, &err));
    assert_refused(source_next(s, 9, &block, &err), ROOFS_BAD_DATA, "one.csv", "3", "the response",
                   "4");
    source_close(s);
    options = (source_options){.features = 2};
    const char *array = "two.npy";
    assert_fine(source_open(&s, &array, 1, &options, &err));
    assert_int_equal(source_samples(s), N);
    source_close(s);
}

/* More files than stay open, in a folder, in natural order. */
static void test_folder_is_a_stream(void **state)
{
    const char *folder = "many";
    char path[64];
    source *s;
    source_options options = {.n = N};
    (void)state;
    mkdir(folder, 0700);
    assert_refused(source_open(&s, &folder, 1, &options, &err), ROOFS_BAD_DATA, "many",
                   "folder without data");
    put_text("many/README.md", "not data");
    put_text("many/.hidden.csv", "not data");
    for (int64_t j = 0; j < P; j++) {
        snprintf(path, sizeof path, "many/part%lld.%s", (long long)j, j % 2 ? "npy" : "csv");
        if (j % 2)
            put_npy(path, j, j + 1, 0);
        else
            put_csv(path, j, j + 1, 0);
    }
    assert_fine(source_open(&s, &folder, 1, &options, &err));
    assert_stream(s, 7, 0);
    assert_fine(source_open(&s, &folder, 1, &options, &err));
    assert_stream(s, 100, 1);
}

static void test_natural_order_counts_numbers(void **state)
{
    (void)state;
    assert_true(folder_natural_order("file2", "file10") < 0);
    assert_true(folder_natural_order("file10", "file2") > 0);
    assert_true(folder_natural_order("file02", "file10") < 0);
    assert_true(folder_natural_order("a", "b") < 0);
    assert_true(folder_natural_order("a", "a1") < 0);
    assert_true(folder_natural_order("a1b", "a1c") < 0);
    assert_true(folder_natural_order("a01", "a1") != 0);
    assert_int_equal(folder_natural_order("a1", "a1"), 0);
}

static void test_unknown_formats_are_refused(void **state)
{
    const char *paths[] = {"x.docx", "nowhere.npy"};
    source *s;
    source_options options = {0};
    (void)state;
    put_bytes("x.docx", "PK\3\4 and so on 123", 18);
    assert_refused(source_open(&s, paths, 1, &options, &err), ROOFS_BAD_DATA, "x.docx", ".npy",
                   ".csv");
    assert_refused(source_open(&s, paths + 1, 1, &options, &err), ROOFS_BAD_DATA, "nowhere.npy",
                   "No such file");
    put_npy("x.docx", 0, 3, 0);
    options.n = N;
    assert_fine(source_open(&s, paths, 1, &options, &err));
    source_close(s);
    assert_refused(source_open(&s, paths, 0, &options, &err), ROOFS_BAD_DATA, "no file");
    source_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_one_stream),
        cmocka_unit_test(test_names_and_files_are_known),
        cmocka_unit_test(test_type_of_the_stream_is_the_widest),
        cmocka_unit_test(test_samples_must_agree),
        cmocka_unit_test(test_folder_is_a_stream),
        cmocka_unit_test(test_natural_order_counts_numbers),
        cmocka_unit_test(test_unknown_formats_are_refused),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
