/* Forged checkpoints: wrong contents under right digests. Loading refuses them, or gives a fit that
 * continues without harm. */
#include "test_api_stream.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { VERSION = 2, HEAD = 16, SECTION_HEAD = 32 };

static store saved, changed;

/* An implementation of its own of the digests of src/base/section.c: name and length, then the
 * bytes. */
static void sign_sections(store *k)
{
    for (size_t at = HEAD; at + SECTION_HEAD <= k->size;) {
        int64_t length;
        uint32_t version;
        memcpy(&version, k->bytes + 8, sizeof version);
        memcpy(&length, k->bytes + at + 16, sizeof length);
        uint64_t digest = XXH3_64bits_withSeed(k->bytes + at, 24, version);
        digest = XXH3_64bits_withSeed(k->bytes + at + SECTION_HEAD, (size_t)length, digest);
        memcpy(k->bytes + at + 24, &digest, sizeof digest);
        at += SECTION_HEAD + (size_t)length;
    }
}

static int is_in_section_head(const store *k, size_t place)
{
    for (size_t at = HEAD; at + SECTION_HEAD <= k->size;) {
        int64_t length;
        memcpy(&length, k->bytes + at + 16, sizeof length);
        if (place < at + SECTION_HEAD)
            return place >= at;
        at += SECTION_HEAD + (size_t)length;
    }
    return 1;
}

static void save_half(const stream *s)
{
    roofs_estimator *e = open_fit(&s->p);
    feed_batches(e, s, 0, 3);
    store_save(&saved, e);
    roofs_destroy(e);
}

/* Loads and continues the fit, which may fail but not crash. Returns 1 if it was loaded. */
static int try_to_resume(const stream *s)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    roofs_result view;
    roofs_settings set;
    roofs_settings_as_saved(&set);
    set.threads = 1;
    set.max_memory = 100 << 20;
    roofs_status status = store_load(&changed, &set, &e, &err);
    if (status != ROOFS_OK) {
        assert_null(e);
        assert_true(status == ROOFS_BAD_DATA || status == ROOFS_OVER_LIMIT ||
                    status == ROOFS_NO_MEMORY);
        return 0;
    }
    roofs_block b = slice_of(s, 3 * BATCH, BATCH);
    status = roofs_consume(e, &b, &err);
    if (status == ROOFS_OK)
        status = roofs_finish(e, &err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, &err);
    roofs_destroy(e);
    return 1;
}

/* Replaces every eight bytes by numbers that could do harm. */
static void change_numbers(const stream *s)
{
    const double wild[] = {NAN, INFINITY, -1e308, 1e-308};
    const int64_t odd[] = {-1, 0, 1, 2, 1000, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
    int loaded = 0, refused = 0;
    for (size_t at = HEAD; at + 8 <= saved.size; at += 8) {
        if (is_in_section_head(&saved, at))
            continue;
        for (size_t k = 0; k < sizeof wild / sizeof *wild + sizeof odd / sizeof *odd; k++) {
            int number = k < sizeof wild / sizeof *wild;
            if (at > 3000 && k != at / 8 % 12) /* most of it is more of the same */
                continue;
            changed = saved;
            memcpy(changed.bytes + at, number ? (const void *)&wild[k] : &odd[k - 4], 8);
            sign_sections(&changed);
            int fine = try_to_resume(s);
            loaded += fine;
            refused += !fine;
        }
    }
    assert_true(loaded > 0 && refused > 0);
}

static void test_forged_numbers_do_no_harm(void **state)
{
    static stream s;
    (void)state;
    for (int64_t k = 0; roofs_method_name(k); k++) {
        make_stream(&s, &(kind){.method = roofs_method_name(k),
                                .sparse = k & 1,
                                .named = k >> 1 & 1,
                                .passes = 1});
        save_half(&s);
        change_numbers(&s);
    }
}

static void test_digests_agree_with_the_library(void **state)
{
    static stream s;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    save_half(&s);
    changed = saved;
    sign_sections(&changed);
    assert_memory_equal(changed.bytes, saved.bytes, saved.size);
    assert_int_equal(try_to_resume(&s), 1);
}

/* A length beyond the end of the file must not be allocated. */
static void test_long_section_is_not_allocated(void **state)
{
    static stream s;
    const int64_t length = (int64_t)1 << 60;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    save_half(&s);
    changed = saved;
    memcpy(changed.bytes + HEAD + 16, &length, sizeof length);
    assert_int_equal(try_to_resume(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests_agree_with_the_library),
        cmocka_unit_test(test_forged_numbers_do_no_harm),
        cmocka_unit_test(test_long_section_is_not_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
