/* NumPy files: every type, order and layout, and broken headers. */
#include "test_stream_open.h"

#include "base/memory.h"
#include "stream/npy.h"
#include "stream/response.h"

#include <math.h>
#include <zlib.h>

/* A file with this dictionary and these bytes of values; returns its size. */
static size_t make_file(unsigned char *out, int version, const char *dictionary, const void *values,
                        size_t size)
{
    size_t length = strlen(dictionary), prefix = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    memset(out + 8, 0, 4);
    out[8] = (unsigned char)length;
    out[9] = (unsigned char)(length >> 8);
    memcpy(out + prefix, dictionary, length);
    memcpy(out + prefix + length, values, size);
    return prefix + length + size;
}

static void put_npy(const char *path, int version, const char *dictionary, const void *values,
                    size_t size)
{
    unsigned char out[4096];
    size_t whole = make_file(out, version, dictionary, values, size);
    put_bytes(path, out, whole);
    char packed[100];
    snprintf(packed, sizeof packed, "%s.gz", path);
    gzFile file = gzopen(packed, "wb");
    gzwrite(file, out, (unsigned int)whole);
    gzclose(file);
}

static roofs_status open_one(source **s, const char *path, int64_t n, orientation orient,
                             int64_t transpose_bytes)
{
    source_options options = {.n = n, .orient = orient, .transpose_bytes = transpose_bytes};
    return source_open(s, &path, 1, &options, &err);
}

/* Reads feature 1 by skipping feature 0, then the rest. */
static void assert_features(const char *path, int64_t n, orientation orient,
                            int64_t transpose_bytes, const double *wanted, int64_t features)
{
    source *s;
    roofs_block block;
    assert_fine(open_one(&s, path, n, orient, transpose_bytes));
    for (int64_t at = 1; at < features; at += block.count) {
        if (at == 1)
            assert_fine(source_skip(s, 1, &err));
        assert_fine(source_next(s, 2, &block, &err));
        assert_true(block.count > 0 && block.n == n && block.sample_stride == 1);
        for (int64_t k = 0; k < block.count * n; k++)
            assert_true(value_at(&block, k) == wanted[at * n + k]);
    }
    source_close(s);
}

/* 4 features of 3 samples, value 10 * feature + sample. */
enum { FEATURES = 4, N = 3, COUNT = FEATURES * N };

static void fill(double *values, int samples_first)
{
    for (int k = 0; k < COUNT; k++) {
        int feature = samples_first ? k % FEATURES : k / N;
        int sample = samples_first ? k / FEATURES : k % N;
        values[k] = 10 * feature + sample;
    }
}

static void test_layouts_agree(void **state)
{
    static const struct {
        const char *shape, *fortran;
        int samples_first;
    } cases[] = {{"(4, 3)", "False", 0},
                 {"(3, 4)", "False", 1},
                 {"(3, 4)", "True", 0},
                 {"(4, 3)", "True", 1}};
    double wanted[COUNT], values[COUNT];
    (void)state;
    fill(wanted, 0);
    for (size_t c = 0; c < 4; c++)
        for (int version = 1; version <= 3; version++) {
            char dictionary[200];
            snprintf(dictionary, sizeof dictionary,
                     "{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }   \n", cases[c].fortran,
                     cases[c].shape);
            fill(values, cases[c].samples_first);
            put_npy("x.npy", version, dictionary, values, sizeof values);
            orientation orient = cases[c].shape[1] == '4' ? ORIENT_FEATURES : ORIENT_SAMPLES;
            assert_features("x.npy", N, ORIENT_AUTO, 0, wanted, FEATURES);
            assert_features("x.npy", N, orient, 1, wanted, FEATURES);
            assert_features("x.npy.gz", N, ORIENT_AUTO, 0, wanted, FEATURES);
        }
}

#define ASSERT_TYPE(descr, type, swap, kind)                                                       \
    do {                                                                                           \
        type values[COUNT];                                                                        \
        for (int k = 0; k < COUNT; k++) {                                                          \
            values[k] = (type)(wanted[k]);                                                         \
            unsigned char *bytes_ = (unsigned char *)&values[k];                                   \
            for (size_t a = 0, b = sizeof(type) - 1; (swap) && a < b; a++, b--) {                  \
                unsigned char held = bytes_[a];                                                    \
                bytes_[a] = bytes_[b];                                                             \
                bytes_[b] = held;                                                                  \
            }                                                                                      \
        }                                                                                          \
        put_npy("t.npy", 1,                                                                        \
                "{\"shape\": (4, 3), \"fortran_order\": False, \"descr\": \"" descr "\"}", values, \
                sizeof values);                                                                    \
        assert_features("t.npy", N, ORIENT_AUTO, 0, wanted, FEATURES);                             \
        assert_features("t.npy.gz", N, ORIENT_AUTO, 0, wanted, FEATURES);                          \
        source *s_;                                                                                \
        assert_fine(open_one(&s_, "t.npy", N, ORIENT_AUTO, 0));                                    \
        assert_int_equal(source_kind_of(s_).dtype, kind);                                          \
        source_close(s_);                                                                          \
    } while (0)

static void test_types_are_converted(void **state)
{
    double wanted[COUNT];
    (void)state;
    fill(wanted, 0);
    ASSERT_TYPE("<f8", double, 0, ROOFS_F64);
    ASSERT_TYPE(">f8", double, 1, ROOFS_F64);
    ASSERT_TYPE("<f4", float, 0, ROOFS_F32);
    ASSERT_TYPE(">f4", float, 1, ROOFS_F32);
    ASSERT_TYPE("|i1", int8_t, 0, ROOFS_I8);
    ASSERT_TYPE("|u1", uint8_t, 0, ROOFS_U8);
    ASSERT_TYPE("<i2", int16_t, 0, ROOFS_F64);
    ASSERT_TYPE(">u2", uint16_t, 1, ROOFS_F64);
    ASSERT_TYPE(">i4", int32_t, 1, ROOFS_F64);
    ASSERT_TYPE("<u4", uint32_t, 0, ROOFS_F64);
    ASSERT_TYPE("<i8", int64_t, 0, ROOFS_F64);
    ASSERT_TYPE(">u8", uint64_t, 1, ROOFS_F64);
}

static void test_half_and_bool_are_converted(void **state)
{
    static const uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x8400, 0x3555};
    static const double wanted[] = {1, -2, 0x1p-24, 65504, -0x1p-14, 0.333251953125};
    static const unsigned char flags[] = {0, 1, 1, 0};
    double *values;
    int64_t count;
    (void)state;
    put_npy("h.npy", 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", halves,
            sizeof halves);
    assert_features("h.npy", 3, ORIENT_AUTO, 0, wanted, 2);
    put_npy("b.npy", 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", flags, 4);
    assert_fine(npy_read_all("b.npy", &values, &count, &err));
    assert_int_equal(count, 4);
    assert_same_doubles(values, (double[]){0, 1, 1, 0}, 4);
    memory_free(values);
}

static roofs_status open_dictionary(const char *dictionary, orientation orient)
{
    source *s;
    double zeros[100] = {0};
    put_npy("bad.npy", 1, dictionary, zeros, sizeof zeros);
    roofs_status status = open_one(&s, "bad.npy", 10, orient, 0);
    source_close(s);
    return status;
}

#define DICTIONARY(descr, shape)                                                                   \
    "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }"

static void test_bad_headers_are_refused(void **state)
{
    const roofs_status bad = ROOFS_BAD_DATA;
    const orientation o = ORIENT_AUTO;
    (void)state;
    assert_refused(open_dictionary(DICTIONARY("'|O'", "(2, 10)"), o), bad, "bad.npy", "objects");
    assert_refused(open_dictionary(DICTIONARY("'<c16'", "(2, 10)"), o), bad, "bad.npy", "complex");
    assert_refused(open_dictionary(DICTIONARY("'<U3'", "(2, 10)"), o), bad, "bad.npy", "text");
    assert_refused(open_dictionary(DICTIONARY("'<M8[s]'", "(2, 10)"), o), bad, "bad.npy", "dates");
    assert_refused(open_dictionary(DICTIONARY("'<f16'", "(2, 10)"), o), bad, "bad.npy", "f16");
    assert_refused(open_dictionary(DICTIONARY("[('a', '<f8')]", "(2, 10)"), o), bad, "records");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(2, 2, 10)"), o), bad, "(2, 2, 10)",
                   "axes");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "()"), o), bad, "()", "axes");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(2, 11)"), o), bad, "(2, 11)", "10 samples",
                   "the response");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(10, 10)"), o), bad, "(10, 10)",
                   "--orient features", "--orient samples");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(5, 9)"), ORIENT_FEATURES), bad, "bad.npy",
                   "9 samples", "10");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(9,)"), o), bad, "bad.npy", "9 samples",
                   "10");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(11, 10)"), o), bad, "bad.npy", "880 bytes",
                   "800 found");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(99999999999, 99999999999)"), o), bad,
                   "too large");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(99999999999999999999, 1)"), o), bad,
                   "too large");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(-2, 10)"), o), bad, "bad.npy", "shape");
    assert_refused(open_dictionary(DICTIONARY("'<f8'", "(2, 10"), o), bad, "bad.npy", "shape");
    assert_refused(open_dictionary("{'descr': '<f8', 'shape': (2, 10)}", o), bad, "bad.npy",
                   "order");
    assert_refused(open_dictionary("{}", o), bad, "bad.npy", "descr");
    assert_refused(open_dictionary(DICTIONARY("'", ""), o), bad, "bad.npy");
    assert_int_equal(open_dictionary(DICTIONARY("'<f8'", "(10, 10)"), ORIENT_SAMPLES), ROOFS_OK);
    assert_int_equal(open_dictionary(DICTIONARY("'<f8'", "(10,)"), o), ROOFS_OK);
    assert_int_equal(open_dictionary(DICTIONARY("'<f8'", "(0, 10)"), o), ROOFS_OK);
}

/* NumPy refuses all of these, but the last five, which it never writes. */
static void test_nearly_right_headers_are_refused(void **state)
{
    static const char *const dictionaries[] = {
        DICTIONARY("'<i4,<f4'", "(2, 10)"),
        DICTIONARY("'<f8x'", "(2, 10)"),
        DICTIONARY("'<8'", "(2, 10)"),
        DICTIONARY("'<f'", "(2, 10)"),
        DICTIONARY("<f8", "(2, 10)"),
        DICTIONARY("'<f8\"", "(2, 10)"),
        DICTIONARY("'<f8'", "(2 10)"),
        DICTIONARY("'<f8'", "(2,, 10)"),
        DICTIONARY("'<f8'", "(, 2, 10)"),
        DICTIONARY("'<f8'", "[2, 10]"),
        DICTIONARY("'<f8'", "2, 10"),
        DICTIONARY("'<f8'", "(10)"),
        DICTIONARY("'<f8'", "(2.0, 10)"),
        DICTIONARY("'<f8'", "(02, 10)"),
        DICTIONARY("'<f8'", "(2, 10) + ()"),
        "{'descr': '<f8', 'fortran_order': Falsey, 'shape': (2, 10)}",
        "{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 10)}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 10)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10)",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10)}}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10)} 1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10)}\n  \n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 10), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': False, 'Shape': (2, 10)}",
        "['descr', '<f8', 'fortran_order', False, 'shape', (2, 10)]",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 10)}",
        DICTIONARY("'\\x3cf8'", "(2, 10)"),
        DICTIONARY("'<f8'", "(2, 1_0)"),
        DICTIONARY("'<f8'", "(2, 0xa)"),
        DICTIONARY("'float64'", "(2, 10)"),
    };
    (void)state;
    for (size_t k = 0; k < sizeof dictionaries / sizeof *dictionaries; k++)
        assert_refused(open_dictionary(dictionaries[k], ORIENT_AUTO), ROOFS_BAD_DATA, "bad.npy");
    const char *fine = "\t{ \"shape\":(2L,10L , ) ,'descr' : \"<f8\",'fortran_order':False}";
    assert_int_equal(open_dictionary(fine, ORIENT_AUTO), ROOFS_OK);
}

/* Every way to cut a file short is found. */
static void test_truncated_files_are_refused(void **state)
{
    unsigned char out[400];
    double values[6] = {1, 2, 3, 4, 5, 6};
    double *got;
    int64_t count;
    (void)state;
    size_t whole = make_file(out, 1, DICTIONARY("'<f8'", "(2, 3)"), values, sizeof values);
    for (size_t size = 0; size < whole; size++) {
        put_bytes("cut.npy", out, size);
        assert_refused(npy_read_all("cut.npy", &got, &count, &err), ROOFS_BAD_DATA, "cut.npy");
        assert_null(got);
        gzFile file = gzopen("cut.npy.gz", "wb");
        gzwrite(file, out, (unsigned int)size);
        gzclose(file);
        assert_refused(npy_read_all("cut.npy.gz", &got, &count, &err), ROOFS_BAD_DATA,
                       "cut.npy.gz");
    }
    put_text("foreign.npy", "GIF89a and more of it");
    assert_refused(npy_read_all("foreign.npy", &got, &count, &err), ROOFS_BAD_DATA, "foreign.npy",
                   "not a .npy");
    out[6] = 9;
    put_bytes("new.npy", out, whole);
    assert_refused(npy_read_all("new.npy", &got, &count, &err), ROOFS_BAD_DATA, "new.npy",
                   "version 9");
}

static void test_written_header_is_read_back(void **state)
{
    const double values[6] = {1, 2, 3, 4, 5, 6};
    double *got;
    int64_t count;
    char start[129] = {0};
    (void)state;
    FILE *file = fopen("w.npy", "wb");
    npy_write_header(file, "<f8", 2, (int64_t[]){2, 3});
    assert_int_equal(ftell(file) % 64, 0);
    fwrite(values, 1, sizeof values, file);
    fclose(file);
    assert_fine(npy_read_all("w.npy", &got, &count, &err));
    assert_int_equal(count, 6);
    assert_same_doubles(got, values, 6);
    memory_free(got);
    file = fopen("v.npy", "w+b");
    npy_write_header(file, "|u1", 1, (int64_t[]){7});
    rewind(file);
    assert_int_equal(fread(start, 1, 128, file), 128);
    assert_non_null(strstr(start + 10, "'shape': (7,)"));
    assert_int_equal(start[127], '\n');
    fclose(file);
}

static void test_responses_are_read(void **state)
{
    const double values[3] = {1, NAN, 3};
    double *y;
    int64_t n;
    (void)state;
    put_npy("y.npy", 1, DICTIONARY("'<f8'", "(3, 1)"), values, sizeof values);
    assert_refused(response_read("y.npy", &y, &n, &err), ROOFS_BAD_DATA, "y.npy", "value 1 ",
                   "nan");
    assert_null(y);
    put_npy("y.npy", 1, DICTIONARY("'<f8'", "(1, 3)"), (double[]){1, 2, 3}, 24);
    assert_fine(response_read("y.npy", &y, &n, &err));
    assert_int_equal(n, 3);
    assert_same_doubles(y, (double[]){1, 2, 3}, 3);
    memory_free(y);
    put_text("y.csv", "y\n1\n2\n3\n");
    assert_fine(response_read("y.csv", &y, &n, &err));
    assert_int_equal(n, 3);
    memory_free(y);
    put_text("y.csv", "5,6,7,8\n");
    assert_fine(response_read("y.csv", &y, &n, &err));
    assert_int_equal(n, 4);
    assert_same_doubles(y, (double[]){5, 6, 7, 8}, 4);
    memory_free(y);
    put_text("y.csv", "1,2\n3,4\n");
    assert_refused(response_read("y.csv", &y, &n, &err), ROOFS_BAD_DATA, "y.csv", "2 rows",
                   "2 columns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_agree),
        cmocka_unit_test(test_types_are_converted),
        cmocka_unit_test(test_half_and_bool_are_converted),
        cmocka_unit_test(test_bad_headers_are_refused),
        cmocka_unit_test(test_nearly_right_headers_are_refused),
        cmocka_unit_test(test_truncated_files_are_refused),
        cmocka_unit_test(test_written_header_is_read_back),
        cmocka_unit_test(test_responses_are_read),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
