/* Features in 8 and 2 bits through the whole library: every method finds the bits that it finds on
 * the same values in 64 bits, for any mixture of types, number of threads and checkpoint. */
#include "test_api_stream.h"

#include "base/block.h"

enum { N = 1003, P = 96, BYTES = (N + 3) / 4, BLOCK = 16 };

typedef struct data {
    double x[P][N], y[N], levels[P][4];
    unsigned char codes[P][BYTES + 3]; /* each feature has bytes between it and the next */
    signed char small[P][N];
    unsigned char large[N][P]; /* one sample after the other */
    roofs_settings set;
} data;

/* As in the files of PLINK; the level of a missing value is different in each feature. */
static void make_feature(data *d, int j, int has_missing, uint64_t *random)
{
    const double levels[4] = {2, 0.3 + 0.001 * j, 1, 0};
    const int64_t common = 20 + random_below(random, 60);
    memcpy(d->levels[j], levels, sizeof levels);
    memset(d->codes[j], 0, sizeof d->codes[j]);
    for (int i = 0; i < N; i++) {
        const int alleles =
            (random_below(random, 100) < common) + (random_below(random, 100) < common);
        const int is_missing = has_missing && random_below(random, 20) == 0;
        const int code = is_missing ? 1 : alleles == 2 ? 0 : alleles == 1 ? 2 : 3;
        d->codes[j][i / 4] |= (unsigned char)(code << i % 4 * 2);
        d->x[j][i] = levels[code];
        d->small[j][i] = (signed char)alleles;
        d->large[i][j] = (unsigned char)alleles;
    }
}

static void make_data(data *d, uint64_t seed, int has_missing)
{
    uint64_t random = seed * 7919 + 3;
    memset(d, 0, sizeof *d);
    for (int j = 0; j < P; j++)
        make_feature(d, j, has_missing, &random);
    for (int i = 0; i < N; i++)
        d->y[i] = 2 * d->x[3][i] - 3 * d->x[10][i] + d->x[31][i] + 2 * d->x[59][i] - d->x[80][i] +
                  1 + 0.3 * random_bell(&random) + (i % 7 == 3 ? 30 * random_bell(&random) : 0);
    roofs_settings_init(&d->set);
    d->set.mu = 12;
    d->set.batch = 15;
    d->set.passes = 1;
    d->set.threads = 1;
}

typedef enum packing { WIDE, CODES, SMALL, LARGE } packing;

static roofs_block slice(const data *d, packing how, int64_t first, int64_t count)
{
    roofs_block b = dense_block(d->x[first], ROOFS_F64, count, N);
    b.struct_size = sizeof b;
    if (how == CODES) {
        b.dtype = ROOFS_2BIT;
        b.values = d->codes[first];
        b.feature_stride = sizeof d->codes[0];
        b.levels = d->levels[first];
    } else if (how == SMALL) {
        b.dtype = ROOFS_I8;
        b.values = d->small[first];
    } else if (how == LARGE) {
        b.dtype = ROOFS_U8;
        b.values = &d->large[0][first];
        b.feature_stride = 1;
        b.sample_stride = P;
    }
    return b;
}

/* Kinds by turns, one per block. */
typedef struct mixture {
    int turns;
    packing kinds[5];
} mixture;

static const mixture wide = {1, {WIDE}}, codes = {1, {CODES}};

static roofs_estimator *open_data(const data *d)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    assert_fine(roofs_create(&e, &d->set, d->y, N, &err));
    return e;
}

static void consume(const data *d, roofs_estimator *e, const mixture *m, int64_t first)
{
    roofs_error err;
    roofs_block b = slice(d, m->kinds[first / BLOCK % m->turns], first, BLOCK);
    assert_fine(roofs_consume(e, &b, &err));
}

static roofs_estimator *fit(const data *d, const mixture *m)
{
    roofs_error err;
    roofs_estimator *e = open_data(d);
    for (int64_t pass = 1; pass == 1 || roofs_wants_pass(e); pass++) {
        if (pass > 1)
            assert_fine(roofs_next_pass(e, &err));
        for (int64_t first = 0; first < P; first += BLOCK)
            consume(d, e, m, first);
    }
    assert_fine(roofs_finish(e, &err));
    return e;
}

static void compare(data *d, const mixture *m, int64_t threads)
{
    d->set.threads = 1;
    roofs_estimator *one = fit(d, &wide);
    d->set.threads = threads;
    roofs_estimator *other = fit(d, m);
    assert_true(view_of(one).selected > 0);
    assert_same_fits(one, other);
    roofs_destroy(one);
    roofs_destroy(other);
}

static void set_method(data *d, const char *name)
{
    d->set.method = name;
    d->set.clean_ratio = strcmp(name, "torrent") == 0 ? 0.8 : 0;
}

/* ---- the same bits ------------------------------------------------------ */

static void test_every_method_gives_the_bits_of_wide_values(void **state)
{
    static const mixture kinds[] = {{1, {CODES}}, {1, {SMALL}}, {1, {LARGE}}};
    static data d;
    (void)state;
    make_data(&d, 1, 0);
    for (int64_t k = 0; roofs_method_name(k); k++) {
        set_method(&d, roofs_method_name(k));
        for (int how = 0; how < 3; how++)
            compare(&d, &kinds[how], 1 + how);
    }
}

static void test_missing_values_have_their_level(void **state)
{
    static data d;
    (void)state;
    make_data(&d, 2, 1);
    for (int64_t k = 0; roofs_method_name(k); k++) {
        set_method(&d, roofs_method_name(k));
        compare(&d, &codes, 2);
    }
}

static void test_types_may_change_from_block_to_block(void **state)
{
    static const mixture mixed = {5, {WIDE, CODES, SMALL, CODES, LARGE}};
    static const mixture packed_first = {3, {LARGE, WIDE, CODES}};
    static data d;
    (void)state;
    make_data(&d, 3, 0);
    for (int64_t k = 0; roofs_method_name(k); k++) {
        set_method(&d, roofs_method_name(k));
        compare(&d, &mixed, 3);
        compare(&d, &packed_first, 2);
    }
}

static void test_options_do_not_change_this(void **state)
{
    static const mixture mixed = {3, {CODES, SMALL, WIDE}};
    static data d;
    (void)state;
    make_data(&d, 4, 0);
    for (int64_t k = 0; k < 8; k++) {
        set_method(&d, k % 2 ? "roofs" : "roofs-bayes");
        d.set.standardize = k & 1;
        d.set.intercept = k >> 1 & 1;
        d.set.passes = 1 + k % 3;
        d.set.reserve = k == 4 ? 0.5 : 0;
        d.set.hypotheses = k == 6 ? 2 : 1;
        compare(&d, &mixed, 2);
    }
}

static void test_threads_do_not_change_the_bits(void **state)
{
    static const int64_t threads[] = {1, 2, 3, 7};
    static data d;
    (void)state;
    make_data(&d, 5, 1);
    for (int k = 0; k < 8; k++) {
        set_method(&d, k % 2 ? "roofs" : "roofs-bayes");
        compare(&d, &codes, threads[k / 2]);
    }
}

static void test_storage_can_be_chosen(void **state)
{
    static data d;
    (void)state;
    make_data(&d, 6, 0);
    for (int k = 0; k < 2; k++) {
        d.set.storage = k ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
        compare(&d, &codes, 1);
    }
}

/* ---- checkpoints -------------------------------------------------------- */

static void test_fits_can_be_saved_and_continued(void **state)
{
    static const mixture mixed = {4, {CODES, SMALL, LARGE, WIDE}};
    static data d;
    static store file;
    roofs_error err;
    (void)state;
    make_data(&d, 7, 0);
    for (int64_t k = 0; roofs_method_name(k); k++) {
        set_method(&d, roofs_method_name(k));
        roofs_estimator *whole = fit(&d, &wide), *e = open_data(&d);
        for (int64_t first = 0; first < P; first += BLOCK) {
            consume(&d, e, &mixed, first);
            store_save(&file, e);
            roofs_destroy(e);
            assert_fine(store_load(&file, NULL, &e, &err));
        }
        assert_fine(roofs_finish(e, &err));
        assert_same_fits(whole, e);
        roofs_destroy(whole);
        roofs_destroy(e);
    }
}

/* ---- predictions -------------------------------------------------------- */

static void test_predictions_have_the_bits_of_wide_values(void **state)
{
    static data d;
    static double all[N], each[N], low[N], high[N], other_low[N], other_high[N];
    roofs_error err;
    (void)state;
    make_data(&d, 8, 0);
    set_method(&d, "roofs-bayes");
    roofs_estimator *e = fit(&d, &codes);
    roofs_model *m = model_of(e);
    roofs_block b = slice(&d, WIDE, 0, P);
    assert_fine(roofs_predict(m, &b, all, &err));
    assert_fine(roofs_predict_interval(m, &b, 0, 0.9, NULL, low, high, &err));
    for (packing how = CODES; how <= LARGE; how++) {
        b = slice(&d, how, 0, P);
        assert_fine(roofs_predict(m, &b, each, &err));
        assert_same_doubles(all, each, N);
        assert_fine(roofs_predict_interval(m, &b, 0, 0.9, NULL, other_low, other_high, &err));
        assert_same_doubles(low, other_low, N);
        assert_same_doubles(high, other_high, N);
    }
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* ---- what is refused ---------------------------------------------------- */

static void refuse(const data *d, const roofs_block *b, const char *word, const char *other)
{
    roofs_error err;
    roofs_estimator *e = open_data(d);
    assert_refused(roofs_consume(e, b, &err), ROOFS_BAD_DATA, word, other);
    roofs_destroy(e);
}

static void test_bad_blocks_are_refused(void **state)
{
    static data d;
    const int64_t starts[2] = {0, 1};
    (void)state;
    make_data(&d, 9, 0);
    const roofs_block good = slice(&d, CODES, 0, P);
    roofs_block b = good;
    b.levels = NULL;
    refuse(&d, &b, "levels", "struct_size");
    b = good;
    b.struct_size = 0; /* older programs have no levels */
    refuse(&d, &b, "levels", "struct_size");
    b = good;
    b.sample_stride = 2;
    refuse(&d, &b, "sample_stride 2", "must be 1");
    b = good;
    b.feature_stride = BYTES - 1;
    refuse(&d, &b, "feature_stride 250", "251 bytes");
    b = good;
    b.starts = starts;
    refuse(&d, &b, "sparse", "ROOFS_2BIT");
    b = slice(&d, SMALL, 0, P);
    b.levels = d.levels[0];
    refuse(&d, &b, "levels", "NULL");
    b = good;
    b.dtype = (roofs_dtype)5;
    refuse(&d, &b, "unknown type 5", "ROOFS_2BIT");
    d.levels[7][1] = NAN;
    refuse(&d, &good, "levels[29]", "mean");
    d.levels[7][1] = 1;
    b = good;
    b.values = NULL;
    refuse(&d, &b, "without values", "96");
}

static void test_sparse_bytes_are_fitted(void **state)
{
    static data d;
    static signed char values[P * N];
    static int32_t samples[P * N], starts[P + 1];
    roofs_error err;
    int32_t at = 0;
    (void)state;
    make_data(&d, 10, 0);
    for (int j = 0; j < P; j++) {
        starts[j] = at;
        for (int i = 0; i < N; i++)
            if (d.small[j][i] != 0) {
                values[at] = d.small[j][i];
                samples[at++] = i;
            }
    }
    starts[P] = at;
    roofs_block b = {.count = P, .n = N, .dtype = ROOFS_I8, .values = values, .index = ROOFS_I32};
    b.starts = starts;
    b.samples = samples;
    d.set.batch = BLOCK;
    roofs_estimator *dense = fit(&d, &wide), *e = open_data(&d);
    assert_fine(roofs_consume(e, &b, &err));
    assert_fine(roofs_finish(e, &err));
    const roofs_result left = view_of(dense), right = view_of(e);
    assert_int_equal(left.selected, right.selected);
    for (int64_t k = 0; k < left.selected; k++)
        assert_close(left.features[k].coef, right.features[k].coef, 1e-9);
    roofs_destroy(dense);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_method_gives_the_bits_of_wide_values),
        cmocka_unit_test(test_missing_values_have_their_level),
        cmocka_unit_test(test_types_may_change_from_block_to_block),
        cmocka_unit_test(test_options_do_not_change_this),
        cmocka_unit_test(test_threads_do_not_change_the_bits),
        cmocka_unit_test(test_storage_can_be_chosen),
        cmocka_unit_test(test_fits_can_be_saved_and_continued),
        cmocka_unit_test(test_predictions_have_the_bits_of_wide_values),
        cmocka_unit_test(test_bad_blocks_are_refused),
        cmocka_unit_test(test_sparse_bytes_are_fitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
