/* Sparse features in memory, sparse rows transposed to columns, tf-idf: against dense arrays and
 * plain loops. */
#include "test_stream_files.h"

#include "base/random.h"
#include "stream/sparse.h"
#include "stream/sparse_transpose.h"
#include "stream/tfidf.h"

#include <math.h>

static roofs_error err;

enum { ROWS = 37, COLUMNS = 23 };

/* Whole numbers from 0 to 3, most of them 0. */
static double cell(int64_t row, int64_t column)
{
    double u = random_uniform((random_key){5, 1}, (uint64_t)row, (uint64_t)column);
    return u < 0.7 ? 0.0 : floor((u - 0.7) * 10) + 1;
}

static void make_sparse(sparse *s)
{
    s->n = ROWS;
    for (int64_t j = 0; j < COLUMNS; j++) {
        for (int64_t i = 0; i < ROWS; i++) {
            int64_t row = (i * 5 + 3) % ROWS; /* not in order */
            if (cell(row, j) != 0)
                assert_fine(sparse_add(s, row, cell(row, j), &err));
        }
        assert_fine(sparse_end_feature(s, &err));
    }
}

static void test_features_come_out_in_order(void **state)
{
    sparse s = {0};
    double full[ROWS];
    (void)state;
    make_sparse(&s);
    assert_int_equal(s.count, COLUMNS);
    for (int64_t j = 0; j < COLUMNS; j++) {
        sparse_spread(&s, j, full);
        for (int64_t i = 0; i < ROWS; i++)
            assert_true(full[i] == cell(i, j));
        for (int64_t k = s.starts[j] + 1; k < s.starts[j + 1]; k++)
            assert_true(s.samples[k - 1] < s.samples[k]);
    }
    sparse_free(&s);
}

static void test_two_values_of_one_sample_are_refused(void **state)
{
    sparse s = {.n = 5};
    (void)state;
    assert_fine(sparse_add(&s, 4, 1, &err));
    assert_fine(sparse_add(&s, 2, 1, &err));
    assert_fine(sparse_add(&s, 4, 3, &err));
    assert_refused(sparse_end_feature(&s, &err), ROOFS_BAD_DATA, "sample 4", "two values");
    sparse_free(&s);
}

static void test_chosen_features_and_samples_are_copied(void **state)
{
    sparse s = {0}, columns = {0}, both = {0};
    const int64_t features[] = {7, 0, 22, 3}, samples[] = {30, 2, 36, 0, 11};
    double full[5];
    (void)state;
    make_sparse(&s);
    assert_fine(sparse_choose_features(&s, features, 4, &columns, &err));
    assert_fine(sparse_choose_samples(&columns, samples, 5, &both, &err));
    assert_int_equal(both.n, 5);
    assert_int_equal(both.count, 4);
    for (int64_t j = 0; j < 4; j++) {
        sparse_spread(&both, j, full);
        for (int64_t i = 0; i < 5; i++)
            assert_true(full[i] == cell(samples[i], features[j]));
    }
    sparse_free(&s);
    sparse_free(&columns);
    sparse_free(&both);
}

/* A dense block and a view of sparse features with 32-bit indices give the same set. */
static void test_blocks_are_appended(void **state)
{
    const float dense[] = {0, 1.5f, 0, 2, 0, 0, 3, 0, 4};
    const int32_t starts[] = {2, 3, 4, 6}, samples[] = {9, 9, 1, 0, 0, 2};
    const double values[] = {9, 9, 1.5, 2, 3, 4};
    const roofs_block a = {.count = 3,
                           .n = 3,
                           .dtype = ROOFS_F32,
                           .values = dense,
                           .feature_stride = 3,
                           .sample_stride = 1};
    const roofs_block b = {.count = 3,
                           .n = 3,
                           .values = values,
                           .starts = starts,
                           .samples = samples,
                           .index = ROOFS_I32};
    sparse left = {0}, right = {0};
    (void)state;
    assert_fine(sparse_append(&left, &a, &err));
    assert_fine(sparse_append(&right, &b, &err));
    assert_int_equal(sparse_entries(&left), 4);
    assert_int_equal(sparse_entries(&right), 4);
    assert_memory_equal(left.starts, right.starts, 4 * sizeof *left.starts);
    assert_memory_equal(left.samples, right.samples, 4 * sizeof *left.samples);
    assert_same_doubles(left.values, right.values, 4);
    sparse_free(&left);
    sparse_free(&right);
}

static void transpose_and_compare(int64_t budget, int uses_file, int64_t together)
{
    enum { MANY = 4000, WIDE = 3000, STEP = 97 };
    sparse_transposer *t;
    assert_fine(sparse_transposer_create(&t, budget, &err));
    for (int32_t i = 0; i < MANY; i++)
        for (int32_t j = i % STEP; j < WIDE; j += STEP + i % 3)
            assert_fine(sparse_transposer_add(t, (sparse_entry){j, i, i * 10000.0 + j}, &err));
    assert_fine(sparse_transposer_finish(t, &err));
    assert_int_equal(sparse_transposer_uses_file(t), uses_file);
    for (int64_t first = 10; first < WIDE + 50; first += 2 * together) { /* every other run */
        sparse out = {.n = MANY};
        assert_fine(sparse_transposer_read(t, first, together, &out, &err));
        assert_int_equal(out.count, together);
        for (int64_t j = 0; j < together; j++) {
            int64_t at = out.starts[j], column = first + j;
            for (int64_t i = 0; i < MANY; i++) {
                int64_t from = i % STEP, step = STEP + i % 3;
                if (column >= WIDE || column < from || (column - from) % step != 0)
                    continue;
                assert_true(at < out.starts[j + 1] && out.samples[at] == i);
                assert_true(out.values[at++] == (double)i * 10000 + (double)column);
            }
            assert_int_equal(at, out.starts[j + 1]);
        }
        sparse_free(&out);
    }
    sparse_transposer_destroy(t);
}

static void test_rows_are_transposed(void **state)
{
    (void)state;
    transpose_and_compare(0, 0, 50);
    transpose_and_compare(0, 0, 1);
    transpose_and_compare(1, 1, 50);
    transpose_and_compare(100000, 1, 333);
}

/* Straight from the definition, sample by sample. */
static double plain_tfidf(int64_t row, int64_t column, int64_t rows_of_idf)
{
    double square = 0, wanted = 0;
    for (int64_t j = 0; j < COLUMNS; j++) {
        int64_t with = 0;
        for (int64_t i = 0; i < rows_of_idf; i++)
            with += cell(i, j) != 0;
        if (cell(row, j) == 0)
            continue;
        double weight = (1 + log(cell(row, j))) * log((double)rows_of_idf / fmax((double)with, 1));
        square += weight * weight;
        if (j == column)
            wanted = weight;
    }
    return square > 0 ? wanted / sqrt(square) : 0;
}

static void weigh_and_compare(const sparse *s, tfidf *t)
{
    double *weights = malloc((size_t)sparse_entries(s) * sizeof *weights);
    for (int64_t first = 0; first < COLUMNS; first += 4) {
        roofs_block block;
        sparse_view(s, first, COLUMNS - first < 4 ? COLUMNS - first : 4, &block);
        tfidf_weigh(t, first, &block, weights);
        for (int64_t j = first; j < first + block.count; j++)
            for (int64_t k = s->starts[j]; k < s->starts[j + 1]; k++)
                assert_true(fabs(weights[k - s->starts[first]] -
                                 plain_tfidf(s->samples[k], j, ROWS)) < 1e-14);
    }
    free(weights);
}

static void test_tfidf_is_right(void **state)
{
    sparse s = {0};
    tfidf learned, given;
    roofs_block block;
    (void)state;
    make_sparse(&s);
    sparse_view(&s, 0, COLUMNS, &block);
    assert_fine(tfidf_create(&learned, ROWS, NULL, 0, &err));
    assert_fine(tfidf_measure(&learned, &block, &err));
    tfidf_measured(&learned);
    weigh_and_compare(&s, &learned);
    assert_fine(tfidf_create(&given, ROWS, learned.idf, learned.count, &err));
    assert_fine(tfidf_measure(&given, &block, &err));
    tfidf_measured(&given);
    weigh_and_compare(&s, &given);
    assert_refused(tfidf_measure(&given, &block, &err), ROOFS_BAD_DATA, "only 23 features");
    s.values[3] = -1;
    tfidf_free(&given);
    assert_fine(tfidf_create(&given, ROWS, NULL, 0, &err));
    assert_refused(tfidf_measure(&given, &block, &err), ROOFS_BAD_DATA, "feature 0", "-1 is no");
    tfidf_free(&learned);
    tfidf_free(&given);
    sparse_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_come_out_in_order),
        cmocka_unit_test(test_two_values_of_one_sample_are_refused),
        cmocka_unit_test(test_chosen_features_and_samples_are_copied),
        cmocka_unit_test(test_blocks_are_appended),
        cmocka_unit_test(test_rows_are_transposed),
        cmocka_unit_test(test_tfidf_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
