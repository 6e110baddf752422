/* Every allocation of the library fails once, in a fit from roofs_create to its model with a
 * checkpoint in between. The linker replaces posix_memalign and free in base/memory.c
 * (tests/CMakeLists.txt). Prints how many allocations failed. */
#include "test_api_stream.h"
#include "test_base_failing.h"

static store saved;

static int go_on(void *user, const roofs_progress *now)
{
    (void)user;
    (void)now;
    return ROOFS_MONITOR_CONTINUE;
}

static roofs_status saved_and_loaded(roofs_estimator **e, roofs_error *err)
{
    roofs_estimator *old = *e;
    store_clear(&saved, sizeof saved.bytes);
    roofs_status status = roofs_save(old, store_write, &saved, err);
    *e = NULL;
    roofs_destroy(old);
    return status == ROOFS_OK ? store_load(&saved, NULL, e, err) : status;
}

static roofs_status whole_life(const stream *s, roofs_estimator **e, roofs_error *err)
{
    roofs_model *model = NULL;
    roofs_status status = roofs_create(e, &s->p.set, s->p.y, SAMPLES, err);
    for (int64_t k = 0; k < batches_of(s) && status == ROOFS_OK; k++) {
        roofs_set_monitor(*e, go_on, NULL);
        roofs_set_undo(*e, 1);
        status = feed(*e, s, k, err);
        if (k == 1 && status == ROOFS_OK)
            status = saved_and_loaded(e, err);
    }
    if (status == ROOFS_OK)
        status = roofs_finish(*e, err);
    if (status == ROOFS_OK)
        status = roofs_model_create(&model, *e, err);
    roofs_model_destroy(model);
    return status;
}

/* Fails allocation 1, 2, ... until the fit needs no more. Returns their number. */
static int64_t fail_each(const stream *s)
{
    roofs_status status = ROOFS_NO_MEMORY;
    for (failing = 1; status != ROOFS_OK; failing++) {
        roofs_estimator *e = NULL;
        roofs_error err = {0};
        asked = 0;
        status = whole_life(s, &e, &err);
        assert_true(status == ROOFS_OK || status == ROOFS_NO_MEMORY);
        assert_true(status == ROOFS_OK || strstr(err.text, "no memory") != NULL);
        roofs_destroy(e);
        assert_int_equal(held, 0);
    }
    return failing - 2;
}

static void test_every_allocation_may_fail(void **state)
{
    static stream s;
    int64_t tried = 0;
    (void)state;
    for (int64_t k = 0; roofs_method_name(k); k++)
        for (int form = 0; form < 2; form++) {
            make_stream(&s, &(kind){.method = roofs_method_name(k),
                                    .sparse = form,
                                    .named = form,
                                    .narrow = !form,
                                    .passes = 1 + form});
            const int64_t failed = fail_each(&s);
            assert_true(failed > 20);
            tried += failed;
        }
    print_message("allocations made to fail: %lld\n", (long long)tried);
}

/* A first block that finds no memory for its columns is passed again, and the fit is the same. */
static void test_first_block_is_passed_again(void **state)
{
    static stream s;
    roofs_error err;
    int64_t again = 0;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .narrow = 1, .passes = 1});
    failing = 0;
    roofs_estimator *whole = open_fit(&s.p);
    feed_batches(whole, &s, 0, batches_of(&s));
    for (int64_t k = 1, status = ROOFS_NO_MEMORY; status == ROOFS_NO_MEMORY; k++) {
        roofs_estimator *e = open_fit(&s.p);
        asked = 0;
        failing = k;
        status = feed(e, &s, 0, &err);
        failing = 0;
        if (status == ROOFS_NO_MEMORY && feed(e, &s, 0, &err) == ROOFS_OK) {
            feed_batches(e, &s, 1, batches_of(&s));
            assert_same_fits(e, whole);
            again++;
        }
        roofs_destroy(e);
    }
    assert_true(again > 4);
    roofs_destroy(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_may_fail),
                                       cmocka_unit_test(test_first_block_is_passed_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
