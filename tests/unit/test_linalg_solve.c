/* Cholesky factors and their updates, QR and least squares, against their definitions: G = R'R,
 * residuals orthogonal to the columns, minimum norm. */
#include "test_base_help.h"

#include "linalg/vector.h"
#include "method/baseline/cholesky.h"
#include "method/baseline/least_squares.h"
#include "method/baseline/qr.h"

enum { MOST = 30, ROWS = 70 };

/* ---- Cholesky --------------------------------------------------------------- */

typedef struct table {
    double row[ROWS][MOST]; /* G = sum row row' */
    int64_t rows, n;
} table;

static void gram_of(const table *t, double *g)
{
    for (int64_t a = 0; a < t->n; a++)
        for (int64_t b = 0; b < t->n; b++) {
            double sum = 0;
            for (int64_t i = 0; i < t->rows; i++)
                sum += t->row[i][a] * t->row[i][b];
            g[a * MOST + b] = sum;
        }
}

static table random_table(int64_t rows, int64_t n, uint64_t *random)
{
    table t = {.rows = rows, .n = n};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++)
            t.row[i][j] = random_bell(random);
    return t;
}

static void assert_factor_of(const cholesky *f, const table *t)
{
    static double g[MOST * MOST];
    gram_of(t, g);
    assert_int_equal(f->n, t->n);
    for (int64_t a = 0; a < t->n; a++)
        for (int64_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int64_t k = 0; k <= b; k++)
                sum += f->r[k * MOST + a] * f->r[k * MOST + b];
            assert_close(sum, g[a * MOST + b], 1e-11);
        }
}

static void assert_solves(const cholesky *f, const table *t, uint64_t *random)
{
    static double g[MOST * MOST];
    double x[MOST], b[MOST], same[MOST], twice[MOST];
    gram_of(t, g);
    for (int64_t k = 0; k < t->n; k++) {
        x[k] = b[k] = same[k] = random_bell(random);
        twice[k] = -2 * b[k];
    }
    cholesky_solve(f, x);
    cholesky_solve_two(f, twice, same);
    for (int64_t k = 0; k < t->n; k++)
        assert_true(same[k] == x[k] && twice[k] == -2 * x[k]);
    for (int64_t a = 0; a < t->n; a++) {
        double sum = 0;
        for (int64_t k = 0; k < t->n; k++)
            sum += g[a * MOST + k] * x[k];
        assert_close(sum, b[a], 1e-9);
    }
}

/* Adds and removes rows and columns at random; the factor stays that of their Gram matrix. */
static void test_updates_agree_with_a_new_factor(void **state)
{
    static double r[MOST * MOST], g[MOST * MOST];
    uint64_t random = 5;
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        table t = random_table(45, 8, &random);
        cholesky f = {.r = r, .stride = MOST};
        gram_of(&t, g);
        assert_true(cholesky_factor(&f, g, t.n, 1e-12));
        for (int step = 0; step < 60; step++) {
            double row[MOST];
            int64_t which = random_below(&random, 4);
            if (which == 0 && t.rows < ROWS) {
                for (int64_t j = 0; j < t.n; j++)
                    row[j] = t.row[t.rows][j] = random_bell(&random);
                t.rows++;
                cholesky_update(&f, row);
            } else if (which == 1 && t.rows > 40) {
                memcpy(row, t.row[--t.rows], sizeof row);
                assert_true(cholesky_downdate(&f, row));
            } else if (which == 2 && t.n < MOST) {
                for (int64_t i = 0; i < t.rows; i++)
                    t.row[i][t.n] = random_bell(&random);
                t.n++;
                gram_of(&t, g);
                assert_true(cholesky_append(&f, g + (t.n - 1) * MOST, 1e-12));
            } else if (which == 3 && t.n > 1) {
                int64_t k = random_below(&random, t.n);
                t.n--;
                for (int64_t i = 0; i < t.rows; i++)
                    memmove(&t.row[i][k], &t.row[i][k + 1], (size_t)(t.n - k) * sizeof(double));
                cholesky_remove(&f, k);
            }
            assert_factor_of(&f, &t);
            assert_solves(&f, &t, &random);
        }
    }
}

static void test_dependent_columns_are_seen(void **state)
{
    static double r[MOST * MOST], g[MOST * MOST];
    uint64_t random = 6;
    (void)state;
    table t = random_table(40, 5, &random);
    cholesky f = {.r = r, .stride = MOST};
    gram_of(&t, g);
    assert_true(cholesky_factor(&f, g, 5, 1e-9));
    for (int64_t i = 0; i < t.rows; i++)
        t.row[i][5] = t.row[i][0] - 2 * t.row[i][3];
    t.n = 6;
    gram_of(&t, g);
    assert_false(cholesky_append(&f, g + 5 * MOST, 1e-9));
    t.n = 5;
    assert_factor_of(&f, &t); /* as it was */
    assert_false(cholesky_factor(&f, g, 6, 1e-9));
    assert_false(cholesky_factor(&f, (double[]){0}, 1, 1e-9));
    table square = random_table(4, 4, &random);
    gram_of(&square, g);
    assert_true(cholesky_factor(&f, g, 4, 1e-12));
    assert_false(cholesky_downdate(&f, square.row[2])); /* three rows, four columns: singular */
}

/* ---- QR --------------------------------------------------------------------- */

/* m x n of the given rank, by columns. */
static void random_matrix(double *z, int64_t m, int64_t n, int64_t rank, uint64_t *random)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++)
            z[j * m + i] = j < rank ? random_bell(random) : 0;
    for (int64_t j = rank; j < n; j++)
        for (int64_t k = 0; k < rank; k++) {
            double times = (double)(random_below(random, 5) - 2);
            for (int64_t i = 0; i < m; i++)
                z[j * m + i] += times * z[k * m + i];
        }
}

/* x is optimal: Z'(b - Z x) = 0. x has minimum norm: it is in the span of the rows, so Z'v = x has
 * a solution v. */
static void assert_least_squares(int64_t m, int64_t n, int64_t rank, uint64_t *random)
{
    static double z[ROWS * MOST], work[ROWS * MOST], across[ROWS * MOST];
    double b[ROWS], side[ROWS], x[MOST], v[ROWS] = {0}, gone[MOST];
    int64_t found;
    roofs_error err;
    random_matrix(z, m, n, rank, random);
    for (int64_t i = 0; i < m; i++)
        b[i] = side[i] = random_bell(random);
    memcpy(work, z, sizeof work);
    assert_fine(qr_least_squares(work, m, n, side, 1e-10, x, &found, &err));
    assert_int_equal(found, rank < m ? rank : m);
    for (int64_t j = 0; j < n; j++) {
        double slope = 0, size = 1;
        for (int64_t i = 0; i < m; i++) {
            double left = b[i];
            for (int64_t k = 0; k < n; k++)
                left -= z[k * m + i] * x[k];
            slope += z[j * m + i] * left;
            size += fabs(z[j * m + i]);
        }
        assert_close(slope, 0, 1e-11 * size * size);
    }
    for (int64_t j = 0; j < n; j++) /* Z' v = x can be solved */
        for (int64_t i = 0; i < m; i++)
            across[i * n + j] = z[j * m + i];
    memcpy(work, across, sizeof work);
    memcpy(gone, x, sizeof gone);
    assert_fine(qr_least_squares(work, n, m, gone, 1e-10, v, &found, &err));
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += across[i * n + j] * v[i];
        assert_close(sum, x[j], 1e-9);
    }
}

static void test_qr_solves_least_squares(void **state)
{
    uint64_t random = 7;
    (void)state;
    for (int64_t m = 1; m <= MOST; m += 3)
        for (int64_t n = 1; n <= MOST - 1; n += 2)
            for (int64_t rank = n; rank >= 1; rank -= 1 + n / 3)
                assert_least_squares(m, n, rank, &random);
}

/* ---- least squares on columns ------------------------------------------------- */

static void load_columns(columns *c, const double *values, int64_t n, int64_t count,
                         int64_t threads)
{
    const ingest_options options = {0};
    roofs_error err;
    device_shape shape = {.n = n, .slots = count, .batch = count, .threads = threads};
    roofs_block block = dense_block(values, ROOFS_F64, count, n);
    assert_fine(columns_create(c, &device_cpu, &shape, &err));
    assert_fine(columns_arrive(c, &block, 0, &options, &err));
}

/* Least squares on a subset of the samples: the residual is orthogonal to the columns. Columns are
 * well-conditioned (kind 0), nearly dependent (1) or dependent (2), or more than the samples. */
static void assert_orthogonal(int64_t count, int64_t n, int kind, uint64_t *random)
{
    static double values[ROWS * MOST], x[MOST];
    double mask[ROWS], target[ROWS], r[ROWS], slope[MOST];
    int64_t which[MOST], samples = 0;
    least_squares ls = {0};
    roofs_error err;
    columns c;
    random_matrix(values, n, count, kind == 2 && count > 1 ? count - 1 : count, random);
    for (int64_t i = 0; kind == 1 && count > 1 && i < n; i++)
        values[i] = values[n + i] + 1e-5 * random_bell(random);
    load_columns(&c, values, n, count, 1);
    for (int64_t k = 0; k < count; k++)
        which[k] = count - 1 - k;
    for (int64_t i = 0; i < n; i++) {
        target[i] = random_bell(random);
        mask[i] = random_below(random, 4) > 0;
        samples += mask[i] != 0;
    }
    assert_fine(least_squares_reserve(&ls, count, n, &err));
    assert_fine(least_squares_solve(&ls, &c, which, count, mask, samples, target, x, &err));
    for (int64_t k = 0; k < count; k++)
        slope[k] = -x[k];
    memcpy(r, target, sizeof r);
    columns_add(&c, which, count, slope, r);
    for (int64_t i = 0; i < n; i++)
        r[i] *= mask[i];
    columns_products(&c, which, count, r, slope);
    for (int64_t k = 0; k < count; k++)
        assert_close(slope[k], 0, kind == 1 ? 1e-8 : 1e-10);
    least_squares_destroy(&ls);
    columns_destroy(&c);
}

static void test_least_squares_are_solved(void **state)
{
    uint64_t random = 8;
    (void)state;
    for (int64_t n = 5; n <= ROWS; n += 5)
        for (int64_t count = 1; count <= MOST; count += 4)
            for (int kind = 0; kind < 3; kind++)
                assert_orthogonal(count, n, kind, &random);
}

static void test_centre_is_right(void **state)
{
    static double values[ROWS * MOST];
    double mask[ROWS], scratch[MOST];
    uint64_t random = 9;
    columns c;
    (void)state;
    random_matrix(values, ROWS, MOST, MOST, &random);
    for (int64_t i = 0; i < ROWS; i++)
        mask[i] = i % 3 != 0;
    load_columns(&c, values, ROWS, MOST, 1);
    int64_t which[] = {4, 1};
    columns_centre(&c, which, 2, mask, ROWS - 24, scratch);
    columns_products(&c, NULL, MOST, mask, scratch);
    for (int64_t j = 0; j < MOST; j++)
        assert_true(j == 1 || j == 4 ? fabs(scratch[j]) < 1e-12 : fabs(scratch[j]) > 1e-6);
    columns_destroy(&c);
}

static void test_vectors_are_added(void **state)
{
    (void)state;
    double x[21], y[21];
    for (int n = 0; n <= 20; n++) {
        for (int i = 0; i <= 20; i++) {
            x[i] = i + 1;
            y[i] = 100 * i;
        }
        vector_add(y, -0.5, x, n);
        for (int i = 0; i <= 20; i++)
            assert_true(y[i] == 100 * i - (i < n ? (i + 1) / 2.0 : 0));
    }
}

static void test_bytes_are_an_upper_bound(void **state)
{
    (void)state;
    assert_true(least_squares_bytes(100, 1000) >= 8 * (100 * 100 + 101 * 1000));
    assert_int_equal(least_squares_bytes((int64_t)1 << 40, 1000), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates_agree_with_a_new_factor),
        cmocka_unit_test(test_dependent_columns_are_seen),
        cmocka_unit_test(test_qr_solves_least_squares),
        cmocka_unit_test(test_least_squares_are_solved),
        cmocka_unit_test(test_centre_is_right),
        cmocka_unit_test(test_bytes_are_an_upper_bound),
        cmocka_unit_test(test_vectors_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
