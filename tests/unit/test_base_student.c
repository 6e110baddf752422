/* Quantiles of Student's t distribution and of skewed noise, against published tables. */
#include "base/student.h"
#include "test_base_help.h"

static void test_quantiles_are_those_of_tables(void **state)
{
    static const struct {
        double nu, p, quantile;
    } rows[] = {{INFINITY, 0.975, 1.9599639845400545}, {INFINITY, 0.95, 1.6448536269514722},
                {1, 0.975, 12.706204736174698},        {2, 0.975, 4.3026527297494637},
                {3, 0.975, 3.1824463052842629},        {4, 0.975, 2.7764451051977987},
                {5, 0.95, 2.0150483733330224},         {9, 0.995, 3.2498355415921548},
                {19, 0.975, 2.0930240544083087},       {1000, 0.975, 1.9623390808264143}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const double wanted = rows[k].quantile;
        assert_close(student_quantile(rows[k].nu, rows[k].p), wanted, 1e-9 * wanted);
        assert_close(student_quantile(rows[k].nu, 1 - rows[k].p), -wanted, 1e-9 * wanted);
    }
}

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Two halves of a normal distribution that meet at 0 with the same density. */
static void test_skewed_quantile_inverts_the_distribution(void **state)
{
    (void)state;
    for (int skew = -4; skew <= 4; skew++)
        for (double p = 0.01; p < 1; p += 0.01) {
            const double left = exp(-0.3 * skew), right = exp(0.3 * skew);
            const double below = left / (left + right), x = skewed_quantile(INFINITY, skew, p);
            const double got = x < 0 ? 2 * below * normal_below(x / left)
                                     : 1 - 2 * (1 - below) * normal_below(-x / right);
            assert_close(got, p, 1e-12);
        }
}

/* Extreme levels end, too. */
static void test_extreme_quantiles_are_finite(void **state)
{
    static const double tails[] = {1, 2, 3, 5, 9, 19, INFINITY};
    (void)state;
    for (int k = 0; k < 7; k++) {
        double before = -INFINITY;
        assert_true(student_quantile(tails[k], 0.5) == 0);
        for (double p = 1e-300; p < 0.5; p *= 10) {
            const double now = student_quantile(tails[k], p);
            assert_true(isfinite(now) && now >= before);
            before = now;
        }
    }
}

static void test_other_degrees_of_freedom_are_not_known(void **state)
{
    static const double unknown[] = {0, -1, 0.5, 2.5, 1001, NAN, -INFINITY};
    (void)state;
    for (int k = 0; k < 7; k++)
        assert_false(student_is_known(unknown[k]));
    assert_true(student_is_known(1) && student_is_known(1000) && student_is_known(INFINITY));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_are_those_of_tables),
        cmocka_unit_test(test_skewed_quantile_inverts_the_distribution),
        cmocka_unit_test(test_extreme_quantiles_are_finite),
        cmocka_unit_test(test_other_degrees_of_freedom_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
