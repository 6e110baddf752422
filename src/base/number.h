/* Text to double, exact to the last bit, whatever the locale. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/status.h"

/* Reads the number that [text, end) begins with: sign, digits, point, exponent.
 * Returns where it ends, NULL where there is none. Too large a number gives an
 * infinity, too small a number 0 or a subnormal. */
const char *number_scan(const char *text, const char *end, double *value);

typedef enum number_kind {
    NUMBER_FINE,
    NUMBER_TOO_LARGE, /* beyond the largest double */
    NUMBER_MISSING,   /* nothing, or a word for a missing value: nan, NA, ?, ... */
    NUMBER_INFINITE,  /* inf, -Infinity, ... */
    NUMBER_TEXT       /* anything else */
} number_kind;

/* The whole of [text, end) as one number; spaces around it do not count. */
number_kind number_read(const char *text, const char *end, double *value);

#endif
