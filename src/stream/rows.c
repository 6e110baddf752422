#include "stream/rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

int rows_are_text(const unsigned char *start, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if (start[i] < ' ' && !(start[i] >= '\t' && start[i] <= '\r'))
            return 0;
    return 1;
}

roofs_status rows_open(rows *r, bytes *input, roofs_error *err)
{
    const unsigned char *start;
    int64_t length;
    *r = (rows){0};
    TRY(bytes_peek(input, &start, &length, err));
    if (!rows_are_text(start, length))
        return fail(err, ROOFS_BAD_DATA,
                    "%s should be text, but holds binary data (or UTF-16 text: save it as UTF-8)",
                    bytes_name(input));
    TRY(lines_open(&r->lines, input, err));
    TRY(lines_next(&r->lines, err));
    if (!r->lines.record)
        return fail(err, ROOFS_BAD_DATA, "%s is empty", bytes_name(input));
    r->separator = fields_separator(r->lines.record, r->lines.record_end);
    return ROOFS_OK;
}

void rows_close(rows *r)
{
    lines_close(&r->lines);
}

void rows_fix_width(rows *r)
{
    r->fields = fields_count(r->lines.record, r->lines.record_end, r->separator);
    r->fields_set = r->lines.number;
}

/* ---- errors ------------------------------------------------------------ */

roofs_status rows_width_error(const rows *r, roofs_error *err)
{
    const lines *l = &r->lines;
    int64_t found = fields_count(l->record, l->record_end, r->separator);
    return fail(err, ROOFS_BAD_DATA,
                "%s, line %lld: expected %lld fields as in line %lld, found %lld",
                bytes_name(l->input), (long long)l->number, (long long)r->fields,
                (long long)r->fields_set, (long long)found);
}

roofs_status rows_field_error(const lines *l, int64_t column, field f, const char *what,
                              roofs_error *err)
{
    char text[FIELD_QUOTED];
    field_quote(f, text);
    return fail(err, ROOFS_BAD_DATA, "%s, line %lld, column %lld: \"%s\" %s", bytes_name(l->input),
                (long long)l->number, (long long)column, text, what);
}

static roofs_status rows_number_error(const rows *r, field f, int64_t column, number_kind kind,
                                      roofs_error *err)
{
    const char *what = "is not a finite number";
    if (kind == NUMBER_TOO_LARGE)
        what = "is too large for a double";
    else if (kind == NUMBER_TEXT)
        what = memchr(f.begin, ',', (size_t)(f.end - f.begin))
                   ? "is not a number (the decimal sign must be a point)"
                   : "is not a number";
    else if (f.begin == f.end)
        what = "is empty; fill missing values first, or see --missing";
    else if (kind == NUMBER_MISSING)
        what = "is not a finite number; fill missing values first, or see --missing";
    return rows_field_error(&r->lines, column, f, what, err);
}

/* ---- names ------------------------------------------------------------- */

static roofs_status add_name(const rows *r, field f, int64_t column, names *list, roofs_error *err)
{
    if (!names_are_utf8(f.begin, f.end))
        return fail(err, ROOFS_BAD_DATA,
                    "%s, line %lld, column %lld: the name is not UTF-8; save the file as UTF-8",
                    bytes_name(r->lines.input), (long long)r->lines.number, (long long)column);
    if (f.end > f.begin && memchr(f.begin, '\0', (size_t)(f.end - f.begin)))
        return rows_field_error(&r->lines, column, f, "is a name with a zero byte; remove it", err);
    return field_add_name(f, list, err);
}

roofs_status rows_names(const rows *r, names *list, roofs_error *err)
{
    const char *at = r->lines.record;
    for (int64_t column = 1; at; column++) {
        field f = fields_next(&at, r->lines.record_end, r->separator);
        TRY(add_name(r, f, column, list, err));
    }
    return ROOFS_OK;
}

/* ---- numbers ----------------------------------------------------------- */

int rows_plain_number(const char **at, const char *end, char separator, double *value)
{
    const char *stop = *at;
    while (stop < end && *stop == ' ')
        stop++;
    stop = number_scan(stop, end, value);
    if (!stop || (stop < end && *stop != separator) || fabs(*value) > DBL_MAX)
        return 0;
    *at = stop < end ? stop + 1 : NULL;
    return 1;
}

roofs_status rows_numbers(const rows *r, names *name, double *values, roofs_error *err)
{
    const char *at = r->lines.record, *end = r->lines.record_end;
    int64_t column = 1;
    if (name) {
        TRY(add_name(r, fields_next(&at, end, r->separator), column, name, err));
        column++;
    }
    for (; column <= r->fields && at; column++, values++) {
        if (rows_plain_number(&at, end, r->separator, values))
            continue;
        field f = fields_next(&at, end, r->separator);
        number_kind kind = field_number(f, values);
        if (kind == NUMBER_MISSING && r->keep_missing)
            *values = NAN;
        else if (kind != NUMBER_FINE)
            return rows_number_error(r, f, column, kind, err);
    }
    if (column <= r->fields || at)
        return rows_width_error(r, err);
    return ROOFS_OK;
}
