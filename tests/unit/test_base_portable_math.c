/* The reference is the C library in long double, which has at least 11 more bits. */
#include "base/portable_math.h"
#include "test_base_help.h"

#include <float.h>

enum { DRAWS = 100000 };

/* The error of `found` in units in the last place. */
static double units_off(double found, long double wanted)
{
    int exponent;
    const double nearest = (double)wanted;
    if (found == nearest)
        return 0;
    frexp(nearest, &exponent);
    return (double)(fabsl(found - wanted) / ldexpl(1, exponent < -1021 ? -1074 : exponent - 53));
}

static void test_units_are_those_of_the_last_place(void **state)
{
    (void)state;
    assert_true(units_off(1, 1) == 0);
    assert_true(units_off(1 + DBL_EPSILON, 1) == 1);
    assert_true(units_off(1 - DBL_EPSILON, 1) == 1);
    assert_true(units_off(3 * DBL_TRUE_MIN, DBL_TRUE_MIN) == 2);
    assert_true(units_off(8 + DBL_EPSILON * 8, 8 - (long double)DBL_EPSILON / 8) > 1);
}

typedef double function(double x);
typedef long double long_function(long double x);

/* The largest error at random numbers up to 2^high, half of them spread evenly over the exponents
 * from 2^low on; with `signs`, of either sign. */
static double worst_error(function *f, long_function *wanted, double low, double high, int signs)
{
    double worst = 0;
    uint64_t state = 7;
    for (int64_t k = 0; k < DRAWS; k++) {
        const double u = random_unit(&state);
        const double size = k % 2 ? exp2(low + (high - low) * u) : exp2(high) * u;
        const double x = signs && k % 4 < 2 ? -size : size;
        worst = fmax(worst, units_off(f(x), wanted(x)));
    }
    return worst;
}

static double sine(double x)
{
    double s, c;
    math_sin_cos(x, &s, &c);
    return s;
}

static double cosine(double x)
{
    double s, c;
    math_sin_cos(x, &s, &c);
    return c;
}

static double power_of_ten(double x)
{
    return math_pow(10, x);
}

static long double long_power_of_ten(long double x)
{
    return powl(10, x);
}

static double some_power(double x)
{
    return math_pow(x, -1.37);
}

static long double long_some_power(long double x)
{
    return powl(x, (long double)-1.37);
}

static double identity(double x)
{
    return (float)x;
}

static long double long_identity(long double x)
{
    return x;
}

static void test_errors_are_below_two_units(void **state)
{
    static const struct {
        const char *name;
        function *f;
        long_function *wanted;
        double low, high;
        int signs;
        double most;
    } rows[] = {{"exp", math_exp, expl, -60, 0, 1, 1},
                {"exp", math_exp, expl, 0, 9.54, 1, 1},
                {"log", math_log, logl, -1074, 1023, 0, 1},
                {"log", math_log, logl, -2, 2, 0, 1},
                {"log", math_log, logl, -0.1, 0.1, 0, 1},
                {"log1p", math_log1p, log1pl, -60, 0, 1, 1},
                {"log1p", math_log1p, log1pl, -10, 1000, 0, 1},
                {"tanh", math_tanh, tanhl, -60, 5, 1, 1.5},
                {"tanh", math_tanh, tanhl, -3, 1, 1, 1.5},
                {"pow", power_of_ten, long_power_of_ten, -20, 8.26, 1, 1},
                {"pow", some_power, long_some_power, -740, 740, 0, 1},
                {"pow", some_power, long_some_power, -1, 1, 0, 1},
                {"erfc", math_erfc, erfcl, -60, 4.77, 1, 2},
                {"erfc", math_erfc, erfcl, -3, 2, 1, 2},
                {"atan", math_atan, atanl, -60, 60, 1, 2},
                {"atan", math_atan, atanl, -4, 4, 1, 2},
                {"sin", sine, sinl, -60, 3, 1, 1},
                {"cos", cosine, cosl, -60, 3, 1, 1},
                {"sin", sine, sinl, 0, 20, 1, 1},
                {"cos", cosine, cosl, 0, 20, 1, 1}};
    (void)state;
    assert_true(worst_error(identity, long_identity, -10, 10, 1) > 1e6); /* floats are far off */
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double worst =
            worst_error(rows[k].f, rows[k].wanted, rows[k].low, rows[k].high, rows[k].signs);
        if (!(worst < rows[k].most))
            fail_msg("%s from 2^%g to 2^%g: %.3f units", rows[k].name, rows[k].low, rows[k].high,
                     worst);
    }
}

static void test_exact_values_are_exact(void **state)
{
    (void)state;
    assert_true(math_exp(0) == 1 && math_log(1) == 0 && math_log1p(0) == 0 && math_tanh(0) == 0);
    assert_true(math_erfc(0) == 1 && math_atan(0) == 0 && sine(0) == 0 && cosine(0) == 1);
    assert_true(math_pow(1, 1e300) == 1 && math_pow(5, 0) == 1 && math_pow(0.1, 1) == 0.1);
    for (int k = -1022; k <= 1023; k++)
        assert_true(math_pow(2, k) == ldexp(1, k));
    for (int k = 0; k <= 22; k++)
        assert_true(
            math_pow(10, k) ==
            strtod((char[]){'1', 'e', (char)('0' + k / 10), (char)('0' + k % 10), 0}, NULL));
    assert_true(signbit(math_atan(-0.0)) && signbit(math_tanh(-0.0)) && signbit(math_log1p(-0.0)));
    assert_true(math_tanh(1e-300) == 1e-300 && math_log1p(1e-300) == 1e-300);
    assert_true(math_atan(1) == 0.78539816339744828 && math_tanh(30) == 1 && math_tanh(-30) == -1);
}

static void test_limits_are_those_of_the_c_standard(void **state)
{
    (void)state;
    assert_true(math_exp(INFINITY) == INFINITY && math_exp(-INFINITY) == 0);
    assert_true(math_exp(709.78) < INFINITY && math_exp(709.79) == INFINITY &&
                math_exp(1e300) == INFINITY);
    assert_true(math_exp(-745.13) == DBL_TRUE_MIN && math_exp(-745.14) == 0 &&
                math_exp(-1e300) == 0);
    assert_true(math_log(INFINITY) == INFINITY && math_log(0) == -INFINITY && isnan(math_log(-1)));
    assert_true(math_log(-0.0) == -INFINITY && isnan(math_log(-INFINITY)));
    assert_true(math_log1p(INFINITY) == INFINITY && math_log1p(-1) == -INFINITY &&
                isnan(math_log1p(-2)));
    assert_true(math_tanh(INFINITY) == 1 && math_tanh(-INFINITY) == -1);
    assert_true(math_pow(10, 400) == INFINITY && math_pow(10, -400) == 0 &&
                math_pow(0.1, 400) == 0);
    assert_true(math_pow(2, -1074) == DBL_TRUE_MIN);
    assert_true(math_erfc(INFINITY) == 0 && math_erfc(-INFINITY) == 2 && math_erfc(28) == 0);
    assert_true(math_erfc(27.2) > 0 && math_erfc(27.2) < DBL_MIN);
    assert_true(math_atan(INFINITY) == 1.5707963267948966 &&
                math_atan(-INFINITY) == -1.5707963267948966);
    assert_true(isnan(math_exp(NAN)) && isnan(math_log(NAN)) && isnan(math_log1p(NAN)));
    assert_true(isnan(math_tanh(NAN)) && isnan(math_erfc(NAN)) && isnan(math_atan(NAN)));
    assert_true(isnan(math_pow(NAN, 2)) && isnan(math_pow(2, NAN)));
}

/* Subnormal numbers as arguments and as results. */
static void test_subnormal_numbers_keep_their_bits(void **state)
{
    (void)state;
    for (double x = DBL_TRUE_MIN; x < 1e-300; x *= 1.7) {
        assert_true(units_off(math_log(x), logl(x)) < 1);
        assert_true(math_atan(x) == x && sine(x) == x && math_tanh(x) == x);
    }
    for (double x = -700; x > -745; x -= 0.37)
        assert_true(units_off(math_exp(x), expl(x)) < 1.01);
    for (double x = 26; x < 27.2; x += 0.01)
        assert_true(units_off(math_erfc(x), erfcl(x)) < 2);
}

/* The bits that every machine must find. */
static void test_bits_are_the_same_on_every_machine(void **state)
{
    uint64_t draws = 3, digest = 0;
    (void)state;
    for (int k = 0; k < 1000; k++) {
        const double x = 20 * random_unit(&draws),
                     values[] = {math_exp(x),       math_log(x),      math_log1p(x),
                                 math_tanh(x / 10), math_erfc(x / 4), math_atan(x),
                                 sine(x),           cosine(x),        math_pow(x, 1 / x)};
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            uint64_t bits;
            memcpy(&bits, &values[v], sizeof bits);
            digest = digest * 0x9e3779b97f4a7c15 + bits;
        }
    }
    assert_int_equal(digest, 0xf53cf9e3869f607c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_are_those_of_the_last_place),
        cmocka_unit_test(test_errors_are_below_two_units),
        cmocka_unit_test(test_exact_values_are_exact),
        cmocka_unit_test(test_limits_are_those_of_the_c_standard),
        cmocka_unit_test(test_subnormal_numbers_keep_their_bits),
        cmocka_unit_test(test_bits_are_the_same_on_every_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
