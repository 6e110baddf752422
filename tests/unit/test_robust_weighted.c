/* Medians, scales, halves and ties of numbers with case weights, on one rank and on several,
 * against those of numbers that occur so often. */
#include "robust/scale.h"
#include "robust/ties.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

#include <math.h>

enum { MOST = 60, OFTEN = 4 };

typedef struct answers {
    double median, scale, middle, length, largest;
    int64_t different;
    tie frequent;
} answers;

typedef struct weighted_case {
    double values[MOST], weights[MOST];
    int64_t n;
    answers found[TEAM_MOST];
    roofs_status status[TEAM_MOST];
} weighted_case;

static roofs_status answer(comm *c, const double *values, const double *weights, int64_t n,
                           answers *out)
{
    roofs_error err;
    TRY(lower_median(c, values, weights, n, &out->median, &err));
    TRY(robust_scale(c, values, weights, n, &out->scale, &err));
    TRY(shortest_half(c, values, weights, n, &out->middle, &out->length, &err));
    TRY(ties_largest(c, values, weights, n, &out->largest, &err));
    TRY(ties_different(c, values, weights, n, &out->different, &err));
    return ties_most_frequent(c, values, weights, n, &out->frequent, &err);
}

static void answer_on_rank(const roofs_comm *with, void *user)
{
    weighted_case *q = user;
    comm c;
    roofs_error err;
    const int64_t begin = shard_begin(q->n, with->rank, with->size);
    const int64_t n = shard_begin(q->n, with->rank + 1, with->size) - begin;
    q->status[with->rank] = comm_join(&c, with, n, ROOFS_OK, &err);
    if (q->status[with->rank] == ROOFS_OK)
        q->status[with->rank] =
            answer(&c, q->values + begin, q->weights + begin, n, &q->found[with->rank]);
    comm_leave(&c);
}

static void fill_case(weighted_case *q, uint64_t *random, int trial)
{
    q->n = 5 + random_below(random, MOST - 5);
    for (int64_t i = 0; i < q->n; i++) {
        const double bell = random_bell(random);
        q->values[i] = trial % 3 == 0 ? round(bell) + 0.0 : trial % 3 == 1 ? bell : 2;
        q->weights[i] = (double)random_below(random, OFTEN);
    }
    q->weights[0] = 1;
}

/* The same numbers, each as often as its weight says. */
static int64_t repeat_numbers(const weighted_case *q, double *out)
{
    int64_t count = 0;
    for (int64_t i = 0; i < q->n; i++)
        for (int k = 0; k < (int)q->weights[i]; k++)
            out[count++] = q->values[i];
    return count;
}

static void assert_same(const answers *a, const answers *b)
{
    assert_same_doubles(&a->median, &b->median, 1);
    assert_close(a->scale, b->scale, 1e-14 * a->scale);
    assert_same_doubles(&a->middle, &b->middle, 1);
    assert_same_doubles(&a->length, &b->length, 1);
    assert_same_doubles(&a->largest, &b->largest, 1);
    assert_int_equal(a->different, b->different);
    assert_same_doubles(&a->frequent.value, &b->frequent.value, 1);
    assert_same_doubles(&a->frequent.size, &b->frequent.size, 1);
    assert_close(a->frequent.share, b->frequent.share, 1e-15);
}

static void test_weight_counts_as_repetition(void **state)
{
    uint64_t random = 11;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        static weighted_case q;
        static double repeated[MOST * OFTEN];
        answers expected;
        fill_case(&q, &random, trial);
        const int64_t count = repeat_numbers(&q, repeated);
        assert_int_equal(answer(NULL, repeated, NULL, count, &expected), ROOFS_OK);
        const int64_t ranks = 1 + trial % 4;
        team_run(ranks, answer_on_rank, &q);
        for (int64_t p = 0; p < ranks; p++) {
            assert_int_equal(q.status[p], ROOFS_OK);
            assert_same(&expected, &q.found[p]);
        }
    }
}

static void test_fractions_count_by_their_size(void **state)
{
    const double values[] = {1, 2, 3, 4}, weights[] = {0.1, 0.2, 0.9, 0.3};
    double median = 0, middle = 0, length = 0;
    roofs_error err;
    (void)state;
    assert_fine(lower_median(NULL, values, weights, 4, &median, &err));
    assert_close(median, 3, 0);
    assert_fine(shortest_half(NULL, values, weights, 4, &middle, &length, &err));
    assert_close(middle, 3, 0);
    assert_close(length, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weight_counts_as_repetition),
        cmocka_unit_test(test_fractions_count_by_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
