#include "base/exact.h"

#include <string.h>

/* ---- rounding ---------------------------------------------------------- */

enum { FRACTION_BITS = 52, LOWEST_EXPONENT = -1074, INFINITE = 0x7ff };

/* The double nearest to top * 2^exponent, ties to even, for top >= 2^63.
 * `more`: the true number is larger, by less than one unit of `top`. */
static double nearest(uint64_t top, int64_t exponent, int more)
{
    int64_t drop = 63 - FRACTION_BITS; /* bits below the last one that is kept */
    if (exponent + drop < LOWEST_EXPONENT)
        drop = LOWEST_EXPONENT - exponent; /* subnormal: keep fewer */
    if (drop > 64)
        return 0.0;
    uint64_t kept = drop == 64 ? 0 : top >> drop;
    uint64_t half = (uint64_t)1 << (drop - 1);
    uint64_t rest = top & (half | (half - 1));
    kept += (rest > half) |
            ((rest == half) & (more | (kept % 2 == 1))); /* no branch: it could not be predicted */
    /* The exponent field counts from LOWEST_EXPONENT; the leading bit of `kept`
     * adds the 1 that makes a number normal, and a carry moves up by itself. */
    uint64_t field = (uint64_t)(exponent + drop - LOWEST_EXPONENT);
    uint64_t bits = (field << FRACTION_BITS) + kept;
    if (field >= INFINITE || bits >> FRACTION_BITS >= INFINITE)
        bits = (uint64_t)INFINITE << FRACTION_BITS;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double exact_nearest(uint64_t high, uint64_t low, int64_t exponent, int more)
{
    int shift = __builtin_clzll(high);
    uint64_t top = high << shift | low >> 1 >> (63 - shift);
    return nearest(top, exponent + 64 - shift, more | (low << shift != 0));
}

/* ---- up to 19 digits, moderate exponents: 128 bits suffice -------------- */

/* clang-format off */
const uint64_t exact_powers_of_5[EXACT_POWERS] = {
    1, 5, 25, 125, 625, 3125, 15625, 78125, 390625, 1953125, 9765625, 48828125, 244140625,
    1220703125, 6103515625, 30517578125, 152587890625, 762939453125, 3814697265625,
    19073486328125, 95367431640625, 476837158203125, 2384185791015625, 11920928955078125,
    59604644775390625, 298023223876953125, 1490116119384765625, 7450580596923828125,
};

/* 1 / 5^k as a truncated number of 128 bits, shifted so that the top bit is 1. Entry 0 is not
 * used. */
static const struct {
    uint64_t high, low;
} reciprocals[EXACT_POWERS] = {
    {0, 0}, {0xcccccccccccccccc, 0xcccccccccccccccc}, {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a3},
    {0x83126e978d4fdf3b, 0x645a1cac083126e9}, {0xd1b71758e219652b, 0xd3c36113404ea4a8},
    {0xa7c5ac471b478423, 0x0fcf80dc33721d53}, {0x8637bd05af6c69b5, 0xa63f9a49c2c1b10f},
    {0xd6bf94d5e57a42bc, 0x3d32907604691b4c}, {0xabcc77118461cefc, 0xfdc20d2b36ba7c3d},
    {0x89705f4136b4a597, 0x31680a88f8953030}, {0xdbe6fecebdedd5be, 0xb573440e5a884d1b},
    {0xafebff0bcb24aafe, 0xf78f69a51539d748}, {0x8cbccc096f5088cb, 0xf93f87b7442e45d3},
    {0xe12e13424bb40e13, 0x2865a5f206b06fb9}, {0xb424dc35095cd80f, 0x538484c19ef38c94},
    {0x901d7cf73ab0acd9, 0x0f9d37014bf60a10}, {0xe69594bec44de15b, 0x4c2ebe687989a9b3},
    {0xb877aa3236a4b449, 0x09befeb9fad487c2}, {0x9392ee8e921d5d07, 0x3aff322e62439fcf},
    {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e5}, {0xbce5086492111aea, 0x88f4bb1ca6bcf584},
    {0x971da05074da7bee, 0xd3f6fc16ebca5e03}, {0xf1c90080baf72cb1, 0x5324c68b12dd6338},
    {0xc16d9a0095928a27, 0x75b7053c0f178293}, {0x9abe14cd44753b52, 0xc4926a9672793542},
    {0xf79687aed3eec551, 0x3a83ddbd83f52204}, {0xc612062576589dda, 0x95364afe032a819d},
    {0x9e74d1b791e07e48, 0x775ea264cf55347d},
};
/* clang-format on */

static int bit_length(uint64_t number)
{
    return 64 - __builtin_clzll(number);
}

/* digits / 5^power * 2^exponent, by division; digits >= 2^63. */
static double divide(uint64_t digits, int64_t power, int64_t exponent)
{
    uint64_t divisor = exact_powers_of_5[power];
    uint64_t high = digits / divisor;
    unsigned __int128 rest = (unsigned __int128)(digits % divisor) << 64;
    uint64_t low = (uint64_t)(rest / divisor);
    int more = low * divisor != 0; /* modulo 2^64: minus the remainder */
    return exact_nearest(high, low, exponent - 64, more);
}

/* The same by multiplication with the reciprocal, three times faster. The reciprocal is rounded
 * down, so the true product is larger, by less than 2 units of `low`. Where this could change the
 * rounding, divide instead. */
static double multiply_by_reciprocal(uint64_t digits, int64_t power, int64_t exponent)
{
    unsigned __int128 product = (unsigned __int128)digits * reciprocals[power].high +
                                ((unsigned __int128)digits * reciprocals[power].low >> 64);
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (low << 1 >= UINT64_MAX - 4)
        return divide(digits, power, exponent);
    return exact_nearest(high, low, exponent - 63 - bit_length(exact_powers_of_5[power]), 1);
}

double exact_short(uint64_t digits, int64_t exponent)
{
    int shift = __builtin_clzll(digits);
    digits <<= shift; /* now at least 2^63 */
    if (exponent < 0)
        return multiply_by_reciprocal(digits, -exponent, exponent - shift);
    unsigned __int128 product = (unsigned __int128)digits * exact_powers_of_5[exponent];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    return high ? exact_nearest(high, low, exponent - shift, 0) : nearest(low, exponent - shift, 0);
}
