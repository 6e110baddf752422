/* Statuses, their texts, and the error that carries the reason. */
#include "test_base_help.h"

static void test_every_status_has_its_number_and_text(void **state)
{
    (void)state;
    assert_string_equal(roofs_status_text(ROOFS_OK), "success");
    assert_string_equal(roofs_status_text(ROOFS_OVER_LIMIT), "more memory is needed than allowed");
    assert_string_equal(roofs_status_text(ROOFS_CANCELLED), "stopped by the caller");
    assert_string_equal(roofs_status_text((roofs_status)99), "unknown status");
    assert_string_equal(roofs_status_text((roofs_status)-1), "unknown status");
    static const roofs_status promised[] = {ROOFS_OK,       ROOFS_FAILED,    ROOFS_BAD_SETTING,
                                            ROOFS_BAD_DATA, ROOFS_NO_MEMORY, ROOFS_OVER_LIMIT,
                                            ROOFS_IO,       ROOFS_BAD_CALL,  ROOFS_CANCELLED};
    for (int k = 0; k < 9; k++) {
        assert_int_equal(promised[k], k); /* exit codes and bindings rely on the numbers */
        for (int other = 0; other < k; other++)
            assert_string_not_equal(roofs_status_text(promised[k]),
                                    roofs_status_text(promised[other]));
    }
}

static void test_every_way_to_stop_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(roofs_stop_text(ROOFS_STOP_SETTLED), "settled");
    assert_string_equal(roofs_stop_text(ROOFS_STOP_MAX_ITER), "max_iter");
    assert_string_equal(roofs_stop_text(ROOFS_STOP_EMPTY), "empty");
    assert_null(roofs_stop_text((roofs_stop)3));
}

static void test_every_warning_has_a_word_and_a_text(void **state)
{
    int64_t k = 0;
    (void)state;
#define CHECK_WARNING(name, flag, word, text)                                                      \
    assert_int_equal(flag, (int64_t)1 << k); /* callers find words and texts by this */            \
    assert_string_equal(roofs_warning_name(k), word);                                              \
    assert_string_equal(roofs_warning_text(k), text);                                              \
    assert_non_null(strchr(text, ':')); /* what was found: what to do */                           \
    k++;
    ROOFS_WARNING_LIST(CHECK_WARNING)
#undef CHECK_WARNING
    assert_true(k >= 5);
    assert_null(roofs_warning_name(k));
    assert_null(roofs_warning_text(k));
    assert_null(roofs_warning_name(-1));
    assert_null(roofs_warning_text(INT64_MAX));
}

static void test_reason_reaches_the_caller(void **state)
{
    roofs_error err = {.feature = 7}; /* (fail): the function, not cmocka's macro */
    char longer[3000];
    (void)state;
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    assert_refused((fail)(&err, ROOFS_IO, "%s: %d", "file", 42), ROOFS_IO, "file: 42");
    assert_int_equal(err.feature, -1);
    assert_int_equal((fail)(&err, ROOFS_FAILED, "%s", longer), ROOFS_FAILED);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal((fail)(NULL, ROOFS_BAD_CALL, "nobody listens"), ROOFS_BAD_CALL);
}

static void test_version_is_three_numbers(void **state)
{
    int major, minor, patch, used = 0;
    (void)state;
    assert_int_equal(sscanf(roofs_version(), "%d.%d.%d%n", &major, &minor, &patch, &used), 3);
    assert_int_equal(roofs_version()[used], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_its_number_and_text),
        cmocka_unit_test(test_every_way_to_stop_has_a_text),
        cmocka_unit_test(test_every_warning_has_a_word_and_a_text),
        cmocka_unit_test(test_reason_reaches_the_caller),
        cmocka_unit_test(test_version_is_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
