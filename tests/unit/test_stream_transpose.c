/* Rows into columns, in memory and through a file, against a plain transpose. */
#include "test_stream_files.h"

#include "stream/transpose.h"

static roofs_error err;

static double cell(int64_t row, int64_t column)
{
    return (double)(row * 1000 + column) + 0.25;
}

static transposer *transpose(int64_t rows, int64_t width, roofs_dtype dtype, int64_t budget)
{
    transposer *t;
    void *row;
    assert_fine(transposer_create(&t, width, dtype, budget, &err));
    for (int64_t i = 0; i < rows; i++) {
        assert_fine(transposer_row(t, &row, &err));
        for (int64_t j = 0; j < width; j++)
            if (dtype == ROOFS_F32)
                ((float *)row)[j] = (float)cell(i, j);
            else
                ((double *)row)[j] = cell(i, j);
        assert_fine(transposer_push(t, &err));
    }
    assert_fine(transposer_finish(t, &err));
    assert_int_equal(transposer_rows(t), rows);
    return t;
}

static void assert_columns(transposer *t, int64_t first, int64_t count, roofs_dtype dtype)
{
    int64_t rows = transposer_rows(t);
    double *values = malloc((size_t)(rows * count) * sizeof *values);
    assert_fine(transposer_read(t, first, count, dtype, values, &err));
    for (int64_t k = 0; k < rows * count; k++) {
        double got = dtype == ROOFS_F32 ? (double)((float *)values)[k] : values[k];
        assert_true(got == cell(k % rows, first + k / rows));
    }
    free(values);
}

static void test_columns_are_those_of_the_rows(void **state)
{
    static const int64_t shapes[][2] = {{1, 1},    {1, 40},  {40, 1},  {3, 5},
                                        {100, 37}, {64, 16}, {257, 33}};
    static const int64_t budgets[] = {1, 3000, 20000, 0};
    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
            for (int dtype = ROOFS_F64; dtype <= ROOFS_F32; dtype++) {
                int64_t width = shapes[s][1];
                transposer *t = transpose(shapes[s][0], width, (roofs_dtype)dtype, budgets[b]);
                assert_columns(t, 0, width, (roofs_dtype)dtype);
                assert_columns(t, width / 2, 1, ROOFS_F64);
                assert_columns(t, width / 3, width - width / 3, ROOFS_F64);
                assert_columns(t, width, 0, ROOFS_F64);
                transposer_destroy(t);
            }
}

static void test_file_is_used_only_when_needed(void **state)
{
    (void)state;
    transposer *t = transpose(100, 100, ROOFS_F64, 0);
    assert_false(transposer_uses_file(t));
    transposer_destroy(t);
    t = transpose(100, 100, ROOFS_F64, 40000);
    assert_true(transposer_uses_file(t));
    transposer_destroy(t);
    transposer_destroy(NULL);
}

static void test_no_rows_give_no_columns(void **state)
{
    (void)state;
    transposer *t = transpose(0, 7, ROOFS_F64, 100);
    assert_fine(transposer_read(t, 0, 7, ROOFS_F64, NULL, &err));
    transposer_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_are_those_of_the_rows),
        cmocka_unit_test(test_file_is_used_only_when_needed),
        cmocka_unit_test(test_no_rows_give_no_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
