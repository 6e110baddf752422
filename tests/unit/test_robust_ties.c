/* Equal numbers on one rank and on several, against counts by comparing all pairs. */
#include "robust/ties.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

enum { MOST = 300 };

typedef struct ties_case {
    const double *values;
    int64_t n;
    int counting; /* nothing may be gathered */
    double largest[TEAM_MOST];
    int64_t different[TEAM_MOST];
    roofs_status status[TEAM_MOST];
} ties_case;

static roofs_status find_ties(ties_case *q, comm *c, const roofs_comm *with, roofs_error *err)
{
    const int64_t p = with->rank, begin = shard_begin(q->n, p, with->size);
    const int64_t n = shard_begin(q->n, p + 1, with->size) - begin;
    TRY(comm_join(c, with, n, ROOFS_OK, err));
    if (q->counting && with->size > 1)
        c->gather_most = 0;
    TRY(ties_different(c, q->values + begin, NULL, n, &q->different[p], err));
    return ties_largest(c, q->values + begin, NULL, n, &q->largest[p], err);
}

static void find_on_rank(const roofs_comm *with, void *user)
{
    ties_case *q = user;
    comm c = {0};
    roofs_error err;
    q->status[with->rank] = find_ties(q, &c, with, &err);
    comm_leave(&c);
}

/* The answers of a slow search. */
static void search_pairs(const ties_case *q, int64_t *largest, int64_t *different)
{
    *largest = *different = 0;
    for (int64_t i = 0; i < q->n; i++) {
        int64_t equal = 0, earlier = 0;
        for (int64_t j = 0; j < q->n; j++) {
            equal += q->values[j] == q->values[i];
            earlier += j < i && q->values[j] == q->values[i];
        }
        *largest = equal > *largest ? equal : *largest;
        *different += earlier == 0;
    }
    *largest = 5 * *largest >= q->n ? *largest : 0;
    *different = *different > DIFFERENT_MOST ? DIFFERENT_MOST + 1 : *different;
}

static double value_of_kind(uint64_t *random, int kind)
{
    const double bell = random_bell(random), chance = random_unit(random);
    switch (kind) {
    case 0:
        return bell;
    case 1:
        return round(2 * bell); /* some are -0 */
    case 2:
        return chance < 0.2 ? -7 : bell; /* about a fifth */
    case 3:
        return 3;
    case 4:
        return floor(11 * chance) - 5; /* ten or eleven values */
    default:
        return chance < 0.5 ? 1e300 : chance < 0.8 ? 0 : bell;
    }
}

static void test_ties_are_counted_exactly_on_any_ranks(void **state)
{
    static double values[MOST];
    uint64_t random = 5;
    int64_t frequent = 0, few = 0, trials = 180;
    (void)state;
    for (int trial = 0; trial < trials; trial++) {
        ties_case q = {.values = values, .counting = trial / 6 % 2};
        int64_t largest, different;
        q.n = trial < 90 ? 5 + random_below(&random, 40) : MOST - random_below(&random, 50);
        for (int64_t i = 0; i < q.n; i++)
            values[i] = value_of_kind(&random, trial % 6);
        search_pairs(&q, &largest, &different);
        frequent += largest > 0;
        few += different <= DIFFERENT_MOST;
        for (int64_t ranks = 1; ranks <= TEAM_MOST; ranks++) {
            team_run(ranks, find_on_rank, &q);
            for (int64_t p = 0; p < ranks; p++) {
                assert_int_equal(q.status[p], ROOFS_OK);
                assert_int_equal((int64_t)q.largest[p], largest);
                assert_int_equal(q.different[p], different);
            }
        }
    }
    assert_true(frequent > trials / 4 && frequent < trials); /* the cases are of both kinds */
    assert_true(few > trials / 4 && few < trials);
}

static void test_lost_ranks_are_reported(void **state)
{
    static double values[MOST];
    int64_t calls = 0;
    uint64_t random = 11;
    (void)state;
    for (int64_t i = 0; i < MOST; i++)
        values[i] = value_of_kind(&random, 0);
    for (int ended = 0; !ended; calls++) {
        ties_case q = {.values = values, .n = MOST, .counting = 1};
        team_run_for(calls, 2, find_on_rank, &q);
        ended = q.status[0] == ROOFS_OK;
        assert_true(ended || q.status[0] == ROOFS_FAILED);
        assert_int_equal(q.status[0], q.status[1]);
    }
    assert_true(calls > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ties_are_counted_exactly_on_any_ranks),
        cmocka_unit_test(test_lost_ranks_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
