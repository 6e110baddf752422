/* exp on eight numbers; sweeps over blocks of columns against plain loops over single
 * coordinates. */
#include "linalg/columns.h"
#include "linalg/lanes_math.h"

#include "test_base_help.h"

#include <math.h>

static void test_exp_is_accurate(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 20000; round++) {
        lanes x;
        for (int k = 0; k < LANES; k++)
            x[k] = random_signed(&seed) * (round % 2 ? 700 : 2);
        lanes got = lanes_exp(x);
        for (int k = 0; k < LANES; k++)
            assert_close(got[k] / exp(x[k]), 1, 1e-15);
    }
    lanes far = {-1e300, -701, -0.0, 0.0, 701, 1e300, -700, 700};
    lanes got = lanes_exp(far);
    const double held[LANES] = {-700, -700, 0, 0, 700, 700, -700, 700};
    for (int k = 0; k < LANES; k++)
        assert_close(got[k] / exp(held[k]), 1, 1e-15);
}

enum { COUNT = 23, MOST = 2500 };

typedef struct sweep_case {
    double x[COUNT][MOST], w[MOST], r[MOST], variance[MOST];
    device_column columns[COUNT];
    device *d;
} sweep_case;

/* Half a Newton step: a rule that uses both sums. Records the steps. */
static void half_step(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                      const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                      double spread[DEVICE_BLOCK])
{
    double *deltas = user;
    for (int64_t q = 0; q < count; q++) {
        double now = slope[q];
        for (int64_t p = 0; p < q; p++)
            now -= gram[q][p] * delta[p];
        delta[q] = 0.5 * now / gram[q][q];
        spread[q] = 1 / gram[q][q];
        deltas[first + q] = delta[q];
    }
}

static void fill_case(sweep_case *s, int64_t n, roofs_dtype type, int64_t threads)
{
    uint64_t seed = 11 + (uint64_t)n;
    static float narrow[COUNT][MOST];
    for (int j = 0; j < COUNT; j++) {
        s->columns[j] = (device_column){.place = -1 - j,
                                        .center = random_signed(&seed),
                                        .factor = 1 + random_signed(&seed) / 2};
        for (int64_t i = 0; i < n; i++) {
            narrow[j][i] = (float)(2 * random_signed(&seed));
            s->x[j][i] = (double)narrow[j][i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        s->w[i] = i % 7 == 0 ? 0 : random_unit(&seed);
        s->r[i] = random_signed(&seed);
        s->variance[i] = 0.25;
    }
    device_shape shape = {.n = n, .slots = 1, .batch = COUNT, .dtype = type, .threads = threads};
    assert_int_equal(device_cpu.create(&s->d, &shape, NULL), ROOFS_OK);
    roofs_block block = {.count = COUNT,
                         .n = n,
                         .dtype = type,
                         .values = type == ROOFS_F32 ? (const void *)narrow : (const void *)s->x,
                         .feature_stride = MOST,
                         .sample_stride = 1};
    assert_int_equal(device_cpu.borrow(s->d, &block, NULL), ROOFS_OK);
}

static double z_of(const sweep_case *s, int j, int64_t i)
{
    return (s->x[j][i] - s->columns[j].center) * s->columns[j].factor;
}

static void plain_sweep(sweep_case *s, int64_t n, int count, double *deltas)
{
    for (int j = 0; j < count; j++) {
        double slope = 0, square = 0;
        for (int64_t i = 0; i < n; i++) {
            slope += z_of(s, j, i) * s->w[i] * s->r[i];
            square += z_of(s, j, i) * s->w[i] * z_of(s, j, i);
        }
        deltas[j] = 0.5 * slope / square;
        for (int64_t i = 0; i < n; i++) {
            s->r[i] -= deltas[j] * z_of(s, j, i);
            s->variance[i] += z_of(s, j, i) * z_of(s, j, i) / square;
        }
    }
}

static void test_sweep_agrees_with_loops(void **state)
{
    (void)state;
    static sweep_case fast, slow;
    const int64_t sizes[] = {2, 7, 8, 9, 100, 1023, 1024, 1025, MOST};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int count = 0; count <= COUNT; count++) {
            double deltas[COUNT] = {0}, wanted[COUNT] = {0};
            roofs_dtype type = count % 2 ? ROOFS_F32 : ROOFS_F64;
            fill_case(&fast, sizes[k], type, 1);
            fill_case(&slow, sizes[k], type, 1);
            device_sweep how = {fast.w, fast.r, fast.variance, half_step, deltas};
            device_cpu.products->sweep(fast.d, fast.columns, count, &how);
            plain_sweep(&slow, sizes[k], count, wanted);
            for (int j = 0; j < count; j++)
                assert_close(deltas[j], wanted[j], 1e-11);
            for (int64_t i = 0; i < sizes[k]; i++) {
                assert_close(fast.r[i], slow.r[i], 1e-10);
                assert_close(fast.variance[i], slow.variance[i], 1e-9 * slow.variance[i]);
            }
            device_cpu.destroy(fast.d);
            device_cpu.destroy(slow.d);
        }
}

/* Enough values to use threads; the bits do not depend on their number. */
static void test_threads_do_not_change_a_bit(void **state)
{
    (void)state;
    enum { BIG = 60001, COLUMNS = 20 };
    static double x[COLUMNS][BIG], w[BIG], r[4][BIG], variance[4][BIG];
    double deltas[4][COLUMNS];
    uint64_t seed = 5;
    for (int j = 0; j < COLUMNS; j++)
        for (int64_t i = 0; i < BIG; i++)
            x[j][i] = random_signed(&seed);
    for (int64_t i = 0; i < BIG; i++) {
        w[i] = random_unit(&seed);
        r[0][i] = r[1][i] = r[2][i] = r[3][i] = random_signed(&seed);
    }
    const int64_t threads[4] = {1, 2, 3, 7};
    for (int t = 0; t < 4; t++) {
        device *d = NULL;
        device_shape shape = {.n = BIG, .slots = 1, .batch = COLUMNS, .threads = threads[t]};
        roofs_block block = dense_block(x, ROOFS_F64, COLUMNS, BIG);
        device_column all[COLUMNS];
        for (int j = 0; j < COLUMNS; j++)
            all[j] = (device_column){.place = -1 - j, .factor = 1};
        assert_int_equal(device_cpu.create(&d, &shape, NULL), ROOFS_OK);
        assert_int_equal(device_cpu.borrow(d, &block, NULL), ROOFS_OK);
        device_sweep how = {w, r[t], variance[t], half_step, deltas[t]};
        device_cpu.products->sweep(d, all, COLUMNS, &how);
        device_cpu.destroy(d);
        assert_memory_equal(deltas[t], deltas[0], sizeof deltas[0]);
        assert_memory_equal(r[t], r[0], sizeof r[0]);
        assert_memory_equal(variance[t], variance[0], sizeof variance[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_is_accurate),
        cmocka_unit_test(test_sweep_agrees_with_loops),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
