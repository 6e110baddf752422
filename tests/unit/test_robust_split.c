/* Trust sets, medians and scales of samples split over ranks, against those of one rank: with
 * gathered samples, and by counting where they are too many to gather. */
#include "robust/scale.h"
#include "robust/trust.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

#include <math.h>

enum { MOST = 700 };

typedef struct split_case {
    const double *r;
    int64_t n;
    int counting; /* nothing may be gathered */
    double ratio;
    int rlhh;
    /* answers of all ranks */
    double mask[MOST], cut[TEAM_MOST], median[TEAM_MOST], scale[TEAM_MOST];
    double middle[TEAM_MOST], length[TEAM_MOST];
    int64_t count[TEAM_MOST];
    roofs_status status[TEAM_MOST];
} split_case;

static roofs_status evaluate_case(split_case *q, comm *c, const double *r, int64_t n)
{
    int64_t p = c->with.rank;
    trust t;
    roofs_error err;
    TRY(trust_create(&t, c, n, &err));
    (q->rlhh ? trust_update_rlhh : trust_update)(&t, r, q->ratio);
    memcpy(q->mask + c->first, t.mask, (size_t)n * sizeof *t.mask);
    q->cut[p] = t.cut;
    q->count[p] = t.count;
    trust_destroy(&t);
    TRY(lower_median(c, r, NULL, n, &q->median[p], &err));
    TRY(robust_scale(c, r, NULL, n, &q->scale[p], &err));
    return shortest_half(c, r, NULL, n, &q->middle[p], &q->length[p], &err);
}

static void evaluate_on_rank(const roofs_comm *with, void *user)
{
    split_case *q = user;
    comm c;
    roofs_error err;
    int64_t begin = shard_begin(q->n, with->rank, with->size);
    int64_t n = shard_begin(q->n, with->rank + 1, with->size) - begin;
    q->status[with->rank] = comm_join(&c, with, n, ROOFS_OK, &err);
    if (q->counting && with->size > 1)
        c.gather_most = 0;
    if (q->status[with->rank] == ROOFS_OK)
        q->status[with->rank] = evaluate_case(q, &c, q->r + begin, n);
    comm_leave(&c);
}

static void assert_same_answers(const split_case *a, const split_case *b, int64_t ranks)
{
    assert_same_doubles(a->mask, b->mask, a->n);
    for (int64_t p = 0; p < ranks; p++) {
        assert_int_equal(b->status[p], ROOFS_OK);
        assert_int_equal(a->count[0], b->count[p]);
        assert_same_doubles(a->cut, &b->cut[p], 1);
        assert_same_doubles(a->median, &b->median[p], 1);
        assert_close(a->scale[0], b->scale[p], 1e-14 * a->scale[0]);
        assert_same_doubles(a->middle, &b->middle[p], 1);
        assert_same_doubles(a->length, &b->length[p], 1);
    }
}

/* Residuals of many kinds: with ties, with a wide range, with outliers, all equal. */
static double residual_of_kind(uint64_t *random, int kind)
{
    double bell = random_bell(random), chance = random_unit(random);
    switch (kind) {
    case 0:
        return bell;
    case 1:
        return round(2 * bell) + 0.0; /* + 0.0: no -0 */
    case 2:
        return chance < 0.3 ? 1e12 * bell : bell;
    case 3:
        return exp(40 * bell);
    case 4:
        return chance < 0.6 ? 0 : bell;
    case 5:
        return 3;
    default:
        return chance < 0.4 ? 5 + 0.1 * bell : bell;
    }
}

static void test_split_agrees_with_one_rank(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int trial = 0; trial < 140; trial++) {
        static double r[MOST];
        static split_case one, many;
        const int64_t ranks = 2 + trial % 4;
        const int64_t n = trial < 70 ? 5 + random_below(&random, 60) : MOST - trial;
        for (int64_t i = 0; i < n; i++)
            r[i] = residual_of_kind(&random, trial % 7);
        const double ratio = trial % 3 == 0 ? 0.05 + 0.9 * random_unit(&random) : 0;
        one = (split_case){.r = r, .n = n, .ratio = ratio, .rlhh = trial % 2};
        many = one;
        many.counting = trial / 7 % 3 != 0;
        team_run(1, evaluate_on_rank, &one);
        assert_int_equal(one.status[0], ROOFS_OK);
        team_run(ranks, evaluate_on_rank, &many);
        assert_same_answers(&one, &many, ranks);
    }
}

/* Communication fails at every possible call: all ranks get an error, and no array is overrun. */
static void test_lost_ranks_are_reported(void **state)
{
    uint64_t random = 11;
    static double r[MOST];
    int64_t calls = 0, failed = 0;
    (void)state;
    for (int64_t i = 0; i < MOST; i++)
        r[i] = residual_of_kind(&random, 0);
    for (int ended = 0; !ended; calls++) {
        static split_case q;
        q = (split_case){.r = r, .n = MOST, .counting = 1};
        team_run_for(calls, 2, evaluate_on_rank, &q);
        ended = q.status[0] == ROOFS_OK;
        failed += q.status[0] == ROOFS_FAILED;
        assert_int_equal(q.status[0], q.status[1]);
    }
    assert_true(calls > 50);
    assert_int_equal(failed, calls - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_agrees_with_one_rank),
        cmocka_unit_test(test_lost_ranks_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
