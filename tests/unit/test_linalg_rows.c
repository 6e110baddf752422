/* Products of many short rows: against plain sums, and the same bits for any number of threads. */
#include "linalg/rows.h"
#include "test_base_help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 67, OTHERS = 301, LENGTH = 640, CODES = 101 };

typedef struct tables {
    float *rows, *other;
    const float *values[OTHERS];
    double unit[OTHERS];
    unsigned char always[ROWS], other_always[OTHERS];
    double *out, *again;
} tables;

static float wave(int64_t k)
{
    return (float)sin(0.7 * (double)k + 0.1 * (double)(k % 11));
}

static void make_tables(tables *t)
{
    memset(t, 0, sizeof *t);
    t->rows = calloc((size_t)rows_padded(ROWS) * LENGTH, sizeof(float));
    t->other = calloc((size_t)rows_padded(OTHERS) * LENGTH, sizeof(float));
    t->out = calloc((size_t)ROWS * OTHERS, sizeof(double));
    t->again = calloc((size_t)ROWS * OTHERS, sizeof(double));
    for (int64_t k = 0; k < (int64_t)ROWS * LENGTH; k++)
        t->rows[k] = wave(k);
    for (int64_t k = 0; k < (int64_t)OTHERS * LENGTH; k++)
        t->other[k] = wave(k + 5000);
    for (int64_t l = 0; l < OTHERS; l++) {
        t->values[l] = t->other + l * LENGTH;
        t->unit[l] = 1 + 0.01 * (double)l;
    }
}

static void free_tables(tables *t)
{
    free(t->rows);
    free(t->other);
    free(t->out);
    free(t->again);
}

static double plain(const tables *t, int64_t k, int64_t l)
{
    double sum = 0;
    for (int64_t i = 0; i < LENGTH; i++)
        sum += (double)t->rows[k * LENGTH + i] * t->other[l * LENGTH + i];
    return sum;
}

static void test_products_are_those_of_plain_sums(void **state)
{
    tables t;
    workers *w = NULL;
    (void)state;
    assert_int_equal(workers_create(&w, 3, NULL), ROOFS_OK);
    make_tables(&t);
    rows_products(t.rows, ROWS, t.other, OTHERS, LENGTH, NULL, t.out);
    rows_products(t.rows, ROWS, t.other, OTHERS, LENGTH, w, t.again);
    assert_memory_equal(t.out, t.again, (size_t)ROWS * OTHERS * sizeof(double));
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t l = 0; l < OTHERS; l++)
            assert_true(fabs(t.out[k * OTHERS + l] - plain(&t, k, l)) < 1e-4);
    free_tables(&t);
    workers_destroy(w);
}

static void test_only_large_products_are_refined(void **state)
{
    tables t;
    workers *w = NULL;
    (void)state;
    assert_int_equal(workers_create(&w, 3, NULL), ROOFS_OK);
    make_tables(&t);
    t.always[3] = t.other_always[7] = 1;
    for (int64_t k = 0; k < (int64_t)ROWS * OTHERS; k++)
        t.out[k] = t.again[k] = k % 5 == 0 ? -0.5 : 0.1;
    rows_refined r = {.rows = t.rows,
                      .other = t.values,
                      .unit = t.unit,
                      .always = t.always,
                      .other_always = t.other_always,
                      .count = ROWS,
                      .others = OTHERS,
                      .length = LENGTH};
    rows_refine(&r, 0.4, t.out);
    r.w = w;
    rows_refine(&r, 0.4, t.again);
    assert_memory_equal(t.out, t.again, (size_t)ROWS * OTHERS * sizeof(double));
    for (int64_t k = 0; k < ROWS; k++)
        for (int64_t l = 0; l < OTHERS; l++) {
            const int is_wanted = (k * OTHERS + l) % 5 == 0 || k == 3 || l == 7;
            const double wanted = is_wanted ? plain(&t, k, l) * t.unit[l] : 0;
            assert_true(fabs(t.out[k * OTHERS + l] - wanted) < 1e-3);
        }
    free_tables(&t);
    workers_destroy(w);
}

static void test_normalised_rows_have_length_one(void **state)
{
    tables t;
    float weight[LENGTH], root[LENGTH];
    double shift[2 * OTHERS], fourth[OTHERS], total = 0;
    (void)state;
    make_tables(&t);
    for (int64_t i = 0; i < LENGTH; i++) {
        weight[i] = (float)(i % 3) / 2;
        root[i] = sqrtf(weight[i]);
        total += weight[i];
    }
    rows_moments(t.values, OTHERS, weight, LENGTH, NULL, shift);
    for (int64_t l = 0; l < OTHERS; l++) {
        const double mean = shift[2 * l] / total;
        shift[2 * l + 1] = 1 / sqrt(shift[2 * l + 1] - mean * mean * total);
        shift[2 * l] = mean;
    }
    rows_normalise(t.values, OTHERS, root, LENGTH, NULL, shift, t.other, fourth);
    for (int64_t l = 0; l < OTHERS; l++) {
        const float *row = t.other + l * LENGTH;
        double sum = 0, powers = 0;
        for (int64_t i = 0; i < LENGTH; i++) {
            sum += (double)root[i] * row[i];
            powers += pow(row[i], 4);
        }
        assert_true(fabs(sum) < 1e-5);
        assert_true(fabs(rows_pair(row, row, LENGTH) - 1) < 1e-5);
        assert_true(fabs(fourth[l] - powers) < 1e-6);
    }
    free_tables(&t);
}

static void test_sums_over_codes_are_exact(void **state)
{
    signed char codes[CODES];
    double W[CODES], t[CODES], sums[3], wanted[3] = {0};
    (void)state;
    for (int i = 0; i < CODES; i++) {
        codes[i] = (signed char)(i * 37 % 255 - 127);
        W[i] = 0.25 * (i % 4);
        t[i] = i % 9 - 4;
        wanted[0] += W[i] * codes[i];
        wanted[1] += W[i] * codes[i] * codes[i];
        wanted[2] += t[i] * codes[i];
    }
    rows_code_sums(codes, W, t, CODES, sums);
    for (int k = 0; k < 3; k++)
        assert_true(sums[k] == wanted[k]); /* multiples of 1/4 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_those_of_plain_sums),
        cmocka_unit_test(test_only_large_products_are_refined),
        cmocka_unit_test(test_normalised_rows_have_length_one),
        cmocka_unit_test(test_sums_over_codes_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
