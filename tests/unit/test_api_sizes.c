/* Public calls with numbers that no caller should pass: a status, or a number that says nothing,
 * but no overflow. The build with sanitizers runs this, too. */
#include "test_api_problem.h"

static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1, -1,        0,
                                  1,         INT32_MAX - 1, INT32_MAX, 1LL << 40,
                                  1LL << 61, INT64_MAX - 1, INT64_MAX};
enum { NUMBERS = (int)(sizeof numbers / sizeof *numbers) };

static roofs_error err;
static problem p;

/* For every method, with the settings that make the most of the numbers. */
static void for_settings(void (*check)(const roofs_settings *set))
{
    static const int64_t mus[] = {0, 1, 1000000000000}, batches[] = {1, 1000000000};
    static const int64_t limits[] = {0, 1, INT64_MAX};
    roofs_method_info info;
    for (int64_t m = 0; roofs_method_describe(m, &info); m++)
        for (int k = 0; k < 18; k++) {
            roofs_settings set;
            roofs_settings_init(&set);
            set.method = info.name;
            set.mu = mus[k % 3];
            set.batch = batches[k / 3 % 2];
            set.max_memory = limits[k / 6];
            set.reserve = info.reserve ? 1000 : 0;
            set.threads = k % 2 ? 4096 : 1;
            check(&set);
        }
}

static void check_needs(const roofs_settings *set)
{
    for (int k = 0; k < NUMBERS; k++)
        for (int d = 0; d < 2; d++) {
            int64_t bytes = -1, left = -1;
            const roofs_dtype dtype = d ? ROOFS_F32 : ROOFS_F64;
            if (roofs_memory_needed(set, numbers[k], dtype, &bytes, &err) == ROOFS_OK)
                assert_true(bytes > 0);
            if (roofs_memory_on_device(set, numbers[k], dtype, &bytes, &left, &err) == ROOFS_OK)
                assert_true(bytes >= 0);
            for (int f = 0; f < NUMBERS; f++)
                if (roofs_memory_needed_sparse(set, numbers[k], dtype, numbers[f], &bytes, &err) ==
                    ROOFS_OK)
                    assert_true(bytes > 0);
        }
}

static void test_memory_is_counted_for_any_number(void **state)
{
    (void)state;
    for_settings(check_needs);
}

/* More samples need no less memory. */
static void test_memory_grows_with_the_samples(void **state)
{
    int64_t before = 0, bytes;
    (void)state;
    roofs_settings set = p.set;
    for (int64_t n = 1; n < INT64_MAX / 2; n *= 2) {
        assert_fine(roofs_memory_needed(&set, n, ROOFS_F64, &bytes, &err));
        assert_true(bytes >= before);
        before = bytes;
    }
    assert_int_equal(before, INT64_MAX);
}

static void check_resolved(const roofs_settings *set)
{
    for (int k = 0; k < NUMBERS; k++)
        for (int f = 0; f < NUMBERS; f++) {
            roofs_settings own = *set;
            if (roofs_settings_resolve(&own, numbers[k], numbers[f], numbers[f], &err) == ROOFS_OK)
                assert_true(own.mu >= 1);
        }
    assert_true(roofs_features_held(set) >= 0);
    assert_true(roofs_hypotheses_followed(set) >= 1);
}

static void test_settings_are_resolved_for_any_number(void **state)
{
    (void)state;
    for_settings(check_resolved);
}

/* Only numbers for which the arrays below are long enough. */
static void test_impossible_counts_are_refused(void **state)
{
    static const int64_t impossible[] = {INT64_MIN, -1, 0, 1, 3, INT32_MAX, INT64_MAX};
    roofs_estimator *e;
    (void)state;
    for (size_t k = 0; k < sizeof impossible / sizeof *impossible; k++) {
        assert_int_equal(roofs_create(&e, &p.set, p.y, impossible[k], &err), ROOFS_BAD_DATA);
        assert_null(e);
        const roofs_comm alone = {.size = 1};
        assert_int_equal(roofs_create_split(&e, &p.set, p.y, impossible[k], &alone, &err),
                         ROOFS_BAD_DATA);
    }
    for (int k = 0; k < NUMBERS; k++) {
        e = open_fit(&p);
        roofs_block block = block_of(&p, 0, 3);
        block.n = numbers[k];
        assert_int_equal(roofs_consume(e, &block, &err), ROOFS_BAD_DATA);
        roofs_destroy(e);
        e = open_fit(&p);
        block = block_of(&p, 0, 3);
        block.count = numbers[k] > 3 ? -numbers[k] : numbers[k];
        roofs_status status = roofs_consume(e, &block, &err);
        assert_int_equal(status, block.count < 0 ? ROOFS_BAD_DATA : ROOFS_OK);
        roofs_destroy(e);
    }
}

static void test_queries_accept_any_number(void **state)
{
    roofs_setting_info setting;
    roofs_method_info method;
    (void)state;
    for (int k = 0; k < NUMBERS; k++) {
        const int64_t x = numbers[k];
        const int is_index = x == 0 || x == 1;
        assert_int_equal(roofs_setting_describe(x, &setting), is_index);
        assert_int_equal(roofs_method_describe(x, &method), is_index);
        assert_int_equal(roofs_method_name(x) != NULL, is_index);
        assert_int_equal(roofs_method_summary(x) != NULL, is_index);
        for (int c = 0; c < NUMBERS; c++) {
            const char *word = roofs_setting_choice(x, numbers[c]);
            assert_true(!word || is_index);
        }
        assert_true(roofs_setting_choice(roofs_setting_find("device"), x) == NULL || is_index);
        assert_true(roofs_hypothesis_text(x) == NULL || is_index);
        assert_true(roofs_warning_name(x) == NULL || is_index);
        assert_true(roofs_warning_text(x) == NULL || is_index);
        assert_non_null(roofs_status_text((roofs_status)(int)x));
        assert_true(roofs_stop_text((roofs_stop)(int)x) == NULL || x <= 1 || x > INT32_MAX);
    }
}

static int64_t read_nothing(void *user, void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

static int rewind_nothing(void *user)
{
    (void)user;
    return 0;
}

static int write_nothing(void *user, const void *bytes, size_t size)
{
    (void)user, (void)bytes, (void)size;
    return 0;
}

static void test_counts_of_files_and_bytes_are_checked(void **state)
{
    void *files[2] = {NULL, NULL};
    roofs_estimator *e = fit_all(&p, NULL), *loaded;
    roofs_model *model = NULL;
    (void)state;
    for (int k = 0; k < NUMBERS; k++) {
        if (numbers[k] < 1 || numbers[k] > 2)
            assert_true(roofs_load_split(&loaded, read_nothing, rewind_nothing, files, numbers[k],
                                         NULL, NULL, &err) != ROOFS_OK);
        if (numbers[k] < 0)
            assert_int_equal(
                roofs_save_with(e, "mine", files, numbers[k], write_nothing, NULL, &err),
                ROOFS_BAD_CALL);
    }
    assert_fine(roofs_model_create(&model, e, &err));
    for (int32_t base = -3; base < 4; base++)
        assert_int_equal(roofs_model_set_index_base(model, base, &err),
                         base < -1 || base > 1 ? ROOFS_BAD_CALL : ROOFS_OK);
    roofs_model_destroy(model);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_counted_for_any_number),
        cmocka_unit_test(test_memory_grows_with_the_samples),
        cmocka_unit_test(test_settings_are_resolved_for_any_number),
        cmocka_unit_test(test_impossible_counts_are_refused),
        cmocka_unit_test(test_queries_accept_any_number),
        cmocka_unit_test(test_counts_of_files_and_bytes_are_checked),
    };
    make_problem(&p, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
