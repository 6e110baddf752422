/* Allocation and the set of names. */
#include "test_base_help.h"

#include "base/memory.h"
#include "base/nameset.h"

/* A refused size is a refused size, also where the sanitizer would rather stop. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_blocks_are_zeroed_and_aligned(void **state)
{
    static const int64_t counts[] = {0, 1, 7, 8, 9, 1000, (8 << 20) / 8, (9 << 20) / 8 + 3};
    roofs_error err;
    (void)state;
    for (int k = 0; k < 8; k++) {
        double *block = NULL, *raw = NULL;
        assert_fine(memory_get(&block, counts[k], sizeof *block, "a test", &err));
        assert_fine(memory_reserve(&raw, counts[k], sizeof *raw, "a test", &err));
        assert_non_null(block);
        assert_non_null(raw);
        assert_int_equal((uintptr_t)block % 64, 0);
        assert_int_equal((uintptr_t)raw % 64, 0);
        for (int64_t i = 0; i < counts[k]; i++) {
            assert_true(block[i] == 0);
            raw[i] = block[i] = (double)i; /* the sanitizer checks the last one */
        }
        memory_free(block);
        memory_free(raw);
    }
    memory_free(NULL);
}

static void test_impossible_sizes_are_refused(void **state)
{
    static const int64_t counts[] = {
        -1, INT64_MIN, INT64_MAX, INT64_MAX / 8, INT64_MAX / 8 + 1, INT64_MAX / 16};
    roofs_error err;
    (void)state;
    for (int k = 0; k < 6; k++) {
        double *block = &(double){1};
        assert_refused(memory_get(&block, counts[k], sizeof *block, "the moon", &err),
                       ROOFS_NO_MEMORY, "no memory for the moon", "GiB");
        assert_null(block);
        assert_refused(memory_reserve(&block, counts[k], sizeof *block, "the sun", &err),
                       ROOFS_NO_MEMORY, "the sun");
        assert_null(block);
        assert_int_equal(memory_get(&block, counts[k], 8, "the moon", NULL), ROOFS_NO_MEMORY);
    }
    assert_int_equal(memory_bytes(3, 8), 24);
    assert_int_equal(memory_bytes(0, INT64_MAX), 0);
    assert_int_equal(memory_bytes(INT64_MAX, 1), INT64_MAX);
    assert_int_equal(memory_bytes((int64_t)1 << 62, 2), INT64_MAX);
    assert_int_equal(memory_bytes(-1, 8), INT64_MAX);
    assert_int_equal(memory_bytes(8, -1), INT64_MAX);
}

/* One more at a time, odd item size: what was there stays, what is new is zero. */
static void test_growth_one_by_one_keeps_values(void **state)
{
    typedef struct odd {
        unsigned char bytes[13];
    } odd;
    odd *block = NULL;
    int64_t capacity = 0, moves = 0;
    roofs_error err;
    (void)state;
    for (int64_t need = 1; need <= 1500; need++) {
        int64_t before = capacity;
        assert_fine(memory_grow(&block, &capacity, need, sizeof *block, "a list", &err));
        assert_true(capacity >= need);
        assert_true(before == capacity || capacity >= 2 * before); /* few moves */
        moves += before != capacity;
        for (int64_t i = need - 1; i < capacity; i++)
            for (int b = 0; b < 13; b++)
                assert_int_equal(block[i].bytes[b], 0);
        memset(block[need - 1].bytes, (int)(need % 251 + 1), 13);
        for (int64_t i = 0; i < need; i++)
            assert_int_equal(block[i].bytes[12], (i + 1) % 251 + 1);
    }
    assert_true(moves < 10);
    memory_free(block);
}

static void test_growth_by_leaps_keeps_values(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int run = 0; run < 200; run++) {
        int64_t *block = NULL, capacity = 0, filled = 0;
        roofs_error err;
        for (int step = 0; step < 6; step++) {
            int64_t need = filled + random_below(&random, 40);
            assert_fine(memory_grow(&block, &capacity, need, sizeof *block, "a list", &err));
            for (; filled < need; filled++) {
                assert_int_equal(block[filled], 0);
                block[filled] = filled + 1;
            }
            for (int64_t i = 0; i < filled; i++)
                assert_int_equal(block[i], i + 1);
        }
        memory_free(block);
    }
}

static void test_failed_growth_changes_nothing(void **state)
{
    int64_t *block = NULL, capacity = 0;
    roofs_error err;
    (void)state;
    assert_fine(memory_grow(&block, &capacity, 17, sizeof *block, "a list", &err));
    int64_t *before = block, had = capacity;
    block[16] = 42;
    assert_refused(memory_grow(&block, &capacity, INT64_MAX / 4, sizeof *block, "a list", &err),
                   ROOFS_NO_MEMORY, "a list");
    assert_ptr_equal(block, before);
    assert_int_equal(capacity, had);
    assert_int_equal(block[16], 42);
    assert_fine(memory_grow(&block, &capacity, 0, sizeof *block, "a list", &err));
    assert_ptr_equal(block, before);
    memory_free(block);
}

static void test_text_is_copied(void **state)
{
    char source[] = "caf\xc3\xa9", *copy = NULL, *empty = NULL;
    roofs_error err;
    (void)state;
    assert_fine(memory_copy_text(&copy, source, &err));
    source[0] = 'x';
    assert_string_equal(copy, "caf\xc3\xa9");
    assert_fine(memory_copy_text(&empty, "", &err));
    assert_string_equal(empty, "");
    memory_free(copy);
    memory_free(empty);
}

/* ---- names --------------------------------------------------------------- */

static int is_fresh(nameset *set, const char *name)
{
    roofs_error err;
    int fresh = -1;
    assert_fine(nameset_add(set, name, &fresh, &err));
    return fresh;
}

static void test_names_are_found_again(void **state)
{
    enum { NAMES = 20000 };
    nameset set = {0};
    char name[40];
    (void)state;
    for (int pass = 1; pass >= 0; pass--)
        for (int k = 0; k < NAMES; k++) {
            snprintf(name, sizeof name, "%s%d", k % 2 ? "gene_" : "x", k);
            assert_int_equal(is_fresh(&set, name), pass);
        }
    assert_int_equal(set.count, NAMES);
    assert_int_equal(is_fresh(&set, "X0"), 1); /* not x0 */
    assert_int_equal(is_fresh(&set, ""), 1);
    assert_int_equal(is_fresh(&set, ""), 0);
    nameset_clear(&set);
    assert_int_equal(is_fresh(&set, "x0"), 1);
    nameset_clear(&set);
}

static void test_long_names_differ_at_the_end(void **state)
{
    nameset set = {0};
    char name[5001];
    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (size_t length = 1; length < sizeof name; length += 97) {
        name[length] = 0;
        assert_int_equal(is_fresh(&set, name), 1);
        assert_int_equal(is_fresh(&set, name), 0);
        name[length] = 'a';
    }
    nameset_clear(&set);
}

/* Below and above the number from which pages are shared. */
static void test_ones_are_ones_and_can_be_written(void **state)
{
    const int64_t counts[] = {0, 1, 1000, (1 << 24) - 1, 1 << 24, (1 << 24) + 12345};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int64_t count = counts[k];
        unsigned char *ones = memory_ones(count, "a test", NULL);
        assert_non_null(ones);
        int64_t sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += ones[i] == 1;
        assert_int_equal(sum, count);
        for (int64_t i = 0; i < count; i += 100003)
            ones[i] = 0;
        sum = 0;
        for (int64_t i = 0; i < count; i++)
            sum += ones[i] == (i % 100003 != 0);
        assert_int_equal(sum, count);
        memory_free_ones(ones, count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ones_are_ones_and_can_be_written),
        cmocka_unit_test(test_blocks_are_zeroed_and_aligned),
        cmocka_unit_test(test_impossible_sizes_are_refused),
        cmocka_unit_test(test_growth_one_by_one_keeps_values),
        cmocka_unit_test(test_growth_by_leaps_keeps_values),
        cmocka_unit_test(test_failed_growth_changes_nothing),
        cmocka_unit_test(test_text_is_copied),
        cmocka_unit_test(test_names_are_found_again),
        cmocka_unit_test(test_long_names_differ_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
