/* A fit that was saved and loaded, or stopped and taken back, ends in the same bits. */
#include "test_api_stream.h"

static bytes_kept kept;

static void save(roofs_estimator *e)
{
    roofs_error err;
    kept = (bytes_kept){.room = sizeof kept.bytes, .at_once = 1000};
    assert_fine(roofs_save(e, keep, &kept, &err));
}

static roofs_estimator *load(int64_t threads)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    roofs_settings run;
    roofs_settings_init(&run);
    run.threads = threads;
    kept.at = 0;
    assert_fine(roofs_load(&e, give, &kept, &run, &err));
    assert_int_equal(kept.at, kept.size);
    return e;
}

static roofs_estimator *undisturbed(const stream *s)
{
    roofs_error err;
    roofs_estimator *e = open_fit(&s->p);
    for (int64_t k = 0; k < batches_of(s); k++)
        assert_fine(feed(e, s, k, &err));
    assert_fine(roofs_finish(e, &err));
    return e;
}

static void assert_same_end(roofs_estimator *e, roofs_estimator *f)
{
    roofs_error err;
    roofs_result a, b;
    assert_fine(roofs_view(e, &a, &err));
    assert_fine(roofs_view(f, &b, &err));
    assert_true(a.selected > 0 || a.stop == ROOFS_STOP_EMPTY);
    assert_same_result(&a, &b);
    assert_int_equal(!a.clean, !b.clean);
    if (a.clean)
        assert_same_doubles(a.clean, b.clean, a.n);
}

static void for_every_kind(void (*check)(const stream *s))
{
    static stream s;
    for (int64_t k = 0; roofs_method_name(k); k++)
        for (int form = 0; form < 8; form++) {
            kind what = {.method = roofs_method_name(k),
                         .sparse = form & 1,
                         .narrow = form >> 1 & 1,
                         .named = form >> 2 & 1,
                         .passes = 1 + (form == 3 || form == 4)};
            make_stream(&s, &what);
            check(&s);
        }
    make_stream(&s, &(kind){.method = "roofs-bayes", .reserve = 0.5, .passes = 2});
    check(&s);
    make_stream(&s, &(kind){.method = "rlhh", .reading = ROOFS_READING_JOINT, .passes = 1});
    check(&s);
}

/* ---- saved and loaded -------------------------------------------------- */

/* Another estimator after every batch. */
static void check_saved(const stream *s)
{
    roofs_error err;
    roofs_estimator *whole = undisturbed(s), *e = open_fit(&s->p);
    for (int64_t k = 0; k < batches_of(s); k++) {
        save(e);
        roofs_destroy(e);
        e = load(1 + k % 3);
        assert_fine(feed(e, s, k, &err));
    }
    save(e);
    roofs_destroy(e);
    e = load(0);
    assert_fine(roofs_finish(e, &err));
    assert_same_end(whole, e);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void test_saved_fits_end_in_the_same_bits(void **state)
{
    (void)state;
    for_every_kind(check_saved);
}

static void test_loaded_fits_save_the_same_bytes(void **state)
{
    static stream s;
    static bytes_kept first;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    assert_fine(feed(e, &s, 0, &err));
    save(e);
    first = kept;
    roofs_destroy(e);
    e = load(s.p.set.threads);
    save(e);
    assert_int_equal(first.size, kept.size);
    assert_memory_equal(first.bytes, kept.bytes, kept.size);
    roofs_destroy(e);
}

/* ---- stopped and taken back -------------------------------------------- */

typedef struct patience {
    int64_t rounds; /* until the next stop */
    int answer;
} patience;

static int stop_after(void *user, const roofs_progress *now)
{
    patience *p = user;
    (void)now;
    return --p->rounds == 0 ? p->answer : ROOFS_MONITOR_CONTINUE;
}

/* Stopped in every round there is: each call is tried with 1, 2, ... rounds until it ends. */
static void check_taken_back(const stream *s)
{
    roofs_error err;
    patience p = {.answer = ROOFS_MONITOR_UNDO};
    roofs_estimator *whole = undisturbed(s), *e = open_fit(&s->p);
    roofs_description before, after;
    int64_t stops = 0;
    roofs_set_monitor(e, stop_after, &p);
    roofs_set_undo(e, 1);
    for (int64_t k = 0; k <= batches_of(s); k++)
        for (int64_t tries = 1;; tries++) {
            p.rounds = tries < 6 ? tries : 3 * tries;
            roofs_describe(e, &before);
            roofs_status status = k < batches_of(s) ? feed(e, s, k, &err) : roofs_finish(e, &err);
            if (status == ROOFS_OK)
                break;
            assert_int_equal(status, ROOFS_CANCELLED);
            roofs_describe(e, &after);
            assert_int_equal(after.batches, before.batches);
            stops++;
        }
    assert_true(stops > 0);
    assert_same_end(whole, e);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void test_undone_batches_leave_no_trace(void **state)
{
    (void)state;
    for_every_kind(check_taken_back);
}

static void test_stop_after_the_batch_keeps_it(void **state)
{
    static stream s;
    roofs_error err;
    roofs_description now;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    for (int undo = 0; undo < 2; undo++) { /* without it a batch cannot be taken back */
        patience p = {.answer = undo ? ROOFS_MONITOR_STOP : ROOFS_MONITOR_UNDO, .rounds = 1};
        roofs_estimator *e = open_fit(&s.p);
        roofs_set_monitor(e, stop_after, &p);
        roofs_set_undo(e, undo);
        assert_int_equal(feed(e, &s, 0, &err), ROOFS_CANCELLED);
        roofs_describe(e, &now);
        assert_int_equal(now.position, BATCH);
        assert_int_equal(now.batches, 1);
        roofs_destroy(e);
    }
}

/* ---- what is refused --------------------------------------------------- */

static int save_inside(void *user, const roofs_progress *now)
{
    roofs_error err;
    (void)now;
    kept = (bytes_kept){.room = sizeof kept.bytes};
    assert_int_equal(roofs_save(user, keep, &kept, &err), ROOFS_BAD_CALL);
    return ROOFS_MONITOR_CONTINUE;
}

static void test_only_a_fit_between_batches_is_saved(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    roofs_set_monitor(e, save_inside, e);
    for (int64_t k = 0; k < batches_of(&s); k++)
        assert_fine(feed(e, &s, k, &err));
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(roofs_save(e, keep, &kept, &err), ROOFS_BAD_CALL);
    roofs_destroy(e);
}

static void save_half(const char *method, int sparse)
{
    static stream s;
    roofs_error err;
    make_stream(&s, &(kind){.method = method, .sparse = sparse, .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    for (int64_t k = 0; k < 2; k++)
        assert_fine(feed(e, &s, k, &err));
    save(e);
    roofs_destroy(e);
}

static void assert_no_load(roofs_status wanted)
{
    roofs_error err = {0};
    roofs_estimator *e = NULL;
    kept.at = 0;
    kept.at_once = sizeof kept.bytes;
    assert_int_equal(roofs_load(&e, give, &kept, NULL, &err), wanted);
    assert_null(e);
    assert_true(strlen(err.text) > 0);
}

static void test_every_prefix_and_every_changed_byte_is_refused(void **state)
{
    (void)state;
    save_half("roofs", 1);
    const size_t size = kept.size;
    for (kept.size = 0; kept.size < size; kept.size++)
        assert_no_load(ROOFS_BAD_DATA);
    for (size_t k = 0; k < size; k++)
        for (int bit = 0; bit < 8; bit += 7) {
            kept.bytes[k] ^= (unsigned char)(1 << bit);
            assert_no_load(ROOFS_BAD_DATA);
            kept.bytes[k] ^= (unsigned char)(1 << bit);
        }
    roofs_destroy(load(1));
}

static void test_failing_writes_are_reported(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    assert_fine(feed(e, &s, 0, &err));
    save(e);
    const size_t size = kept.size;
    for (size_t room = 0; room < size; room += 97) {
        kept = (bytes_kept){.room = room};
        assert_int_equal(roofs_save(e, keep, &kept, &err), ROOFS_IO);
    }
    save(e); /* and the fit is as it was */
    assert_int_equal(kept.size, size);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_fits_end_in_the_same_bits),
        cmocka_unit_test(test_loaded_fits_save_the_same_bytes),
        cmocka_unit_test(test_undone_batches_leave_no_trace),
        cmocka_unit_test(test_stop_after_the_batch_keeps_it),
        cmocka_unit_test(test_only_a_fit_between_batches_is_saved),
        cmocka_unit_test(test_every_prefix_and_every_changed_byte_is_refused),
        cmocka_unit_test(test_failing_writes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
