/* The slow but certain half of number.c: decimals rounded by integer arithmetic. */
#ifndef STREAM_EXACT_H
#define STREAM_EXACT_H

#include "base/status.h"

/* digits * 10^exponent for any non-zero `digits`; -27 <= exponent <= 27. */
double exact_short(uint64_t digits, int64_t exponent);

/* The digits of [text, end), points passed over, as one whole number times
 * 10^exponent. The first digit is not 0. */
double exact_long(const char *text, const char *end, int64_t exponent);

#endif
