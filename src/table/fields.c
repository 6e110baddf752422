#include "table/fields.h"

#include <stdio.h>
#include <string.h>

/* The first `wanted` in [at, end) outside of quotes, or `end`. */
static const char *find_outside(const char *at, const char *end, char wanted)
{
    int inside = 0;
    for (; at < end; at++) {
        if (*at == '"')
            inside = !inside;
        else if (*at == wanted && !inside)
            return at;
    }
    return end;
}

char fields_separator(const char *record, const char *end)
{
    /* A comma may be in a name or be a decimal comma; a tab hardly ever is. */
    static const char candidates[] = {'\t', ';'};
    for (size_t k = 0; k < sizeof candidates; k++)
        if (find_outside(record, end, candidates[k]) < end)
            return candidates[k];
    return ',';
}

static int is_padding(char c, char separator)
{
    return c == ' ' || (c == '\t' && separator != '\t');
}

/* The field from *at to `stop`, without spaces around it. */
static field cut_field(const char **at, const char *stop, const char *end, char separator)
{
    field f = {*at, stop, 0};
    *at = f.end < end ? f.end + 1 : NULL;
    while (f.begin < f.end && is_padding(*f.begin, separator))
        f.begin++;
    while (f.begin < f.end && is_padding(f.end[-1], separator))
        f.end--;
    return f;
}

field fields_next_plain(const char **at, const char *end, char separator)
{
    const char *found = end > *at ? memchr(*at, separator, (size_t)(end - *at)) : NULL;
    return cut_field(at, found ? found : end, end, separator);
}

field fields_next(const char **at, const char *end, char separator)
{
    field f = cut_field(at, find_outside(*at, end, separator), end, separator);
    f.quoted = f.end - f.begin >= 2 && *f.begin == '"' && f.end[-1] == '"';
    if (f.quoted) {
        f.begin++;
        f.end--;
    }
    return f;
}

int64_t fields_count(const char *record, const char *end, char separator)
{
    int64_t count = 0;
    for (const char *at = record; at; count++)
        fields_next(&at, end, separator);
    return count;
}

number_kind field_number(field f, double *value)
{
    return number_read(f.begin, f.end, value);
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int begins_like_number(const char *at, const char *end)
{
    at += at < end && (*at == '+' || *at == '-');
    at += at < end && (*at == '.' || *at == ',');
    return at < end && is_digit(*at);
}

static int is_hexadecimal(const char *at, const char *end)
{
    at += at < end && (*at == '+' || *at == '-');
    return end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
}

/* A sign counts at the start and after an e. */
static int is_of_number(const char *at, const char *begin)
{
    if (*at == '+' || *at == '-')
        return at == begin || at[-1] == 'e' || at[-1] == 'E';
    return is_digit(*at) || (*at && strchr(".,_' eE", *at) != NULL);
}

field_likeness field_resembles_number(field f)
{
    int64_t others = 0;
    while (f.begin < f.end && *f.begin == ' ')
        f.begin++;
    if (is_hexadecimal(f.begin, f.end))
        return FIELD_WRITTEN_AS;
    if (!begins_like_number(f.begin, f.end))
        return FIELD_WORD;
    for (const char *at = f.begin; at < f.end; at++)
        others += !is_of_number(at, f.begin);
    return others == 0 ? FIELD_WRITTEN_AS : others == 1 ? FIELD_NEARLY : FIELD_WORD;
}

void field_quote(field f, char out[FIELD_QUOTED])
{
    const int64_t most = FIELD_QUOTED - 4;
    int64_t length = f.end - f.begin, kept = length < most ? length : most;
    while (kept > 0 && kept < length && ((unsigned char)f.begin[kept] & 0xc0) == 0x80)
        kept--; /* not within a character of UTF-8 */
    for (int64_t i = 0; i < kept; i++)
        out[i] = f.begin[i] ? f.begin[i] : '?';
    snprintf(out + kept, 4, "%s", kept < length ? "..." : "");
}

roofs_status field_add_name(field f, names *list, roofs_error *err)
{
    TRY(names_add(list, f.begin, f.end - f.begin, err));
    if (!f.quoted)
        return ROOFS_OK;
    char *name = list->text + list->starts[list->count - 1], *to = name;
    for (const char *from = name; *from; from++) {
        *to++ = *from;
        if (from[0] == '"' && from[1] == '"')
            from++;
    }
    *to = '\0';
    return ROOFS_OK;
}
