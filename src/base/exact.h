/* The exact path of number.c: rounds decimals by integer arithmetic. */
#ifndef BASE_EXACT_H
#define BASE_EXACT_H

#include "base/status.h"

enum { EXACT_POWERS = 28 }; /* 5^27 is the last power below 2^63 */
extern const uint64_t exact_powers_of_5[EXACT_POWERS];

/* digits * 10^exponent for any non-zero `digits` and |exponent| < EXACT_POWERS. */
double exact_short(uint64_t digits, int64_t exponent);

/* The digits of [text, end), without points, as one integer times 10^exponent. The first digit
 * is not 0. */
double exact_long(const char *text, const char *end, int64_t exponent);

/* The double nearest to (high * 2^64 + low) * 2^exponent, ties to even; high is not
 * 0. `more`: the true number is larger, by less than one unit of `low`. */
double exact_nearest(uint64_t high, uint64_t low, int64_t exponent, int more);

#endif
