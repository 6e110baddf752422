#include "base/random.h"

#include "base/portable_math.h"

#include <Random123/philox.h>
#include <math.h>

static philox4x32_ctr_t random_bits(random_key key, uint64_t row, uint64_t place)
{
    philox4x32_ctr_t counter = {{(uint32_t)place, (uint32_t)(place >> 32), (uint32_t)row,
                                 (uint32_t)(row >> 32) ^ (key.stream << 16)}};
    philox4x32_key_t seed = {{(uint32_t)key.seed, (uint32_t)(key.seed >> 32)}};
    return philox4x32(counter, seed);
}

/* 52 bits and a half, so never 0 or 1. */
static double open_unit(uint32_t high, uint32_t low)
{
    uint64_t bits = (((uint64_t)high << 32) | low) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

double random_uniform(random_key key, uint64_t row, uint64_t place)
{
    philox4x32_ctr_t bits = random_bits(key, row, place);
    return open_unit(bits.v[0], bits.v[1]);
}

/* Box-Muller: numbers 2k and 2k+1 of a row come from counter k. */
static void normal_pair(random_key key, uint64_t row, uint64_t pair, double out[2])
{
    const double two_pi = 6.283185307179586;
    philox4x32_ctr_t bits = random_bits(key, row, pair);
    double radius = sqrt(-2.0 * math_log(open_unit(bits.v[0], bits.v[1])));
    double sine, cosine;
    math_sin_cos(two_pi * open_unit(bits.v[2], bits.v[3]), &sine, &cosine);
    out[0] = radius * cosine;
    out[1] = radius * sine;
}

void random_normals(random_key key, uint64_t row, uint64_t first, int64_t count, double *out)
{
    double pair[2];
    int64_t i = 0;
    if (first % 2 == 1 && count > 0) {
        normal_pair(key, row, first / 2, pair);
        out[i++] = pair[1];
    }
    for (; i + 1 < count; i += 2)
        normal_pair(key, row, (first + (uint64_t)i) / 2, out + i);
    if (i < count) {
        normal_pair(key, row, (first + (uint64_t)i) / 2, pair);
        out[i] = pair[0];
    }
}

void random_permutation(random_key key, int64_t count, int64_t *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = i;
    for (int64_t i = count - 1; i > 0; i--) { /* Fisher-Yates */
        int64_t j = (int64_t)(random_uniform(key, 0, (uint64_t)i) * (double)(i + 1));
        int64_t held = out[i];
        out[i] = out[j];
        out[j] = held;
    }
}
