/* Threads of a fit: sums over pieces, sorting, and threads that wait for each other. */
#include "linalg/ordering.h"

#include "test_base_help.h"

#include <math.h>
#include <string.h>

enum { MOST = 100003, TEAMS = 5 };
static const int64_t teams[TEAMS] = {1, 2, 3, 7, 16};

static void sum_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const double *x = user;
    for (int64_t i = begin; i < end; i++) {
        sums[0] += x[i];
        sums[1] += 1;
    }
}

static void test_sums_have_the_same_bits_on_any_number_of_threads(void **state)
{
    static double x[MOST];
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = random_signed(&random);
    for (int64_t n = 1; n < MOST; n = 3 * n + 1) {
        double first[2] = {0};
        for (int t = 0; t < TEAMS; t++) {
            workers *w = NULL;
            double got[2];
            assert_int_equal(workers_create(&w, teams[t], NULL), ROOFS_OK);
            workers_sum(w, n, 100, sum_piece, x, 2, got);
            if (t == 0)
                memcpy(first, got, sizeof got);
            assert_memory_equal(got, first, sizeof got);
            assert_true(got[1] == (double)n);
            workers_destroy(w);
        }
    }
}

/* With equal numbers, zeros of both signs and an infinite one. */
static void test_threads_sort_as_one_does(void **state)
{
    static double x[MOST], one[MOST], many[MOST];
    uint64_t random = 5;
    order a, b;
    (void)state;
    assert_int_equal(order_create(&a, MOST, NULL), ROOFS_OK);
    assert_int_equal(order_create(&b, MOST, NULL), ROOFS_OK);
    for (int kind = 0; kind < 3; kind++)
        for (int t = 1; t < TEAMS; t++) {
            workers *w = NULL;
            for (int i = 0; i < MOST; i++)
                x[i] = kind == 0 ? random_signed(&random) * exp(20 * random_signed(&random))
                                 : floor(10 * random_signed(&random)) * (kind - 1);
            x[77] = INFINITY;
            assert_int_equal(workers_create(&w, teams[t], NULL), ROOFS_OK);
            ordering_sort(&a, x, MOST, NULL, one);
            ordering_sort(&b, x, MOST, w, many);
            assert_memory_equal(one, many, sizeof one);
            for (int64_t k = 0; k < MOST; k++)
                assert_int_equal(a.items[k].place, b.items[k].place);
            workers_destroy(w);
        }
    order_destroy(&a);
    order_destroy(&b);
}

/* Each thread adds its number to a list, one after the other. */
typedef struct turns {
    workers *w;
    int list[16];
    int count;
} turns;

static void take_turn(void *user, int me, int count)
{
    turns *s = user;
    for (int step = 0; step < count; step++) {
        if (step == me)
            s->list[s->count++] = me;
        workers_reach(s->w, me, step + 1);
        workers_wait_all(s->w, count, step + 1);
    }
}

static void test_threads_wait_for_each_other(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        turns s = {.count = 0};
        assert_int_equal(workers_create(&s.w, 5, NULL), ROOFS_OK);
        workers_run(s.w, ROOFS_WORTH_THREADS, 5, take_turn, &s);
        assert_in_range(s.count, 1, 5);
        for (int k = 0; k < s.count; k++)
            assert_int_equal(s.list[k], k);
        workers_destroy(s.w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_have_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_threads_sort_as_one_does),
        cmocka_unit_test(test_threads_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
