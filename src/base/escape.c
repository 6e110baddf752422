#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ------------------------------------------------------------- */

/* Number of bytes after the first of a UTF-8 character; -1 = not a first byte. */
static int bytes_to_follow(unsigned char first)
{
    if (first < 0x80)
        return 0;
    if (first < 0xc2 || first > 0xf4)
        return -1;
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

static int32_t decode(const unsigned char *at, int64_t left, int follow)
{
    static const int32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    if (follow < 0 || left <= follow)
        return -1;
    int32_t code = follow == 0 ? at[0] : at[0] & (0x3f >> follow);
    for (int k = 1; k <= follow; k++) {
        if ((at[k] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | (at[k] & 0x3f);
    }
    const int is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < smallest[follow] || is_surrogate || code > 0x10ffff ? -1 : code;
}

int32_t utf8_next(const char **text, const char *end)
{
    const unsigned char *at = (const unsigned char *)*text;
    const int follow = bytes_to_follow(*at);
    const int32_t code = decode(at, end - *text, follow);
    *text += code < 0 ? 1 : follow + 1;
    return code;
}

/* ---- what is not safe -------------------------------------------------- */

static int is_between(int32_t code, int32_t first, int32_t last)
{
    return code >= first && code <= last;
}

/* Control characters, marks that reverse the direction of text, ends of lines, and characters that
 * are not visible at all. */
static int is_unsafe(int32_t code)
{
    static const int32_t ranges[][2] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++)
        if (is_between(code, ranges[k][0], ranges[k][1]))
            return 1;
    return 0;
}

/* ---- escaping ---------------------------------------------------------- */

/* Copies the safe character before `end`. */
static size_t copy_safe(const char *from, const char *end, char *out)
{
    const size_t length = (size_t)(end - from);
    memcpy(out, from, length);
    return length;
}

size_t escape_next(const char **text, char out[ESCAPE_MOST + 1])
{
    const char *from = *text;
    const int32_t code = utf8_next(text, from + strnlen(from, 4));
    const size_t size = ESCAPE_MOST + 1;
    if (code < 0)
        return (size_t)snprintf(out, size, "\\x%02x", (unsigned)(unsigned char)*from);
    if (!is_unsafe(code))
        return copy_safe(from, *text, out);
    if (code == '\n' || code == '\r' || code == '\t')
        return (size_t)snprintf(out, size, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    return (size_t)snprintf(out, size,
                            code < 0x80      ? "\\x%02x"
                            : code < 0x10000 ? "\\u%04x"
                                             : "\\U%08x",
                            (unsigned)code);
}

size_t escape_next_json(const char **text, const char *end, char out[2 * ESCAPE_MOST + 1])
{
    const char *from = *text;
    const int32_t code = utf8_next(text, end);
    const size_t size = 2 * ESCAPE_MOST + 1;
    if (code < 0)
        return (size_t)snprintf(out, size, "\\ufffd");
    if (!is_unsafe(code) || code < ' ')
        return copy_safe(from, *text, out);
    if (code < 0x10000)
        return (size_t)snprintf(out, size, "\\u%04x", (unsigned)code);
    const unsigned above = (unsigned)code - 0x10000;
    return (size_t)snprintf(out, size, "\\u%04x\\u%04x", 0xd800 + (above >> 10),
                            0xdc00 + (above & 0x3ff));
}

void escape_text(const char *text, char *out, size_t size)
{
    char next[ESCAPE_MOST + 1];
    size_t used = 0, length;
    while (*text && used + (length = escape_next(&text, next)) < size) {
        memcpy(out + used, next, length);
        used += length;
    }
    out[used] = '\0';
}
