/* Every allocation and every read of a reader fails once: the call reports NO_MEMORY or IO, and
 * nothing is left behind. The linker replaces posix_memalign and free in base/memory.c, and read,
 * pread and pwrite (tests/CMakeLists.txt). */
#include "test_base_failing.h"
#include "test_stream_open.h"

#include "base/memory.h"
#include "stream/response.h"
#include "stream/simulator.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __real_pwrite(int fd, const void *from, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t offset);

static int64_t transfers, failing_transfer; /* reads and writes */

static int transfer_fails(void)
{
    if (++transfers != failing_transfer)
        return 0;
    errno = EIO;
    return 1;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    return transfer_fails() ? -1 : __real_read(fd, to, size);
}

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
    return transfer_fails() ? -1 : __real_pread(fd, to, size, offset);
}

ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t offset)
{
    return transfer_fails() ? -1 : __real_pwrite(fd, from, size, offset);
}

/* ---- files ------------------------------------------------------------- */

/* Returns the size of the file, which has no more than 1024 bytes. */
static size_t make_array(char *bytes, const char *descr, const char *shape, const void *values,
                         size_t size)
{
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
    memset(bytes + 10, ' ', 117);
    bytes[127] = '\n';
    const int used = snprintf(
        bytes + 10, 110, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    bytes[10 + used] = ' ';
    memcpy(bytes + 128, values, size);
    return 128 + size;
}

static void put_array(const char *path, const char *descr, const char *shape, const void *values,
                      size_t size)
{
    char bytes[1024];
    put_bytes(path, bytes, make_array(bytes, descr, shape, values, size));
}

/* A zip file, member by member, and its directory. */
typedef struct archive_file {
    unsigned char bytes[1 << 14], list[1 << 12];
    size_t size, listed;
    int count;
} archive_file;

static size_t put_little(unsigned char *to, uint64_t value, int size)
{
    for (int k = 0; k < size; k++)
        to[k] = (unsigned char)(value >> 8 * k);
    return (size_t)size;
}

/* The fields that the head of a member and its entry in the directory share. */
static size_t put_common(unsigned char *to, const char *name, const void *bytes, size_t size)
{
    size_t at = put_little(to, 20, 2);
    at += put_little(to + at, 0, 2 + 2 + 4); /* flags, stored, time */
    at += put_little(to + at, crc32(0, bytes, (uInt)size), 4);
    at += put_little(to + at, size, 4);
    at += put_little(to + at, size, 4);
    at += put_little(to + at, strlen(name), 2);
    return at + put_little(to + at, 0, 2);
}

static void add_array(archive_file *f, const char *name, const char *descr, const char *shape,
                      const void *values, size_t size)
{
    char bytes[1024];
    const size_t whole = make_array(bytes, descr, shape, values, size), begin = f->size;
    f->size += put_little(f->bytes + f->size, 0x04034b50, 4);
    f->size += put_common(f->bytes + f->size, name, bytes, whole);
    memcpy(f->bytes + f->size, name, strlen(name));
    f->size += strlen(name);
    memcpy(f->bytes + f->size, bytes, whole);
    f->size += whole;
    f->listed += put_little(f->list + f->listed, 0x02014b50, 4);
    f->listed += put_little(f->list + f->listed, 20, 2);
    f->listed += put_common(f->list + f->listed, name, bytes, whole);
    f->listed += put_little(f->list + f->listed, 0, 8);
    f->listed += put_little(f->list + f->listed, 0, 2);
    f->listed += put_little(f->list + f->listed, begin, 4);
    memcpy(f->list + f->listed, name, strlen(name));
    f->listed += strlen(name);
    f->count++;
}

/* Four samples and three features, by column or by row. */
static void put_sparse(const char *path, const char *kind)
{
    const int32_t indices[] = {0, 2, 1, 0, 1, 2}, by_column[] = {0, 2, 3, 6};
    const int32_t by_row[] = {0, 2, 3, 4, 6};
    const double values[] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {4, 3};
    const int is_csc = strcmp(kind, "csc") == 0;
    archive_file f = {.size = 0};
    add_array(&f, "indices.npy", "<i4", "6,", indices, sizeof indices);
    add_array(&f, "indptr.npy", "<i4", is_csc ? "4," : "5,", is_csc ? by_column : by_row,
              is_csc ? sizeof by_column : sizeof by_row);
    add_array(&f, "format.npy", "|S3", "", kind, 3);
    add_array(&f, "shape.npy", "<i8", "2,", shape, sizeof shape);
    add_array(&f, "data.npy", "<f8", "6,", values, sizeof values);
    const size_t at = f.size;
    memcpy(f.bytes + f.size, f.list, f.listed);
    f.size += f.listed;
    f.size += put_little(f.bytes + f.size, 0x06054b50, 4);
    f.size += put_little(f.bytes + f.size, 0, 4);
    f.size += put_little(f.bytes + f.size, (uint64_t)f.count, 2);
    f.size += put_little(f.bytes + f.size, (uint64_t)f.count, 2);
    f.size += put_little(f.bytes + f.size, f.listed, 4);
    f.size += put_little(f.bytes + f.size, at, 4);
    f.size += put_little(f.bytes + f.size, 0, 2);
    put_bytes(path, f.bytes, f.size);
}

static void put_gzip(const char *path, const void *bytes, size_t size)
{
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
    gzclose(file);
}

static void put_files(void)
{
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const float narrow[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const char *csv =
        "\"a, b\",c,\"say \"\"d\"\"\"\n1.5,2,3e2\n-4,5,6.25\n7,8,\"9\"\n0.1,0.2,0.3\n";
    put_text("m.csv", csv);
    put_text("missing.csv", "a,b\n1,NA\n2,3\nNA,4\n5,6\n");
    char bytes[1024];
    put_gzip("m.csv.gz", csv, strlen(csv));
    put_gzip("m.npy.gz", bytes, make_array(bytes, "<f8", "3, 4", values, sizeof values));
    put_text("rows.csv", "a,1,2,3,4\nb,5,6,7,8\nc,9,8,7,6\n");
    mkdir("folder", 0700);
    put_text("folder/1.csv", csv);
    put_text("folder/10.csv", "x\n1\n2\n3\n4\n");
    put_text("folder/2.csv", "z\n4\n3\n2\n1\n");
    put_text("m.svm", "# made\n1 1:0.5 3:2 # one\n-2 qid:4 2:1e3\n3\n4.5 1:7 2:8 3:9\n");
    put_text("m.triplets", "feature,sample,value\na,0,1.5\na,3,2\n\"b c\",1,-4\nd,2,1e-3\nd,0,7\n");
    put_array("m.npy", "<f8", "3, 4", values, sizeof values);
    put_array("narrow.npy", "<f4", "3, 4", narrow, sizeof narrow);
    put_array("swapped.npy", ">f8", "3, 4", values, sizeof values);
    put_sparse("csc.npz", "csc");
    put_sparse("csr.npz", "csr");
    put_text("names", "one\ntwo\nthree\n");
    put_text("y.csv", "1\n2\n3\n4\n");
    put_array("y.npy", "<f8", "4,", values, 32);
}

/* ---- the walk ---------------------------------------------------------- */

typedef struct reading {
    const char *paths[2];
    source_options options;
} reading;

static roofs_status read_all(const void *user)
{
    const reading *r = user;
    source *s = NULL;
    roofs_block block = {.count = 1};
    TRY(source_open(&s, r->paths, r->paths[1] ? 2 : 1, &r->options, &err));
    roofs_status status = source_skip(s, 1, &err);
    while (status == ROOFS_OK && block.count > 0)
        status = source_next(s, 2, &block, &err);
    source_close(s);
    return status;
}

static roofs_status read_response(const void *user)
{
    double *y = NULL;
    int64_t n;
    for (int64_t ranks = 1; ranks < 3; ranks++) {
        TRY(response_read_shard(user, ranks - 1, ranks, 0, &y, &n, &err));
        memory_free(y);
    }
    return ROOFS_OK;
}

static roofs_status simulate(const void *user)
{
    simulator *s = NULL;
    TRY(simulator_create(&s, user, 1, &err));
    simulator_destroy(s);
    return ROOFS_OK;
}

/* Returns how many allocations failed. */
static int64_t walk(roofs_status (*work)(const void *user), const void *user, const char *name)
{
    int64_t failures = 0;
    const int64_t before = held;
    failing = 0;
    if (work(user) != ROOFS_OK)
        fail_msg("%s: %s", name, err.text);
    for (failing = 1;; failing++) {
        asked = 0;
        err = (roofs_error){0};
        const roofs_status status = work(user);
        if (held != before)
            fail_msg("%s, allocation %d: %d are not freed", name, (int)failing,
                     (int)(held - before));
        if (asked < failing)
            break;
        if (status != ROOFS_NO_MEMORY || !strstr(err.text, "memory"))
            fail_msg("%s, allocation %d: status %d, %s", name, (int)failing, (int)status, err.text);
        failures++;
    }
    failing = 0;
    return failures;
}

/* The same for reads and writes. */
static int64_t walk_transfers(roofs_status (*work)(const void *user), const void *user,
                              const char *name)
{
    int64_t failures = 0;
    const int64_t before = held;
    for (failing_transfer = 1;; failing_transfer++, failures++) {
        transfers = 0;
        err = (roofs_error){0};
        const roofs_status status = work(user);
        if (held != before)
            fail_msg("%s, transfer %d: %d are not freed", name, (int)failing_transfer,
                     (int)(held - before));
        if (transfers < failing_transfer)
            break;
        if (status != ROOFS_IO || err.text[0] == '\0')
            fail_msg("%s, transfer %d: status %d, %s", name, (int)failing_transfer, (int)status,
                     err.text);
    }
    failing_transfer = 0;
    return failures;
}

static const reading readings[] = {
    {{"m.csv"}, {.orient = ORIENT_SAMPLES}},
    {{"m.csv"}, {.orient = ORIENT_SAMPLES, .transpose_bytes = 1}},
    {{"m.csv"}, {.orient = ORIENT_SAMPLES, .n = 4, .names_path = "names"}},
    {{"m.csv"}, {.orient = ORIENT_SAMPLES, .n = 4, .rank = 1, .ranks = 2}},
    {{"m.csv.gz"}, {.orient = ORIENT_SAMPLES}},
    {{"missing.csv"}, {.orient = ORIENT_SAMPLES, .missing = MISSING_MEDIAN}},
    {{"missing.csv"}, {.orient = ORIENT_SAMPLES, .missing = MISSING_DROP}},
    {{"m.svm"}, {.base = INDEX_FROM_1}},
    {{"m.svm"}, {.base = INDEX_FROM_1, .transpose_bytes = 1}},
    {{"m.svm"}, {.base = INDEX_FROM_1, .n = 4, .rank = 1, .ranks = 2}},
    {{"m.triplets"}, {.n = 4}},
    {{"rows.csv"}, {.orient = ORIENT_FEATURES}},
    {{"rows.csv"}, {.orient = ORIENT_FEATURES, .n = 4, .rank = 1, .ranks = 2}},
    {{"folder"}, {.orient = ORIENT_SAMPLES, .n = 4}},
    {{"m.npy.gz"}, {.orient = ORIENT_FEATURES, .n = 4, .rank = 1, .ranks = 2}},
    {{"m.npy.gz"}, {.orient = ORIENT_SAMPLES, .n = 3, .rank = 1, .ranks = 2}},
    {{"m.npy"}, {.orient = ORIENT_SAMPLES, .n = 3, .rank = 1, .ranks = 2}},
    {{"csc.npz"}, {.orient = ORIENT_SAMPLES}},
    {{"csc.npz"}, {.orient = ORIENT_FEATURES}},
    {{"csr.npz"}, {.orient = ORIENT_SAMPLES}},
    {{"csr.npz"}, {.orient = ORIENT_SAMPLES, .transpose_bytes = 1}},
    {{"csc.npz", "csr.npz"}, {.orient = ORIENT_SAMPLES, .n = 4, .rank = 1, .ranks = 2}},
    {{"m.npy"}, {.orient = ORIENT_FEATURES}},
    {{"m.npy"}, {.orient = ORIENT_FEATURES, .n = 4, .rank = 1, .ranks = 2}},
    {{"m.npy"}, {.orient = ORIENT_SAMPLES}},
    {{"m.npy", "narrow.npy"}, {.orient = ORIENT_FEATURES}},
    {{"swapped.npy"}, {.orient = ORIENT_SAMPLES, .names_path = NULL}},
};

static void test_every_read_may_fail(void **state)
{
    int64_t failures = 0;
    (void)state;
    put_files();
    for (size_t k = 0; k < sizeof readings / sizeof *readings; k++)
        failures += walk_transfers(read_all, &readings[k], readings[k].paths[0]);
    failures += walk_transfers(read_response, "y.csv", "y.csv");
    failures += walk_transfers(read_response, "y.npy", "y.npy");
    print_message("%d transfers failed\n", (int)failures);
    assert_true(failures > 50);
}

static void test_every_allocation_may_fail(void **state)
{
    int64_t failures = 0;
    (void)state;
    put_files();
    for (size_t k = 0; k < sizeof readings / sizeof *readings; k++)
        failures += walk(read_all, &readings[k], readings[k].paths[0]);
    failures += walk(read_response, "y.csv", "y.csv");
    failures += walk(read_response, "y.npy", "y.npy");
    for (int64_t k = 0; attack_name(k); k++) {
        const simulation what = {.n = 9,
                                 .p = 5,
                                 .mu = 2,
                                 .corruption = 0.3,
                                 .noise_var = 0.1,
                                 .random_order = (int)k % 2,
                                 .attack = (attack)k};
        failures += walk(simulate, &what, attack_name(k));
    }
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_every_read_may_fail, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
