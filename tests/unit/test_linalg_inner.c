/* Inner products of columns that come and go, against plain sums; their bits do not depend on the
 * order of arrival or on threads. */
#include "linalg/inner.h"
#include "test_base_help.h"

enum { N = 203, FEATURES = 23, BATCH = 9 };

static double x[FEATURES][N], weight[N];

typedef struct fixture {
    columns c;
    inner_products p;
    inner_shape shape;
} fixture;

static int make_values(void **state)
{
    uint64_t random = 5;
    (void)state;
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < N; i++)
            x[j][i] = random_bell(&random) + j;
    for (int i = 0; i < N; i++)
        weight[i] = 1;
    return 0;
}

static void begin(fixture *f, int64_t together, int64_t threads)
{
    const device_shape shape = {.n = N, .slots = FEATURES, .batch = FEATURES, .threads = threads};
    roofs_error err;
    *f = (fixture){.shape = {.most = FEATURES, .together = together, .n = N, .threads = threads}};
    assert_fine(columns_create(&f->c, &device_cpu, &shape, &err));
}

static void end(fixture *f)
{
    inner_destroy(&f->p);
    columns_destroy(&f->c);
}

/* Features first..first + count - 1 arrive. */
static void arrive(fixture *f, int64_t first, int64_t count)
{
    const ingest_options options = {.standardize = 1, .weight = weight};
    const roofs_block b = dense_block(x[first], ROOFS_F64, count, N);
    roofs_error err;
    int64_t settled;
    assert_fine(columns_arrive(&f->c, &b, first, &options, &err));
    assert_fine(inner_extend(&f->p, &f->c, &f->shape, &err));
    assert_fine(columns_settle(&f->c, &settled, &err));
}

static void test_products_are_sums_over_samples(void **state)
{
    static double z[FEATURES][N];
    roofs_error err;
    fixture f;
    (void)state;
    begin(&f, BATCH, 1);
    arrive(&f, 0, 7);
    arrive(&f, 7, 16);
    assert_int_equal(f.p.count, FEATURES);
    for (int j = 0; j < FEATURES; j++)
        assert_fine(columns_fetch(&f.c, j, z[j], &err));
    for (int j = 0; j < FEATURES; j++)
        for (int k = 0; k < FEATURES; k++) {
            double sum = 0;
            for (int i = 0; i < N; i++)
                sum += z[j][i] * z[k][i];
            assert_close(inner_row(&f.p, j)[k], sum, 1e-11 * N);
            assert_true(inner_row(&f.p, j)[k] == inner_row(&f.p, k)[j]);
        }
    end(&f);
}

static void test_bits_do_not_depend_on_order_or_threads(void **state)
{
    fixture one, other;
    (void)state;
    begin(&one, FEATURES, 1);
    arrive(&one, 0, FEATURES);
    begin(&other, 5, 3);
    for (int64_t first = 0; first < FEATURES; first += 3)
        arrive(&other, first, FEATURES - first < 3 ? FEATURES - first : 3);
    for (int j = 0; j < FEATURES; j++)
        assert_same_doubles(inner_row(&one.p, j), inner_row(&other.p, j), FEATURES);
    inner_reset(&other.p); /* as after a checkpoint */
    roofs_error err;
    assert_fine(inner_extend(&other.p, &other.c, &other.shape, &err));
    for (int j = 0; j < FEATURES; j++)
        assert_same_doubles(inner_row(&one.p, j), inner_row(&other.p, j), FEATURES);
    end(&one);
    end(&other);
}

static void test_dropped_columns_leave_the_products(void **state)
{
    unsigned char keep[FEATURES];
    double before[FEATURES][FEATURES];
    fixture f;
    (void)state;
    begin(&f, BATCH, 1);
    arrive(&f, 0, FEATURES);
    for (int j = 0; j < FEATURES; j++) {
        keep[j] = j % 3 != 1;
        memcpy(before[j], inner_row(&f.p, j), sizeof before[j]);
    }
    inner_keep(&f.p, keep);
    for (int j = 0, row = 0; j < FEATURES; j++) {
        for (int k = 0, at = 0; keep[j] && k < FEATURES; k++)
            if (keep[k])
                assert_true(inner_row(&f.p, row)[at++] == before[j][k]);
        row += keep[j];
    }
    assert_int_equal(f.p.count, 15);
    end(&f);
}

static void test_times_multiplies_the_whole_matrix(void **state)
{
    double v[FEATURES], out[FEATURES];
    fixture f;
    (void)state;
    begin(&f, BATCH, 2);
    arrive(&f, 0, FEATURES);
    for (int j = 0; j < FEATURES; j++)
        v[j] = j % 4 - 1;
    inner_times(&f.p, v, out);
    for (int j = 0; j < FEATURES; j++) {
        double sum = 0;
        for (int k = 0; k < FEATURES; k++)
            sum += inner_row(&f.p, j)[k] * v[k];
        assert_close(out[j], sum, 1e-10 * N);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_sums_over_samples),
        cmocka_unit_test(test_bits_do_not_depend_on_order_or_threads),
        cmocka_unit_test(test_dropped_columns_leave_the_products),
        cmocka_unit_test(test_times_multiplies_the_whole_matrix),
    };
    return cmocka_run_group_tests(tests, make_values, NULL);
}
