/* Sparse columns, alone and beside dense ones, against plain loops over all samples. */
#include "test_base_help.h"

#include "linalg/device.h"

#include <string.h>

/* Where a column of the mix is. */
typedef enum home { STORED_DENSE, STORED_SPARSE, BORROWED, HOMES } home;

typedef struct mix {
    int64_t n, count;
    roofs_dtype dtype; /* of the device and the blocks */
    roofs_index index;
    double *x; /* count columns of n, with zeros */
    device_column *columns;
    double *r, *weight, *w; /* per sample, per column, per sample and not negative */
    void *values, *samples, *starts;
} mix;

/* The share of values of column j that are not zero. */
static double density_of(int64_t j)
{
    static const double some[] = {0.01, 0.2, 0, 0.55, 1, 0.05, 0.1};
    return some[j % 7];
}

static void fill_column(mix *m, int64_t j, uint64_t *random)
{
    double *x = m->x + j * m->n;
    for (int64_t i = 0; i < m->n; i++)
        if ((double)random_below(random, 10000) < 10000 * density_of(j))
            x[i] = (float)(3 * (double)(j % 2) + random_bell(random));
    if (j % 7 == 5)
        x[0] = 2;
    if (j % 7 == 6)
        x[m->n - 1] = -1;
    if (j % 14 == 2)
        x[random_below(random, m->n)] = 0.5; /* a single value */
}

static double *zeros(int64_t count)
{
    double *x = calloc(count > 0 ? (size_t)count : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static mix mix_create(int64_t n, int64_t count, int kind, uint64_t seed)
{
    uint64_t random = seed * 977 + 5;
    mix m = {.n = n, .count = count};
    m.dtype = kind & 1 ? ROOFS_F32 : ROOFS_F64;
    m.index = kind & 2 ? ROOFS_I32 : ROOFS_I64;
    m.x = calloc((size_t)(n * count), sizeof *m.x);
    m.columns = calloc((size_t)count, sizeof *m.columns);
    m.r = calloc((size_t)n, sizeof *m.r);
    m.w = calloc((size_t)n, sizeof *m.w);
    m.weight = calloc((size_t)count, sizeof *m.weight);
    for (int64_t i = 0; i < n; i++) {
        m.r[i] = random_bell(&random);
        m.w[i] = random_below(&random, 4) ? fabs(random_signed(&random)) : 0;
    }
    for (int64_t j = 0; j < count; j++) {
        fill_column(&m, j, &random);
        m.weight[j] = random_bell(&random);
        m.columns[j] = (device_column){.center = j % 3 ? random_signed(&random) : 0,
                                       .factor = exp(random_signed(&random)),
                                       .unit = j % 4 ? 1 : 0.25};
    }
    return m;
}

static void mix_destroy(mix *m)
{
    void *all[] = {m->x, m->columns, m->r, m->weight, m->w, m->values, m->samples, m->starts};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static void mix_put(mix *m, int64_t at, int64_t sample, double value)
{
    if (m->dtype == ROOFS_F32)
        ((float *)m->values)[at] = (float)value;
    else
        ((double *)m->values)[at] = value;
    if (m->index == ROOFS_I32)
        ((int32_t *)m->samples)[at] = (int32_t)sample;
    else
        ((int64_t *)m->samples)[at] = sample;
}

/* Fills the compressed columns; some zeros are stored values. */
static void mix_compress(mix *m)
{
    int64_t at = 3; /* the first start need not be 0 */
    m->values = calloc((size_t)(m->n * m->count + 3), sizeof(double));
    m->samples = calloc((size_t)(m->n * m->count + 3), sizeof(int64_t));
    m->starts = calloc((size_t)m->count + 1, sizeof(int64_t));
    for (int64_t j = 0; j <= m->count; j++) {
        if (m->index == ROOFS_I32)
            ((int32_t *)m->starts)[j] = (int32_t)at;
        else
            ((int64_t *)m->starts)[j] = at;
        for (int64_t i = 0; j < m->count && i < m->n; i++)
            if (m->x[j * m->n + i] != 0 || (j % 5 == 1 && i % 97 == 0))
                mix_put(m, at++, i, m->x[j * m->n + i]);
    }
}

static roofs_block mix_sparse_block(mix *m)
{
    if (!m->values)
        mix_compress(m);
    return (roofs_block){.count = m->count,
                         .n = m->n,
                         .dtype = m->dtype,
                         .values = m->values,
                         .starts = m->starts,
                         .samples = m->samples,
                         .index = m->index};
}

static void store_columns(mix *m, device *d, home which)
{
    roofs_error err;
    for (int64_t j = 0; j < m->count; j++)
        if (j % HOMES == which) {
            assert_fine(device_cpu.keep(d, j, j, &err));
            m->columns[j].place = j;
        }
    device_cpu.complete(d);
}

/* Columns 0, 3, .. arrive dense and are stored, columns 1, 4, .. arrive sparse and are stored, the
 * others stay in the caller's sparse block. */
static device *mix_load(mix *m, int64_t threads, int with_dense)
{
    device_shape shape = {
        .n = m->n, .slots = m->count, .batch = m->count, .dtype = m->dtype, .threads = threads};
    roofs_block dense = dense_block(m->x, ROOFS_F64, m->count, m->n);
    roofs_error err;
    device *d = NULL;
    roofs_block sparse = mix_sparse_block(m);
    assert_fine(device_cpu.create(&d, &shape, &err));
    assert_fine(device_cpu.borrow(d, with_dense ? &dense : &sparse, &err));
    store_columns(m, d, STORED_DENSE);
    assert_fine(device_cpu.borrow(d, &sparse, &err));
    store_columns(m, d, STORED_SPARSE);
    for (int64_t j = BORROWED; j < m->count; j += HOMES)
        m->columns[j].place = -1 - j;
    return d;
}

static long double z_of(const mix *m, int64_t j, int64_t i)
{
    return ((long double)m->x[j * m->n + i] - m->columns[j].center) * m->columns[j].factor;
}

static const double EPS = 1e-13;

/* ---- products -------------------------------------------------------------- */

static void check_descend(const mix *m, device *d)
{
    double *gradient = zeros(m->count), *image = zeros(m->n), *out = zeros(m->count);
    memset(image, 0x7f, (size_t)m->n * sizeof *image); /* must be overwritten */
    device_cpu.products->descend(d, m->columns, m->count, m->r, gradient, image);
    device_cpu.products->inner(d, m->columns, m->count, m->r, out);
    for (int64_t j = 0; j < m->count; j++) {
        long double slope = 0, size = 0;
        for (int64_t i = 0; i < m->n; i++) {
            slope += z_of(m, j, i) * m->r[i];
            size += fabsl(z_of(m, j, i) * m->r[i]);
        }
        assert_close(gradient[j], (double)(slope * m->columns[j].unit), EPS * (double)size);
        assert_close(out[j], (double)slope, EPS * (double)size);
    }
    for (int64_t i = 0; i < m->n; i++) {
        long double sum = 0, size = 0;
        for (int64_t j = 0; j < m->count; j++) {
            long double term = gradient[j] * (long double)m->columns[j].unit * z_of(m, j, i);
            sum += term;
            size += fabsl(term) + fabs(gradient[j]);
        }
        assert_close(image[i], (double)sum, EPS * (double)size);
    }
    free(gradient);
    free(image);
    free(out);
}

static void check_add(const mix *m, device *d)
{
    double *out = zeros(m->n), *squares = zeros(m->n);
    for (int64_t i = 0; i < m->n; i++)
        out[i] = squares[i] = m->r[i];
    device_cpu.products->add(d, m->columns, m->count, m->weight, out);
    device_cpu.products->add_squares(d, m->columns, m->count, m->weight, squares);
    for (int64_t i = 0; i < m->n; i++) {
        long double sum = m->r[i], square = m->r[i], size = 1;
        for (int64_t j = 0; j < m->count; j++) {
            sum += m->weight[j] * z_of(m, j, i);
            square += m->weight[j] * z_of(m, j, i) * z_of(m, j, i);
            size += fabs(m->weight[j]) * (2 + z_of(m, j, i) * z_of(m, j, i));
        }
        assert_close(out[i], (double)sum, EPS * (double)size);
        assert_close(squares[i], (double)square, 10 * EPS * (double)size);
    }
    free(out);
    free(squares);
}

static void check_gram(const mix *m, device *d)
{
    const int64_t count = m->count < 24 ? m->count : 24;
    double *gram = zeros(count * count);
    memset(gram, 0x7f, (size_t)(count * count) * sizeof *gram);
    for (int turn = 0; turn < 2; turn++) /* the second must not depend on the first */
        device_cpu.products->gram(d, m->columns, count, m->w, gram);
    for (int64_t j = 0; j < count; j++)
        for (int64_t k = 0; k < count; k++) {
            long double sum = 0, size = 0;
            for (int64_t i = 0; i < m->n; i++) {
                sum += z_of(m, j, i) * m->w[i] * z_of(m, k, i);
                size += m->w[i] * (1 + fabsl(z_of(m, j, i) * z_of(m, k, i)));
            }
            assert_close(gram[j * count + k], (double)sum, 100 * EPS * (double)size);
            assert_true(gram[j * count + k] == gram[k * count + j]);
        }
    free(gram);
}

static void check_sample(const mix *m, device *d)
{
    double *out = calloc((size_t)m->count, sizeof *out);
    for (int64_t i = 0; i < m->n; i += i < 3 || i > m->n - 4 ? 1 : 7) {
        device_cpu.products->sample(d, m->columns, m->count, i, out);
        for (int64_t j = 0; j < m->count; j++)
            assert_close(out[j], (double)z_of(m, j, i), 1e-14 * (1 + fabs(out[j])));
    }
    free(out);
}

/* ---- sweeps ---------------------------------------------------------------- */

/* Shortened coordinate steps of least squares; records the slopes it is given. */
typedef struct sweep_record {
    double *slope, *square, *delta, *spread;
    int64_t next;
} sweep_record;

static void sweep_step(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                       const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                       double spread[DEVICE_BLOCK])
{
    sweep_record *w = user;
    assert_int_equal(first, w->next); /* in order, without gaps */
    for (int64_t q = 0; q < count; q++) {
        double now = slope[q];
        for (int64_t p = 0; p < q; p++)
            now -= gram[q][p] * delta[p];
        delta[q] = gram[q][q] > 0 ? 0.7 * now / gram[q][q] : 0;
        spread[q] = 0.1 * (double)((first + q) % 5) - 0.1;
        w->slope[first + q] = now;
        w->square[first + q] = gram[q][q];
        w->delta[first + q] = delta[q];
        w->spread[first + q] = spread[q];
    }
    w->next += count;
}

static void check_sweep(const mix *m, device *d)
{
    double *r = zeros(m->n), *variance = zeros(m->n);
    long double *want = calloc((size_t)m->n, sizeof *want), *spread = calloc((size_t)m->n, 16);
    double *notes = zeros(4 * m->count);
    sweep_record w = {notes, notes + m->count, notes + 2 * m->count, notes + 3 * m->count, 0};
    for (int64_t i = 0; i < m->n; i++)
        want[i] = r[i] = m->r[i];
    device_sweep how = {
        .weight = m->w, .r = r, .variance = variance, .update = sweep_step, .user = &w};
    device_cpu.products->sweep(d, m->columns, m->count, &how);
    assert_int_equal(w.next, m->count);
    for (int64_t j = 0; j < m->count; j++) {
        long double slope = 0, square = 0, size = 0;
        for (int64_t i = 0; i < m->n; i++) {
            slope += z_of(m, j, i) * m->w[i] * want[i];
            square += z_of(m, j, i) * m->w[i] * z_of(m, j, i);
            size += fabsl(z_of(m, j, i)) * m->w[i] * (1 + fabsl(want[i]));
        }
        assert_close(w.slope[j], (double)slope, 100 * EPS * (1 + (double)size));
        assert_close(w.square[j], (double)square, EPS * (double)square);
        for (int64_t i = 0; i < m->n; i++) {
            want[i] -= w.delta[j] * z_of(m, j, i);
            spread[i] += w.spread[j] * z_of(m, j, i) * z_of(m, j, i);
        }
    }
    for (int64_t i = 0; i < m->n; i++) {
        assert_close(r[i], (double)want[i], 1e-11 * (1 + fabs(r[i])));
        assert_close(variance[i], (double)spread[i], 1e-11 * (double)m->count);
    }
    free(r);
    free(variance);
    free(want);
    free(spread);
    free(notes);
}

static void test_products_agree_with_loops(void **state)
{
    static const int64_t sizes[][2] = {{40, 14}, {41, 1}, {47, 2}, {130, 45}, {1100, 23}, {64, 6}};
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int with_dense = 0; with_dense < 2; with_dense++) {
                mix m = mix_create(sizes[k][0], sizes[k][1], kind, k + 1);
                device *d = mix_load(&m, 2, with_dense);
                check_descend(&m, d);
                check_add(&m, d);
                check_gram(&m, d);
                check_sample(&m, d);
                check_sweep(&m, d);
                device_cpu.destroy(d);
                mix_destroy(&m);
            }
}

/* ---- threads --------------------------------------------------------------- */

typedef struct mix_answers {
    double *all;
    size_t size;
} mix_answers;

static mix_answers mix_results(mix *m, int64_t threads)
{
    device *d = mix_load(m, threads, 1);
    const int64_t n = m->n, count = m->count, square = count * count;
    mix_answers a = {.size = (size_t)(5 * n + 6 * count + square) * sizeof(double)};
    double *at = a.all = calloc(1, a.size);
    device_cpu.products->descend(d, m->columns, count, m->r, at, at + count);
    at += count + n;
    device_cpu.products->inner(d, m->columns, count, m->r, at);
    device_cpu.products->add(d, m->columns, count, m->weight, at + count);
    device_cpu.products->add_squares(d, m->columns, count, m->weight, at + count + n);
    at += count + 2 * n;
    sweep_record w = {at, at + count, at + 2 * count, at + 3 * count, 0};
    at += 4 * count;
    memcpy(at, m->r, (size_t)n * sizeof *at);
    device_sweep how = {
        .weight = m->w, .r = at, .variance = at + n, .update = sweep_step, .user = &w};
    device_cpu.products->sweep(d, m->columns, count, &how);
    device_cpu.products->gram(d, m->columns, count, m->w, at + 2 * n);
    device_cpu.destroy(d);
    return a;
}

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    mix m = mix_create(60001, 60, 0, 9); /* enough values for threads to be used */
    (void)state;
    mix_answers one = mix_results(&m, 1);
    for (int64_t threads = 2; threads <= 7; threads += 5) {
        mix_answers many = mix_results(&m, threads);
        assert_memory_equal(one.all, many.all, one.size);
        free(many.all);
    }
    free(one.all);
    mix_destroy(&m);
}

/* ---- survey ----------------------------------------------------------------- */

static void assert_near(double got, double wanted)
{
    assert_close(got, wanted, 1e-13 * (fabs(wanted) + 1));
}

static void check_facts(int64_t n, int centred, int weighted, uint64_t seed)
{
    mix m = mix_create(n, 21, 2, seed);
    device_facts dense[21], sparse[21];
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
        m.w[i] = weighted ? m.w[i] : m.w[i] > 0;
        total += m.w[i];
        m.x[2 * n + i] = m.w[i] > 1e-6 ? 7 : 0; /* constant where it matters */
        m.x[9 * n + i] = m.w[i] > 1e-6 ? 0 : 3;
    }
    for (int kind = 0; kind < 2; kind++) {
        roofs_error err;
        device *d = NULL;
        survey_options how = {.weight = m.w, .total = total, .centred = centred, .flatness = 1};
        device_shape shape = {.n = n, .slots = 1, .batch = 21, .threads = 1};
        roofs_block all = dense_block(m.x, ROOFS_F64, 21, n);
        roofs_block block = kind ? mix_sparse_block(&m) : all;
        assert_fine(device_cpu.create(&d, &shape, &err));
        assert_fine(device_cpu.borrow(d, &block, &err));
        device_cpu.survey(d, &how, kind ? sparse : dense);
        device_cpu.destroy(d);
    }
    for (int j = 0; j < 21; j++) {
        assert_int_equal(sparse[j].not_finite, -1);
        assert_int_equal(sparse[j].constant, dense[j].constant);
        assert_true(sparse[j].largest == dense[j].largest);
        assert_near(sparse[j].mean, dense[j].mean);
        if (dense[j].constant && centred) {
            assert_close(sparse[j].scale, 0, 1e-6);
            continue;
        }
        assert_near(sparse[j].scale, dense[j].scale);
        assert_near(sparse[j].flatness, dense[j].flatness);
    }
    assert_true(sparse[2].constant && sparse[9].constant);
    mix_destroy(&m);
}

static void test_survey_agrees_with_loops(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_facts(100 + (int64_t)seed, seed % 2, seed % 3 == 0, seed);
}

static void test_values_that_are_not_finite_are_found(void **state)
{
    double values[] = {1, 2, INFINITY, 3, NAN, NAN};
    int64_t samples[] = {5, 17, 80, 99, 3, 4}, starts[] = {0, 2, 4, 4, 6};
    roofs_block b = {.count = 4, .n = 100, .values = values, .starts = starts, .samples = samples};
    device_facts facts[4];
    survey_options how = {.weight = NULL};
    device_shape shape = {.n = 100, .slots = 1, .batch = 4, .threads = 1};
    roofs_error err;
    device *d = NULL;
    (void)state;
    assert_fine(device_cpu.create(&d, &shape, &err));
    assert_fine(device_cpu.borrow(d, &b, &err));
    device_cpu.survey(d, &how, facts);
    assert_int_equal(facts[0].not_finite, -1);
    assert_true(facts[0].largest == 2 && facts[2].largest == 0);
    assert_int_equal(facts[1].not_finite, 80);
    assert_int_equal(facts[3].not_finite, 3);
    device_cpu.destroy(d);
}

/* ---- storage ---------------------------------------------------------------- */

/* Dense and sparse columns are stored and released in the same slots. Their values are right, and
 * at the end no more memory is counted than at the start. */
static void test_slots_are_reused(void **state)
{
    enum { N = 90, SLOTS = 5 };
    mix m = mix_create(N, 28, 2, 3);
    roofs_block sparse = mix_sparse_block(&m);
    roofs_block dense = dense_block(m.x, ROOFS_F64, 28, N);
    device_shape shape = {.n = N, .slots = SLOTS, .batch = 28, .threads = 1};
    int64_t held[SLOTS], most = device_cpu.bytes(&shape);
    uint64_t random = 8;
    roofs_error err;
    device *d = NULL;
    (void)state;
    memset(held, 0xff, sizeof held);
    assert_fine(device_cpu.create(&d, &shape, &err));
    for (int turn = 0; turn < 400; turn++) {
        int64_t slot = random_below(&random, SLOTS), j = random_below(&random, 28);
        assert_fine(device_cpu.borrow(d, random_below(&random, 2) ? &sparse : &dense, &err));
        if (held[slot] >= 0)
            device_cpu.release(d, slot);
        held[slot] = -1;
        if (random_below(&random, 3)) {
            assert_fine(device_cpu.keep(d, j, slot, &err));
            device_cpu.complete(d);
            held[slot] = j;
        }
        for (int64_t s = 0; s < SLOTS; s++) {
            double out[N] = {0};
            device_column one = {.place = s, .factor = 1, .unit = 1};
            if (held[s] < 0)
                continue;
            device_cpu.products->add(d, &one, 1, &(double){1}, out);
            assert_memory_equal(out, m.x + held[s] * N, sizeof out);
        }
        assert_true(device_cpu.taken(d) <= most);
    }
    device_cpu.destroy(d);
    mix_destroy(&m);
}

static void test_memory_follows_the_values(void **state)
{
    enum { N = 100000, COUNT = 50 };
    double *values = calloc(COUNT * 100, sizeof *values);
    int32_t *samples = calloc(COUNT * 100, sizeof *samples), starts[COUNT + 1];
    for (int k = 0; k < COUNT * 100; k++) {
        values[k] = k + 1;
        samples[k] = k % 100 * 1000;
    }
    for (int j = 0; j <= COUNT; j++)
        starts[j] = 100 * j;
    roofs_block b = {.count = COUNT,
                     .n = N,
                     .values = values,
                     .starts = starts,
                     .samples = samples,
                     .index = ROOFS_I32};
    device_shape shape = {.n = N, .slots = COUNT, .batch = COUNT, .threads = 1};
    roofs_error err;
    device *d = NULL;
    (void)state;
    assert_fine(device_cpu.create(&d, &shape, &err));
    assert_fine(device_cpu.borrow(d, &b, &err));
    int64_t before = device_cpu.taken(d);
    for (int j = 0; j < COUNT; j++)
        assert_fine(device_cpu.keep(d, j, j, &err));
    assert_in_range(device_cpu.taken(d) - before, COUNT * 100 * 12, COUNT * (100 * 12 + 200));
    for (int j = 0; j < COUNT; j++)
        device_cpu.release(d, j);
    assert_int_equal(device_cpu.taken(d), before);
    device_cpu.destroy(d);
    shape.limit = before + COUNT * 100 * 6; /* half of them */
    assert_fine(device_cpu.create(&d, &shape, &err));
    assert_fine(device_cpu.borrow(d, &b, &err));
    roofs_status status = ROOFS_OK;
    for (int j = 0; j < COUNT && status == ROOFS_OK; j++)
        status = device_cpu.keep(d, j, j, &err);
    assert_int_equal(status, ROOFS_OVER_LIMIT);
    device_cpu.destroy(d);
    free(values);
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_agree_with_loops),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_survey_agrees_with_loops),
        cmocka_unit_test(test_values_that_are_not_finite_are_found),
        cmocka_unit_test(test_slots_are_reused),
        cmocka_unit_test(test_memory_follows_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
