/* Numbers with many digits or extreme exponents, as long integers. */
#include "base/exact.h"

#include <string.h>

enum {
    MOST_DIGITS = 800,       /* no tie between two doubles has more than 767 */
    LIMBS = 192,             /* 800 digits and 5^1130 side by side */
    POWER_5 = 13,            /* 5^13 is the last below 2^32 */
    HIGHEST_MAGNITUDE = 310, /* 1e310 and above is infinite ... */
    LOWEST_MAGNITUDE = -330  /* ... below 1e-330 is zero */
};

/* Least significant limb first; the top limb is not 0. */
typedef struct big {
    uint32_t limb[LIMBS];
    int64_t count;
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t add)
{
    uint64_t carry = add;
    for (int64_t i = 0; i < b->count; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        b->limb[b->count++] = (uint32_t)carry;
}

/* Returns whether there is a remainder. */
static int big_divide(big *b, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int64_t i = b->count - 1; i >= 0; i--) {
        rest = rest << 32 | b->limb[i];
        b->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (b->count > 0 && b->limb[b->count - 1] == 0)
        b->count--;
    return rest != 0;
}

static void big_shift_limbs(big *b, int64_t shift)
{
    memmove(b->limb + shift, b->limb, (size_t)b->count * sizeof *b->limb);
    memset(b->limb, 0, (size_t)shift * sizeof *b->limb);
    b->count += shift;
}

static double big_nearest(const big *b, int64_t exponent, int more)
{
    uint32_t top[4] = {0}; /* most significant first */
    for (int64_t i = 0; i < 4 && i < b->count; i++)
        top[i] = b->limb[b->count - 1 - i];
    for (int64_t i = 0; i < b->count - 4; i++)
        more |= b->limb[i] != 0;
    uint64_t high = (uint64_t)top[0] << 32 | top[1], low = (uint64_t)top[2] << 32 | top[3];
    return exact_nearest(high, low, exponent + 32 * (b->count - 4), more);
}

/* Reads up to MOST_DIGITS digits; one more digit 1 replaces all others if they are not all zero.
 * Returns the number of digits that were left out. */
static int64_t big_from_digits(big *b, const char *text, const char *end)
{
    int64_t taken = 0, left = 0;
    int more = 0;
    b->count = 0;
    for (; text < end; text++) {
        if (*text == '.')
            continue;
        if (taken < MOST_DIGITS) {
            big_multiply_add(b, 10, (uint32_t)(*text - '0'));
            taken++;
        } else {
            more |= *text != '0';
            left++;
        }
    }
    if (more) {
        big_multiply_add(b, 10, 1);
        left--;
    }
    return left;
}

static int64_t count_digits(const char *text, const char *end)
{
    int has_point = memchr(text, '.', (size_t)(end - text)) != NULL;
    return end - text - has_point;
}

double exact_long(const char *text, const char *end, int64_t exponent)
{
    int64_t magnitude = count_digits(text, end) + exponent;
    if (magnitude > HIGHEST_MAGNITUDE)
        return __builtin_huge_val();
    if (magnitude < LOWEST_MAGNITUDE)
        return 0.0;
    big b;
    exponent += big_from_digits(&b, text, end);
    for (int64_t k = exponent; k > 0; k -= POWER_5)
        big_multiply_add(&b, (uint32_t)exact_powers_of_5[k < POWER_5 ? k : POWER_5], 0);
    int more = 0;
    int64_t limbs = 0;
    if (exponent < 0) {
        limbs = (-exponent * 7 / 3 + 1) / 32 + 4; /* 2^(7/3) > 5: the quotient keeps over 96 bits */
        big_shift_limbs(&b, limbs);
        for (int64_t k = -exponent; k > 0; k -= POWER_5)
            more |= big_divide(&b, (uint32_t)exact_powers_of_5[k < POWER_5 ? k : POWER_5]);
    }
    return big_nearest(&b, exponent - 32 * limbs, more);
}
