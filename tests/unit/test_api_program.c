/* The calls for programs that read files and split samples: checkpoints with data of the caller,
 * checkpoints of several ranks, questions to estimators and models. */
#include "test_api_stream.h"
#include "test_linalg_team.h"

static store saved[TEAM_MOST];

/* ---- data of the caller ------------------------------------------------ */

static int store_contains(const store *file, const char *text)
{
    const size_t length = strlen(text);
    for (size_t at = 0; at + length <= file->size; at++)
        if (memcmp(file->bytes + at, text, length) == 0)
            return 1;
    return 0;
}

static void test_own_data_is_saved_in_front(void **state)
{
    (void)state;
    static problem p;
    roofs_error err;
    roofs_estimator *loaded = NULL;
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    const roofs_block block = block_of(&p, 0, 14);
    assert_fine(roofs_consume(e, &block, &err));
    store_clear(&saved[0], sizeof saved[0].bytes);
    assert_fine(roofs_save_with(e, "note", "of the caller", 13, store_write, &saved[0], &err));
    assert_true(store_contains(&saved[0], "of the caller"));
    assert_fine(store_load(&saved[0], NULL, &loaded, &err));
    assert_same_fits(e, loaded);
    roofs_destroy(loaded);
    roofs_destroy(e);
}

static void test_reserved_names_are_refused(void **state)
{
    (void)state;
    static problem p;
    roofs_error err;
    const char *const names[] = {"",    "begin", "state", "column",
                                 "end", "part",  "marks", "sixteen letters!"};
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        store_clear(&saved[0], sizeof saved[0].bytes);
        assert_int_equal(roofs_save_with(e, names[k], "x", 1, store_write, &saved[0], &err),
                         ROOFS_BAD_CALL);
        assert_int_equal(saved[0].size, 0);
    }
    roofs_destroy(e);
}

/* ---- ranks ------------------------------------------------------------- */

enum { HALF = 14 };

typedef struct split_job {
    problem p;
    int64_t saved; /* ranks that saved; 0 = this team saves */
    roofs_status status[TEAM_MOST];
    roofs_error err[TEAM_MOST];
    int64_t samples[TEAM_MOST];
    roofs_model *model[TEAM_MOST];
} split_job;

static roofs_block shard_of(const problem *p, const roofs_comm *with, int64_t first, int64_t count)
{
    const int64_t begin = shard_begin(SAMPLES, with->rank, with->size);
    roofs_block b = block_of(p, first, count);
    b.n = shard_begin(SAMPLES, with->rank + 1, with->size) - begin;
    b.values = p->x[first] + begin;
    return b;
}

static roofs_status save_shard(split_job *j, const roofs_comm *with, roofs_estimator **e,
                               roofs_error *err)
{
    const roofs_block block = shard_of(&j->p, with, 0, HALF);
    const double *y = j->p.y + shard_begin(SAMPLES, with->rank, with->size);
    TRY(roofs_create_split(e, &j->p.set, y, block.n, with, err));
    TRY(roofs_consume(*e, &block, err));
    store_clear(&saved[with->rank], sizeof saved[0].bytes);
    return roofs_save_with(*e, "note", &with->rank, sizeof with->rank, store_write,
                           &saved[with->rank], err);
}

static roofs_status load_shard(split_job *j, const roofs_comm *with, roofs_estimator **e,
                               roofs_error *err)
{
    store_reader readers[TEAM_MOST];
    void *files[TEAM_MOST];
    const roofs_block rest = shard_of(&j->p, with, HALF, FEATURES - HALF);
    for (int64_t k = 0; k < j->saved; k++) {
        readers[k] = (store_reader){.from = &saved[k]};
        files[k] = &readers[k];
    }
    TRY(roofs_load_split(e, store_read, store_rewind, files, j->saved, NULL,
                         with->size > 1 ? with : NULL, err));
    j->samples[with->rank] = roofs_samples(*e);
    TRY(roofs_consume(*e, &rest, err));
    TRY(roofs_finish(*e, err));
    return roofs_model_create(&j->model[with->rank], *e, err);
}

static void work_on_shard(const roofs_comm *with, void *user)
{
    split_job *j = user;
    roofs_estimator *e = NULL;
    j->status[with->rank] = (j->saved ? load_shard : save_shard)(j, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

static void save_on(split_job *j, int64_t ranks)
{
    make_problem(&j->p, 4);
    j->saved = 0;
    team_run(ranks, work_on_shard, j);
    for (int64_t k = 0; k < ranks; k++)
        assert_int_equal(j->status[k], ROOFS_OK);
    j->saved = ranks;
}

static void test_any_number_of_ranks_loads(void **state)
{
    (void)state;
    static split_job j;
    roofs_result one;
    for (int64_t ranks = 1; ranks <= 4; ranks++) {
        save_on(&j, 3);
        roofs_estimator *e = fit_all(&j.p, NULL);
        const roofs_result whole = view_of(e);
        team_run(ranks, work_on_shard, &j);
        for (int64_t k = 0; k < ranks; k++) {
            assert_int_equal(j.status[k], ROOFS_OK);
            assert_int_equal(j.samples[k], SAMPLES);
            roofs_model_view(j.model[k], &one);
            assert_int_equal(one.n, SAMPLES);
            assert_memory_equal(one.trust, whole.trust, SAMPLES);
            assert_int_equal(one.selected, whole.selected);
            for (int64_t q = 0; q < one.selected; q++) {
                assert_int_equal(one.features[q].index, whole.features[q].index);
                assert_close(one.features[q].coef, whole.features[q].coef, 1e-9);
            }
            roofs_model_destroy(j.model[k]);
        }
        roofs_destroy(e);
    }
}

/* Damage at any place fails on all ranks, wherever the damaged samples go. */
static void test_damage_fails_on_all_ranks(void **state)
{
    (void)state;
    static split_job j;
    save_on(&j, 3);
    for (size_t at = 5; at < saved[1].size; at += saved[1].size / 40) {
        saved[1].bytes[at] ^= 4;
        team_run(2, work_on_shard, &j);
        assert_int_equal(j.status[0], ROOFS_BAD_DATA);
        assert_int_equal(j.status[1], ROOFS_BAD_DATA);
        saved[1].bytes[at] ^= 4;
    }
    j.saved = 2; /* the last file is missing */
    team_run(2, work_on_shard, &j);
    assert_int_equal(j.status[0], ROOFS_BAD_DATA);
    assert_non_null(strstr(j.err[0].text, "files of all ranks"));
    store *first = &saved[0], *second = &saved[1];
    static store other;
    other = *first, *first = *second, *second = other;
    j.saved = 3;
    team_run(2, work_on_shard, &j);
    assert_int_equal(j.status[1], ROOFS_BAD_DATA);
    assert_non_null(strstr(j.err[1].text, "do not fit together"));
}

/* A file of one process is not that of a rank. */
static void test_loading_shards_needs_a_communicator(void **state)
{
    (void)state;
    static split_job j;
    roofs_error err;
    roofs_estimator *e = NULL;
    make_problem(&j.p, 4);
    roofs_estimator *single = open_fit(&j.p);
    store_save(&saved[0], single);
    store_reader reader = {.from = &saved[0]};
    void *files[] = {&reader};
    assert_int_equal(roofs_load_split(&e, store_read, store_rewind, files, 1, NULL, NULL, &err),
                     ROOFS_BAD_DATA);
    assert_null(e);
    assert_int_equal(roofs_samples(single), SAMPLES);
    roofs_destroy(single);
}

/* ---- failures ---------------------------------------------------------- */

typedef struct failing_job {
    problem p;
    int32_t shared[TEAM_MOST];
    roofs_status status[TEAM_MOST];
} failing_job;

/* A value on the last rank is not a number: all ranks report it. */
static void fail_on_last_rank(const roofs_comm *with, void *user)
{
    failing_job *j = user;
    roofs_error err;
    roofs_estimator *e = NULL;
    roofs_block block = shard_of(&j->p, with, 0, HALF);
    const double *y = j->p.y + shard_begin(SAMPLES, with->rank, with->size);
    if (with->rank == with->size - 1)
        j->p.x[3][SAMPLES - 1] = NAN;
    j->status[with->rank] = roofs_create_split(&e, &j->p.set, y, block.n, with, &err);
    if (e) {
        j->status[with->rank] = roofs_consume(e, &block, &err);
        j->shared[with->rank] = roofs_failure_is_shared(e);
    }
    roofs_destroy(e);
}

static void test_shared_failures_are_known(void **state)
{
    (void)state;
    static failing_job j;
    make_problem(&j.p, 2);
    team_run(3, fail_on_last_rank, &j);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(j.status[k], ROOFS_BAD_DATA);
        assert_int_equal(j.shared[k], 1);
    }
}

/* ---- settings and models ----------------------------------------------- */

static void test_features_held_include_the_reserve(void **state)
{
    (void)state;
    roofs_settings set;
    roofs_settings_init(&set);
    set.mu = 10;
    set.batch = 20;
    assert_int_equal(roofs_features_held(&set), 40); /* several hypotheses hold two batches */
    set.reserve = 3.5;
    assert_int_equal(roofs_features_held(&set), 45);
    set.hypotheses = 1;
    set.reserve = 0;
    assert_int_equal(roofs_features_held(&set), 10);
    set.reserve = 0.5;
    assert_int_equal(roofs_features_held(&set), 15);
}

static void test_index_base_is_stored(void **state)
{
    (void)state;
    static problem p;
    roofs_error err;
    make_problem(&p, 3);
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    assert_int_equal(roofs_model_index_base(m), -1);
    for (int32_t base = 1; base >= -1; base--) {
        assert_fine(roofs_model_set_index_base(m, base, &err));
        assert_int_equal(roofs_model_index_base(m), base);
    }
    assert_int_equal(roofs_model_set_index_base(m, 2, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_model_index_base(m), -1);
    assert_null(roofs_model_table(m));
    assert_fine(roofs_model_set_table(m, "{ \"columns\": [0.1] }", &err));
    assert_string_equal(roofs_model_table(m), "{\"columns\":[0.10000000000000001]}");
    assert_refused(roofs_model_set_table(m, "[]", &err), ROOFS_BAD_CALL, "not a JSON object");
    assert_null(roofs_model_offset(m));
    assert_fine(roofs_model_set_offset(m, "exposure", &err));
    assert_refused(roofs_model_set_offset(m, "\xff", &err), ROOFS_BAD_CALL, "not UTF-8");
    assert_string_equal(roofs_model_offset(m), "exposure");
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static void test_settings_of_a_model_are_texts(void **state)
{
    (void)state;
    static problem p;
    char text[40];
    make_problem(&p, 3);
    p.set.clean_ratio = 0.75;
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    assert_string_equal(roofs_model_setting(m, "method", text, sizeof text), "roofs");
    assert_string_equal(roofs_model_setting(m, "mu", text, sizeof text), "4");
    assert_string_equal(roofs_model_setting(m, "clean_ratio", text, sizeof text), "0.75");
    assert_string_equal(roofs_model_setting(m, "intercept", text, sizeof text), "1");
    assert_null(roofs_model_setting(m, "threads", text, sizeof text));
    assert_null(roofs_model_setting(m, "colour", text, sizeof text));
    roofs_model_destroy(m);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_data_is_saved_in_front),
        cmocka_unit_test(test_reserved_names_are_refused),
        cmocka_unit_test(test_any_number_of_ranks_loads),
        cmocka_unit_test(test_damage_fails_on_all_ranks),
        cmocka_unit_test(test_loading_shards_needs_a_communicator),
        cmocka_unit_test(test_shared_failures_are_known),
        cmocka_unit_test(test_features_held_include_the_reserve),
        cmocka_unit_test(test_index_base_is_stored),
        cmocka_unit_test(test_settings_of_a_model_are_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
