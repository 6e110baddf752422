/* Text to double: exact to the last bit, against strtod. */
#include "test_base_help.h"

#include "base/number.h"

static void assert_exact(const char *text)
{
    double got = 0, wanted = strtod(text, NULL);
    const char *end = text + strlen(text);
    if (number_scan(text, end, &got) != end || memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%.60s gives %a, not %a", text, got, wanted);
}

/* Any bit pattern: every exponent, subnormals included. */
static void test_random_bit_patterns_are_read_back(void **state)
{
    static const char *const formats[] = {"%.17g", "%.3g", "%.18e", "%.16g", "%.30e"};
    uint64_t random = 88172645463325252;
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = next_random(&random);
        double value;
        char text[64];
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, formats[i % 5], value);
        assert_exact(text);
    }
}

/* Magnitudes as in real files, which take the fast paths. */
static void test_usual_numbers_are_read(void **state)
{
    static const char *const formats[] = {"%.17g", "%.6f", "%.18e", "%.8g", "%.19f"};
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 500000; i++) {
        char text[64];
        double value = ldexp((double)(int64_t)next_random(&random), -70 + i % 80);
        snprintf(text, sizeof text, formats[i % 5], value);
        assert_exact(text);
    }
}

/* Half-way between two doubles, written out in full, and a little above. */
static void test_ties_round_to_even(void **state)
{
    uint64_t random = 17;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = next_random(&random) % ((uint64_t)0x7fe << 52);
        double low, high;
        char text[1300];
        if (i % 3 == 0)
            bits &= ((uint64_t)1 << 53) - 1; /* subnormal or nearly so */
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        snprintf(text, sizeof text, "%.1150Le", ((long double)low + (long double)high) / 2);
        assert_exact(text);
        text[strcspn(text, "e") - 1] = '1'; /* beyond the digits that are read */
        assert_exact(text);
    }
}

static void test_edges_are_read(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+0.0",
        "1",
        "-1",
        "+1.5",
        ".5",
        "5.",
        "-.5e1",
        "1e5",
        "1E+5",
        "1e-5",
        "00012.500",
        "0.000000000000000000000000000000001",
        "123456789012345678901234567890",
        "9007199254740993",
        "9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "1e27",
        "1e28",
        "1e-27",
        "1e-28",
        "1.7976931348623157e308",
        "179769313486231570000e289",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1e-400",
        "0e999999999999999999999",
        "0.1e-999999999999999999",
        "100000000000000000000e-20",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000000000001e80",
        "12345678.12345678",
        "1234567890123456.7",
        "3.141592653589793238462643383279502884197"};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_exact(texts[k]);
}

static number_kind kind_of(const char *text)
{
    double value;
    return number_read(text, text + strlen(text), &value);
}

static void test_other_texts_are_refused(void **state)
{
    static const char *const missing[] = {"",     "  ", "nan", "NaN", "-nan", "NA",
                                          "null", "-",  ".",   "?",   "\\N"};
    static const char *const infinite[] = {"inf", "-Infinity", "+INF"};
    static const char *const texts[] = {"0x10", "1e",  "1e+", "e5",  "1 2",   "1.2.3", "--1",
                                        "1,5",  "1d5", "abc", "+-1", "1_000", "NANA"};
    (void)state;
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        assert_int_equal(kind_of(missing[k]), NUMBER_MISSING);
    for (size_t k = 0; k < sizeof infinite / sizeof *infinite; k++)
        assert_int_equal(kind_of(infinite[k]), NUMBER_INFINITE);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        assert_int_equal(kind_of(texts[k]), NUMBER_TEXT);
    assert_int_equal(kind_of("1e999"), NUMBER_TOO_LARGE);
    assert_int_equal(kind_of("-1.7976931348623159e308"), NUMBER_TOO_LARGE);
    assert_int_equal(kind_of("  +2.5\t"), NUMBER_FINE);
}

/* Nothing behind `end` is read. */
static void test_end_of_the_number_is_returned(void **state)
{
    const char exact[3] = "1.5"; /* the address sanitizer checks reads behind it */
    double value = 0;
    (void)state;
    assert_ptr_equal(number_scan(exact, exact + 3, &value), exact + 3);
    assert_ptr_equal(number_scan(exact, exact + 2, &value), exact + 2);
    assert_true(value == 1.0);
    assert_null(number_scan(exact, exact, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bit_patterns_are_read_back),
        cmocka_unit_test(test_usual_numbers_are_read),
        cmocka_unit_test(test_ties_round_to_even),
        cmocka_unit_test(test_edges_are_read),
        cmocka_unit_test(test_other_texts_are_refused),
        cmocka_unit_test(test_end_of_the_number_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
