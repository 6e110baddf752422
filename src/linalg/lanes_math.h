/* exp, log and sqrt on eight numbers side by side. Unlike those of the system library, they give
 * the same bits on every machine. */
#ifndef LINALG_LANES_MATH_H
#define LINALG_LANES_MATH_H

#include "linalg/lanes.h"

#include <math.h>

typedef int64_t lanes_int __attribute__((vector_size(8 * sizeof(int64_t))));
typedef uint64_t lanes_word __attribute__((vector_size(8 * sizeof(uint64_t))));

LANES_INLINE lanes_int lanes_bits(lanes x)
{
    lanes_int bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

LANES_INLINE lanes lanes_from_bits(lanes_int bits)
{
    lanes x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* `yes` where the mask is all ones, `no` where it is zero, as comparisons set it. */
LANES_INLINE lanes lanes_choose(lanes_int mask, lanes yes, lanes no)
{
    return lanes_from_bits((lanes_bits(yes) & mask) | (lanes_bits(no) & ~mask));
}

LANES_INLINE lanes lanes_clamp(lanes x, double low, double high)
{
    const lanes zero = {0};
    x = lanes_choose(x > high, zero + high, x);
    return lanes_choose(x < low, zero + low, x);
}

/* e^x with a relative error below 1e-15; x is clamped to [-700, 700]. With k = round(x / ln 2),
 * e^x = 2^k e^t and t = x - k ln 2; e^t is its Taylor series. */
LANES_INLINE lanes lanes_exp(lanes x)
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer, in the low bits */
    const double ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    x = lanes_clamp(x, -700, 700);
    lanes shifted = x * 0x1.71547652b82fep+0 + shift;
    lanes k = shifted - shift;
    lanes t = (x - k * ln2_high) - k * ln2_low;
    lanes sum = 1.0 / 6227020800 + (lanes){0};
    sum = sum * t + 1.0 / 479001600;
    sum = sum * t + 1.0 / 39916800;
    sum = sum * t + 1.0 / 3628800;
    sum = sum * t + 1.0 / 362880;
    sum = sum * t + 1.0 / 40320;
    sum = sum * t + 1.0 / 5040;
    sum = sum * t + 1.0 / 720;
    sum = sum * t + 1.0 / 120;
    sum = sum * t + 1.0 / 24;
    sum = sum * t + 1.0 / 6;
    sum = sum * t + 0.5;
    sum = sum * t + 1.0;
    sum = sum * t + 1.0;
    lanes_word power = ((lanes_word)lanes_bits(shifted) + 1023) << 52; /* any bits for NaN */
    return sum * lanes_from_bits((lanes_int)power);
}

/* log x with an error below 1e-15 times 1 + |log x|, for normal numbers x > 0. With x = 2^k m and m
 * near 1, log x = k ln 2 + 2 atanh(t), t = (m - 1) / (m + 1); atanh is its Taylor series. */
LANES_INLINE lanes lanes_log(lanes x)
{
    const int64_t root_half = 0x3fe6a09e667f3bcd; /* the bits of 2^-1/2: m is from there to 2^1/2 */
    const lanes_int bits = lanes_bits(x), k = (bits - root_half) >> 52;
    const lanes m = lanes_from_bits(bits - (k << 52)), t = (m - 1) / (m + 1), t2 = t * t;
    lanes sum = 1.0 / 21 + (lanes){0};
    for (int odd = 19; odd > 0; odd -= 2)
        sum = sum * t2 + 1.0 / odd;
    return __builtin_convertvector(k, lanes) * 0x1.62e42fefa39efp-1 + 2 * (t * sum);
}

LANES_INLINE lanes lanes_sqrt(lanes x)
{
    for (int k = 0; k < LANES; k++)
        x[k] = sqrt(x[k]);
    return x;
}

#endif
