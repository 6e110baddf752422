/* Threads of a fit: sums over pieces, sorting, and threads that wait for each other. */
#include "linalg/ordering.h"

#include "test_base_help.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- limits, pairs, child processes --------------------------------------- */

static void count_threads(void *user, int me, int count)
{
    if (me == 0)
        *(int *)user = count;
}

static int threads_of_a_job(workers *w)
{
    int count = 0;
    workers_run(w, ROOFS_WORTH_THREADS, 100, count_threads, &count);
    return count;
}

static void test_limit_holds_until_it_is_lifted(void **state)
{
    workers *w = NULL;
    (void)state;
    assert_int_equal(workers_create(&w, 4, NULL), ROOFS_OK);
    workers_limit(w, 1);
    assert_int_equal(threads_of_a_job(w), 1);
    workers_limit(w, 3);
    assert_in_range(threads_of_a_job(w), 2, 3); /* fewer on a busy machine */
    workers_limit(w, 100);
    assert_in_range(threads_of_a_job(w), 2, 4);
    workers_destroy(w);
}

typedef struct two_sums {
    workers *w[2];
    const double *x;
    pthread_t thread[2];
    double got[2][2];
} two_sums;

static void sum_one(void *user, int64_t k)
{
    two_sums *s = user;
    s->thread[k] = pthread_self();
    for (int round = 0; round < 20; round++)
        workers_sum(s->w[k], MOST, 100, sum_piece, (void *)s->x, 2, s->got[k]);
}

static void test_pair_works_side_by_side_with_threads_of_its_own(void **state)
{
    static double x[MOST];
    two_sums s = {.x = x};
    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = 1;
    for (int k = 0; k < 2; k++)
        assert_int_equal(workers_create(&s.w[k], 3, NULL), ROOFS_OK);
    workers_pair(s.w[0], sum_one, &s);
    assert_true(pthread_equal(s.thread[0], pthread_self()));
    assert_false(pthread_equal(s.thread[1], pthread_self()));
    for (int k = 0; k < 2; k++) {
        assert_true(s.got[k][0] == MOST);
        workers_destroy(s.w[k]);
    }
}

/* A child process has none of its parent's threads. It would wait for them until the alarm. */
static void test_child_process_has_its_own_threads(void **state)
{
    workers *w = NULL;
    int ended = 0;
    (void)state;
    if (ROOFS_WORTH_THREADS < 1 << 20) /* the thread sanitizer forbids threads after a fork */
        skip();
    assert_int_equal(workers_create(&w, 4, NULL), ROOFS_OK);
    assert_in_range(threads_of_a_job(w), 2, 4);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        const int count = threads_of_a_job(w);
        workers_destroy(w);
        _exit(count >= 2 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
    assert_in_range(threads_of_a_job(w), 1, 4);
    workers_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_have_the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(test_threads_sort_as_one_does),
        cmocka_unit_test(test_threads_wait_for_each_other),
        cmocka_unit_test(test_limit_holds_until_it_is_lifted),
        cmocka_unit_test(test_pair_works_side_by_side_with_threads_of_its_own),
        cmocka_unit_test(test_child_process_has_its_own_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
