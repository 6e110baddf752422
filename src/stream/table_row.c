/* One row of a table to numbers, days and codes of words. */
#include "stream/table.h"

#include "base/memory.h"
#include "table/decide.h"
#include "table/written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ------------------------------------------------------------ */

const char *table_column_name(const table *t, int64_t column)
{
    return t->column_names.count > 0 ? names_get(&t->column_names, column) : "";
}

roofs_status table_field_error(const table *t, int64_t column, field f, const char *what,
                               roofs_error *err)
{
    const lines *l = &t->rows->lines;
    const char *name = t->has_header ? table_column_name(t, column) : "";
    char text[FIELD_QUOTED];
    if (!*name)
        return rows_field_error(l, column + 1, f, what, err);
    field_quote(f, text);
    return fail(err, ROOFS_BAD_DATA, "%s, line %lld, column %lld (\"%.80s\"): \"%s\" %s",
                bytes_name(l->input), (long long)l->number, (long long)column + 1, name, text,
                what);
}

/* What is wrong, and the options that help. Without options only numbers are allowed. */
static roofs_status misfit(const table *t, int64_t column, field f, const char *what,
                           roofs_error *err)
{
    char text[300];
    const char *name = table_column_name(t, column);
    if (!t->options || t->options->fitted)
        return table_field_error(t, column, f, what, err);
    snprintf(text, sizeof text,
             "%s; correct it, leave the column out with --drop '%.60s', or make it a category "
             "with --categories '%.60s'",
             what, name, name);
    return table_field_error(t, column, f, what[0] && *name ? text : what, err);
}

static roofs_status not_a_number(const table *t, int64_t column, field f, number_kind kind,
                                 roofs_error *err)
{
    if (kind == NUMBER_TOO_LARGE)
        return table_field_error(t, column, f, "is too large for a double", err);
    if (kind == NUMBER_INFINITE)
        return table_field_error(t, column, f, "is not a finite number", err);
    if (memchr(f.begin, ',', (size_t)(f.end - f.begin)))
        return table_field_error(t, column, f,
                                 "is not a number (the decimal sign must be a point; see "
                                 "--decimal-comma and --thousands)",
                                 err);
    if (t->states[column] == READ_RESPONSE)
        return table_field_error(t, column, f,
                                 "is not a number, but the column is the response; choose another "
                                 "response, or correct the value",
                                 err);
    if (state_is_beside(t->states[column]))
        return table_field_error(t, column, f,
                                 t->states[column] == READ_WEIGHTS
                                     ? "is not a number, but the column has the weights of the "
                                       "samples (--weights)"
                                     : "is not a number, but the column is the offset (--offset)",
                                 err);
    const int is_first = t->states[column] == SEEN_NOTHING || !t->options;
    return misfit(t, column, f,
                  is_first ? "is not a number" : "is not a number, as the values before are", err);
}

static const char *const fill_first = "fill missing values first, or see --missing";

static roofs_status is_missing(const table *t, int64_t column, field f, roofs_error *err)
{
    char text[120];
    snprintf(text, sizeof text, "%s; %s", f.begin == f.end ? "is empty" : "is not a finite number",
             fill_first);
    return table_field_error(t, column, f, text, err);
}

/* ---- numbers ----------------------------------------------------------- */

static number_kind table_number(const table *t, field f, double *value)
{
    const table_options *o = t->options;
    if (!o || (!o->thousands && !o->decimal_comma)) /* the common case */
        return field_number(f, value);
    return written_number(f, o->thousands, o->decimal_comma, value);
}

/* ---- missing values ---------------------------------------------------- */

/* Refuses a missing value at once in a column that is certainly used; otherwise notes the first
 * one, and table_make_recipes decides. */
static roofs_status note_missing(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    table_column *c = &t->cells[column];
    const column_state state = (column_state)t->states[column];
    const int is_used = !t->options || state == SEEN_NUMBERS || state == SEEN_DATES;
    *value = NAN;
    c->missing++;
    if (is_used && !t->base->hints.keep_missing)
        return is_missing(t, column, f, err);
    if (c->first_missing) /* the first one is enough */
        return ROOFS_OK;
    TRY(memory_get(&c->first_missing, 1, sizeof *c->first_missing, "a table", err));
    c->first_missing->line = t->rows->lines.number;
    field_quote(f, c->first_missing->text);
    return ROOFS_OK;
}

roofs_status table_check_missing(const table *t, int64_t column, roofs_error *err)
{
    const table_column *c = &t->cells[column];
    const char *name = t->has_header ? table_column_name(t, column) : "";
    if (c->missing == 0 || t->base->hints.keep_missing)
        return ROOFS_OK;
    const table_note *first = c->first_missing;
    return fail(err, ROOFS_BAD_DATA, "%s, line %lld, column %lld%s%.80s%s: \"%s\" %s; %s",
                bytes_name(t->rows->lines.input), (long long)first->line, (long long)column + 1,
                *name ? " (\"" : "", name, *name ? "\")" : "", first->text,
                first->text[0] ? "is a missing value" : "is empty", fill_first);
}

/* ---- words ------------------------------------------------------------- */

roofs_status table_unquote(table *t, field *f, roofs_error *err)
{
    const int64_t length = f->end - f->begin;
    if (!f->quoted || length == 0 || !memchr(f->begin, '"', (size_t)length))
        return ROOFS_OK;
    TRY(memory_grow(&t->unquoted, &t->unquoted_capacity, length, 1, "a field", err));
    char *to = t->unquoted;
    for (const char *from = f->begin; from < f->end; from++) {
        *to++ = *from;
        if (from[0] == '"' && from + 1 < f->end && from[1] == '"')
            from++;
    }
    *f = (field){t->unquoted, to, 0};
    return ROOFS_OK;
}

static roofs_status check_word(const table *t, int64_t column, field f, roofs_error *err)
{
    if (!names_are_utf8(f.begin, f.end))
        return table_field_error(t, column, f, "is not UTF-8; save the file as UTF-8", err);
    if (memchr(f.begin, '\0', (size_t)(f.end - f.begin)))
        return table_field_error(t, column, f, "has a zero byte; remove it", err);
    return ROOFS_OK;
}

static int64_t most_words(const table *t, column_state state)
{
    const int64_t most_of_request = 1 << 20;
    if (state == READ_WORDS)
        return most_of_request;
    return t->options->max_levels > 0 ? t->options->max_levels : MAX_LEVELS;
}

static date_order date_order_of(const table *t, int64_t column)
{
    return t->states[column] == READ_DATE ? t->cells[column].recipe.order
                                          : (date_order)t->options->order;
}

/* Such as 1,5 or 1'000: no word, although it is not read as a number. */
static int is_written_number(field f)
{
    return field_resembles_number(f) == FIELD_WRITTEN_AS;
}

/* A word that the column has not had. Numbers and dates among words are refused: they would become
 * categories without notice. */
static roofs_status new_word(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    table_column *c = &t->cells[column];
    const column_state state = (column_state)t->states[column];
    double other;
    const number_kind kind = table_number(t, f, &other);
    if (kind == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    if (state == SEEN_WORDS && kind == NUMBER_TEXT && is_written_number(f))
        return not_a_number(t, column, f, kind, err);
    if (state == SEEN_WORDS && kind != NUMBER_TEXT)
        return misfit(t, column, f, "is a number, but the values before are words", err);
    if (state == SEEN_WORDS &&
        date_read(f.begin, f.end, date_order_of(t, column), &other) != DATE_NOT)
        return misfit(t, column, f, "is a date, but the values before are other words", err);
    if (c->words.words.count >= most_words(t, state)) {
        t->states[column] = SEEN_MANY;
        levels_free(&c->words);
        return ROOFS_OK;
    }
    TRY(check_word(t, column, f, err));
    TRY(levels_add(&c->words, f.begin, f.end - f.begin, err));
    *value = (double)(c->words.words.count - 1);
    c->words.counts[c->words.words.count - 1]++;
    return ROOFS_OK;
}

static roofs_status read_word(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    table_column *c = &t->cells[column];
    TRY(table_unquote(t, &f, err));
    const int64_t code = levels_find(&c->words, f.begin, f.end - f.begin);
    if (code < 0)
        return new_word(t, column, f, value, err);
    c->words.counts[code]++;
    *value = (double)code;
    return ROOFS_OK;
}

/* A word of a fitted category: -1 if it does not have the word. */
static roofs_status read_level(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    double other;
    table_column *c = &t->cells[column];
    TRY(table_unquote(t, &f, err));
    *value = (double)levels_find(&c->words, f.begin, f.end - f.begin);
    if (*value >= 0)
        return ROOFS_OK;
    if (number_read(f.begin, f.end, &other) == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    c->unknown++;
    return ROOFS_OK;
}

/* ---- fields ------------------------------------------------------------ */

static roofs_status read_date(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    const int64_t longest_date = 10; /* without a time */
    double other;
    if (date_read(f.begin, f.end, date_order_of(t, column), value) == DATE_FINE) {
        t->cells[column].has_time |= f.end - f.begin > longest_date;
        return ROOFS_OK;
    }
    if (number_read(f.begin, f.end, &other) == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    return misfit(t, column, f, "is not a date, as the values before are", err);
}

static roofs_status read_boolean(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    double other;
    const int truth = boolean_read(f.begin, f.end);
    *value = truth;
    if (truth >= 0)
        return ROOFS_OK;
    if (number_read(f.begin, f.end, &other) == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    return table_field_error(t, column, f, "is not yes or no, as in the fit", err);
}

static roofs_status read_number(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    const number_kind kind = table_number(t, f, value);
    if (kind == NUMBER_FINE)
        return ROOFS_OK;
    if (kind == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    const int truth = boolean_read(f.begin, f.end);
    if (t->states[column] != READ_RESPONSE || truth < 0)
        return not_a_number(t, column, f, kind, err);
    *value = truth;
    return ROOFS_OK;
}

static roofs_status read_weight(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    TRY(read_number(t, column, f, value, err));
    if (!(*value < 0))
        return ROOFS_OK;
    return table_field_error(t, column, f,
                             "is negative, but the column has the weights of the samples: how "
                             "often they count, 0 or more",
                             err);
}

/* The first value of a column decides what the others must be. */
static roofs_status read_first(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    const number_kind kind = table_number(t, f, value);
    if (kind == NUMBER_MISSING)
        return note_missing(t, column, f, value, err);
    if (kind == NUMBER_FINE) {
        t->states[column] = SEEN_NUMBERS;
        return table_check_missing(t, column, err);
    }
    if (kind != NUMBER_TEXT || !t->options)
        return not_a_number(t, column, f, kind, err);
    if (t->is_plain && t->base->shard_count > 0)
        return table_field_error(t, column, f,
                                 "is a word after missing values, which several ranks cannot "
                                 "read; name the column in --categories or --drop",
                                 err);
    const date_kind date = date_read(f.begin, f.end, date_order_of(t, column), value);
    if (date == DATE_NOT && is_written_number(f))
        return not_a_number(t, column, f, kind, err);
    t->states[column] = (unsigned char)(date == DATE_FINE  ? SEEN_DATES
                                        : date == DATE_NOT ? SEEN_WORDS
                                                           : SEEN_UNCLEAR);
    if (date == DATE_FINE)
        return read_date(t, column, f, value, err);
    return date == DATE_NOT ? read_word(t, column, f, value, err) : ROOFS_OK;
}

static roofs_status read_field(table *t, int64_t column, field f, double *value, roofs_error *err)
{
    switch ((column_state)t->states[column]) {
    case SEEN_NOTHING:
        return read_first(t, column, f, value, err);
    case SEEN_NUMBERS:
    case READ_NUMBER:
    case READ_RESPONSE:
    case READ_OFFSET:
        return read_number(t, column, f, value, err);
    case READ_WEIGHTS:
        return read_weight(t, column, f, value, err);
    case SEEN_DATES:
    case READ_DATE:
        return read_date(t, column, f, value, err);
    case SEEN_WORDS:
    case READ_WORDS:
        return read_word(t, column, f, value, err);
    case READ_LEVELS:
        return read_level(t, column, f, value, err);
    case READ_BOOLEAN:
        return read_boolean(t, column, f, value, err);
    default:
        return ROOFS_OK; /* SEEN_MANY and SEEN_UNCLEAR: the column is left out */
    }
}

/* ---- the common cases, for speed --------------------------------------- */

/* The first separator, or `end`. Eight characters at a time: a zero byte marks the separator. */
static const char *find_separator(const char *at, const char *end, char separator)
{
    const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
    const uint64_t wanted = ones * (unsigned char)separator;
    const int little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (; little_endian && end - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, 8);
        eight ^= wanted;
        const uint64_t found = (eight - ones) & ~eight & tops;
        if (found)
            return at + __builtin_ctzll(found) / 8;
    }
    while (at < end && *at != separator)
        at++;
    return at;
}

/* A word that the column has had before, without quotes or spaces around it. */
static int plain_word(table_column *c, const char **at, const char *end, char separator,
                      double *value)
{
    const char *stop = find_separator(*at, end, separator);
    const int64_t code = levels_find(&c->words, *at, stop - *at);
    if (code < 0)
        return 0;
    c->words.counts[code]++;
    *value = (double)code;
    *at = stop < end ? stop + 1 : NULL;
    return 1;
}

static int plain_date(const char **at, const char *end, char separator, double *value)
{
    const int length = 10;
    if (end - *at < length || (end - *at > length && (*at)[length] != separator) ||
        !date_read_plain(*at, value))
        return 0;
    *at = end - *at > length ? *at + length + 1 : NULL;
    return 1;
}

roofs_status table_parse_row(table *t, double *values, roofs_error *err)
{
    const rows *r = t->rows;
    const char *at = r->lines.record, *end = r->lines.record_end;
    const int may_be_plain = !t->options || !t->options->decimal_comma;
    const int has_quotes = end > at && memchr(at, '"', (size_t)(end - at)) != NULL;
    int64_t column = 0;
    for (; column < r->fields && at; column++) {
        const unsigned char state = t->states[column];
        const int is_number = state == SEEN_NUMBERS || state == READ_NUMBER ||
                              state == READ_RESPONSE || state == READ_OFFSET;
        const int is_word = state == SEEN_WORDS || state == READ_WORDS || state == READ_LEVELS;
        if (is_word && !has_quotes &&
            plain_word(&t->cells[column], &at, end, r->separator, values)) {
            values++;
            continue;
        }
        if ((state == SEEN_DATES || state == READ_DATE) &&
            plain_date(&at, end, r->separator, values)) {
            values++;
            continue;
        }
        if (is_number && may_be_plain && rows_plain_number(&at, end, r->separator, values)) {
            values++;
            continue;
        }
        const field f = has_quotes ? fields_next(&at, end, r->separator)
                                   : fields_next_plain(&at, end, r->separator);
        if (state == SKIPPED)
            continue;
        if (state == READ_ID) {
            t->id_field = f;
            continue;
        }
        *values = 0;
        TRY(read_field(t, column, f, values, err));
        values++;
    }
    return column < r->fields || at ? rows_width_error(r, err) : ROOFS_OK;
}
