/* The slab's EM against the plain formulas of docs/roofs-bayes.md, in libm and long
 * double, and the thinning of very long streams. */
#include "method/slab.h"

#include "test_base_help.h"

typedef struct plain {
    long double pi, mean, variance;
} plain;

/* hyper() of the page, one step, over features 0, every, 2 every, ... */
static plain one_step(const double *R, const double *S, const double *k, int64_t count, plain now,
                      long double total, int64_t mu, int64_t seen)
{
    long double pi0 = (long double)mu / (long double)(seen > mu ? seen : mu);
    pi0 = pi0 < 0.9L ? pi0 : 0.9L;
    long double usual = total / (long double)mu, n = 0, p0 = 0, p1 = 0, pp = 0, p2 = 0;
    for (int64_t j = 0; j < count; j++) {
        if (!(S[j] > 0))
            continue;
        long double s = sqrtl(k[j]), s1 = now.variance * k[j], t = R[j] - now.mean * s;
        long double l = logl(now.pi / (1 - now.pi)) - logl((s1 + S[j]) / S[j]) / 2 -
                        t * t / (2 * (s1 + S[j])) + (long double)R[j] * R[j] / (2 * S[j]);
        long double p = 1 / (1 + expl(-l)), v = 1 / (1 / s1 + 1 / S[j]);
        long double u = v * (R[j] / S[j] + now.mean * s / s1) / s;
        n++;
        p0 += p;
        p1 += p * u;
        pp += p * p * u * u;
        p2 += p * (u * u + v / k[j]);
    }
    plain next;
    next.pi = fminl(0.9L, fmaxl(1e-4L, (p0 + 100 * pi0) / (n + 100)));
    next.mean = p1 == 0 ? 0 : p1 / (p0 + 1) * fmaxl(0, 1 - 4 * pp / (p1 * p1));
    next.variance =
        (p2 - 2 * next.mean * p1 + next.mean * next.mean * p0 + 20 * pi0 * usual) / (p0 + 20 * pi0);
    return next;
}

static void test_learning_follows_the_description(void **state)
{
    (void)state;
    enum { COUNT = 1003 };
    static double R[COUNT], S[COUNT], k[COUNT];
    uint64_t seed = 7;
    slab s;
    assert_int_equal(slab_create(&s, NULL), ROOFS_OK);
    for (int64_t j = 0; j < COUNT; j++) {
        S[j] = j % 17 == 3 ? 0 : 0.01 + random_unit(&seed); /* some features have no statistic */
        k[j] = 0.05 + 0.95 * random_unit(&seed);
        R[j] = (random_unit(&seed) - 0.3) * (j % 5 == 0 ? 40 : 1);
        if (S[j] > 0)
            slab_record(&s, j, R[j], S[j], k[j]);
    }
    plain want = {.pi = 100.0L / COUNT, .mean = 0, .variance = 3.0L / 100};
    for (int round = 0; round < 4; round++) {
        slab_learn(&s, 3.0, 100, COUNT, NULL);
        for (int step = 0; step < 3; step++)
            want = one_step(R, S, k, COUNT, want, 3.0L, 100, COUNT);
        assert_close(s.now.pi, (double)want.pi, 1e-12);
        assert_close(s.now.mean, (double)want.mean, 1e-12);
        assert_close(s.now.variance, (double)want.variance, 1e-12);
    }
    assert_true(s.now.mean > 0.1); /* there is a mean to be found, or the test is idle */
    slab_destroy(&s);
}

static void test_long_streams_are_thinned(void **state)
{
    (void)state;
    slab s;
    assert_int_equal(slab_create(&s, NULL), ROOFS_OK);
    for (int64_t j = 0; j < 5 * SLAB_CAPACITY; j++)
        slab_record(&s, j, (double)j, 1 + (double)j, 1);
    assert_int_equal(s.every, 8);
    assert_int_equal(s.used, 5 * SLAB_CAPACITY / 8);
    for (int64_t at = 0; at < s.used; at++) {
        assert_true(s.R[at] == (double)(8 * at));
        assert_true(s.S[at] == 1 + (double)(8 * at));
    }
    slab_record(&s, 16, -1, 2, 0.5); /* one that is recorded changes, its neighbour does not */
    slab_record(&s, 17, -9, 9, 0.9);
    assert_true(s.R[2] == -1 && s.S[2] == 2 && s.k[2] == 0.5 && s.R[3] == 24);
    slab_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learning_follows_the_description),
        cmocka_unit_test(test_long_streams_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
