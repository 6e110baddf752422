#include "table/written.h"

#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int digits_at(const char *at, const char *end)
{
    int count = 0;
    while (at + count < end && is_digit(at[count]))
        count++;
    return count;
}

/* The length of a sign between thousands at `at`: a comma (or a point where the comma is decimal),
 * an apostrophe, a space, or a narrow or fixed space of UTF-8; 0 = none. */
static int thousands_sign(const char *at, const char *end, int decimal_comma)
{
    if (at == end)
        return 0;
    if (*at == (decimal_comma ? '.' : ',') || *at == '\'' || *at == ' ')
        return 1;
    if (end - at >= 2 && memcmp(at, "\xc2\xa0", 2) == 0)
        return 2;
    return end - at >= 3 && memcmp(at, "\xe2\x80\xaf", 3) == 0 ? 3 : 0;
}

enum { WRITTEN_MOST = 64 };

/* Copies the integer part without its signs between thousands. Returns its end, or NULL. */
static const char *copy_integer(const char *at, const char *end, int thousands, int decimal_comma,
                                char **to)
{
    int digits = digits_at(at, end), sign;
    memcpy(*to, at, (size_t)digits);
    *to += digits;
    at += digits;
    if (!thousands || digits == 0 || digits > 3)
        return at;
    while ((sign = thousands_sign(at, end, decimal_comma)) > 0) {
        if (digits_at(at + sign, end) != 3)
            return NULL;
        memcpy(*to, at + sign, 3);
        *to += 3;
        at += sign + 3;
    }
    return at;
}

number_kind written_number(field f, int thousands, int decimal_comma, double *value)
{
    char text[WRITTEN_MOST], *to = text;
    const char *at = f.begin, *end = f.end;
    if (end - at >= WRITTEN_MOST || at == end)
        return number_read(at, end, value);
    if (*at == '+' || *at == '-')
        *to++ = *at++;
    at = copy_integer(at, end, thousands, decimal_comma, &to);
    if (!at)
        return NUMBER_TEXT;
    if (at < end && decimal_comma && (*at == ',' || *at == '.')) {
        if (*at++ == '.')
            return number_read(f.begin, end, value) == NUMBER_FINE
                       ? NUMBER_TEXT
                       : number_read(f.begin, end, value); /* a missing value may be a point */
        *to++ = '.';
    }
    memcpy(to, at, (size_t)(end - at));
    to += end - at;
    return number_read(text, to, value);
}
