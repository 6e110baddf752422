/* Callers that were compiled with another version of the header: their structs are shorter or
 * longer than the library's. What lies beyond the given size is never written. */
#include "test_api_problem.h"

#include <stddef.h>

enum { PATTERN = 0x5a, MORE = 64 };

/* A struct of a newer header: the known fields, and some that this library does not know. */
#define NEWER(type)                                                                                \
    struct {                                                                                       \
        type known;                                                                                \
        unsigned char more[MORE];                                                                  \
    }

static problem p;
static roofs_error err;

static void assert_all(const void *bytes, int value, size_t count)
{
    for (size_t k = 0; k < count; k++)
        assert_int_equal(((const unsigned char *)bytes)[k], value);
}

/* `call` fills the struct at `out` of `size` bytes. Shorter: fields up to `size`, nothing beyond.
 * Longer: fields that the library does not know become 0. */
#define CHECK_OUTPUT(type, last_field, call)                                                       \
    do {                                                                                           \
        NEWER(type) whole, shorter;                                                                \
        const size_t older = offsetof(type, last_field);                                           \
        type *out = &whole.known;                                                                  \
        size_t size = sizeof whole;                                                                \
        memset(&whole, PATTERN, sizeof whole);                                                     \
        memset(&shorter, PATTERN, sizeof shorter);                                                 \
        call;                                                                                      \
        assert_int_equal(whole.known.struct_size, sizeof(type));                                   \
        assert_all(whole.more, 0, MORE);                                                           \
        out = &shorter.known;                                                                      \
        size = older;                                                                              \
        call;                                                                                      \
        assert_int_equal(shorter.known.struct_size, older);                                        \
        shorter.known.struct_size = whole.known.struct_size;                                       \
        assert_memory_equal(&whole, &shorter, older);                                              \
        assert_all((char *)&shorter + older, PATTERN, sizeof shorter - older);                     \
    } while (0)

static void test_outputs_fit_the_callers_struct(void **state)
{
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    (void)state;
    CHECK_OUTPUT(roofs_result, rounds, assert_fine(roofs_view_sized(e, out, size, &err)));
    CHECK_OUTPUT(roofs_result, warnings, roofs_model_view_sized(m, out, size)); /* 0.2.0 */
    CHECK_OUTPUT(roofs_description, batches, roofs_describe_sized(e, out, size));
    CHECK_OUTPUT(roofs_setting_info, help, (void)roofs_setting_describe_sized(3, out, size));
    CHECK_OUTPUT(roofs_method_info, joint, (void)roofs_method_describe_sized(1, out, size));
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* ---- settings ---------------------------------------------------------- */

static void test_settings_without_a_size_are_refused(void **state)
{
    int64_t bytes;
    roofs_settings s = {.mu = 3, .method = "roofs"};
    roofs_estimator *e;
    (void)state;
    assert_refused(roofs_settings_check(&s, &err), ROOFS_BAD_CALL,
                   "call roofs_settings_init first");
    assert_refused(roofs_settings_set(&s, "mu", "3", &err), ROOFS_BAD_CALL, "roofs_settings_init");
    assert_refused(roofs_create(&e, &s, p.y, SAMPLES, &err), ROOFS_BAD_CALL, "roofs_settings_init");
    assert_refused(roofs_memory_needed(&s, 9, ROOFS_F64, &bytes, &err), ROOFS_BAD_CALL,
                   "roofs_settings_init");
    const size_t wrong[] = {1, 8, sizeof s - 1, 5000, SIZE_MAX};
    for (int k = 0; k < 5; k++) {
        s = p.set;
        s.struct_size = wrong[k];
        assert_refused(roofs_settings_check(&s, &err), ROOFS_BAD_CALL, "struct_size");
    }
}

static void test_settings_of_a_newer_header_are_taken(void **state)
{
    NEWER(roofs_settings) s;
    roofs_estimator *e, *plain = fit_all(&p, NULL);
    roofs_block all = block_of(&p, 0, FEATURES);
    (void)state;
    memset(&s, PATTERN, sizeof s);
    roofs_settings_init_sized(&s.known, sizeof s - 8);
    assert_int_equal(s.known.struct_size, sizeof s - 8);
    assert_all(s.more, 0, MORE - 8);
    assert_all(s.more + MORE - 8, PATTERN, 8);
    s.known.method = "roofs";
    s.known.mu = p.set.mu;
    s.known.threads = 1;
    assert_fine(roofs_settings_set(&s.known, "batch", "7", &err));
    assert_fine(roofs_create(&e, &s.known, p.y, SAMPLES, &err));
    assert_fine(roofs_consume(e, &all, &err));
    assert_fine(roofs_finish(e, &err));
    assert_same_fits(e, plain);
    s.more[5] = 1; /* a setting that this library cannot honour */
    assert_refused(roofs_settings_check(&s.known, &err), ROOFS_BAD_CALL, "roofs_settings",
                   roofs_version());
    roofs_destroy(e);
    roofs_destroy(plain);
}

/* ---- blocks and communicators ------------------------------------------ */

static void test_blocks_of_other_headers_are_taken(void **state)
{
    NEWER(roofs_block) newer = {.known = block_of(&p, 0, FEATURES)};
    roofs_estimator *e = open_fit(&p);
    const size_t right[] = {0, offsetof(roofs_block, levels), sizeof(roofs_block), sizeof newer};
    const size_t wrong[] = {8, offsetof(roofs_block, levels) - 8, 5000};
    (void)state;
    for (int k = 0; k < 3; k++) {
        newer.known.struct_size = wrong[k];
        assert_refused(roofs_consume(e, &newer.known, &err), ROOFS_BAD_CALL, "roofs_block");
    }
    newer.known.count = 7;
    for (int k = 0; k < 4; k++) {
        newer.known.struct_size = right[k];
        newer.known.values = p.x[7 * k];
        assert_fine(roofs_consume(e, &newer.known, &err));
    }
    newer.more[MORE - 1] = 1;
    assert_refused(roofs_consume(e, &newer.known, &err), ROOFS_BAD_CALL, "roofs_block");
    assert_fine(roofs_finish(e, &err));
    roofs_destroy(e);
}

static void test_communicators_of_other_headers_are_taken(void **state)
{
    NEWER(roofs_comm) newer = {.known = {.size = 1}};
    roofs_estimator *e;
    (void)state;
    const size_t sizes[] = {0, offsetof(roofs_comm, reason), sizeof(roofs_comm), sizeof newer};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        newer.known.struct_size = sizes[k];
        assert_fine(roofs_create_split(&e, &p.set, p.y, SAMPLES, &newer.known, &err));
        roofs_destroy(e);
    }
    newer.known.struct_size = offsetof(roofs_comm, gather);
    assert_refused(roofs_create_split(&e, &p.set, p.y, SAMPLES, &newer.known, &err), ROOFS_BAD_CALL,
                   "roofs_comm");
}

/* ---- the monitor ------------------------------------------------------- */

static int record_size(void *user, const roofs_progress *now)
{
    *(size_t *)user = now->struct_size;
    return ROOFS_MONITOR_CONTINUE;
}

static void test_progress_carries_its_size(void **state)
{
    size_t size = 0;
    roofs_block all = block_of(&p, 0, FEATURES);
    roofs_estimator *e = open_fit(&p);
    (void)state;
    roofs_set_monitor(e, record_size, &size);
    assert_fine(roofs_consume(e, &all, &err));
    assert_int_equal(size, sizeof(roofs_progress));
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs_fit_the_callers_struct),
        cmocka_unit_test(test_settings_without_a_size_are_refused),
        cmocka_unit_test(test_settings_of_a_newer_header_are_taken),
        cmocka_unit_test(test_blocks_of_other_headers_are_taken),
        cmocka_unit_test(test_communicators_of_other_headers_are_taken),
        cmocka_unit_test(test_progress_carries_its_size),
    };
    make_problem(&p, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
