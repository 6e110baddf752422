/* Calls at the edge of what is allowed: streams that change between passes, names that outgrow the
 * memory limit, blocks and communicators that are not valid. */
#include "test_api_problem.h"

static roofs_error err;
static problem p;

/* ---- passes ------------------------------------------------------------ */

static void consume(roofs_estimator *e, int64_t first, int64_t count, roofs_status wanted)
{
    const roofs_block block = block_of(&p, first, count);
    if (roofs_consume(e, &block, &err) != wanted)
        fail_msg("%s", err.text);
}

static void test_later_passes_have_the_features_of_the_first(void **state)
{
    (void)state;
    make_problem(&p, 1);
    p.set.passes = 2;
    for (int more = 0; more < 2; more++) {
        roofs_estimator *e = open_fit(&p);
        consume(e, 0, 10, ROOFS_OK);
        assert_int_equal(roofs_wants_pass(e), 1);
        assert_fine(roofs_next_pass(e, &err));
        assert_int_equal(roofs_wants_pass(e), 0);
        consume(e, 0, 7, ROOFS_OK);
        if (more) {
            consume(e, 7, 4, ROOFS_BAD_DATA);
            assert_non_null(strstr(err.text, "pass 2 has more than the 10 features"));
            assert_refused(roofs_finish(e, &err), ROOFS_BAD_CALL, "has failed");
        } else {
            assert_refused(roofs_finish(e, &err), ROOFS_BAD_DATA, "pass 2 has 7 features");
            consume(e, 7, 3, ROOFS_OK); /* a refused call changes nothing */
            assert_refused(roofs_next_pass(e, &err), ROOFS_BAD_CALL, "pass 2 is the last");
            assert_fine(roofs_finish(e, &err));
            assert_int_equal(roofs_wants_pass(e), 0);
            assert_refused(roofs_next_pass(e, &err), ROOFS_BAD_CALL, "has finished");
        }
        roofs_destroy(e);
    }
}

/* ---- memory ------------------------------------------------------------ */

/* A stream of named features under a limit that the columns just meet. */
static roofs_status feed_names(roofs_estimator *e, int sparse, int64_t *fed)
{
    const int64_t starts[] = {0, 2, 4, 5}, samples[] = {0, 7, 3, 9, 1};
    const double values[] = {1, 2, 3, 4, 5};
    char texts[3][24];
    const char *names[3] = {texts[0], texts[1], texts[2]};
    roofs_block block = block_of(&p, 0, 3);
    if (sparse)
        block = (roofs_block){
            .count = 3, .n = SAMPLES, .values = values, .samples = samples, .starts = starts};
    block.names = names;
    for (*fed = 0; *fed < 60000; *fed += 3) {
        for (int k = 0; k < 3; k++)
            snprintf(texts[k], sizeof texts[k], "f%lld", (long long)*fed + k);
        TRY(roofs_consume(e, &block, &err));
    }
    return ROOFS_OK;
}

static void test_names_count_against_the_limit(void **state)
{
    int64_t bytes = 0, fed = 0;
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        make_problem(&p, 1);
        p.set.method = "os";
        p.set.batch = 3;
        assert_fine(roofs_memory_needed(&p.set, SAMPLES, ROOFS_F64, &bytes, &err));
        p.set.max_memory = bytes + (64 << 10);
        roofs_estimator *e = open_fit(&p);
        assert_int_equal(feed_names(e, sparse, &fed), ROOFS_OVER_LIMIT);
        assert_non_null(strstr(err.text, "names and the history of the batches grow"));
        assert_true(fed > 300);
        roofs_destroy(e);
    }
}

/* ---- blocks, settings, communicators ----------------------------------- */

static void test_predictions_check_their_block(void **state)
{
    double prediction[SAMPLES];
    roofs_result view;
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    roofs_block block = block_of(&p, 0, FEATURES);
    block.struct_size = 12;
    assert_refused(roofs_predict(m, &block, prediction, &err), ROOFS_BAD_CALL, "struct_size");
    block.struct_size = 0;
    block.dtype = (roofs_dtype)7;
    assert_refused(roofs_predict(m, &block, prediction, &err), ROOFS_BAD_DATA, "unknown type");
    block.dtype = ROOFS_F64;
    roofs_model_view(m, &view);
    p.x[view.features[0].index][5] = INFINITY;
    assert_refused(roofs_predict(m, &block, prediction, &err), ROOFS_BAD_DATA,
                   "the prediction of sample 5");
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static void test_bad_settings_are_refused_by_every_question(void **state)
{
    int64_t bytes, left;
    (void)state;
    make_problem(&p, 1);
    roofs_settings bad = p.set;
    bad.batch = 0;
    assert_int_equal(roofs_features_held(&bad), 0);
    assert_int_equal(roofs_hypotheses_followed(&bad), 0);
    assert_refused(roofs_settings_resolve(&bad, 9, 9, 0, &err), ROOFS_BAD_SETTING, "batch");
    assert_refused(roofs_memory_needed(&bad, 9, ROOFS_F64, &bytes, &err), ROOFS_BAD_SETTING,
                   "batch");
    assert_refused(roofs_memory_on_device(&bad, 9, ROOFS_F64, &bytes, &left, &err),
                   ROOFS_BAD_SETTING, "batch");
    bad = p.set;
    bad.method = "dalm";
    bad.device = ROOFS_DEVICE_CUDA;
    bad.mu = 0;
    bad.max_memory = 1 << 20;
    assert_refused(roofs_settings_resolve(&bad, 9, 9, 0, &err), ROOFS_BAD_SETTING, "GPU");
    bad.struct_size = 8;
    assert_refused(roofs_settings_check(&bad, &err), ROOFS_BAD_CALL, "struct_size");
    bad.struct_size = 0;
    assert_refused(roofs_settings_set(&bad, "mu", "3", &err), ROOFS_BAD_CALL, "struct_size");
}

static int no_start(void *user, double *values, int64_t count)
{
    (void)user, (void)values, (void)count;
    return 1;
}

static int no_finish(void *user)
{
    (void)user;
    return 1;
}

static int no_gather(void *user, const void *mine, const int64_t *sizes, void *all)
{
    (void)user, (void)mine, (void)sizes, (void)all;
    return 1;
}

static void test_impossible_communicators_are_refused(void **state)
{
    const roofs_comm whole = {
        .size = 3, .start = no_start, .finish = no_finish, .gather = no_gather};
    roofs_comm tables[6];
    roofs_estimator *e;
    (void)state;
    make_problem(&p, 1);
    for (int k = 0; k < 6; k++)
        tables[k] = whole;
    tables[0].size = 0;
    tables[1].rank = -1;
    tables[2].rank = 3;
    tables[3].start = NULL;
    tables[4].finish = NULL;
    tables[5].gather = NULL;
    for (int k = 0; k < 6; k++)
        assert_refused(roofs_create_split(&e, &p.set, p.y, SAMPLES, &tables[k], &err),
                       ROOFS_BAD_CALL, k < 3 ? "rank" : "a function of roofs_comm");
    assert_refused(roofs_create_split(&e, &p.set, p.y, SAMPLES, &whole, &err), ROOFS_FAILED,
                   "communication");
}

/* A monitor that stops, with undo but without a request to undo. */
static int stop_at_once(void *user, const roofs_progress *now)
{
    (void)user, (void)now;
    return ROOFS_MONITOR_STOP;
}

static void test_stop_without_undo_keeps_the_batch(void **state)
{
    static const char *const tried[] = {"roofs", "roofs-bayes"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        make_problem(&p, 1);
        p.set.method = tried[k / 2];
        roofs_estimator *e = open_fit(&p);
        roofs_description now;
        roofs_set_undo(e, k % 2);
        roofs_set_monitor(e, stop_at_once, NULL);
        consume(e, 0, 7, ROOFS_CANCELLED);
        roofs_describe(e, &now);
        assert_int_equal(now.position, 7);
        assert_int_equal(roofs_finish(e, &err) == ROOFS_OK || err.status == ROOFS_CANCELLED, 1);
        roofs_set_monitor(e, NULL, NULL);
        roofs_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_passes_have_the_features_of_the_first),
        cmocka_unit_test(test_names_count_against_the_limit),
        cmocka_unit_test(test_predictions_check_their_block),
        cmocka_unit_test(test_bad_settings_are_refused_by_every_question),
        cmocka_unit_test(test_impossible_communicators_are_refused),
        cmocka_unit_test(test_stop_without_undo_keeps_the_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
