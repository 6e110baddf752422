/* The noise of clean samples against its formula in long double, with lgammal and powl. */
#include "robust/noise.h"

#include "linalg/lanes_math.h"
#include "test_base_help.h"

enum { COUNT = 53, PADDED = 56 };

static const double degrees[NOISE_TAILS] = {1, 2, 3, 5, 9, 19, INFINITY};

typedef struct residuals {
    double z[PADDED], variance[PADDED], background[PADDED];
} residuals;

static void fill(residuals *r, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    for (int i = 0; i < COUNT; i++) {
        r->z[i] = random_bell(&seed) * (i % 7 == 0 ? 30 : 1);
        r->variance[i] = exp(2 * random_bell(&seed));
        r->background[i] = 0.01 * random_unit(&seed);
    }
    r->z[0] = 0;
}

static long double density_slowly(noise shape, long double z, long double variance)
{
    const long double nu = degrees[shape.tail], g = 0.3L * shape.skew, pi = acosl(-1);
    const long double side = z > 0 ? expl(g) : expl(-g), x = z / side;
    const long double square = x * x / variance;
    /* two halves of different width: the height is that of the mean width */
    const long double height = 2 / ((expl(g) + expl(-g)) * sqrtl(variance));
    if (shape.tail == NOISE_NORMAL)
        return height * expl(-square / 2) / sqrtl(2 * pi);
    return height * expl(lgammal((nu + 1) / 2) - lgammal(nu / 2)) / sqrtl(nu * pi) *
           powl(1 + square / nu, -(nu + 1) / 2);
}

static void test_density_follows_its_formula(void **state)
{
    static residuals r;
    double got[PADDED];
    (void)state;
    fill(&r, 3);
    for (int tail = 0; tail < NOISE_TAILS; tail++)
        for (int skew = -NOISE_SKEWEST; skew <= NOISE_SKEWEST; skew++) {
            const noise shape = {tail, skew};
            noise_density(shape, r.z, r.variance, COUNT, got);
            for (int i = 0; i < COUNT; i++) {
                const double wanted = (double)density_slowly(shape, r.z[i], r.variance[i]);
                assert_close(got[i], wanted, 1e-12 * wanted + 1e-300);
            }
        }
}

/* By the midpoints of z = t / (1 - t^2), which runs over all numbers. */
static double integral(noise shape)
{
    enum { STEPS = 8000 };
    double sum = 0;
    for (int k = 0; k < STEPS; k += LANES) {
        double z[LANES], variance[LANES], each[LANES], slope[LANES];
        for (int q = 0; q < LANES; q++) {
            const double t = -1 + (k + q + 0.5) * 2 / STEPS, rest = 1 - t * t;
            z[q] = t / rest;
            slope[q] = (1 + t * t) / (rest * rest);
            variance[q] = 2;
        }
        noise_density(shape, z, variance, LANES, each);
        for (int q = 0; q < LANES; q++)
            sum += each[q] * slope[q] * 2 / STEPS;
    }
    return sum;
}

static void test_density_integrates_to_one(void **state)
{
    (void)state;
    for (int tail = 0; tail < NOISE_TAILS; tail++)
        for (int skew = -NOISE_SKEWEST; skew <= NOISE_SKEWEST; skew++)
            assert_close(integral((noise){tail, skew}), 1, 1e-5);
}

static void test_both_sides_meet_at_zero(void **state)
{
    const double z[LANES] = {-1e-12, 1e-12, -1, 1}, variance[LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    double got[LANES];
    (void)state;
    for (int tail = 0; tail < NOISE_TAILS; tail++)
        for (int skew = -NOISE_SKEWEST; skew <= NOISE_SKEWEST; skew++) {
            noise_density((noise){tail, skew}, z, variance, LANES, got);
            assert_close(got[0], got[1], 1e-10);
            assert_true(skew == 0 || (got[3] > got[2]) == (skew > 0));
        }
}

static void test_likelihood_is_the_sum_of_logarithms(void **state)
{
    static residuals r;
    const double pc = 0.8;
    (void)state;
    fill(&r, 4);
    r.background[0] = 0; /* nothing but the clean density, also far out */
    r.background[7] = 0;
    for (int64_t n = 1; n <= COUNT; n += 4)
        for (int tail = 0; tail < NOISE_TAILS; tail++) {
            const noise shape = {tail, 2};
            long double wanted = 0;
            for (int64_t i = 0; i < n; i++)
                wanted += logl(pc * density_slowly(shape, r.z[i], r.variance[i]) + r.background[i]);
            const double got = noise_likelihood(shape, r.z, r.variance, pc, r.background, NULL, n);
            assert_close(got, (double)wanted, 1e-11 * (1 + fabs((double)wanted)));
        }
}

/* A density of 0 is not the logarithm of 0. */
static void test_impossible_samples_have_a_finite_likelihood(void **state)
{
    const double z[LANES] = {1e200}, variance[LANES] = {1e-20}, none[LANES] = {0};
    (void)state;
    for (int tail = 0; tail < NOISE_TAILS; tail++)
        assert_true(isfinite(noise_likelihood((noise){tail, 0}, z, variance, 0.5, none, NULL, 1)));
}

static void test_weights_fall_with_distance(void **state)
{
    static residuals r;
    double got[PADDED];
    (void)state;
    fill(&r, 5);
    for (int tail = 0; tail < NOISE_TAILS; tail++) {
        const double nu = degrees[tail];
        noise_weight((noise){tail, 1}, r.z, r.variance, COUNT, got);
        for (int i = 0; i < COUNT; i++) {
            const double x = r.z[i] * r.z[i] / r.variance[i];
            assert_close(got[i], tail == NOISE_NORMAL ? 1 : (nu + 1) / (nu + x), 1e-14 * nu);
        }
    }
}

static void test_logarithm_of_lanes_agrees_with_libm(void **state)
{
    uint64_t seed = 6;
    (void)state;
    for (int k = 0; k < 20000; k++) {
        lanes x;
        for (int q = 0; q < LANES; q++)
            x[q] = q < 4 ? exp(700 * random_signed(&seed)) : 1 + 0.5 * random_signed(&seed);
        x[0] = k == 0 ? 0x1p-1022 : x[0];
        x[1] = k == 0 ? 0x1.fffffffffffffp1023 : x[1];
        x[2] = k == 0 ? 1 : x[2];
        const lanes got = lanes_log(x);
        for (int q = 0; q < LANES; q++) {
            const double wanted = (double)logl(x[q]);
            assert_close(got[q], wanted, 1e-15 * (1 + fabs(wanted)));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density_follows_its_formula),
        cmocka_unit_test(test_density_integrates_to_one),
        cmocka_unit_test(test_both_sides_meet_at_zero),
        cmocka_unit_test(test_likelihood_is_the_sum_of_logarithms),
        cmocka_unit_test(test_impossible_samples_have_a_finite_likelihood),
        cmocka_unit_test(test_weights_fall_with_distance),
        cmocka_unit_test(test_logarithm_of_lanes_agrees_with_libm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
