/* Several hypotheses of the clean samples side by side: which one goes on, and that stops, undo and
 * checkpoints leave all of them at the same position. */
#include "api/hypotheses.h"
#include "test_api_stream.h"

#include <math.h>

static store saved;

/* ---- the rule ---------------------------------------------------------- */

#define BEST(...)                                                                                  \
    hypotheses_best((const double[]){__VA_ARGS__},                                                 \
                    sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_largest_score_is_chosen(void **state)
{
    (void)state;
    assert_int_equal(BEST(-3), 0);
    assert_int_equal(BEST(-3, -2), 1);
    assert_int_equal(BEST(-1, -1), 0); /* the earlier of equals */
}

static void test_scores_that_are_not_numbers_lose(void **state)
{
    (void)state;
    assert_int_equal(BEST(NAN, -5), 1);
    assert_int_equal(BEST(-5, NAN), 0);
    assert_int_equal(BEST(NAN, NAN), 1);
    assert_int_equal(BEST(-INFINITY, -INFINITY), 0);
}

/* ---- fits -------------------------------------------------------------- */

/* A fifth of the responses are equal, so that the starts differ. */
static void make_hard_stream(stream *s, int form, int64_t passes)
{
    make_stream(s, &(kind){.method = "roofs-bayes",
                           .passes = passes,
                           .sparse = form == 1,
                           .named = form != 1,
                           .narrow = form == 2,
                           .reserve = form == 2 ? 0.5 : 0});
    for (int i = 0; i < SAMPLES; i++)
        s->p.y[i] = i % 5 == 0 ? 9 : s->p.y[i] - (i % 6 == 0 ? 25 : 0);
}

static hypothesis wanted;

static roofs_status prefer_wanted(void *state, fit *f, roofs_error *err)
{
    (void)state;
    (void)err;
    f->score = f->start == wanted;
    return ROOFS_OK;
}

/* A round that the monitor can stop, as that of a method that settles in rounds. */
static roofs_status prefer_wanted_in_a_round(void *state, fit *f, roofs_error *err)
{
    prefer_wanted(state, f, err);
    roofs_status status = fit_round_done(f, err);
    f->rounds--;
    return status;
}

/* Replaces the settling of all hypotheses by a choice of the test. */
static void force_choice(roofs_estimator *e, int in_rounds)
{
    static method forced[2];
    forced[in_rounds] = *method_named(e->m->name);
    forced[in_rounds].settle = in_rounds ? prefer_wanted_in_a_round : prefer_wanted;
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        hypotheses_at(e, k)->m = &forced[in_rounds];
}

static roofs_estimator *open_forced(const stream *s)
{
    roofs_estimator *e = open_fit(&s->p);
    assert_true(e->other_count > 0);
    force_choice(e, 0);
    return e;
}

static void finish(roofs_estimator *e)
{
    roofs_error err;
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(e->other_count, 0);
}

static roofs_estimator *fit_with_choice(const stream *s)
{
    roofs_estimator *e = open_forced(s);
    feed_batches(e, s, 0, batches_of(s));
    finish(e);
    return e;
}

/* The fit of one hypothesis without others. */
static roofs_estimator *fit_alone(const stream *s, hypothesis start)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    assert_fine(estimator_allocate(&e, &err));
    e->f->start = start;
    const beginnings from = {.settings = &s->p.set, .y = s->p.y, .n = SAMPLES};
    assert_fine(estimator_build(e, &from, &err));
    force_choice(e, 0);
    feed_batches(e, s, 0, batches_of(s));
    finish(e);
    return e;
}

/* For each living hypothesis as the winner, in several forms of the stream. */
static void for_every_winner(void (*check)(const stream *s))
{
    static stream s;
    for (int form = 0; form < 3; form++) {
        make_hard_stream(&s, form, 1 + form % 2);
        roofs_estimator *e = open_fit(&s.p);
        const hypotheses_list living = hypotheses_living(e);
        roofs_destroy(e);
        for (int64_t k = -1; k < living.count; k++) {
            wanted = k < 0 ? HYPOTHESIS_USUAL : (hypothesis)living.others[k];
            check(&s);
        }
    }
}

static void assert_at_same_position(roofs_estimator *e)
{
    const roofs_estimator *other;
    for (int64_t k = 1; (other = hypotheses_at(e, k)) != NULL; k++) {
        assert_int_equal(other->f->position, e->f->position);
        assert_int_equal(other->f->features_seen, e->f->features_seen);
        assert_int_equal(other->f->batches, e->f->batches);
        assert_int_equal(other->f->pass, e->f->pass);
    }
}

/* ---- the choice -------------------------------------------------------- */

static void check_chosen(const stream *s)
{
    roofs_estimator *e = fit_with_choice(s), *alone = fit_alone(s, wanted);
    assert_same_fits(e, alone);
    assert_int_equal(view_of(e).hypothesis, wanted);
    assert_true(view_of(e).hypotheses > 1 && view_of(e).selected > 0);
    assert_int_equal(view_of(alone).hypotheses, 1);
    roofs_destroy(e);
    roofs_destroy(alone);
}

static void test_chosen_fit_is_that_of_its_start_alone(void **state)
{
    (void)state;
    for_every_winner(check_chosen);
}

/* The settings in the caller's hands stay where they are, and describe the fit that goes on. */
static void check_described(const stream *s)
{
    roofs_error err;
    roofs_description before, after;
    roofs_estimator *e = open_forced(s);
    roofs_describe(e, &before);
    assert_int_equal(before.settings->storage, s->p.set.storage);
    feed_batches(e, s, 0, batches_of(s) / s->p.set.passes);
    if (s->p.set.passes > 1)
        assert_fine(roofs_next_pass(e, &err));
    else
        finish(e);
    assert_int_equal(e->other_count, 0);
    assert_int_equal(e->f->start, wanted);
    roofs_describe(e, &after);
    assert_ptr_equal(after.settings, before.settings);
    assert_int_equal(before.settings->mu, s->p.set.mu);
    assert_int_equal(before.settings->storage, e->f->set.storage);
    assert_true(before.settings->storage != ROOFS_STORAGE_AUTO);
    roofs_destroy(e);
}

static void test_description_outlives_the_choice(void **state)
{
    (void)state;
    for_every_winner(check_described);
}

/* Batches that are copied are copied once for all, but not if a copy was rescaled. */
static void check_copied(double extreme, int sparse)
{
    static stream s;
    static double rows[SAMPLES][FEATURES];
    static float sparse_values[FEATURES * SAMPLES];
    roofs_error err;
    make_hard_stream(&s, sparse, 1);
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < SAMPLES; i++)
            rows[i][j] = s.p.x[j][i] * extreme;
    for (int64_t k = 0; k < s.starts[FEATURES]; k++)
        sparse_values[k] = (float)s.values[k];
    roofs_block b = slice_of(&s, 0, FEATURES);
    b.values = sparse ? (const void *)sparse_values : rows;
    b.dtype = sparse ? ROOFS_F32 : ROOFS_F64;
    b.feature_stride = sparse ? b.feature_stride : 1;
    b.sample_stride = sparse ? b.sample_stride : FEATURES;
    s.p.set.storage = ROOFS_STORAGE_F64;
    wanted = HYPOTHESIS_ALL;
    roofs_estimator *e = open_forced(&s), *alone = NULL;
    assert_fine(estimator_allocate(&alone, &err));
    alone->f->start = wanted;
    const beginnings from = {.settings = &s.p.set, .y = s.p.y, .n = SAMPLES};
    assert_fine(estimator_build(alone, &from, &err));
    assert_fine(roofs_consume(e, &b, &err));
    assert_fine(roofs_consume(alone, &b, &err));
    finish(e);
    finish(alone);
    assert_true(view_of(e).selected > 0);
    assert_same_fits(e, alone);
    roofs_destroy(e);
    roofs_destroy(alone);
}

static void test_copied_batches_are_shared(void **state)
{
    (void)state;
    check_copied(1, 0);
    check_copied(1e304, 0);
    check_copied(1, 1);
}

/* It starts as the first of several does. Its end is shorter: it is compared with nothing. */
static void test_one_hypothesis_is_the_usual_one(void **state)
{
    static stream s;
    (void)state;
    make_hard_stream(&s, 0, 2);
    s.p.set.mu = FEATURES; /* no column is dropped */
    roofs_estimator *several = open_fit(&s.p);
    s.p.set.hypotheses = 1;
    roofs_estimator *one = open_fit(&s.p);
    assert_int_equal(one->other_count, 0);
    assert_int_equal(one->f->start, HYPOTHESIS_USUAL);
    feed_batches(one, &s, 0, 1);
    feed_batches(several, &s, 0, 1);
    assert_same_fits(one, several);
    feed_batches(one, &s, 1, batches_of(&s));
    finish(one);
    assert_int_equal(view_of(one).hypotheses, 1);
    roofs_destroy(one);
    roofs_destroy(several);
}

static void test_settings_without_hypotheses_follow_one(void **state)
{
    static stream s;
    (void)state;
    make_hard_stream(&s, 0, 1);
    assert_int_equal(roofs_hypotheses_followed(&s.p.set), 2);
    s.p.set.clean_ratio = 0.6;
    assert_int_equal(roofs_hypotheses_followed(&s.p.set), 1);
    roofs_estimator *e = open_fit(&s.p);
    assert_int_equal(e->other_count, 0);
    roofs_destroy(e);
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    e = open_fit(&s.p);
    assert_int_equal(e->other_count, 0);
    assert_int_equal(view_of(e).hypotheses, 0);
    roofs_destroy(e);
    s.p.set.mu = -1;
    assert_int_equal(roofs_hypotheses_followed(&s.p.set), 0);
    assert_int_equal(roofs_hypotheses_followed(NULL), 0);
}

static void test_numbers_of_hypotheses_have_words(void **state)
{
    (void)state;
    assert_string_equal(roofs_hypothesis_text(HYPOTHESIS_USUAL), "usual");
    assert_string_equal(roofs_hypothesis_text(HYPOTHESIS_ALL), "all");
    assert_null(roofs_hypothesis_text(HYPOTHESES));
    assert_null(roofs_hypothesis_text(-1));
}

/* ---- stops and undo ---------------------------------------------------- */

/* Stops in every round of every call; then continues at the position of the fit. */
static void check_stopped(const stream *s, int answer)
{
    roofs_error err;
    stopper p;
    roofs_estimator *whole = fit_with_choice(s), *e = open_forced(s);
    roofs_description now;
    int64_t stops = 0, k = 0, tries = 0;
    force_choice(e, 1);
    roofs_set_monitor(e, stop_at, &p);
    roofs_set_undo(e, answer == ROOFS_MONITOR_UNDO);
    while (k <= batches_of(s)) {
        p = (stopper){.at = 1 + tries++, .answer = answer};
        roofs_status status = k < batches_of(s) ? feed(e, s, k, &err) : roofs_finish(e, &err);
        stops += status == ROOFS_CANCELLED;
        assert_true(status == ROOFS_OK || status == ROOFS_CANCELLED);
        assert_at_same_position(e);
        roofs_describe(e, &now);
        const int done = k < batches_of(s) ? now.batches == k + 1 : status == ROOFS_OK;
        assert_true(done || now.batches == k);
        k += done;
        tries = status == ROOFS_OK ? 0 : tries; /* the next call stops in a later round */
    }
    assert_true(stops >= batches_of(s));
    assert_same_fits(whole, e);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void check_undone(const stream *s)
{
    check_stopped(s, ROOFS_MONITOR_UNDO);
}

static void test_undo_restores_all(void **state)
{
    (void)state;
    for_every_winner(check_undone);
}

/* A stop within a batch changes no bits. Stops of the final rounds do, as with one hypothesis:
 * the rounds start again. */
static void test_stopped_batches_are_completed_by_all(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_hard_stream(&s, 0, 1);
    wanted = HYPOTHESIS_ALL;
    roofs_estimator *whole = fit_with_choice(&s);
    for (int64_t at = 1; at < 9; at++) {
        roofs_estimator *e = open_forced(&s);
        int64_t stops = 0;
        for (int64_t k = 0; k < batches_of(&s); k++) {
            stopper p = {.at = at, .answer = ROOFS_MONITOR_STOP};
            roofs_set_monitor(e, stop_at, &p);
            roofs_status status = feed(e, &s, k, &err);
            stops += status == ROOFS_CANCELLED;
            assert_true(p.rounds <= at); /* no call after the stop */
            assert_at_same_position(e);
            assert_int_equal(e->f->batches, k + 1);
            assert_true(status == ROOFS_OK || strstr(err.text, "stopped in round"));
        }
        assert_true(at > 2 || stops == batches_of(&s));
        roofs_set_monitor(e, NULL, NULL);
        finish(e);
        assert_same_fits(whole, e);
        roofs_destroy(e);
    }
    roofs_destroy(whole);
}

typedef struct counted {
    int64_t calls, batch, round;
} counted;

static int count_rounds(void *user, const roofs_progress *now)
{
    counted *c = user;
    assert_true(now->batch > c->batch || now->round == c->round + 1);
    c->calls++;
    c->batch = now->batch;
    c->round = now->round;
    return ROOFS_MONITOR_CONTINUE;
}

static void test_monitor_sees_the_rounds_of_all(void **state)
{
    static stream s;
    counted c = {0};
    (void)state;
    make_hard_stream(&s, 0, 1);
    roofs_estimator *e = open_forced(&s);
    roofs_set_monitor(e, count_rounds, &c);
    feed_batches(e, &s, 0, batches_of(&s));
    int64_t rounds = 0;
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        rounds += hypotheses_at(e, k)->f->rounds;
    assert_int_equal(c.calls, rounds);
    assert_true(rounds > e->f->rounds);
    roofs_destroy(e);
}

/* ---- checkpoints ------------------------------------------------------- */

static roofs_estimator *save_and_load(roofs_estimator *e)
{
    roofs_error err;
    const hypotheses_list before = hypotheses_living(e);
    store_save(&saved, e);
    roofs_destroy(e);
    e = NULL;
    assert_fine(store_load(&saved, NULL, &e, &err));
    const hypotheses_list after = hypotheses_living(e);
    assert_int_equal(after.start, before.start); /* field by field: there are bytes between them */
    assert_int_equal(after.compared, before.compared);
    assert_int_equal(after.count, before.count);
    assert_memory_equal(after.others, before.others, sizeof before.others);
    force_choice(e, 0);
    return e;
}

static void check_saved(const stream *s)
{
    roofs_error err;
    roofs_estimator *whole = fit_with_choice(s), *e = open_forced(s);
    for (int64_t k = 0; k < batches_of(s); k++) {
        e = save_and_load(e);
        assert_fine(feed(e, s, k, &err));
    }
    e = save_and_load(e);
    finish(e);
    assert_same_fits(whole, e);
    assert_int_equal(view_of(e).hypotheses, view_of(whole).hypotheses);
    assert_int_equal(view_of(e).hypothesis, wanted);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void test_checkpoints_hold_all(void **state)
{
    (void)state;
    for_every_winner(check_saved);
}

static void test_hypotheses_at_other_positions_are_refused(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_hard_stream(&s, 0, 1);
    roofs_estimator *e = open_forced(&s), *loaded = NULL;
    feed_batches(e, &s, 0, 2);
    e->others[0]->f->position--;
    store_save(&saved, e);
    assert_refused(store_load(&saved, NULL, &loaded, &err), ROOFS_BAD_DATA, "same position");
    assert_null(loaded);
    roofs_destroy(e);
}

/* ---- memory ------------------------------------------------------------ */

static void test_memory_counts_all(void **state)
{
    static stream s;
    roofs_error err;
    int64_t one = 0, all = 0;
    (void)state;
    make_hard_stream(&s, 0, 1);
    assert_fine(roofs_memory_needed(&s.p.set, SAMPLES, ROOFS_F64, &all, &err));
    s.p.set.hypotheses = 1;
    assert_fine(roofs_memory_needed(&s.p.set, SAMPLES, ROOFS_F64, &one, &err));
    assert_true(all >= 2 * one); /* each holds at least two batches */
    for (int k = 0; k < 4; k++) {
        s.p.set.hypotheses = k < 2 ? 2 : 1;
        s.p.set.max_memory = (k < 2 ? all : one) - k % 2;
        roofs_estimator *e = open_fit(&s.p);
        roofs_block b = slice_of(&s, 0, BATCH);
        assert_int_equal(roofs_consume(e, &b, &err), k % 2 ? ROOFS_OVER_LIMIT : ROOFS_OK);
        roofs_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_score_is_chosen),
        cmocka_unit_test(test_scores_that_are_not_numbers_lose),
        cmocka_unit_test(test_chosen_fit_is_that_of_its_start_alone),
        cmocka_unit_test(test_description_outlives_the_choice),
        cmocka_unit_test(test_copied_batches_are_shared),
        cmocka_unit_test(test_one_hypothesis_is_the_usual_one),
        cmocka_unit_test(test_settings_without_hypotheses_follow_one),
        cmocka_unit_test(test_numbers_of_hypotheses_have_words),
        cmocka_unit_test(test_undo_restores_all),
        cmocka_unit_test(test_stopped_batches_are_completed_by_all),
        cmocka_unit_test(test_monitor_sees_the_rounds_of_all),
        cmocka_unit_test(test_checkpoints_hold_all),
        cmocka_unit_test(test_hypotheses_at_other_positions_are_refused),
        cmocka_unit_test(test_memory_counts_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
