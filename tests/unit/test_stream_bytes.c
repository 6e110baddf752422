/* Plain, gzip and xz bytes: whole, in several members, cut, damaged. */
#include "test_stream_files.h"

#include "stream/bytes.h"

#include <lzma.h>
#include <sys/stat.h>
#include <zlib.h>

enum { SIZE = 400000 }; /* more than any buffer inside */
static roofs_error err;

static unsigned char sample(size_t i)
{
    uint32_t mixed = (uint32_t)i * 2654435761u; /* hardly compressible */
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    return (unsigned char)(mixed >> 13);
}

static void put_plain(const char *path)
{
    unsigned char *all = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        all[i] = sample(i);
    put_bytes(path, all, SIZE);
    free(all);
}

/* `members` pieces one after the other. */
static void put_gzip(const char *path, size_t members)
{
    for (size_t m = 0; m < members; m++) {
        gzFile file = gzopen(path, m == 0 ? "wb" : "ab");
        for (size_t i = SIZE * m / members; i < SIZE * (m + 1) / members; i++)
            gzputc(file, sample(i));
        gzclose(file);
    }
}

static void put_xz(const char *path, size_t streams)
{
    unsigned char *from = malloc(SIZE), *to = malloc(2 * SIZE);
    size_t used = 0;
    for (size_t i = 0; i < SIZE; i++)
        from[i] = sample(i);
    for (size_t m = 0; m < streams; m++) {
        size_t first = SIZE * m / streams, last = SIZE * (m + 1) / streams;
        assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, from + first,
                                                 last - first, to, &used, 2 * SIZE),
                         LZMA_OK);
    }
    put_bytes(path, to, used);
    free(from);
    free(to);
}

/* Reads in pieces of odd sizes and compares. */
static void assert_sample(const char *path)
{
    bytes *b;
    const unsigned char *start;
    unsigned char piece[70000];
    int64_t got, length, at = 0;
    assert_fine(bytes_open(&b, path, &err));
    assert_fine(bytes_peek(b, &start, &length, &err));
    assert_int_equal(length, BYTES_PEEK);
    assert_int_equal(start[100], sample(100));
    for (int64_t size = 1;; size = size % 69991 + 997) {
        assert_fine(bytes_read(b, piece, size, &got, &err));
        for (int64_t i = 0; i < got; i++)
            if (piece[i] != sample((size_t)(at + i)))
                fail_msg("%s differs at %lld", path, (long long)(at + i));
        at += got;
        if (got < size)
            break;
    }
    assert_int_equal(at, SIZE);
    bytes_close(b);
}

static void test_all_kinds_are_read(void **state)
{
    (void)state;
    put_plain("plain.anything");
    assert_sample("plain.anything");
    put_gzip("one.bin", 1);
    assert_sample("one.bin");
    put_gzip("three.csv", 3);
    assert_sample("three.csv");
    put_xz("one.npy", 1);
    assert_sample("one.npy");
    put_xz("three.npy", 3);
    assert_sample("three.npy");
}

static void test_read_at_agrees_with_reading_on(void **state)
{
    bytes *b;
    unsigned char piece[10];
    (void)state;
    put_plain("plain");
    assert_fine(bytes_open(&b, "plain", &err));
    assert_int_equal(bytes_plain_size(b), SIZE);
    assert_true(bytes_can_reopen(b));
    assert_fine(bytes_read_at(b, 777, piece, 10, &err));
    assert_int_equal(piece[9], sample(786));
    assert_refused(bytes_read_at(b, SIZE - 5, piece, 10, &err), ROOFS_BAD_DATA, "plain", "shorter");
    bytes_close(b);
    put_gzip("packed", 1);
    assert_fine(bytes_open(&b, "packed", &err));
    assert_int_equal(bytes_plain_size(b), -1);
    bytes_close(b);
}

static roofs_status read_all(const char *path)
{
    bytes *b;
    unsigned char piece[1000];
    int64_t got = 1;
    roofs_status status = bytes_open(&b, path, &err);
    if (status)
        return status;
    while (!status && got > 0)
        status = bytes_read(b, piece, sizeof piece, &got, &err);
    bytes_close(b);
    return status;
}

static void cut(const char *path, size_t bytes_off)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - (off_t)bytes_off), 0);
}

static void damage(const char *path)
{
    FILE *file = fopen(path, "r+b");
    fseek(file, 20000, SEEK_SET);
    for (int i = 0; i < 50; i++)
        fputc(0x55, file);
    fclose(file);
}

static void test_cut_and_damaged_files_are_refused(void **state)
{
    (void)state;
    for (size_t off = 1; off < 200000; off = off * 7 + 1) {
        put_gzip("cut.gz", 2);
        cut("cut.gz", off);
        assert_refused(read_all("cut.gz"), ROOFS_BAD_DATA, "cut.gz", "truncated");
        put_xz("cut.xz", 2);
        cut("cut.xz", off);
        assert_refused(read_all("cut.xz"), ROOFS_BAD_DATA, "cut.xz", "truncated");
    }
    put_gzip("bad.gz", 1);
    damage("bad.gz");
    assert_refused(read_all("bad.gz"), ROOFS_BAD_DATA, "bad.gz", "damaged");
    put_xz("bad.xz", 1);
    damage("bad.xz");
    assert_refused(read_all("bad.xz"), ROOFS_BAD_DATA, "bad.xz", "damaged");
}

static void test_gzip_tails_are_read_or_refused(void **state)
{
    FILE *file;
    (void)state;
    put_gzip("zeros.gz", 1);
    file = fopen("zeros.gz", "ab");
    fwrite("\0\0\0\0", 1, 4, file);
    fclose(file);
    assert_sample("zeros.gz");
    put_gzip("garbage.gz", 1);
    file = fopen("garbage.gz", "ab");
    fputs("garbage", file);
    fclose(file);
    assert_refused(read_all("garbage.gz"), ROOFS_BAD_DATA, "garbage.gz", "damaged");
}

static void test_files_that_cannot_be_opened_are_reported(void **state)
{
    (void)state;
    assert_refused(read_all("nowhere"), ROOFS_BAD_DATA, "nowhere", "No such file");
    mkdir("folder", 0700);
    assert_refused(read_all("folder"), ROOFS_BAD_DATA, "folder", "is a folder");
    put_text("empty", "");
    assert_int_equal(read_all("empty"), ROOFS_OK);
    assert_int_equal(bytes_open(&(bytes *){NULL}, "nowhere", NULL), ROOFS_BAD_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds_are_read),
        cmocka_unit_test(test_read_at_agrees_with_reading_on),
        cmocka_unit_test(test_cut_and_damaged_files_are_refused),
        cmocka_unit_test(test_gzip_tails_are_read_or_refused),
        cmocka_unit_test(test_files_that_cannot_be_opened_are_reported),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
