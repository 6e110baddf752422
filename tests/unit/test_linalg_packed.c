/* Columns in 8 and 2 bits: every kernel and every product has the bits of the same values in 64
 * bits. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/lanes.h"

#include "test_base_help.h"

enum { COUNT = 23, MOST = 5003, BYTES = (MOST + 3) / 4 };

static const int64_t sizes[] = {1, 2, 7, 8, 9, 28, 29, 31, 32, 33, 63, 65, 127, 130, 1003, MOST};
enum { SIZES = (int)(sizeof sizes / sizeof *sizes) };

typedef struct columns_case {
    int64_t n;
    double x[COUNT][MOST], level[COUNT][4], w[MOST], r[MOST];
    unsigned char *codes[COUNT]; /* of n samples; memory tools see a read beyond them */
    signed char small[COUNT][MOST];
    unsigned char large[COUNT][MOST];
} columns_case;

static columns_case c;

/* Values of 8 bits only if the levels are whole numbers. */
static void fill_case(int64_t n, int whole)
{
    uint64_t seed = 11 + (uint64_t)n;
    c.n = n;
    for (int j = 0; j < COUNT; j++) {
        free(c.codes[j]);
        c.codes[j] = calloc((size_t)(n + 3) / 4, 1);
        for (int k = 0; k < 4; k++)
            c.level[j][k] = whole ? (double)random_below(&seed, 100) : 3 * random_signed(&seed);
        for (int64_t i = 0; i < n; i++) {
            const int code = (int)random_below(&seed, 4);
            c.codes[j][i / 4] |= (unsigned char)(code << i % 4 * 2);
            c.x[j][i] = c.level[j][code];
            c.small[j][i] = (signed char)c.x[j][i];
            c.large[j][i] = (unsigned char)c.x[j][i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        c.w[i] = i % 7 == 0 ? 0 : random_unit(&seed);
        c.r[i] = random_signed(&seed);
    }
}

static void free_case(void)
{
    for (int j = 0; j < COUNT; j++) {
        free(c.codes[j]);
        c.codes[j] = NULL;
    }
}

/* ---- kernels ------------------------------------------------------------ */

/* A block of columns first.. whose types are those of `dtype`, by turns. */
static sweep_block columns_block(const kernels *k, int first, const roofs_dtype *dtype, int turns,
                                 column_codes codes[DEVICE_BLOCK])
{
    const int64_t bytes = (c.n + 3) / 4, rest = bytes < CODES_WORD ? bytes : CODES_WORD;
    sweep_block b = {.count = DEVICE_BLOCK, .k = k};
    for (int q = 0; q < DEVICE_BLOCK; q++) {
        b.dtype[q] = dtype[q % turns];
        b.x[q] = b.dtype[q] == ROOFS_2BIT ? (const void *)c.codes[first + q]
                 : b.dtype[q] == ROOFS_I8 ? (const void *)c.small[first + q]
                 : b.dtype[q] == ROOFS_U8 ? (const void *)c.large[first + q]
                                          : c.x[first + q];
        codes[q] = (column_codes){.last = {0}};
        memcpy(codes[q].level, c.level[first + q], sizeof codes[q].level);
        memcpy(codes[q].last, c.codes[first + q] + bytes - rest, (size_t)rest);
        b.codes[q] = &codes[q];
        b.center[q] = 0.3 * q - 0.1;
        b.factor[q] = 1.5 - 0.2 * q;
        b.delta[q] = 0.7 - 0.3 * q;
        b.spread[q] = 0.1 + 0.3 * q;
    }
    b.last_at = bytes - rest;
    b.whole = bytes < CODES_WORD ? 0 : 4 * b.last_at + 1;
    return b;
}

/* What all kernels compute of two blocks. */
typedef struct outputs {
    double dots[PIECES_MOST * 40 * DEVICE_BLOCK], added[MOST], r[MOST], variance[MOST];
    double slope[SLOPES], gram[PRODUCTS], slope_alone[SLOPES], gram_alone[PRODUCTS];
    double cross[DEVICE_BLOCK][DEVICE_BLOCK];
    device_facts facts;
} outputs;

static void run_kernels(const sweep_block *b, const sweep_block *other, int64_t begin, outputs *out)
{
    const int64_t rows = c.n - begin;
    const kernels *k = b->k;
    const survey_options how = {.weight = c.w, .total = 5, .centred = 1, .flatness = 1};
    memset(out, 0, sizeof *out);
    k->dots(b, begin, rows, c.r + begin, other, begin, 128, out->dots, DEVICE_BLOCK);
    k->accumulate(b, begin, rows, b->delta, out->added + begin);
    k->survey(b, &how, c.n, &out->facts);
    k->sum_block(b, begin, rows, c.w + begin, c.r + begin, other, begin, out->slope, out->gram);
    k->sum_slopes(b, begin, rows, c.w + begin, c.r + begin, out->slope_alone);
    k->sum_gram(b, begin, rows, c.w + begin, other, begin, out->gram_alone);
    k->apply_block(b, begin, rows, out->r + begin, out->variance + begin);
    k->cross(b, other, c.n, c.w, out->cross);
}

static void compare_kernels(const kernels *k, const roofs_dtype *dtype, int turns)
{
    static const roofs_dtype wide = ROOFS_F64;
    static outputs wanted, got;
    for (int64_t begin = 0; begin < c.n; begin = begin * 3 + 8) {
        column_codes codes[2][DEVICE_BLOCK];
        const sweep_block plain = columns_block(&kernels_f64, 0, &wide, 1, codes[0]);
        const sweep_block plain_other = columns_block(&kernels_f64, 7, &wide, 1, codes[1]);
        run_kernels(&plain, &plain_other, begin, &wanted);
        const sweep_block b = columns_block(k, 0, dtype, turns, codes[0]);
        const sweep_block other = columns_block(k, 7, dtype, turns, codes[1]);
        run_kernels(&b, &other, begin, &got);
        assert_memory_equal(&wanted, &got, sizeof wanted);
    }
}

static void test_kernels_have_the_bits_of_wide_values(void **state)
{
    static const roofs_dtype codes[] = {ROOFS_2BIT}, mixed[] = {ROOFS_2BIT, ROOFS_F64};
    static const roofs_dtype small[] = {ROOFS_I8}, large[] = {ROOFS_U8};
    static const roofs_dtype all[] = {ROOFS_U8, ROOFS_2BIT, ROOFS_I8, ROOFS_F64};
    (void)state;
    for (int k = 0; k < SIZES; k++)
        for (int whole = 0; whole < 2; whole++) {
            fill_case(sizes[k], whole);
            compare_kernels(&kernels_2bit, codes, 1);
            if (HAS_INSTRUCTIONS("avx512f"))
                compare_kernels(&kernels_2bit_avx512, codes, 1);
            compare_kernels(&kernels_mixed, mixed, 2);
            if (!whole)
                continue;
            compare_kernels(&kernels_i8, small, 1);
            compare_kernels(&kernels_u8, large, 1);
            compare_kernels(&kernels_mixed, all, 4);
        }
    free_case();
}

static void test_all_bytes_are_loaded(void **state)
{
    static const roofs_dtype small[] = {ROOFS_I8}, large[] = {ROOFS_U8};
    (void)state;
    for (int sign = 0; sign < 2; sign++) {
        fill_case(256, 1);
        for (int j = 0; j < COUNT; j++)
            for (int i = 0; i < 256; i++) {
                c.small[j][i] = (signed char)(i - 128);
                c.large[j][i] = (unsigned char)i;
                c.x[j][i] = sign ? i - 128 : i;
            }
        compare_kernels(sign ? &kernels_i8 : &kernels_u8, sign ? small : large, 1);
        compare_kernels(&kernels_mixed, sign ? small : large, 1);
    }
    free_case();
}

/* ---- the device ----------------------------------------------------------- */

/* The features from..to - 1 as a block. Codes are copied, one feature after the other. */
static roofs_block some_features(int from, int to, roofs_dtype dtype, unsigned char *copies)
{
    const int64_t bytes = (c.n + 3) / 4;
    roofs_block b = dense_block(c.x[from], ROOFS_F64, to - from, c.n);
    b.dtype = dtype;
    b.feature_stride = MOST;
    if (dtype == ROOFS_I8)
        b.values = c.small[from];
    if (dtype == ROOFS_U8)
        b.values = c.large[from];
    if (dtype != ROOFS_2BIT)
        return b;
    for (int j = from; j < to; j++)
        memcpy(copies + (j - from) * bytes, c.codes[j], (size_t)bytes);
    b.values = copies;
    b.feature_stride = bytes;
    b.levels = c.level[from];
    return b;
}

/* Three blocks of columns; the first two are stored. */
static device *make_device(const roofs_dtype types[3], int64_t threads, unsigned char *copies)
{
    static const int ends[] = {0, 9, 15, COUNT};
    device_shape shape = {.n = c.n, .slots = COUNT, .batch = COUNT, .keeps_packed = 1};
    device *d = NULL;
    shape.threads = threads;
    assert_int_equal(device_cpu.create(&d, &shape, NULL), ROOFS_OK);
    for (int k = 0; k < 3; k++) {
        const roofs_block b = some_features(ends[k], ends[k + 1], types[k], copies);
        assert_int_equal(device_cpu.borrow(d, &b, NULL), ROOFS_OK);
        for (int64_t j = 0; k < 2 && j < b.count; j++)
            assert_int_equal(device_cpu.keep(d, j, ends[k] + j, NULL), ROOFS_OK);
        device_cpu.complete(d);
    }
    return d;
}

static void half_step(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                      const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                      double spread[DEVICE_BLOCK])
{
    (void)user;
    (void)first;
    for (int64_t q = 0; q < count; q++) {
        delta[q] = 0.5 * slope[q] / (1 + gram[q][q]);
        spread[q] = 1 / (1 + gram[q][q]);
    }
}

typedef struct results {
    double gradient[COUNT], image[MOST], inner[COUNT], gram[COUNT * COUNT], sample[COUNT];
    double added[MOST], squares[MOST], r[MOST], variance[MOST];
    float taken[MOST];
} results;

static void run_products(device *d, results *out)
{
    const product_ops *ops = device_cpu.products;
    device_column list[COUNT];
    memset(out, 0, sizeof *out);
    memcpy(out->r, c.r, sizeof out->r);
    for (int j = 0; j < COUNT; j++)
        list[j] = (device_column){.place = j < 15 ? j : -1 - (j - 15),
                                  .center = 0.1 * j - 1,
                                  .factor = 1 + 0.01 * j,
                                  .unit = 1};
    ops->descend(d, list, COUNT, c.r, out->gradient, out->image);
    ops->inner(d, list, COUNT, c.r, out->inner);
    ops->gram(d, list, COUNT, c.w, out->gram);
    ops->sample(d, list, COUNT, c.n / 2, out->sample);
    ops->take(d, &list[3], c.n / 3, 2, c.n / 4, out->taken);
    ops->add(d, list, COUNT, out->inner, out->added);
    ops->add_squares(d, list, COUNT, out->inner, out->squares);
    const device_sweep how = {
        .weight = c.w, .r = out->r, .variance = out->variance, .update = half_step};
    ops->sweep(d, list, COUNT, &how);
}

static void test_products_have_the_bits_of_wide_values(void **state)
{
    static const roofs_dtype types[][3] = {{ROOFS_2BIT, ROOFS_2BIT, ROOFS_2BIT},
                                           {ROOFS_F64, ROOFS_2BIT, ROOFS_2BIT},
                                           {ROOFS_I8, ROOFS_2BIT, ROOFS_F64},
                                           {ROOFS_U8, ROOFS_U8, ROOFS_I8}};
    static const roofs_dtype wide[3] = {ROOFS_F64, ROOFS_F64, ROOFS_F64};
    static const int64_t threads[] = {1, 2, 3, 7};
    static unsigned char copies[COUNT * BYTES];
    static results wanted, got;
    (void)state;
    for (int k = 0; k < SIZES; k++) {
        fill_case(sizes[k], 1);
        device *plain = make_device(wide, 1, copies);
        run_products(plain, &wanted);
        device_cpu.destroy(plain);
        for (int t = 0; t < 4; t++) {
            device *d = make_device(types[t], threads[(t + k) % 4], copies);
            run_products(d, &got);
            assert_memory_equal(&wanted, &got, sizeof wanted);
            device_cpu.destroy(d);
        }
    }
    free_case();
}

/* A fit with one column in 2 bits needs no column of another type. */
static void test_packed_columns_take_their_bytes(void **state)
{
    static const roofs_dtype types[3] = {ROOFS_2BIT, ROOFS_2BIT, ROOFS_2BIT};
    static unsigned char copies[COUNT * BYTES];
    (void)state;
    fill_case(MOST, 0);
    const device_shape shape = {.n = MOST, .slots = COUNT, .batch = COUNT, .dtype = ROOFS_2BIT};
    device *d = make_device(types, 1, copies);
    assert_true(device_cpu.taken(d) <= device_cpu.bytes(&shape));
    for (int64_t j = 0; j < 15; j++)
        device_cpu.release(d, j);
    const int64_t empty = device_cpu.taken(d);
    const roofs_block b = some_features(0, 1, ROOFS_2BIT, copies);
    assert_int_equal(device_cpu.borrow(d, &b, NULL), ROOFS_OK);
    assert_int_equal(device_cpu.keep(d, 0, 0, NULL), ROOFS_OK);
    assert_in_range(device_cpu.taken(d) - empty, BYTES, BYTES + 200);
    device_cpu.destroy(d);
    free_case();
}

/* The levels of an extreme column are multiplied, not its codes. */
static void test_extreme_levels_are_rescaled(void **state)
{
    static unsigned char copies[COUNT * BYTES];
    static double taken[2][MOST];
    const device_column column = {.place = -1, .factor = 1};
    device_shape shape = {.n = 33, .slots = 1, .batch = 1, .threads = 1};
    const double one = 1;
    (void)state;
    fill_case(33, 0);
    for (int k = 0; k < 4; k++)
        c.level[0][k] *= 0x1p900;
    for (int i = 0; i < 33; i++)
        c.x[0][i] *= 0x1p900;
    for (int k = 0; k < 2; k++) {
        device *d = NULL;
        shape.keeps_packed = k;
        assert_int_equal(device_cpu.create(&d, &shape, NULL), ROOFS_OK);
        const roofs_block b = some_features(0, 1, ROOFS_2BIT, copies);
        assert_int_equal(device_cpu.borrow(d, &b, NULL), ROOFS_OK);
        assert_int_equal(device_cpu.rescale(d, 0, 901, NULL), ROOFS_OK);
        device_cpu.products->add(d, &column, 1, &one, taken[k]);
        device_cpu.destroy(d);
    }
    assert_memory_equal(taken[0], taken[1], sizeof taken[0]);
    assert_true(fabs(taken[0][0]) < 10 && taken[0][0] != 0);
    free_case();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_have_the_bits_of_wide_values),
        cmocka_unit_test(test_all_bytes_are_loaded),
        cmocka_unit_test(test_products_have_the_bits_of_wide_values),
        cmocka_unit_test(test_packed_columns_take_their_bytes),
        cmocka_unit_test(test_extreme_levels_are_rescaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
