/* The storage of a device (the CPU, or the one named), the CPU's products and the vector sums,
 * against plain loops and on other numbers of threads. */
#include "test_base_help.h"
#include "test_linalg_tested.h"

#include "linalg/device.h"
#include "linalg/vector.h"

#include <float.h>

/* A refused size is a refused size, also where the sanitizer would rather stop. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- vectors ---------------------------------------------------------------- */

static void test_sums_are_right(void **state)
{
    static double x[5000], y[5000];
    uint64_t random = 2;
    (void)state;
    for (int64_t i = 0; i < 5000; i++) {
        x[i] = random_bell(&random);
        y[i] = random_bell(&random);
    }
    for (int64_t n = 0; n <= 5000; n += n < 70 ? 1 : 493) {
        long double sum = 0, dot = 0, squares = 0, size = 0;
        double largest = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += x[i];
            dot += (long double)x[i] * y[i];
            squares += (long double)x[i] * x[i];
            size += fabsl(x[i]) + fabsl((long double)x[i] * y[i]);
            largest = fmax(largest, fabs(x[i]));
        }
        double allowed = 1e-14 * (double)size;
        assert_close(vector_sum(x, n), (double)sum, allowed);
        assert_close(vector_dot(x, y, n), (double)dot, allowed);
        assert_close(vector_norm(x, n), (double)sqrtl(squares), allowed);
        assert_true(vector_largest(x, n) == largest);
    }
}

static void test_norm_of_extreme_vectors_is_right(void **state)
{
    static const double sizes[] = {1e300, -1e300, 1e-300, 1e-310, DBL_TRUE_MIN, 1e155, 1e-160, 1};
    double x[37] = {0};
    (void)state;
    assert_true(vector_norm(x, 37) == 0);
    assert_true(vector_norm(x, 0) == 0);
    for (int k = 0; k < 8; k++)
        for (int64_t n = 1; n <= 37; n++) {
            for (int64_t i = 0; i < n; i++)
                x[i] = sizes[k];
            double wanted = (double)(fabsl(sizes[k]) * sqrtl((long double)n));
            assert_close(vector_norm(x, n), wanted, 1e-14 * wanted + DBL_TRUE_MIN);
        }
    x[0] = 3e300, x[1] = -4e300, x[2] = 1e-300;
    assert_close(vector_norm(x, 3), 5e300, 1e286);
    x[0] = 3e-300, x[1] = 0, x[2] = 4e-300;
    assert_close(vector_norm(x, 3), 5e-300, 1e-314);
}

/* ---- the device ------------------------------------------------------------- */

typedef struct setup {
    int64_t n, count;
    roofs_dtype dtype;
    double *wide; /* count columns, in slots and borrowed by turns */
    float *narrow;
    device_column *columns;
    double *r, *weight;
} setup;

static setup make(int64_t n, int64_t count, roofs_dtype dtype, uint64_t *random)
{
    setup s = {.n = n, .count = count, .dtype = dtype};
    s.wide = calloc((size_t)(n * (count + 1)), sizeof *s.wide);
    s.narrow = calloc((size_t)(n * (count + 1)), sizeof *s.narrow);
    s.columns = calloc((size_t)count + 1, sizeof *s.columns);
    s.r = calloc((size_t)n, sizeof *s.r);
    s.weight = calloc((size_t)count + 1, sizeof *s.weight);
    for (int64_t i = 0; i < n * count; i++) {
        s.narrow[i] = (float)random_bell(random);
        s.wide[i] = dtype == ROOFS_F32 ? (double)s.narrow[i] : random_bell(random);
    }
    for (int64_t i = 0; i < n; i++)
        s.r[i] = random_below(random, 4) ? random_bell(random) : 0;
    for (int64_t j = 0; j < count; j++) {
        s.weight[j] = random_bell(random);
        s.columns[j] = (device_column){.place = j % 2 ? -1 - j : j,
                                       .center = random_bell(random),
                                       .factor = exp(random_signed(random)),
                                       .unit = j % 3 ? 1 : 0.25};
    }
    return s;
}

static void drop(setup *s)
{
    free(s->wide);
    free(s->narrow);
    free(s->columns);
    free(s->r);
    free(s->weight);
}

/* Even columns stand in slots, odd ones are borrowed. */
static device *load(const setup *s, int64_t threads)
{
    device_shape shape = {
        .n = s->n, .slots = s->count, .batch = s->count, .dtype = s->dtype, .threads = threads};
    roofs_block block = dense_block(s->dtype == ROOFS_F32 ? (void *)s->narrow : (void *)s->wide,
                                    s->dtype, s->count, s->n);
    roofs_error err;
    device *d = NULL;
    assert_fine(tested->create(&d, &shape, &err));
    assert_fine(tested->borrow(d, &block, &err));
    for (int64_t j = 0; j < s->count; j += 2)
        assert_fine(tested->keep(d, j, j, &err));
    if (tested->complete)
        tested->complete(d);
    return d;
}

static void survey_all(device *d, const double *trusted, int64_t count, device_facts *facts)
{
    survey_options how = {.weight = trusted, .total = (double)count, .centred = 1};
    tested->survey(d, &how, facts);
}

static long double z_of(const setup *s, int64_t j, int64_t i)
{
    const device_column *c = &s->columns[j];
    return ((long double)s->wide[j * s->n + i] - c->center) * c->factor;
}

/* Products with r (as a vector and as weights), and single samples. */
static void assert_plain_products(const setup *s, device *d)
{
    double *out = calloc((size_t)s->count + 1, sizeof *out);
    double *gram = calloc((size_t)(s->count * s->count + 1), sizeof *gram);
    tested->products->inner(d, s->columns, s->count, s->r, out);
    tested->products->gram(d, s->columns, s->count, s->r, gram);
    for (int64_t j = 0; j < s->count; j++) {
        long double product = 0, size = 1;
        for (int64_t i = 0; i < s->n; i++) {
            product += z_of(s, j, i) * s->r[i];
            size += (fabsl(z_of(s, j, i)) + 3) * fabsl(s->r[i]);
        }
        assert_close(out[j], (double)product, 1e-12 * (double)size);
        for (int64_t k = 0; k < s->count; k += 1 + s->count / 9) {
            product = 0, size = 1;
            for (int64_t i = 0; i < s->n; i++) {
                product += z_of(s, j, i) * s->r[i] * z_of(s, k, i);
                size += fabsl(z_of(s, j, i) * s->r[i] * z_of(s, k, i));
            }
            assert_close(gram[j * s->count + k], (double)product, 1e-12 * (double)size);
        }
    }
    tested->products->sample(d, s->columns, s->count, s->n / 2, out);
    for (int64_t j = 0; j < s->count; j++)
        assert_close(out[j], (double)z_of(s, j, s->n / 2), 1e-14 * (fabs(out[j]) + 20));
    free(out);
    free(gram);
}

static void assert_products(const setup *s)
{
    device *d = load(s, 1);
    double *gradient = calloc((size_t)s->count + 1, sizeof *gradient);
    double *image = malloc((size_t)s->n * sizeof *image);
    double *sum = malloc((size_t)s->n * sizeof *sum);
    for (int64_t i = 0; i < s->n; i++) {
        image[i] = NAN; /* overwritten */
        sum[i] = (double)i;
    }
    tested->products->descend(d, s->columns, s->count, s->r, gradient, image);
    tested->products->add(d, s->columns, s->count, s->weight, sum);
    assert_plain_products(s, d);
    for (int64_t j = 0; j < s->count; j++) {
        long double slope = 0, size = 0;
        for (int64_t i = 0; i < s->n; i++) {
            slope += z_of(s, j, i) * s->r[i] * s->columns[j].unit;
            size += fabsl(z_of(s, j, i) * s->r[i]);
        }
        assert_close(gradient[j], (double)slope, 1e-12 * (double)(size + 1));
    }
    for (int64_t i = 0; i < s->n; i++) {
        long double moved = 0, added = i, size = i + 1;
        for (int64_t j = 0; j < s->count; j++) {
            moved += gradient[j] * s->columns[j].unit * z_of(s, j, i);
            added += s->weight[j] * z_of(s, j, i);
            size += (fabsl(gradient[j]) + fabsl(s->weight[j])) * (fabsl(z_of(s, j, i)) + 3);
        }
        assert_close(image[i], (double)moved, 1e-12 * (double)size);
        assert_close(sum[i], (double)added, 1e-12 * (double)size);
    }
    free(gradient);
    free(image);
    free(sum);
    tested->destroy(d);
}

static void test_products_agree_with_loops(void **state)
{
    uint64_t random = 6;
    (void)state;
    if (!tested->products)
        skip();
    for (int dtype = ROOFS_F64; dtype <= ROOFS_F32; dtype++) {
        for (int64_t n = 1; n <= 70; n++)
            for (int64_t count = n % 3; count <= 40; count += 1 + n % 4) {
                setup s = make(n, count, (roofs_dtype)dtype, &random);
                assert_products(&s);
                drop(&s);
            }
        setup s = make(5000, 75, (roofs_dtype)dtype, &random); /* more groups than partial images */
        assert_products(&s);
        drop(&s);
    }
}

/* Above the size where threads are used; the columns in both kinds of place. */
static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    static const int64_t threads[] = {1, 2, 3, 7};
    enum { N = 5003, COUNT = 301 };
    static double gradient[4][COUNT], image[4][N], sum[4][N];
    static double product[4][COUNT], gram[4][COUNT * COUNT];
    static device_facts facts[4][COUNT];
    uint64_t random = 8;
    (void)state;
    if (!tested->products)
        skip();
    memset(facts, 0, sizeof facts);
    for (int dtype = ROOFS_F64; dtype <= ROOFS_F32; dtype++) {
        setup s = make(N, COUNT, (roofs_dtype)dtype, &random);
        for (int t = 0; t < 4; t++) {
            device *d = load(&s, threads[t]);
            memset(sum[t], 0, sizeof sum[t]);
            tested->products->descend(d, s.columns, COUNT, s.r, gradient[t], image[t]);
            tested->products->add(d, s.columns, COUNT, s.weight, sum[t]);
            tested->products->inner(d, s.columns, COUNT, s.r, product[t]);
            tested->products->gram(d, s.columns, COUNT, s.r, gram[t]);
            survey_all(d, NULL, 0, facts[t]);
            tested->destroy(d);
            assert_same_doubles(product[t], product[0], COUNT);
            assert_same_doubles(gram[t], gram[0], (int64_t)COUNT * COUNT);
            assert_same_doubles(gradient[t], gradient[0], COUNT);
            assert_same_doubles(image[t], image[0], N);
            assert_same_doubles(sum[t], sum[0], N);
            for (int64_t k = 0; k < COUNT; k++)
                assert_true(facts[t][k].largest == facts[0][k].largest);
        }
        drop(&s);
    }
}

/* Every layout and type of a block gives the same stored columns. */
static void test_layouts_agree(void **state)
{
    enum { N = 23, COUNT = 6 };
    uint64_t random = 4;
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        roofs_dtype from = kind & 1 ? ROOFS_F32 : ROOFS_F64, to = kind & 2 ? ROOFS_F32 : ROOFS_F64;
        int64_t fs = kind & 4 ? 2 : 3 * N + 1, ss = kind & 4 ? 2 * COUNT : 3;
        double wide[3 * (N + 1) * (COUNT + 1)];
        float narrow[3 * (N + 1) * (COUNT + 1)];
        for (int i = 0; i < 3 * (N + 1) * (COUNT + 1); i++) {
            narrow[i] = (float)random_bell(&random);
            wide[i] = from == ROOFS_F32 ? (double)narrow[i] : random_bell(&random);
        }
        roofs_block block = {.count = COUNT,
                             .n = N,
                             .dtype = from,
                             .values = from == ROOFS_F32 ? (void *)narrow : (void *)wide,
                             .feature_stride = fs,
                             .sample_stride = ss};
        device_shape shape = {.n = N, .slots = COUNT, .batch = COUNT, .dtype = to, .threads = 1};
        roofs_error err;
        device *d = NULL;
        assert_fine(tested->create(&d, &shape, &err));
        assert_fine(tested->borrow(d, &block, &err));
        for (int64_t j = 0; j < COUNT; j++)
            assert_fine(tested->keep(d, j, COUNT - 1 - j, &err));
        if (tested->complete)
            tested->complete(d);
        for (int64_t j = 0; j < COUNT; j++) {
            device_values stored;
            assert_fine(tested->fetch(d, COUNT - 1 - j, &stored, &err));
            assert_int_equal(stored.dtype, to);
            assert_int_equal(stored.count, N);
            for (int64_t i = 0; i < N; i++) {
                double value = wide[j * fs + i * ss];
                if (to == ROOFS_F32)
                    assert_true(((const float *)stored.values)[i] == (float)value);
                else
                    assert_true(((const double *)stored.values)[i] == value);
            }
        }
        tested->destroy(d);
    }
}

/* A column that is put into a slot is fetched again, and frees the slot for another one. */
static void test_fetched_columns_are_those_that_were_put(void **state)
{
    enum { N = 37, SLOTS = 3 };
    const device_shape shape = {.n = N, .slots = SLOTS, .batch = 1, .threads = 1};
    const int32_t samples[] = {0, 5, 36};
    const double few[] = {1.5, -2, 3};
    roofs_error err;
    device *d = NULL;
    uint64_t random = 9;
    (void)state;
    assert_fine(tested->create(&d, &shape, &err));
    for (int round = 0; round < 2; round++)
        for (int64_t slot = 0; slot < SLOTS; slot++) {
            double x[N], got[N] = {0};
            for (int64_t i = 0; i < N; i++)
                x[i] = random_bell(&random);
            device_values column = {.dtype = ROOFS_F64, .count = N, .values = x}, stored;
            if (slot == 1) {
                column = (device_values){ROOFS_F64, 3, few, samples, NULL};
                memset(x, 0, sizeof x);
                x[0] = few[0], x[5] = few[1], x[36] = few[2];
            }
            if (round > 0)
                tested->release(d, slot);
            assert_fine(tested->put(d, slot, &column, &err));
            assert_fine(tested->fetch(d, slot, &stored, &err));
            for (int64_t k = 0; k < stored.count; k++)
                got[stored.samples ? stored.samples[k] : k] = ((const double *)stored.values)[k];
            assert_same_doubles(got, x, N);
        }
    tested->destroy(d);
}

static void test_survey_agrees_with_loops(void **state)
{
    enum { N = 61, COUNT = 8 };
    double x[COUNT][N], mask[N];
    device_facts facts[COUNT];
    uint64_t random = 14;
    int64_t trusted = 0;
    (void)state;
    for (int64_t i = 0; i < N; i++) {
        mask[i] = random_below(&random, 3) > 0 && i > 1;
        trusted += mask[i] != 0;
        for (int j = 0; j < COUNT; j++)
            x[j][i] = 1e9 * (j % 2) + random_bell(&random);
        x[5][i] = 0.1;                          /* constant, and no sum of it is exact */
        x[6][i] = mask[i] != 0 ? 7 : (double)i; /* constant where it matters */
    }
    x[7][40] = INFINITY;
    x[7][50] = NAN;
    roofs_block block = dense_block(x, ROOFS_F64, COUNT, N);
    device_shape shape = {.n = N, .slots = 1, .batch = COUNT, .dtype = ROOFS_F64, .threads = 2};
    roofs_error err;
    device *d = NULL;
    assert_fine(tested->create(&d, &shape, &err));
    assert_fine(tested->borrow(d, &block, &err));
    survey_all(d, mask, trusted, facts);
    for (int j = 0; j < COUNT - 1; j++) {
        long double mean = 0, squares = 0;
        double largest = 0;
        for (int64_t i = 0; i < N; i++) {
            mean += mask[i] * (long double)x[j][i] / trusted;
            largest = fmax(largest, fabs(x[j][i]));
        }
        for (int64_t i = 0; i < N; i++)
            squares += mask[i] * (x[j][i] - mean) * (x[j][i] - mean) / trusted;
        assert_int_equal(facts[j].not_finite, -1);
        assert_true(facts[j].largest == largest);
        assert_close(facts[j].mean, (double)mean, 1e-15 * largest);
        assert_close(facts[j].scale, (double)sqrtl(squares), j % 2 ? 1e-6 : 1e-14);
        assert_int_equal(facts[j].constant, j == 5 || j == 6);
    }
    assert_true(facts[5].scale == 0 && facts[6].scale == 0 && facts[5].mean == 0.1);
    assert_int_equal(facts[7].not_finite, 40);
    tested->destroy(d);
}

static void test_impossible_shapes_are_refused(void **state)
{
    roofs_error err;
    device *d = NULL;
    device_shape shape = {.n = (int64_t)1 << 40, .slots = (int64_t)1 << 40, .batch = 1};
    (void)state;
    assert_int_equal(tested->bytes(&shape), INT64_MAX);
    assert_refused(tested->create(&d, &shape, &err), ROOFS_NO_MEMORY, "features");
    assert_null(d);
    tested->destroy(NULL);
}

int main(int argc, char **argv)
{
    int missing = find_tested(argc, argv);
    if (missing)
        return missing;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_right),
        cmocka_unit_test(test_norm_of_extreme_vectors_is_right),
        cmocka_unit_test(test_products_agree_with_loops),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_layouts_agree),
        cmocka_unit_test(test_fetched_columns_are_those_that_were_put),
        cmocka_unit_test(test_survey_agrees_with_loops),
        cmocka_unit_test(test_impossible_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
