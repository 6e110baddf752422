/* Two hypotheses that fit a batch on a thread each: the same bits, rounds, stops and undone batches
 * as in turn. */
#include "api/hypotheses.h"
#include "test_base_help.h"

/* As many samples as make a batch large enough for threads: few with the thread sanitizer. */
enum { BATCH = 64, BATCHES = 3, MU = 20, MOST_CALLS = 1000, ENOUGH = ROOFS_WORTH_THREADS / BATCH };
enum { SAMPLES = ENOUGH > 512 ? ENOUGH : 512 };

static double x[BATCHES * BATCH][SAMPLES], y[SAMPLES];

/* A fifth of the responses are equal, so that the starts differ. */
static int make_data(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int j = 0; j < BATCHES * BATCH; j++)
        for (int i = 0; i < SAMPLES; i++)
            x[j][i] = random_signed(&random);
    for (int i = 0; i < SAMPLES; i++)
        y[i] = i % 5 == 0 ? 9 : 2 * x[3][i] - 3 * x[70][i] + x[150][i] + random_signed(&random);
    return 0;
}

/* What the monitor was called with, and what it answers in call number `at`. */
typedef struct seen {
    int64_t calls, at;
    int answer;
    int64_t round[MOST_CALLS], batch[MOST_CALLS], selected[MOST_CALLS];
} seen;

static int record(void *user, const roofs_progress *now)
{
    seen *s = user;
    assert_in_range(s->calls, 0, MOST_CALLS - 1);
    s->round[s->calls] = now->round;
    s->batch[s->calls] = now->batch;
    s->selected[s->calls] = now->selected;
    return s->calls++ == s->at ? s->answer : ROOFS_MONITOR_CONTINUE;
}

typedef struct outcome {
    roofs_status status[BATCHES];
    roofs_error err;
    double coef[MU], intercept;
    int64_t index[MU], selected;
} outcome;

/* A batch that the monitor has undone comes again. */
static void fit_on(int64_t threads, seen *s, outcome *out)
{
    roofs_settings set;
    roofs_error err = {0};
    roofs_estimator *e = NULL;
    roofs_result view;
    *out = (outcome){.selected = 0};
    roofs_settings_init(&set);
    set.mu = MU;
    set.batch = BATCH;
    set.threads = threads;
    assert_fine(roofs_create(&e, &set, y, SAMPLES, &err));
    assert_int_equal(e->other_count, 1);
    roofs_set_monitor(e, record, s);
    roofs_set_undo(e, s->answer == ROOFS_MONITOR_UNDO);
    for (int k = 0; k < BATCHES; k++) {
        const roofs_block b = dense_block(x[k * BATCH], ROOFS_F64, BATCH, SAMPLES);
        out->status[k] = roofs_consume(e, &b, &err);
        if (out->status[k] != ROOFS_OK)
            out->err = err;
        if (out->status[k] == ROOFS_CANCELLED && s->answer == ROOFS_MONITOR_UNDO)
            assert_fine(roofs_consume(e, &b, &err));
    }
    assert_fine(roofs_finish(e, &err));
    assert_fine(roofs_view(e, &view, &err));
    assert_in_range(view.selected, 1, MU);
    out->selected = view.selected;
    out->intercept = view.intercept;
    for (int64_t k = 0; k < view.selected; k++) {
        out->coef[k] = view.features[k].coef;
        out->index[k] = view.features[k].index;
    }
    roofs_destroy(e);
}

static void assert_same_outcomes(const seen *a, const outcome *one, const seen *b,
                                 const outcome *two)
{
    assert_int_equal(a->calls, b->calls);
    assert_memory_equal(a->round, b->round, sizeof a->round);
    assert_memory_equal(a->batch, b->batch, sizeof a->batch);
    assert_memory_equal(a->selected, b->selected, sizeof a->selected);
    assert_memory_equal(one->status, two->status, sizeof one->status);
    assert_string_equal(one->err.text, two->err.text);
    assert_int_equal(one->selected, two->selected);
    assert_memory_equal(one->index, two->index, sizeof one->index);
    assert_same_doubles(one->coef, two->coef, MU);
    assert_same_doubles(&one->intercept, &two->intercept, 1);
}

/* Compares fits whose monitor answers so in call number `at`; returns the number of calls. */
static int64_t compare(int64_t at, int answer)
{
    static seen alone, together;
    static outcome one, two;
    alone = together = (seen){.at = at, .answer = answer};
    fit_on(1, &alone, &one);
    fit_on(2, &together, &two);
    assert_same_outcomes(&alone, &one, &together, &two);
    if (answer != ROOFS_MONITOR_CONTINUE) {
        int64_t cancelled = 0;
        for (int k = 0; k < BATCHES; k++)
            cancelled += one.status[k] == ROOFS_CANCELLED;
        assert_int_equal(cancelled, 1);
    }
    return alone.calls;
}

static void test_bits_and_rounds_are_the_same(void **state)
{
    (void)state;
    assert_true(compare(-1, ROOFS_MONITOR_CONTINUE) >= 4 * BATCHES);
}

/* In rounds of both hypotheses. */
static void test_stops_are_the_same(void **state)
{
    (void)state;
    for (int64_t at = 0; at < 4; at++)
        compare(at, ROOFS_MONITOR_STOP);
}

static void test_undone_batches_are_the_same(void **state)
{
    (void)state;
    for (int64_t at = 0; at < 4; at++)
        compare(at, ROOFS_MONITOR_UNDO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_and_rounds_are_the_same),
        cmocka_unit_test(test_stops_are_the_same),
        cmocka_unit_test(test_undone_batches_are_the_same),
    };
    return cmocka_run_group_tests(tests, make_data, NULL);
}
