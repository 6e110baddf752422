/* A fit that was saved and loaded, or stopped and undone, ends in the same bits. */
#include "test_api_stream.h"

static store saved;

static roofs_estimator *load(int64_t threads)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    roofs_settings set;
    roofs_settings_init(&set);
    set.threads = threads;
    assert_fine(store_load(&saved, &set, &e, &err));
    return e;
}

static roofs_estimator *fit_without_a_stop(const stream *s)
{
    roofs_error err;
    roofs_estimator *e = open_fit(&s->p);
    feed_batches(e, s, 0, batches_of(s));
    assert_fine(roofs_finish(e, &err));
    return e;
}

static void assert_same_end(roofs_estimator *e, roofs_estimator *f)
{
    const roofs_result a = view_of(e), b = view_of(f);
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
    make_stream(&s, &(kind){.method = "roofs-bayes", .passes = 2, .always = 9});
    check(&s);
    make_stream(&s, &(kind){.method = "roofs", .passes = 1, .always = 3});
    check(&s);
}

/* ---- saved and loaded -------------------------------------------------- */

/* Every batch goes to a new estimator. */
static void check_saved(const stream *s)
{
    roofs_error err;
    roofs_estimator *whole = fit_without_a_stop(s), *e = open_fit(&s->p);
    for (int64_t k = 0; k < batches_of(s); k++) {
        store_save(&saved, e);
        roofs_destroy(e);
        e = load(1 + k % 3);
        assert_fine(feed(e, s, k, &err));
    }
    store_save(&saved, e);
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
    static store first;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    assert_fine(feed(e, &s, 0, &err));
    store_save(&saved, e);
    first = saved;
    roofs_destroy(e);
    e = load(s.p.set.threads);
    store_save(&saved, e);
    assert_int_equal(first.size, saved.size);
    assert_memory_equal(first.bytes, saved.bytes, saved.size);
    roofs_destroy(e);
}

/* ---- stopped and undone ------------------------------------------------ */

/* Stops in every round: each call is tried with 1, 2, ... rounds until it ends. */
static void check_undone(const stream *s)
{
    roofs_error err;
    stopper p;
    roofs_estimator *whole = fit_without_a_stop(s), *e = open_fit(&s->p);
    roofs_description before, after;
    int64_t stops = 0;
    roofs_set_monitor(e, stop_at, &p);
    roofs_set_undo(e, 1);
    for (int64_t k = 0; k <= batches_of(s); k++)
        for (int64_t tries = 1;; tries++) {
            p = (stopper){.at = tries < 6 ? tries : 3 * tries, .answer = ROOFS_MONITOR_UNDO};
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
    for_every_kind(check_undone);
}

static void test_stop_after_the_batch_keeps_it(void **state)
{
    static stream s;
    roofs_error err;
    roofs_description now;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    for (int undo = 0; undo < 2; undo++) { /* without it a batch cannot be undone */
        stopper p = {.at = 1, .answer = undo ? ROOFS_MONITOR_STOP : ROOFS_MONITOR_UNDO};
        roofs_estimator *e = open_fit(&s.p);
        roofs_set_monitor(e, stop_at, &p);
        roofs_set_undo(e, undo);
        assert_int_equal(feed(e, &s, 0, &err), ROOFS_CANCELLED);
        roofs_describe(e, &now);
        assert_int_equal(now.position, BATCH);
        assert_int_equal(now.batches, 1);
        roofs_destroy(e);
    }
}

/* An answer that is not defined stops, and an undo of an earlier batch is over. */
static void test_stop_after_an_undo_keeps_the_batch(void **state)
{
    static stream s;
    roofs_error err;
    roofs_description now;
    stopper undo = {.at = 1, .answer = ROOFS_MONITOR_UNDO}, stop = {.at = 1, .answer = -1};
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    roofs_set_undo(e, 1);
    roofs_set_monitor(e, stop_at, &undo);
    assert_int_equal(feed(e, &s, 0, &err), ROOFS_CANCELLED);
    roofs_describe(e, &now);
    assert_int_equal(now.position, 0);
    roofs_set_undo(e, 0);
    roofs_set_monitor(e, stop_at, &stop);
    assert_int_equal(feed(e, &s, 0, &err), ROOFS_CANCELLED);
    roofs_describe(e, &now);
    assert_int_equal(now.position, BATCH);
    assert_int_equal(now.batches, 1);
    roofs_destroy(e);
}

/* ---- what is refused --------------------------------------------------- */

static int save_inside(void *user, const roofs_progress *now)
{
    roofs_error err;
    (void)now;
    store_clear(&saved, sizeof saved.bytes);
    assert_int_equal(roofs_save(user, store_write, &saved, &err), ROOFS_BAD_CALL);
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
    feed_batches(e, &s, 0, batches_of(&s));
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(roofs_save(e, store_write, &saved, &err), ROOFS_BAD_CALL);
    roofs_destroy(e);
}

static void assert_no_load(roofs_status wanted)
{
    roofs_error err = {0};
    roofs_estimator *e = NULL;
    assert_int_equal(store_load(&saved, NULL, &e, &err), wanted);
    assert_null(e);
    assert_true(strlen(err.text) > 0);
}

static void test_every_prefix_and_every_changed_byte_is_refused(void **state)
{
    static stream s;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .sparse = 1, .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    feed_batches(e, &s, 0, 2);
    store_save(&saved, e);
    roofs_destroy(e);
    const size_t size = saved.size;
    for (saved.size = 0; saved.size < size; saved.size++)
        assert_no_load(ROOFS_BAD_DATA);
    for (size_t k = 0; k < size; k++)
        for (int bit = 0; bit < 8; bit += 7) {
            saved.bytes[k] ^= (unsigned char)(1 << bit);
            assert_no_load(ROOFS_BAD_DATA);
            saved.bytes[k] ^= (unsigned char)(1 << bit);
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
    store_save(&saved, e);
    const size_t size = saved.size;
    for (size_t capacity = 0; capacity < size; capacity += 97) {
        store_clear(&saved, capacity);
        assert_int_equal(roofs_save(e, store_write, &saved, &err), ROOFS_IO);
    }
    store_save(&saved, e); /* the fit has not changed */
    assert_int_equal(saved.size, size);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_fits_end_in_the_same_bits),
        cmocka_unit_test(test_loaded_fits_save_the_same_bytes),
        cmocka_unit_test(test_undone_batches_leave_no_trace),
        cmocka_unit_test(test_stop_after_the_batch_keeps_it),
        cmocka_unit_test(test_stop_after_an_undo_keeps_the_batch),
        cmocka_unit_test(test_only_a_fit_between_batches_is_saved),
        cmocka_unit_test(test_every_prefix_and_every_changed_byte_is_refused),
        cmocka_unit_test(test_failing_writes_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
