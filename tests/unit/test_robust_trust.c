/* The trust set, against a plain implementation of docs/method-roofs.md. */
#include "test_base_help.h"

#include "robust/scale.h"
#include "robust/step.h"
#include "robust/tau.h"
#include "robust/trust.h"

enum { MOST = 200 };

/* Evaluates every tau and position in long double, whose squares neither overflow nor underflow. */
static int64_t tau_by_search(const double *sorted, int64_t n, int halved)
{
    const int64_t half = (n + 1) / 2;
    for (int64_t tau = n; tau >= half + 1; tau--) {
        int64_t smallest = halved ? tau / 2 : tau - half, closest = 1;
        long double mean = 0;
        for (int64_t k = 0; k < smallest; k++)
            mean += (long double)sorted[k] * sorted[k];
        mean /= smallest;
        for (int64_t k = 2; k <= n && smallest != 2; k++) {
            long double before = (long double)sorted[closest - 1] * sorted[closest - 1];
            long double here = (long double)sorted[k - 1] * sorted[k - 1];
            if (fabsl(here - mean) < fabsl(before - mean))
                closest = k;
        }
        if (sorted[tau - 1] <= 2.0L * tau * sorted[closest - 1] / closest)
            return tau;
    }
    return half + 1;
}

/* Normal; heavy tails; some corrupted; few different values; constant; mostly zero. */
static double residual_of_kind(int kind, uint64_t *random)
{
    double bell = random_bell(random);
    switch (kind) {
    case 0:
        return bell;
    case 1:
        return bell / (fabs(random_signed(random)) + 1e-9);
    case 2:
        return random_below(random, 5) ? bell : 20 + 5 * bell;
    case 3:
        return (double)random_below(random, 5);
    case 6: /* the mean is above many equals: the lowest of their positions counts */
        return (double)(random_below(random, 4) ? 1 + random_below(random, 2)
                                                : 30 * random_below(random, 5));
    case 4:
        return 3.7;
    default:
        return random_below(random, 3) ? 0 : exp(20 * random_signed(random));
    }
}

static void test_eq5_agrees_with_search(void **state)
{
    static const double units[] = {1, 1e300, 1e-300, 0x1p-1060};
    uint64_t random = 123;
    int64_t below = 0, all = 0;
    (void)state;
    for (int unit_case = 0; unit_case < 4; unit_case++)
        for (int kind = 0; kind < 7; kind++)
            for (int64_t n = 4; n <= MOST; n++) {
                double r[MOST], squares[MOST], sums[MOST];
                double unit = kind == 1 || kind == 5 ? 1 : units[unit_case];
                for (int64_t i = 0; i < n; i++)
                    r[i] = fabs(residual_of_kind(kind, &random)) * unit;
                qsort(r, (size_t)n, sizeof *r, ascending);
                int64_t got = tau_largest(r, n, squares, sums, tau_above_half),
                        wanted = tau_by_search(r, n, 0);
                if (got != wanted)
                    fail_msg("kind %d, n %lld, unit %g: %lld, not %lld", kind, (long long)n, unit,
                             (long long)got, (long long)wanted);
                assert_int_equal(tau_largest(r, n, squares, sums, tau_half_of),
                                 tau_by_search(r, n, 1));
                below += got < n;
                all += got == n;
            }
    assert_true(below > 1000 && all > 1000); /* both happen */
}

static void test_eq5_agrees_with_hand_calculation(void **state)
{
    double squares[8], sums[8];
    (void)state;
    /* n = 4: tau = 4 has tau' = 2, tau_o = 1: 8 r_1 decides. */
    assert_int_equal(tau_largest((double[]){1, 2, 3, 8}, 4, squares, sums, tau_above_half), 4);
    assert_int_equal(tau_largest((double[]){1, 2, 3, 8.01}, 4, squares, sums, tau_above_half), 3);
    assert_int_equal(tau_largest((double[]){0, 0, 0, 1}, 4, squares, sums, tau_above_half), 3);
    assert_int_equal(tau_largest((double[]){0, 0, 0, 0}, 4, squares, sums, tau_above_half), 4);
    assert_int_equal(tau_largest((double[]){0, 1, 1, 1}, 4, squares, sums, tau_above_half),
                     3); /* none fits */
}

/* ---- the set ------------------------------------------------------------------- */

static void assert_trusts_smallest(const trust *t, const double *r, int64_t count)
{
    double cut = 0;
    int64_t trusted = 0;
    assert_int_equal(t->count, count);
    for (int64_t i = 0; i < t->n; i++) {
        int64_t before = 0; /* samples that come first */
        for (int64_t k = 0; k < t->n; k++)
            before += fabs(r[k]) < fabs(r[i]) || (fabs(r[k]) == fabs(r[i]) && k < i);
        assert_true(t->mask[i] == (before < count));
        trusted += before < count;
        cut = before < count ? fmax(cut, fabs(r[i])) : cut;
    }
    assert_int_equal(trusted, count);
    assert_true(t->cut == cut);
}

static void test_trust_follows_ratio_and_eq5(void **state)
{
    static const double ratios[] = {1e-9, 0.1, 0.5, 0.75, 0.999, 1};
    uint64_t random = 31;
    (void)state;
    for (int64_t n = 4; n < 90; n += 5) {
        double r[MOST], sorted[MOST];
        roofs_error err;
        trust t;
        assert_fine(trust_create(&t, NULL, n, &err));
        assert_int_equal(t.count, n);
        for (int64_t i = 0; i < n; i++)
            assert_true(t.mask[i] == 1);
        for (int k = 0; k < 12; k++) {
            for (int64_t i = 0; i < n; i++) {
                r[i] = residual_of_kind(k % 6, &random) * (random_below(&random, 2) ? 1 : -1);
                sorted[i] = fabs(r[i]);
            }
            qsort(sorted, (size_t)n, sizeof *sorted, ascending);
            int64_t by_ratio = (int64_t)floor(ratios[k % 6] * (double)n + 0.5);
            trust_update(&t, r, ratios[k % 6]);
            assert_trusts_smallest(&t, r, by_ratio < 1 ? 1 : by_ratio);
            trust_update(&t, r, 0);
            assert_trusts_smallest(&t, r, tau_by_search(sorted, n, 0));
        }
        trust_destroy(&t);
    }
}

/* ---- scale and step --------------------------------------------------------------- */

static double scale_by_sorting(const double *y, int64_t n)
{
    double sorted[MOST], middle, sum = 0;
    memcpy(sorted, y, (size_t)n * sizeof *y);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    middle = sorted[(n - 1) / 2];
    for (int64_t i = 0; i < n; i++)
        sum += sorted[i] = fabs(y[i] - middle);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    if (sorted[(n - 1) / 2] > 0)
        return 1.4826 * sorted[(n - 1) / 2];
    return sum > 0 ? sum / (double)n : 1;
}

static void test_scale_agrees_with_sorting(void **state)
{
    uint64_t random = 8;
    (void)state;
    for (int64_t n = 1; n <= MOST; n++)
        for (int kind = 0; kind < 7; kind++) {
            double y[MOST], got = 0;
            roofs_error err;
            for (int64_t i = 0; i < n; i++)
                y[i] =
                    kind < 6 ? residual_of_kind(kind, &random) - 3 : 1e-20 * random_bell(&random);
            if (kind == 6)
                y[n / 2] = -1; /* an outlier: the scale of the others must not vanish */
            double wanted = scale_by_sorting(y, n);
            assert_fine(robust_scale(NULL, y, NULL, n, &got, &err));
            assert_close(got, wanted, 1e-12 * wanted);
        }
}

static void test_step_is_safe(void **state)
{
    step_guard guard = {0};
    (void)state;
    assert_true(safe_step(&guard, 0.1, 0, 0) == 0.1); /* no gradient, no curvature */
    assert_true(safe_step(&guard, 0.1, 2, 4) == 0.1); /* curvature 4: 0.1 * 4 <= 2 */
    assert_true(guard.curvature == 4);
    assert_true(safe_step(&guard, 0.5, 1, 2) == 0.5); /* exactly at the bound */
    assert_true(safe_step(&guard, 0.1, 1, 8) == 1.0 / 64);
    assert_true(safe_step(&guard, 0.1, 1, 1) == 1.0 / 64); /* the largest is recorded */
    step_guard_relax(&guard);
    assert_true(guard.curvature == 32);
    assert_true(safe_step(&guard, 0.1, 1, 1) == 1.0 / 32);
    guard.curvature = 0;
    assert_true(safe_step(&guard, 0.1, 1e200, 8e200) == 1.0 / 64); /* no overflow on the way */
    guard.curvature = 0;
    assert_true(safe_step(&guard, 0.1, 1e-200, 8e-200) == 1.0 / 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eq5_agrees_with_search),
        cmocka_unit_test(test_eq5_agrees_with_hand_calculation),
        cmocka_unit_test(test_trust_follows_ratio_and_eq5),
        cmocka_unit_test(test_scale_agrees_with_sorting),
        cmocka_unit_test(test_step_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
