/* Text to double, correctly rounded, independent of the locale. docs/decisions.md explains why
 * strtod is not used. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/status.h"

/* Reads the number at the start of [text, end): sign, digits, point, exponent. Returns its end, or
 * NULL if there is none. Too large numbers give an infinity, too small ones 0 or a subnormal. */
const char *number_scan(const char *text, const char *end, double *value);

typedef enum number_kind {
    NUMBER_FINE,
    NUMBER_TOO_LARGE, /* beyond the largest double */
    NUMBER_MISSING,   /* empty, or a word for a missing value: nan, NA, ?, ... */
    NUMBER_INFINITE,  /* inf, -Infinity, ... */
    NUMBER_TEXT       /* anything else */
} number_kind;

/* Reads all of [text, end) as one number; ignores spaces around it. */
number_kind number_read(const char *text, const char *end, double *value);

#endif
