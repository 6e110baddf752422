/* One rank differs from the others, or fails alone: all ranks return the same failure, and none
 * waits for ever. */
#include "test_base_help.h"
#include "test_linalg_team.h"

#include "api/settings_table.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { SAMPLES = 61, FEATURES = 12, PATIENCE = 60 };

typedef enum change {
    NOTHING,
    SETTING,
    NO_SETTINGS,
    NO_RESPONSE,
    BAD_RESPONSE,
    NO_MEMORY_ALLOWED,
    FEWER_FEATURES,
    FEATURES_32_BIT,
    SPARSE_FEATURES,
    OTHER_NAMES,
    NO_NAMES,
    EQUAL_NAMES,
    WRONG_LENGTH,
    FINISHES_EARLY,
    NEXT_PASS,
    MODEL_EARLY,
    CHANGES
} change;

typedef struct job {
    double x[FEATURES * SAMPLES], y[SAMPLES];
    float narrow[FEATURES * SAMPLES];
    char names[FEATURES][16];
    roofs_settings set;
    change what;
    int64_t who;      /* the rank that differs */
    const char *name; /* of the setting that differs */
    const char *value;
    roofs_status status[TEAM_MOST];
    roofs_error err[TEAM_MOST];
} job;

static void make_job(job *j)
{
    uint64_t random = 7;
    *j = (job){0};
    for (int k = 0; k < FEATURES * SAMPLES; k++)
        j->narrow[k] = (float)(j->x[k] = random_bell(&random));
    for (int i = 0; i < SAMPLES; i++)
        j->y[i] = j->x[i] - j->x[3 * SAMPLES + i] + 0.1 * random_bell(&random);
    for (int k = 0; k < FEATURES; k++)
        snprintf(j->names[k], sizeof j->names[k], "f%d", k);
    roofs_settings_init(&j->set);
    j->set.mu = 3;
    j->set.batch = 5;
    j->set.threads = 1;
    j->set.passes = 2;
    j->set.storage = ROOFS_STORAGE_F64;
}

static roofs_status consume(const job *j, roofs_estimator *e, change what, int64_t begin, int64_t n,
                            roofs_error *err)
{
    const char *names[FEATURES];
    int64_t starts[FEATURES + 1] = {0};
    for (int k = 0; k < FEATURES; k++)
        names[k] = j->names[what == EQUAL_NAMES ? 0 : what == OTHER_NAMES ? (k + 1) % FEATURES : k];
    roofs_block block = {.count = FEATURES - (what == FEWER_FEATURES),
                         .n = n - (what == WRONG_LENGTH),
                         .names = what == NO_NAMES ? NULL : names,
                         .values = j->x + begin,
                         .feature_stride = SAMPLES,
                         .sample_stride = 1};
    if (what == FEATURES_32_BIT) {
        block.dtype = ROOFS_F32;
        block.values = j->narrow + begin;
    }
    if (what == SPARSE_FEATURES)
        block.starts = starts;
    return roofs_consume(e, &block, err);
}

static roofs_status fit_shard(job *j, const roofs_comm *with, roofs_estimator **e, roofs_error *err)
{
    const change what = with->rank == j->who ? j->what : NOTHING;
    const int64_t begin = shard_begin(SAMPLES, with->rank, with->size);
    const int64_t n = shard_begin(SAMPLES, with->rank + 1, with->size) - begin;
    roofs_settings set = j->set;
    double y[SAMPLES];
    roofs_model *model = NULL;
    memcpy(y, j->y + begin, (size_t)n * sizeof *y);
    if (what == SETTING)
        TRY(roofs_settings_set(&set, j->name, j->value, err));
    if (what == NO_MEMORY_ALLOWED)
        set.max_memory = 1;
    if (what == BAD_RESPONSE)
        y[n - 1] = NAN;
    TRY(roofs_create_split(e, what == NO_SETTINGS ? NULL : &set, what == NO_RESPONSE ? NULL : y, n,
                           with, err));
    if (what == FINISHES_EARLY)
        return roofs_finish(*e, err);
    if (what == NEXT_PASS)
        return roofs_next_pass(*e, err);
    if (what == MODEL_EARLY) {
        roofs_status status = roofs_model_create(&model, *e, err);
        roofs_model_destroy(model);
        return status;
    }
    TRY(consume(j, *e, what, begin, n, err));
    TRY(roofs_finish(*e, err));
    roofs_status status = roofs_model_create(&model, *e, err);
    roofs_model_destroy(model);
    return status;
}

static void work(const roofs_comm *with, void *user)
{
    job *j = user;
    roofs_estimator *e = NULL;
    j->err[with->rank] = (roofs_error){0};
    j->status[with->rank] = fit_shard(j, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

static void run_job(job *j, int64_t ranks)
{
    alarm(PATIENCE); /* ends a test that waits for ever */
    team_run(ranks, work, j);
    alarm(0);
}

static void assert_same_failure(job *j, int64_t ranks)
{
    run_job(j, ranks);
    for (int64_t p = 0; p < ranks; p++) {
        if (j->status[p] == ROOFS_OK || j->status[p] != j->status[0] ||
            strcmp(j->err[p].text, j->err[0].text) != 0)
            fail_msg("change %d (%s) of rank %d: rank 0: %s; rank %d: %s", (int)j->what,
                     j->name ? j->name : "", (int)j->who, j->err[0].text, (int)p, j->err[p].text);
        assert_non_null(strstr(j->err[p].text, "rank"));
    }
}

static void test_equal_ranks_succeed(void **state)
{
    job j;
    (void)state;
    make_job(&j);
    run_job(&j, 3);
    for (int p = 0; p < 3; p++)
        if (j.status[p] != ROOFS_OK)
            fail_msg("%s", j.err[p].text);
}

static void test_one_rank_that_differs_fails_all(void **state)
{
    job j;
    (void)state;
    make_job(&j);
    for (int what = NO_SETTINGS; what < CHANGES; what++)
        for (j.who = 0; j.who < 3; j.who++) {
            j.what = (change)what;
            assert_same_failure(&j, 3);
        }
}

/* Another value than that of the job, as a text. */
static const char *other_value(const setting_row *r, char digits[SETTING_DIGITS], const job *j)
{
    const char *now = setting_text(&j->set, r, digits);
    static char other[SETTING_DIGITS];
    if (r->words)
        return strcmp(r->words(0), now) == 0 ? r->words(1) : r->words(0);
    snprintf(other, sizeof other, "%.17g",
             atof(now) == r->low ? r->low + (r->kind == ROOFS_SETTING_REAL ? 0.5 : 1) : r->low);
    return other;
}

/* Every setting of the model, also future ones. */
static void test_one_setting_that_differs_fails_all(void **state)
{
    job j;
    char digits[SETTING_DIGITS];
    (void)state;
    make_job(&j);
    j.what = SETTING;
    for (int64_t k = 0; k < settings_count; k++) {
        j.name = settings_rows[k].name;
        j.value = other_value(&settings_rows[k], digits, &j);
        j.who = k % 2;
        if (!settings_rows[k].in_model)
            continue;
        assert_same_failure(&j, 2);
        assert_non_null(strstr(j.err[0].text, j.name));
        assert_non_null(strstr(j.err[0].text, "on rank 1"));
    }
}

static void test_settings_of_the_execution_may_differ(void **state)
{
    job j;
    (void)state;
    make_job(&j);
    j.what = SETTING;
    j.who = 1;
    j.name = "threads";
    j.value = "2";
    j.set.passes = 1;
    run_job(&j, 2);
    assert_int_equal(j.status[0], ROOFS_OK);
    assert_int_equal(j.status[1], ROOFS_OK);
}

/* ---- a transport that says why it failed ------------------------------- */

static const char *explain(void *user)
{
    (void)user;
    return "the cable is cut";
}

static int fail_gather(void *user, const void *mine, const int64_t *sizes, void *all)
{
    (void)user, (void)mine, (void)sizes, (void)all;
    return 1;
}

static int never_start(void *user, double *values, int64_t count)
{
    (void)user, (void)values, (void)count;
    return 1;
}

static int never_finish(void *user)
{
    (void)user;
    return 1;
}

static void test_reason_of_the_transport_is_in_the_text(void **state)
{
    job j;
    roofs_estimator *e;
    roofs_error err;
    roofs_comm with = {.size = 2,
                       .start = never_start,
                       .finish = never_finish,
                       .gather = fail_gather,
                       .reason = explain};
    (void)state;
    make_job(&j);
    with.struct_size = sizeof with;
    assert_int_equal(roofs_create_split(&e, &j.set, j.y, SAMPLES, &with, &err), ROOFS_FAILED);
    assert_non_null(strstr(err.text, "failed: the cable is cut"));
    with.struct_size = 0; /* the fields of version 0.2.0 */
    assert_int_equal(roofs_create_split(&e, &j.set, j.y, SAMPLES, &with, &err), ROOFS_FAILED);
    assert_null(strstr(err.text, "cable"));
    with.rank = 2;
    assert_int_equal(roofs_create_split(&e, &j.set, j.y, SAMPLES, &with, &err), ROOFS_BAD_CALL);
    with.rank = 0;
    with.gather = NULL;
    assert_int_equal(roofs_create_split(&e, &j.set, j.y, SAMPLES, &with, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_create_split(&e, NULL, j.y, SAMPLES, &with, &err), ROOFS_BAD_CALL);
    assert_non_null(strstr(err.text, "settings"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_ranks_succeed),
        cmocka_unit_test(test_one_rank_that_differs_fails_all),
        cmocka_unit_test(test_one_setting_that_differs_fails_all),
        cmocka_unit_test(test_settings_of_the_execution_may_differ),
        cmocka_unit_test(test_reason_of_the_transport_is_in_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
