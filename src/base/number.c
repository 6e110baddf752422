#include "base/number.h"

#include "base/exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- digits ------------------------------------------------------------ */

enum { DIGITS_OF_64_BITS = 19 }; /* any number of 19 digits fits in 64 bits */

static int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Sets the top bit of every byte that is not a digit, the first character in the lowest byte. A
 * byte outside '0'..'9' sets its top bit in one of the two sums; a carry affects only later
 * bytes. */
static uint64_t other_than_digits(uint64_t eight)
{
    return ((eight + 0x4646464646464646) | (eight - 0x3030303030303030)) & 0x8080808080808080;
}

/* The number of eight decimal digits: joins neighbours to pairs, pairs to fours, fours to
 * eight. */
static uint64_t join_digits(uint64_t eight)
{
    eight = eight * 10 + (eight >> 8);
    uint64_t low = (eight & 0x000000ff000000ff) * (100 + (1000000ull << 32));
    uint64_t high = (eight >> 16 & 0x000000ff000000ff) * (1 + (10000ull << 32));
    return (low + high) >> 32;
}

/* Appends the digits at `text` to *digits (modulo 2^64); returns their end. Works on eight at a
 * time without a branch per digit: their number is unpredictable, and a wrong branch costs more
 * than the arithmetic. */
static inline const char *scan_digits(const char *text, const char *end, uint64_t *digits)
{
    static const uint64_t powers_of_10[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const int little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    while (little_endian && end - text >= 8) {
        uint64_t eight;
        memcpy(&eight, text, 8);
        uint64_t others = other_than_digits(eight);
        eight -= 0x3030303030303030;
        if (others) {
            int count = __builtin_ctzll(others) / 8;
            eight = eight << (56 - 8 * count) << 8; /* zeros first, then the digits */
            *digits = *digits * powers_of_10[count] + join_digits(eight);
            return text + count;
        }
        *digits = *digits * 100000000 + join_digits(eight);
        text += 8;
    }
    while (text < end && is_digit(*text))
        *digits = *digits * 10 + (uint64_t)(*text++ - '0');
    return text;
}

/* Adds the "e-5" at `text` to *exponent. NULL if no digit follows the e. */
static const char *scan_exponent(const char *text, const char *end, int64_t *exponent)
{
    const int64_t far_beyond = 1000000000000000;
    text++;
    int negative = text < end && *text == '-';
    if (text < end && (*text == '-' || *text == '+'))
        text++;
    if (text == end || !is_digit(*text))
        return NULL;
    int64_t value = 0;
    for (; text < end && is_digit(*text); text++)
        if (value < far_beyond)
            value = value * 10 + (*text - '0');
    *exponent += negative ? -value : value;
    return text;
}

/* ---- conversion -------------------------------------------------------- */

enum { DIGITS_OF_DOUBLE = 15, EXACT_TENS = 22 }; /* both exact as doubles */

/* Few digits: one multiplication or division of exact numbers rounds correctly
 * (Clinger 1990). */
static double from_few(uint64_t digits, int64_t exponent)
{
    static const double powers_of_10[EXACT_TENS + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return exponent < 0 ? (double)digits / powers_of_10[-exponent]
                        : (double)digits * powers_of_10[exponent];
}

/* The digits are in [first, last), with at most one point. */
static double from_many(const char *first, const char *last, uint64_t digits, int64_t exponent)
{
    while (first < last && (*first == '0' || *first == '.'))
        first++;
    if (first == last)
        return 0.0;
    int point = memchr(first, '.', (size_t)(last - first)) != NULL;
    int fits = last - first - point <= DIGITS_OF_64_BITS;
    if (fits && exponent > -EXACT_POWERS && exponent < EXACT_POWERS)
        return exact_short(digits, exponent);
    return exact_long(first, last, exponent);
}

const char *number_scan(const char *text, const char *end, double *value)
{
    if (text == end)
        return NULL;
    int negative = *text == '-';
    text += negative | (*text == '+');
    const char *first = text;
    uint64_t digits = 0;
    int64_t exponent = 0;
    int point = 0;
    text = scan_digits(text, end, &digits);
    if (text < end && *text == '.') {
        const char *fraction = text + 1;
        point = 1;
        text = scan_digits(fraction, end, &digits);
        exponent = fraction - text;
    }
    const char *last = text;
    int64_t count = last - first - point;
    if (count == 0)
        return NULL;
    if (text < end && (*text == 'e' || *text == 'E')) {
        text = scan_exponent(text, end, &exponent);
        if (!text)
            return NULL;
    }
    double magnitude;
    if (count <= DIGITS_OF_DOUBLE && exponent >= -EXACT_TENS && exponent <= EXACT_TENS)
        magnitude = from_few(digits, exponent);
    else if (count <= DIGITS_OF_64_BITS && digits > 0 && exponent > -EXACT_POWERS &&
             exponent < EXACT_POWERS)
        magnitude = exact_short(digits, exponent);
    else
        magnitude = from_many(first, last, digits, exponent);
    *value = negative ? -magnitude : magnitude;
    return text;
}

/* ---- whole fields ------------------------------------------------------ */

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* `word` is in lower case. */
static int is_word(const char *text, const char *end, const char *word)
{
    for (; text < end && *word; text++, word++) {
        char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
        if (c != *word)
            return 0;
    }
    return text == end && *word == '\0';
}

/* Words for missing and infinite values, with or without a sign. */
static number_kind kind_of_word(const char *text, const char *end)
{
    static const char *const missing[] = {"",     "nan", "na", "n/a", "none",
                                          "null", "nil", ".",  "?",   "\\n"};
    static const char *const infinite[] = {"inf", "infinity"};
    if (text < end && (*text == '-' || *text == '+'))
        text++;
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        if (is_word(text, end, missing[k]))
            return NUMBER_MISSING;
    for (size_t k = 0; k < sizeof infinite / sizeof *infinite; k++)
        if (is_word(text, end, infinite[k]))
            return NUMBER_INFINITE;
    return NUMBER_TEXT;
}

number_kind number_read(const char *text, const char *end, double *value)
{
    while (text < end && is_space(*text))
        text++;
    while (text < end && is_space(end[-1]))
        end--;
    if (number_scan(text, end, value) == end && text < end)
        return fabs(*value) <= DBL_MAX ? NUMBER_FINE : NUMBER_TOO_LARGE;
    return kind_of_word(text, end);
}
