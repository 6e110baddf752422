/* Columns that arrive, leave and settle, against a plain list of them. */
#include "test_base_help.h"

#include "linalg/columns.h"

enum { N = 11, SLOTS = 12, BATCH = 9, MOST = SLOTS + BATCH };

/* Small whole numbers: every sum of them is exact, in both types. */
static double value_of(int64_t feature, int64_t sample)
{
    return (double)((feature * 37 + sample * sample * 11 + feature * sample) % 101 - 50);
}

typedef struct held {
    int64_t feature;
    double coef;
} held;

enum { NAME_SIZE = 24 };

static void name_of(int64_t feature, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "f%lld", (long long)feature);
}

static int64_t settle(columns *c)
{
    int64_t settled = -1;
    roofs_error err;
    assert_fine(columns_settle(c, &settled, &err));
    return settled;
}

/* Each column with weight 1 into a zero vector is the column itself. */
static void assert_holds(columns *c, const held *wanted, int64_t count, int named)
{
    assert_int_equal(c->count, count);
    for (int64_t j = 0; j < count; j++) {
        double x[N] = {0};
        char name[NAME_SIZE];
        assert_int_equal(c->items[j].feature, wanted[j].feature);
        assert_true(c->items[j].coef == wanted[j].coef);
        name_of(wanted[j].feature, name);
        if (named)
            assert_string_equal(c->items[j].name, name);
        else
            assert_null(c->items[j].name);
        c->ops->products->add(c->dev, &c->places[j], 1, &(double){1}, x);
        for (int64_t i = 0; i < N; i++)
            assert_true(x[i] == value_of(wanted[j].feature, i));
    }
}

typedef struct storm {
    double wide[BATCH * N * 2];
    float narrow[BATCH * N * 2];
    char names[BATCH][NAME_SIZE];
    const char *pointers[BATCH];
} storm;

/* A block in one of the layouts: features first or samples first, every value or every second. */
static roofs_block block_of(storm *s, int64_t first, int64_t count, int layout, int named)
{
    roofs_block b = {.count = count, .n = N, .dtype = layout & 1 ? ROOFS_F32 : ROOFS_F64};
    b.values = layout & 1 ? (void *)s->narrow : (void *)s->wide;
    b.sample_stride = layout & 2 ? BATCH : 1 + (layout >> 2);
    b.feature_stride = layout & 2 ? 1 : N * b.sample_stride;
    b.names = named ? s->pointers : NULL;
    for (int64_t k = 0; k < count; k++) {
        name_of(first + k, s->names[k]);
        s->pointers[k] = s->names[k];
        for (int64_t i = 0; i < N; i++) {
            int64_t at = k * b.feature_stride + i * b.sample_stride;
            s->wide[at] = value_of(first + k, i);
            s->narrow[at] = (float)value_of(first + k, i);
        }
    }
    return b;
}

/* Drops at random and checks that r takes up what the leaving columns carried. */
static int64_t drop_some(columns *c, held *list, int64_t count, int64_t most, uint64_t *random)
{
    unsigned char keep[MOST];
    double r[N], wanted[N];
    int64_t left = 0;
    for (int64_t i = 0; i < N; i++)
        r[i] = wanted[i] = (double)(random_below(random, 100));
    for (int64_t j = 0; j < count; j++) {
        keep[j] = left < most && random_below(random, 3) > 0 ? (unsigned char)(1 + j) : 0;
        if (keep[j])
            list[left++] = list[j];
        else
            for (int64_t i = 0; i < N; i++)
                wanted[i] += list[j].coef * value_of(list[j].feature, i);
    }
    columns_drop(c, keep, r, NULL);
    assert_same_doubles(r, wanted, N);
    return left;
}

static void run_storm(uint64_t seed, roofs_dtype dtype, int named)
{
    const device_shape shape = {.n = N, .slots = SLOTS, .batch = BATCH, .dtype = dtype};
    const ingest_options options = {0};
    held list[MOST];
    int64_t count = 0, seen = 0;
    uint64_t random = seed;
    roofs_error err;
    columns c;
    storm s;
    assert_fine(columns_create(&c, &device_cpu, &shape, &err));
    for (int batch = 0; batch < 40; batch++) {
        int64_t more = random_below(&random, BATCH + 1);
        roofs_block b = block_of(&s, seen, more, (int)random_below(&random, 8), named);
        assert_fine(columns_arrive(&c, &b, seen, &options, &err));
        for (int64_t k = 0; k < more; k++)
            list[count++] = (held){.feature = seen + k};
        seen += more;
        assert_holds(&c, list, count, named);
        for (int64_t j = 0; j < count; j++)
            list[j].coef = c.items[j].coef = (double)(random_below(&random, 9) - 4);
        for (int64_t most = MOST; most >= SLOTS; most -= 3) {
            count = drop_some(&c, list, count, most, &random);
            assert_holds(&c, list, count, named);
        }
        int64_t fresh = 0;
        for (int64_t j = 0; j < count; j++)
            fresh += list[j].feature >= seen - more;
        assert_int_equal(settle(&c), fresh);
        memset(&s, 0x5a, sizeof s); /* the block is gone */
        assert_holds(&c, list, count, named);
        assert_int_equal(settle(&c), 0);
    }
    columns_destroy(&c);
}

static void test_random_sequences_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        run_storm(seed * 7919, seed % 2 ? ROOFS_F64 : ROOFS_F32, seed % 3 == 0);
}

/* ---- what arrives --------------------------------------------------------------- */

typedef struct small {
    columns c;
    double x[4][N];
    double mask[N];
    roofs_block block;
    ingest_options options;
} small;

static void begin(small *s, int standardize)
{
    const device_shape shape = {.n = N, .slots = 4, .batch = 4};
    roofs_error err;
    assert_fine(columns_create(&s->c, &device_cpu, &shape, &err));
    uint64_t random = 77;
    for (int64_t i = 0; i < N; i++) {
        s->mask[i] = i % 4 != 1;
        for (int j = 0; j < 4; j++)
            s->x[j][i] = random_bell(&random);
    }
    s->block = dense_block(s->x, ROOFS_F64, 4, N);
    s->options = (ingest_options){
        .standardize = standardize, .refuse_constant = standardize, .weight = s->mask};
}

static void test_columns_are_standardised_on_trusted_samples(void **state)
{
    small s;
    roofs_error err;
    (void)state;
    begin(&s, 1);
    for (int64_t i = 0; i < N; i++)
        s.x[1][i] += 1e6, s.x[2][i] *= 1e-6;
    assert_fine(columns_arrive(&s.c, &s.block, 0, &s.options, &err));
    for (int64_t j = 0; j < 4; j++) {
        double z[N] = {0}, mean = 0, squares = 0;
        s.c.ops->products->add(s.c.dev, &s.c.places[j], 1, &(double){1}, z);
        for (int64_t i = 0; i < N; i++) {
            mean += s.mask[i] * z[i] / 8;
            squares += s.mask[i] * z[i] * z[i] / 8;
        }
        assert_close(mean, 0, 1e-9);
        assert_close(squares, 1, 1e-9);
    }
    columns_destroy(&s.c);
}

static void test_constant_features_are_left_out_and_counted(void **state)
{
    small s;
    roofs_error err;
    (void)state;
    for (int standardize = 0; standardize < 2; standardize++) {
        begin(&s, standardize);
        for (int64_t i = 0; i < N; i++) {
            s.x[0][i] = 0.1;
            s.x[2][i] = s.mask[i] != 0 ? -3 : (double)i;
        }
        const char *const names[] = {"zero", "one", "two", "three"};
        s.block.names = names;
        assert_fine(columns_arrive(&s.c, &s.block, 10, &s.options, &err));
        assert_int_equal(s.c.constant, standardize ? 2 : 0);
        assert_int_equal(s.c.count, standardize ? 2 : 4);
        assert_int_equal(s.c.items[1].feature, standardize ? 13 : 11);
        assert_string_equal(s.c.items[1].name, standardize ? "three" : "one");
        assert_int_equal(settle(&s.c), s.c.count);
        double got[N] = {0};
        device_column plain = {.place = s.c.places[1].place, .factor = 1, .unit = 1};
        s.c.ops->products->add(s.c.dev, &plain, 1, &(double){1}, got);
        assert_same_doubles(got, s.x[standardize ? 3 : 1], N);
        columns_destroy(&s.c);
    }
}

/* Extreme columns are stored times a power of two: no bit is lost, and products are finite. */
static void test_extreme_columns_are_rescaled(void **state)
{
    static const double sizes[] = {1e300, 1e-300, 1, 1e-310};
    small s;
    roofs_error err;
    (void)state;
    for (int standardize = 0; standardize < 2; standardize++) {
        double before[4][N];
        begin(&s, standardize);
        for (int j = 0; j < 4; j++)
            for (int64_t i = 0; i < N; i++)
                s.x[j][i] *= sizes[j];
        memcpy(before, s.x, sizeof before);
        assert_fine(columns_arrive(&s.c, &s.block, 0, &s.options, &err));
        assert_same_doubles(s.x[0], before[0], 4 * N); /* the caller's values are left alone */
        assert_int_equal(s.c.count, 4);
        assert_int_equal(settle(&s.c), 4);
        for (int64_t j = 0; j < 4; j++) {
            double got[N] = {0};
            device_column plain = {.place = s.c.places[j].place, .factor = 1, .unit = 1};
            s.c.ops->products->add(s.c.dev, &plain, 1, &(double){1}, got);
            assert_true((s.c.items[j].exponent == 0) == (j == 2));
            for (int64_t i = 0; i < N; i++) {
                assert_true(fabs(got[i]) < 4);
                assert_true(ldexp(got[i], s.c.items[j].exponent) == before[j][i]);
            }
            assert_true(isfinite(s.c.places[j].factor) && isfinite(s.c.places[j].center));
            double unit = ldexp(1, s.c.items[j].exponent - s.c.items[0].exponent);
            assert_true(s.c.places[j].unit == (standardize ? 1 : unit));
        }
        assert_int_equal(s.c.unit_exponent, standardize ? 0 : s.c.items[0].exponent);
        columns_destroy(&s.c);
    }
}

static void test_values_that_are_not_finite_are_named(void **state)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY};
    static const char *const names[] = {"ant", "bee", "cow", "dog"};
    small s;
    roofs_error err;
    (void)state;
    for (int k = 0; k < 3; k++) {
        begin(&s, k % 2);
        s.x[2][7] = wild[k];
        s.x[3][0] = NAN;
        assert_refused(columns_arrive(&s.c, &s.block, 100, &s.options, &err), ROOFS_BAD_DATA,
                       "feature 102:", "sample 7 ");
        assert_int_equal(err.feature, 102);
        s.block.names = names;
        assert_refused(columns_arrive(&s.c, &s.block, 0, &s.options, &err), ROOFS_BAD_DATA,
                       "feature 2 (cow)", "sample 7 ");
        assert_int_equal(columns_arrive(&s.c, &s.block, 0, &s.options, NULL), ROOFS_BAD_DATA);
        columns_destroy(&s.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sequences_agree),
        cmocka_unit_test(test_columns_are_standardised_on_trusted_samples),
        cmocka_unit_test(test_constant_features_are_left_out_and_counted),
        cmocka_unit_test(test_extreme_columns_are_rescaled),
        cmocka_unit_test(test_values_that_are_not_finite_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
