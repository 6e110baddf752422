/* The mixture gives the same bits on any number of threads, with and without case weights. */
#include "robust/mixture.h"
#include "test_base_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40003 }; /* several threads share a pass of this many samples */

typedef struct samples {
    double y[N], fit[N], cases[N];
} samples;

/* Some responses are corrupt, and some samples count twice or not at all. */
static samples *make_samples(uint64_t seed)
{
    samples *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (int64_t i = 0; i < N; i++) {
        s->fit[i] = random_bell(&seed);
        s->y[i] = s->fit[i] + 0.3 * random_bell(&seed) + (i % 7 == 0 ? 5 + random_bell(&seed) : 0);
        s->cases[i] = (double)random_below(&seed, 3);
    }
    return s;
}

/* Judges residuals of a part of the fit. Returns their score. */
static double judge(const samples *s, int with_cases, int threads, mixture *m)
{
    workers *w = NULL;
    const double part = 0.5;
    assert_int_equal(workers_create(&w, threads, NULL), ROOFS_OK);
    const mixture_samples of = {s->y, with_cases ? s->cases : NULL, N, w};
    assert_int_equal(mixture_create(m, NULL, of, 1, 0, NULL), ROOFS_OK);
    for (int64_t i = 0; i < N; i++) {
        m->r[i] -= part * s->fit[i];
        m->V[i] = 0.01 * (double)(i % 5);
    }
    mixture_recentre(m);
    mixture_judge(m, 0);
    const double score = mixture_score(m) + mixture_calibrate(m);
    m->workers = NULL;
    workers_destroy(w);
    return score;
}

static int is_same(const mixture *a, const mixture *b)
{
    const size_t bytes = N * sizeof(double);
    return memcmp(a->w, b->w, bytes) == 0 && memcmp(a->weight, b->weight, bytes) == 0 &&
           memcmp(a->r, b->r, bytes) == 0 && memcmp(&a->now, &b->now, sizeof a->now) == 0 &&
           a->intercept == b->intercept;
}

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    static const int threads[] = {2, 3, 7, 16};
    samples *s = make_samples(5);
    (void)state;
    for (int with_cases = 0; with_cases < 2; with_cases++) {
        mixture wanted, found;
        const double score = judge(s, with_cases, 1, &wanted);
        for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
            assert_true(judge(s, with_cases, threads[k], &found) == score);
            assert_true(is_same(&wanted, &found));
            mixture_destroy(&found);
        }
        mixture_destroy(&wanted);
    }
    free(s);
}

/* Also shows that is_same can fail. */
static void test_case_weights_of_one_change_no_bit(void **state)
{
    samples *s = make_samples(6);
    mixture plain, weighted;
    (void)state;
    const double score = judge(s, 0, 2, &plain);
    judge(s, 1, 2, &weighted);
    assert_false(is_same(&plain, &weighted));
    mixture_destroy(&weighted);
    for (int64_t i = 0; i < N; i++)
        s->cases[i] = 1;
    assert_true(judge(s, 1, 2, &weighted) == score);
    assert_true(is_same(&plain, &weighted));
    mixture_destroy(&weighted);
    mixture_destroy(&plain);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_case_weights_of_one_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
