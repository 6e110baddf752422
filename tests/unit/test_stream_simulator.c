/* The generator: a function of its seed, with the moments the paper gives it. */
#include "test_stream_files.h"

#include "stream/simulator.h"

#include <math.h>

static roofs_error err;

static simulator *make(const simulation *what, int64_t threads)
{
    simulator *s;
    assert_fine(simulator_create(&s, what, threads, &err));
    return s;
}

static double *features(const simulator *s, int64_t first, int64_t count)
{
    double *x = malloc((size_t)(count * s->what.n) * sizeof *x);
    simulator_features(s, first, count, ROOFS_F64, 2, x);
    return x;
}

/* X' beta, straight from the definition. */
static double *true_response(const simulator *s)
{
    int64_t n = s->what.n;
    double *y = calloc((size_t)n, sizeof *y), *x = features(s, 0, s->what.p);
    for (int64_t j = 0; j < s->what.p; j++)
        for (int64_t i = 0; i < n; i++)
            y[i] += s->beta[j] * x[j * n + i];
    free(x);
    return y;
}

static double largest(const double *y, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(y[i]));
    return most;
}

static const simulation small = {.n = 1500, .p = 60, .mu = 20, .corruption = 0.3, .seed = 7};

static void test_threads_and_splits_change_nothing(void **state)
{
    simulation what = small;
    (void)state;
    what.attack = ATTACK_OTHER_MODEL;
    what.noise_var = 0.1;
    simulator *one = make(&what, 1), *three = make(&what, 3);
    assert_same_doubles(three->y, one->y, what.n);
    assert_memory_equal(three->clean, one->clean, (size_t)what.n);
    double *all = features(one, 0, what.p), *slice = features(three, 17, 5);
    assert_same_doubles(slice, all + 17 * what.n, 5 * what.n);
    float *narrow = malloc((size_t)what.n * sizeof *narrow);
    simulator_features(one, 17, 1, ROOFS_F32, 1, narrow);
    for (int64_t i = 0; i < what.n; i++)
        assert_true(narrow[i] == (float)slice[i]);
    what.seed++;
    simulator *other = make(&what, 1);
    assert_true(other->y[0] != one->y[0]);
    simulator_destroy(one);
    simulator_destroy(three);
    simulator_destroy(other);
    free(all);
    free(slice);
    free(narrow);
}

static void test_moments_are_right(void **state)
{
    simulation what = {.n = 20000, .p = 30, .mu = 10, .noise_var = 0.25, .seed = 3};
    (void)state;
    simulator *s = make(&what, 0);
    double *x = features(s, 0, what.p), *y = true_response(s);
    double sum = 0, squares = 0, noise = 0, norm = 0;
    for (int64_t k = 0; k < what.n * what.p; k++) {
        sum += x[k];
        squares += x[k] * x[k];
    }
    for (int64_t i = 0; i < what.n; i++)
        noise += (s->y[i] - y[i]) * (s->y[i] - y[i]);
    for (int64_t j = 0; j < what.p; j++)
        norm += s->beta[j] * s->beta[j];
    double count = (double)(what.n * what.p);
    assert_true(fabs(sum / count) < 0.01 && fabs(squares / count - 1) < 0.01);
    assert_true(fabs(noise / (double)what.n - 0.25) < 0.015);
    assert_true(fabs(norm - 1) < 1e-12);
    simulator_destroy(s);
    free(x);
    free(y);
}

static void test_order_places_true_features(void **state)
{
    simulation what = small;
    (void)state;
    for (int random = 0; random < 2; random++) {
        int64_t first = 0, all = 0;
        what.random_order = random;
        simulator *s = make(&what, 1);
        for (int64_t j = 0; j < what.p; j++) {
            assert_true(s->beta[j] >= 0 && s->beta[j] < 1);
            all += s->beta[j] != 0;
            first += j < what.mu && s->beta[j] != 0;
        }
        assert_int_equal(all, what.mu);
        assert_int_equal(first == what.mu, !random);
        simulator_destroy(s);
    }
}

/* What each attack makes of a corrupted sample; clean ones are left alone. */
static int is_attacked(attack kind, double y, double truth, double most)
{
    switch (kind) {
    case ATTACK_UNIFORM:
        return fabs(y - truth) <= 5 * most * (1 + 1e-12) && y != truth;
    case ATTACK_SHIFT:
        return fabs(y - truth - most) < 1e-9;
    case ATTACK_CONSTANT:
        return fabs(y - 3 * most) < 1e-9;
    case ATTACK_OTHER_MODEL:
        return fabs(y) < 30 && y != truth;
    case ATTACK_SIGN_FLIP:
        return fabs(y + truth) < 1e-9;
    case ATTACK_GROSS:
        return fabs(fabs(y) - 1e12) < 100;
    }
    return 0;
}

static void test_attacks_corrupt_responses(void **state)
{
    simulation what = small;
    (void)state;
    for (int64_t kind = 0; attack_name(kind); kind++) {
        int64_t corrupted = 0;
        what.attack = (attack)kind;
        simulator *s = make(&what, 2);
        double *truth = true_response(s), most = largest(truth, what.n);
        for (int64_t i = 0; i < what.n; i++) {
            corrupted += !s->clean[i];
            if (s->clean[i])
                assert_true(fabs(s->y[i] - truth[i]) < 1e-12);
            else
                assert_true(is_attacked(what.attack, s->y[i], truth[i], most));
        }
        assert_int_equal(corrupted, 450);
        simulator_destroy(s);
        free(truth);
    }
    assert_string_equal(attack_name(ATTACK_OTHER_MODEL), "other-model");
    assert_null(attack_name(-1));
}

static void test_numbers_out_of_range_are_refused(void **state)
{
    simulator *s;
    simulation what = small;
    (void)state;
    what.mu = 61;
    assert_refused(simulator_create(&s, &what, 1, &err), ROOFS_BAD_SETTING, "mu", "60");
    assert_null(s);
    what = small;
    what.corruption = 1.0;
    assert_refused(simulator_create(&s, &what, 1, &err), ROOFS_BAD_SETTING, "corruption");
    what = small;
    what.noise_var = (double)NAN;
    assert_refused(simulator_create(&s, &what, 1, &err), ROOFS_BAD_SETTING, "noise_var");
    what = small;
    what.n = 0;
    assert_refused(simulator_create(&s, &what, 1, &err), ROOFS_BAD_SETTING, "n and p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_splits_change_nothing),
        cmocka_unit_test(test_moments_are_right),
        cmocka_unit_test(test_order_places_true_features),
        cmocka_unit_test(test_attacks_corrupt_responses),
        cmocka_unit_test(test_numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
