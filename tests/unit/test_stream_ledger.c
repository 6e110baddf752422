/* What is kept while a stream is read: the ledger of its files, sparse copies, weights of words,
 * and the end of reading after a signal. Every allocation fails once. */
#include "test_base_failing.h"
#include "test_stream_open.h"

#include "base/memory.h"
#include "stream/ledger.h"
#include "stream/sparse.h"
#include "stream/tfidf.h"

#include <math.h>

static const char *const paths[] = {"a.csv", "b.csv"};

static void put_files(const char *second)
{
    put_text("a.csv", "a,b,c\n1,0,3\n4,5,0\n7,0,9\n0,2,1\n");
    put_text("b.csv", second);
}

static const char *const second_file = "d,e\n1,2\n0,4\n5,0\n7,8\n";

/* Reads a pass of both files, two features at a time, and counts it. */
static roofs_status count_pass(ledger *l)
{
    const source_options options = {.orient = ORIENT_SAMPLES, .n = 4};
    roofs_block block = {.count = 1};
    source *s = NULL;
    TRY(source_open(&s, paths, 2, &options, &err));
    roofs_status status = ROOFS_OK;
    while (status == ROOFS_OK && block.count > 0) {
        status = source_next(s, 2, &block, &err);
        if (status == ROOFS_OK)
            status = ledger_locate(l, s, &block, &err);
        if (status == ROOFS_OK && block.count > 0)
            status = ledger_add(l, &block, &err);
    }
    source_close(s);
    return status == ROOFS_OK ? ledger_end_pass(l, &err) : status;
}

static roofs_status verify(ledger *l, int64_t k)
{
    const source_options options = {.orient = ORIENT_SAMPLES, .n = 4};
    source *s = NULL;
    TRY(source_open(&s, paths + k, 1, &options, &err));
    const roofs_status status = ledger_verify(l, k, s, 2, &err);
    source_close(s);
    return status;
}

static roofs_status append_files(ledger *l)
{
    TRY(ledger_append(l, paths[0], &err));
    return ledger_append(l, paths[1], &err);
}

/* ---- the ledger -------------------------------------------------------- */

static void test_passes_over_the_same_files_agree(void **state)
{
    ledger l = {0};
    (void)state;
    put_files(second_file);
    assert_fine(append_files(&l));
    for (int pass = 0; pass < 3; pass++) {
        assert_fine(count_pass(&l));
        assert_int_equal(l.files[0].now.features, 3);
        assert_int_equal(l.files[1].now.features, 2);
        assert_true(l.files[0].ended && l.files[1].ended);
        assert_fine(verify(&l, 0));
        ledger_next_pass(&l);
    }
    ledger_free(&l);
}

static void test_changed_file_is_refused_in_a_later_pass(void **state)
{
    const char *const changed[] = {"d,e\n1,2\n0,4\n5,0\n7,9\n", "d\n1\n0\n5\n7\n",
                                   "d,e,f\n1,2,1\n0,4,1\n5,0,1\n7,8,1\n"};
    (void)state;
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++) {
        ledger l = {0};
        put_files(second_file);
        assert_fine(append_files(&l));
        assert_fine(count_pass(&l));
        put_files(changed[k]);
        if (k < 2)
            assert_refused(verify(&l, 1), ROOFS_BAD_DATA, "b.csv", "before the checkpoint");
        ledger_next_pass(&l);
        assert_refused(count_pass(&l), ROOFS_BAD_DATA, "b.csv", "since the first pass");
        ledger_free(&l);
    }
}

/* A rank that reads only its own samples counts features, and accepts other values. */
static void test_blind_ledger_counts_features_only(void **state)
{
    ledger l = {.blind = 1};
    (void)state;
    put_files(second_file);
    assert_fine(append_files(&l));
    assert_fine(count_pass(&l));
    assert_true(l.files[1].now.digest == 0);
    put_files("d,e\n1,2\n0,4\n5,0\n7,9\n");
    assert_fine(verify(&l, 1));
    ledger_next_pass(&l);
    assert_fine(count_pass(&l));
    ledger_next_pass(&l);
    put_files("d\n1\n0\n5\n7\n");
    assert_refused(count_pass(&l), ROOFS_BAD_DATA, "2 features then, 1 now");
    ledger_free(&l);
}

/* ---- the end of reading ------------------------------------------------ */

static int left; /* reads until the signal */

static int is_stopped(void)
{
    return left-- <= 0;
}

static void test_stopped_reading_is_cancelled(void **state)
{
    const char *const one[] = {"a.csv"};
    const source_options options = {.orient = ORIENT_SAMPLES, .is_stopped = is_stopped};
    source *s = NULL;
    (void)state;
    put_files(second_file);
    left = 0;
    assert_refused(source_open(&s, one, 1, &options, &err), ROOFS_CANCELLED, "a.csv",
                   "interrupted");
    left = 1000;
    assert_fine(source_open(&s, one, 1, &options, &err));
    source_close(s);
}

/* ---- every allocation -------------------------------------------------- */

static roofs_status keep_ledger(void)
{
    ledger l = {0};
    roofs_status status = append_files(&l);
    if (status == ROOFS_OK)
        status = count_pass(&l);
    if (status == ROOFS_OK)
        status = verify(&l, 0);
    ledger_free(&l);
    return status;
}

static const double sparse_values[] = {1, 2, 3, 4};
static const int64_t sparse_starts[] = {0, 2, 4}, sparse_samples[] = {0, 2, 1, 2};
static const roofs_block sparse_block = {.values = sparse_values,
                                         .dtype = ROOFS_F64,
                                         .count = 2,
                                         .n = 3,
                                         .starts = sparse_starts,
                                         .samples = sparse_samples};

static roofs_status copy_sparse(void)
{
    const int64_t features[] = {1, 0}, samples[] = {2, 0};
    sparse all = {.n = 3}, some = {0}, few = {0};
    roofs_status status = ROOFS_OK;
    for (int k = 0; k < 20 && status == ROOFS_OK; k++)
        status = sparse_append(&all, &sparse_block, &err);
    if (status == ROOFS_OK)
        status = sparse_choose_features(&all, features, 2, &some, &err);
    if (status == ROOFS_OK)
        status = sparse_choose_samples(&all, samples, 2, &few, &err);
    if (status == ROOFS_OK && (sparse_entries(&some) != 4 || sparse_entries(&few) != 60))
        status = ROOFS_FAILED;
    sparse_free(&all);
    sparse_free(&some);
    sparse_free(&few);
    return status;
}

static roofs_status weigh_words(void)
{
    double weights[4];
    const double given[] = {0.5, 2};
    tfidf learned = {0}, other = {0};
    roofs_status status = tfidf_create(&learned, 3, NULL, 0, &err);
    for (int k = 0; k < 20 && status == ROOFS_OK; k++)
        status = tfidf_measure(&learned, &sparse_block, &err);
    if (status == ROOFS_OK)
        status = tfidf_create(&other, 3, given, 2, &err);
    if (status == ROOFS_OK)
        status = tfidf_measure(&other, &sparse_block, &err);
    if (status == ROOFS_OK) {
        tfidf_measured(&other);
        tfidf_weigh(&other, 0, &sparse_block, weights);
        for (int k = 0; k < 4; k++)
            status = weights[k] > 0 && weights[k] <= 1 ? status : ROOFS_FAILED;
        /* sample 2 has both features: its weights have length 1 */
        if (fabs(hypot(weights[1], weights[3]) - 1) > 1e-12)
            status = ROOFS_FAILED;
    }
    tfidf_free(&learned);
    tfidf_free(&other);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    roofs_status (*const work[])(void) = {keep_ledger, copy_sparse, weigh_words};
    int failures = 0;
    (void)state;
    put_files(second_file);
    for (size_t k = 0; k < sizeof work / sizeof *work; k++) {
        const int64_t before = held;
        failing = 0;
        assert_fine(work[k]());
        for (failing = 1;; failing++) {
            asked = 0;
            err = (roofs_error){0};
            const roofs_status status = work[k]();
            assert_int_equal(held, before);
            if (asked < failing)
                break;
            if (status != ROOFS_NO_MEMORY)
                fail_msg("work %d, allocation %d: status %d, %s", (int)k, (int)failing, (int)status,
                         err.text);
            failures++;
        }
    }
    failing = 0;
    assert_true(failures > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_passes_over_the_same_files_agree, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_changed_file_is_refused_in_a_later_pass, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_blind_ledger_counts_features_only, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_stopped_reading_is_cancelled, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
