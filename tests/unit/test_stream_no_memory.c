/* Every allocation of a reader fails once, for files of the formats that need no other library: the
 * call reports NO_MEMORY, and nothing is left behind. The linker replaces posix_memalign and free
 * in base/memory.c (tests/CMakeLists.txt). */
#include "test_stream_open.h"

#include "base/memory.h"
#include "stream/response.h"

#include <errno.h>
#include <stdio.h>
#include <zlib.h>

int __real_posix_memalign(void **block, size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

static int64_t asked, failing, held;

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (++asked == failing)
        return ENOMEM;
    held++;
    return __real_posix_memalign(block, alignment, size);
}

void __wrap_free(void *block)
{
    held -= block != NULL;
    __real_free(block);
}

/* ---- files ------------------------------------------------------------- */

static void put_array(const char *path, const char *descr, const char *shape, const void *values,
                      size_t size)
{
    char bytes[1024];
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
    memset(bytes + 10, ' ', 117);
    bytes[127] = '\n';
    const int used = snprintf(
        bytes + 10, 110, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    bytes[10 + used] = ' ';
    memcpy(bytes + 128, values, size);
    put_bytes(path, bytes, 128 + size);
}

static void put_gzip(const char *path, const char *text)
{
    gzFile file = gzopen(path, "wb");
    assert_true(gzputs(file, text) > 0);
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
    put_gzip("m.csv.gz", csv);
    put_text("m.svm", "# made\n1 1:0.5 3:2 # one\n-2 qid:4 2:1e3\n3\n4.5 1:7 2:8 3:9\n");
    put_text("m.triplets", "feature,sample,value\na,0,1.5\na,3,2\n\"b c\",1,-4\nd,2,1e-3\nd,0,7\n");
    put_array("m.npy", "<f8", "3, 4", values, sizeof values);
    put_array("narrow.npy", "<f4", "3, 4", narrow, sizeof narrow);
    put_array("swapped.npy", ">f8", "3, 4", values, sizeof values);
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
    TRY(response_read_shard(user, 0, 1, &y, &n, &err));
    memory_free(y);
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
    for (failing = 1;; failing++, failures++) {
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
    }
    failing = 0;
    return failures;
}

static void test_every_allocation_of_a_reader_may_fail(void **state)
{
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
        {{"m.npy"}, {.orient = ORIENT_FEATURES}},
        {{"m.npy"}, {.orient = ORIENT_FEATURES, .n = 4, .rank = 1, .ranks = 2}},
        {{"m.npy"}, {.orient = ORIENT_SAMPLES}},
        {{"m.npy", "narrow.npy"}, {.orient = ORIENT_FEATURES}},
        {{"swapped.npy"}, {.orient = ORIENT_SAMPLES, .names_path = NULL}},
    };
    int64_t failures = 0;
    (void)state;
    put_files();
    put_text("y.csv", "1\n2\n3\n4\n");
    for (size_t k = 0; k < sizeof readings / sizeof *readings; k++)
        failures += walk(read_all, &readings[k], readings[k].paths[0]);
    failures += walk(read_response, "y.csv", "y.csv");
    failures += walk(read_response, "y.npy", "y.npy");
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_allocation_of_a_reader_may_fail, enter_folder,
                                        leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
