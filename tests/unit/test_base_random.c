/* The random numbers against another implementation of Philox4x32-10. */
#include "test_base_help.h"

#include "base/random.h"

/* Salmon et al. (2011), section 3.3. */
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t x[4], k0 = key[0], k1 = key[1];
    memcpy(x, counter, sizeof x);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53 * x[0], b = (uint64_t)0xCD9E8D57 * x[2];
        uint32_t y[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k0, (uint32_t)b,
                         (uint32_t)(a >> 32) ^ x[3] ^ k1, (uint32_t)a};
        memcpy(x, y, sizeof x);
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    memcpy(out, x, sizeof x);
}

/* The vectors of the Random123 distribution (kat_vectors): the copy above is right. */
static void test_known_answers_agree(void **state)
{
    static const uint32_t rows[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
         0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    (void)state;
    for (int k = 0; k < 3; k++) {
        uint32_t out[4];
        philox(rows[k], rows[k] + 4, out);
        assert_memory_equal(out, rows[k] + 6, sizeof out);
    }
}

static double unit_of(uint32_t high, uint32_t low)
{
    return ((double)((((uint64_t)high << 32) | low) >> 12) + 0.5) / 4503599627370496.0;
}

static void bits_of(random_key key, uint64_t row, uint64_t place, uint32_t out[4])
{
    uint32_t counter[4] = {(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)row,
                           (uint32_t)(row >> 32) ^ (key.stream << 16)};
    uint32_t seed[2] = {(uint32_t)key.seed, (uint32_t)(key.seed >> 32)};
    philox(counter, seed, out);
}

static void test_uniform_is_philox(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (int k = 0; k < 5000; k++) {
        random_key key = {next_random(&random), (uint32_t)k % 50};
        uint64_t row = next_random(&random) >> (k % 3 * 20), place = next_random(&random) >> k % 64;
        uint32_t bits[4];
        bits_of(key, row, place, bits);
        double got = random_uniform(key, row, place);
        assert_true(got == unit_of(bits[0], bits[1]));
        assert_true(got > 0 && got < 1);
    }
    assert_true(unit_of(0, 0) > 0 && unit_of(0xffffffff, 0xffffffff) < 1);
}

static void test_normals_are_box_muller(void **state)
{
    double got[2];
    (void)state;
    for (uint64_t pair = 0; pair < 1000; pair++) {
        random_key key = {pair * 77, 2};
        uint32_t bits[4];
        bits_of(key, pair / 3, pair, bits);
        double radius = sqrt(-2 * log(unit_of(bits[0], bits[1])));
        double angle = 2 * acos(-1) * unit_of(bits[2], bits[3]);
        random_normals(key, pair / 3, 2 * pair, 2, got);
        assert_close(got[0], radius * cos(angle), 1e-14 * radius);
        assert_close(got[1], radius * sin(angle), 1e-14 * radius);
    }
}

static void test_any_split_gives_the_same_numbers(void **state)
{
    enum { COUNT = 101 };
    double whole[COUNT], pieces[COUNT];
    const random_key key = {42, 5};
    uint64_t random = 9;
    (void)state;
    for (uint64_t first = 0; first < 4; first++) {
        random_normals(key, 3, first, COUNT, whole);
        for (int run = 0; run < 300; run++) {
            memset(pieces, 0, sizeof pieces);
            for (int64_t at = 0; at < COUNT;) {
                int64_t length = random_below(&random, 9); /* none at times */
                length = length > COUNT - at ? COUNT - at : length;
                random_normals(key, 3, first + (uint64_t)at, length, pieces + at);
                at += length;
            }
            assert_same_doubles(pieces, whole, COUNT);
        }
    }
}

static void test_moments_are_right(void **state)
{
    enum { COUNT = 200000 };
    static double z[COUNT];
    double sum[5] = {0}, neighbours = 0, uniform = 0;
    (void)state;
    random_normals((random_key){1, 1}, 0, 0, COUNT, z);
    for (int i = 0; i < COUNT; i++) {
        for (int power = 1; power < 5; power++)
            sum[power] += pow(z[i], power) / COUNT;
        neighbours += i ? z[i] * z[i - 1] / COUNT : 0;
        uniform += random_uniform((random_key){1, 2}, 0, (uint64_t)i) / COUNT;
    }
    const double sigma = 1 / sqrt(COUNT);
    assert_close(sum[1], 0, 5 * sigma);
    assert_close(sum[2], 1, 5 * sqrt(2) * sigma);
    assert_close(sum[3], 0, 5 * sqrt(15) * sigma);
    assert_close(sum[4], 3, 5 * sqrt(96) * sigma);
    assert_close(neighbours, 0, 5 * sigma);
    assert_close(uniform, 0.5, 5 * sqrt(1.0 / 12) * sigma);
}

static void test_permutation_is_a_permutation(void **state)
{
    int64_t out[1000];
    (void)state;
    for (int64_t count = 0; count <= 1000; count = count * 3 / 2 + 1) {
        char seen[1000] = {0};
        random_permutation((random_key){(uint64_t)count, 4}, count, out);
        for (int64_t i = 0; i < count; i++) {
            assert_in_range(out[i], 0, count - 1);
            assert_int_equal(seen[out[i]]++, 0);
        }
    }
}

/* All 24 orders of four come equally often. */
static void test_permutation_is_uniform(void **state)
{
    enum { RUNS = 24000 };
    int counts[256] = {0}, kinds = 0;
    double chi2 = 0;
    (void)state;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        int64_t out[4];
        random_permutation((random_key){seed, 4}, 4, out);
        counts[out[0] + 4 * out[1] + 16 * out[2] + 64 * out[3]]++;
    }
    for (int k = 0; k < 256; k++) {
        kinds += counts[k] > 0;
        chi2 += counts[k] ? pow(counts[k] - 1000, 2) / 1000 : 0;
    }
    assert_int_equal(kinds, 24);
    assert_true(chi2 < 23 + 5 * sqrt(46));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers_agree),
        cmocka_unit_test(test_uniform_is_philox),
        cmocka_unit_test(test_normals_are_box_muller),
        cmocka_unit_test(test_any_split_gives_the_same_numbers),
        cmocka_unit_test(test_moments_are_right),
        cmocka_unit_test(test_permutation_is_a_permutation),
        cmocka_unit_test(test_permutation_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
