/* Fits that move between devices, are stopped, or run out of memory: on the CPU, or on the device
 * named on the command line. */
#include "api/estimator.h"
#include "test_api_stream.h"
#include "test_linalg_tested.h"

static store saved;

static roofs_estimator *begin(stream *s, const char *device_name)
{
    s->p.set.device = choice_number("device", device_name);
    return open_fit(&s->p);
}

static roofs_status load(roofs_estimator **e, const char *device_name, roofs_error *err)
{
    roofs_settings set;
    roofs_settings_as_saved(&set);
    set.device = choice_number("device", device_name);
    return store_load(&saved, &set, e, err);
}

/* Devices add up in different orders. */
static void assert_close_end(roofs_estimator *e, roofs_estimator *f)
{
    const roofs_result a = view_of(e), b = view_of(f);
    assert_int_equal(a.selected, b.selected);
    assert_int_equal(a.trusted, b.trusted);
    for (int64_t k = 0; k < a.selected; k++) {
        assert_int_equal(a.features[k].index, b.features[k].index);
        assert_true(fabs(a.features[k].coef - b.features[k].coef) < 1e-8);
    }
    assert_true(fabs(a.intercept - b.intercept) < 1e-8);
}

static void for_every_kind(void (*check)(stream *s))
{
    static stream s;
    for (int form = 0; form < 8; form++) {
        kind what = {.method = gpu_method(form),
                     .sparse = form >> 1 & 1,
                     .narrow = form >> 2 & 1,
                     .named = 1,
                     .passes = 1 + (form == 3)};
        make_stream(&s, &what);
        check(&s);
    }
}

/* ---- saved on one device, loaded on another ---------------------------- */

static void move(stream *s, const char *from, const char *to)
{
    roofs_error err = {0};
    roofs_estimator *whole = begin(s, from), *e = begin(s, from);
    const int64_t half = batches_of(s) / 2;
    feed_batches(whole, s, 0, batches_of(s));
    assert_fine(roofs_finish(whole, &err));
    feed_batches(e, s, 0, half);
    store_save(&saved, e);
    roofs_destroy(e);
    assert_fine(load(&e, to, &err));
    assert_string_equal(roofs_device(e), to ? to : from);
    feed_batches(e, s, half, batches_of(s));
    assert_fine(roofs_finish(e, &err));
    assert_close_end(whole, e);
    roofs_destroy(whole);
    roofs_destroy(e);
}

static void move_all_ways(stream *s)
{
    move(s, tested->name, NULL);
    move(s, tested->name, "cpu");
    move(s, "cpu", tested->name);
}

static void test_fits_move_between_devices(void **state)
{
    (void)state;
    for_every_kind(move_all_ways);
}

/* ---- a machine without the device -------------------------------------- */

static void test_saved_device_is_only_the_default(void **state)
{
    static stream s;
    roofs_error err = {0};
    const device_ops *found = NULL;
    const int has_gpu = device_find("cuda", &found, &err) == ROOFS_OK;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    roofs_estimator *e = begin(&s, "cpu");
    feed_batches(e, &s, 0, 2);
    e->f->set.device = ROOFS_DEVICE_CUDA; /* as if it had run on a GPU */
    store_save(&saved, e);
    roofs_destroy(e);
    if (!has_gpu) {
        assert_refused(load(&e, NULL, &err), ROOFS_BAD_SETTING,
                       "the fit was saved on cuda; continue with --device cpu (device cuda: ");
        assert_null(e);
        assert_refused(load(&e, "cuda", &err), ROOFS_BAD_SETTING, "device cuda: ");
        assert_null(strstr(err.text, "was saved"));
    }
    assert_refused(load(&e, "abacus", &err), ROOFS_BAD_SETTING, "cpu, cuda, auto");
    assert_fine(load(&e, "cpu", &err));
    assert_string_equal(roofs_device(e), "cpu");
    feed_batches(e, &s, 2, batches_of(&s));
    assert_fine(roofs_finish(e, &err));
    roofs_destroy(e);
    assert_fine(load(&e, "auto", &err));
    assert_string_equal(roofs_device(e), has_gpu ? "cuda" : "cpu");
    roofs_destroy(e);
}

/* ---- stopped ------------------------------------------------------------ */

/* Blocks hold several batches: while one is fitted, the next is uploaded. */
static void stop_in_every_round(stream *s)
{
    roofs_error err;
    roofs_estimator *whole = begin(s, tested->name);
    stopper all = {0};
    roofs_set_monitor(whole, stop_at, &all);
    roofs_block b = slice_of(s, 0, FEATURES);
    assert_fine(roofs_consume(whole, &b, &err));
    for (int64_t at = 1; at <= all.rounds; at += 1 + all.rounds / 20) {
        stopper once = {.at = at, .answer = ROOFS_MONITOR_UNDO};
        roofs_estimator *e = begin(s, tested->name);
        roofs_description now;
        roofs_set_monitor(e, stop_at, &once);
        roofs_set_undo(e, 1);
        assert_int_equal(roofs_consume(e, &b, &err), ROOFS_CANCELLED);
        roofs_describe(e, &now);
        assert_int_equal(now.position % BATCH, 0);
        store_save(&saved, e);
        roofs_block rest = slice_of(s, now.position, FEATURES - now.position);
        assert_fine(roofs_consume(e, &rest, &err));
        assert_same_fits(whole, e); /* to the bit */
        roofs_destroy(e);
        assert_fine(load(&e, NULL, &err));
        assert_fine(roofs_consume(e, &rest, &err));
        assert_close_end(whole, e);
        roofs_destroy(e);
    }
    roofs_destroy(whole);
}

static void test_stopped_fits_are_resumed(void **state)
{
    (void)state;
    for_every_kind(stop_in_every_round);
}

/* ---- prefetching ---------------------------------------------------------- */

/* A hint that is right, wrong or withdrawn: the bits are the same. */
static void prefetch_anything(stream *s)
{
    roofs_error err;
    const int64_t all = batches_of(s) / s->k.passes;
    for (int how = 0; how < 5; how++) {
        roofs_estimator *plain = begin(s, tested->name), *e = begin(s, tested->name);
        for (int64_t k = 0; k < all; k++) {
            const int64_t first = (k + 1 < all ? k + 1 : 0) * BATCH;
            const int64_t count = FEATURES - first < BATCH ? FEATURES - first : BATCH;
            roofs_block next = slice_of(s, how == 1 ? 0 : first, count);
            if (how == 4)
                next = slice_of(s, first, FEATURES - first); /* all that is left */
            if (how == 2)
                next.n--; /* refused when it comes, and never read before */
            roofs_prefetch(e, &next);
            assert_fine(feed(e, s, k, &err));
            if (how == 3)
                roofs_prefetch(e, NULL);
            assert_fine(feed(plain, s, k, &err));
        }
        assert_same_fits(plain, e);
        roofs_destroy(plain);
        roofs_destroy(e);
    }
}

static void test_prefetch_hints_change_nothing(void **state)
{
    (void)state;
    for_every_kind(prefetch_anything);
}

/* ---- memory ----------------------------------------------------------------- */

static void test_device_memory_is_reported(void **state)
{
    roofs_settings set;
    roofs_error err;
    int64_t narrow = -1, left = -1, all = 0, wide = 0;
    (void)state;
    roofs_settings_init(&set);
    set.mu = 1000;
    assert_fine(roofs_memory_on_device(&set, 10000, ROOFS_F64, &narrow, &left, &err));
    assert_int_equal(narrow, 0);
    assert_int_equal(left, 0);
    set.device = ROOFS_DEVICE_CUDA;
    if (roofs_memory_on_device(&set, 10000, ROOFS_F32, &narrow, &left, &err) != ROOFS_OK) {
        assert_non_null(strstr(err.text, "could not be loaded")); /* built without it */
        return;
    }
    assert_fine(roofs_memory_on_device(&set, 10000, ROOFS_F64, &wide, &left, &err));
    assert_fine(roofs_memory_needed(&set, 10000, ROOFS_F64, &all, &err));
    assert_true(wide >= set.hypotheses * 1200 * 10000 * 8);
    assert_true(wide < set.hypotheses * 3 * 1200 * 10000 * 8);
    assert_true(narrow <= wide - 1200 * 10000 * 4);
    assert_true(all > wide);
    assert_true(tested == &device_cpu || left > 0);
    set.mu = (int64_t)1 << 38;
    assert_fine(roofs_memory_on_device(&set, 10000, ROOFS_F64, &wide, &left, &err));
    assert_true(wide >= (int64_t)10000 << 41 || wide == INT64_MAX);
}

/* A fit takes at most the memory that was reported, and gives it back. */
static void test_device_memory_limit_is_respected(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    if (!tested->free_on_device)
        skip();
    for (int k = 0; k < 4; k++) {
        make_stream(&s, &(kind){.method = gpu_method(k), .passes = 1});
        s.p.set.mu = k < 2 ? s.p.set.mu : 300000; /* most of a gigabyte */
        s.p.set.device = choice_number("device", tested->name);
        int64_t needed, left;
        assert_fine(roofs_memory_on_device(&s.p.set, SAMPLES, ROOFS_F64, &needed, &left, &err));
        roofs_estimator *e = open_fit(&s.p);
        feed_batches(e, &s, 0, batches_of(&s));
        const int64_t taken = left - tested->free_on_device();
        assert_true(taken > 0 && taken <= needed);
        roofs_destroy(e);
        assert_true(left - tested->free_on_device() <= 64 << 20); /* what the driver keeps */
    }
}

/* An estimator without memory does not disturb others. */
static void test_memory_errors_leave_other_fits_alone(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    if (!tested->free_on_device)
        skip();
    make_stream(&s, &(kind){.method = "roofs-bayes", .passes = 1});
    const int64_t mu = s.p.set.mu;
    s.p.set.mu = (int64_t)1 << 33;
    roofs_estimator *large = begin(&s, tested->name);
    s.p.set.mu = mu;
    roofs_estimator *small = begin(&s, tested->name), *alone = begin(&s, tested->name);
    for (int64_t k = 0; k < batches_of(&s); k++) {
        roofs_block b = slice_of(&s, 0, BATCH);
        assert_refused(roofs_consume(large, &b, &err), ROOFS_NO_MEMORY, "bytes on the GPU");
        feed_batches(small, &s, k, k + 1);
        feed_batches(alone, &s, k, k + 1);
    }
    assert_same_fits(small, alone);
    roofs_destroy(large);
    roofs_destroy(small);
    roofs_destroy(alone);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fits_move_between_devices),
        cmocka_unit_test(test_saved_device_is_only_the_default),
        cmocka_unit_test(test_stopped_fits_are_resumed),
        cmocka_unit_test(test_prefetch_hints_change_nothing),
        cmocka_unit_test(test_device_memory_is_reported),
        cmocka_unit_test(test_device_memory_limit_is_respected),
        cmocka_unit_test(test_memory_errors_leave_other_fits_alone),
    };
    int missing = find_tested(argc, argv);
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
