#include "stream/first_row.h"

#include <string.h>

/* The fields of a row by what they look like. */
typedef struct row_looks {
    int64_t fields, quoted;
    int64_t numbers, missing;
    int64_t words;   /* texts that do not resemble a number */
    int64_t nearly;  /* such as 3x */
    int64_t written; /* such as 1_000 */
    int64_t suspect; /* the first column that is nearly a number, or else not a number; 0 = none */
    field suspect_field;
} row_looks;

static void look_at_text(row_looks *looks, field f, int64_t column)
{
    const field_likeness likeness = field_resembles_number(f);
    looks->words += likeness == FIELD_WORD;
    looks->nearly += likeness == FIELD_NEARLY;
    looks->written += likeness == FIELD_WRITTEN_AS;
    const int is_first = likeness != FIELD_WORD && looks->nearly + looks->written == 1;
    if (is_first || looks->suspect == 0) {
        looks->suspect = column;
        looks->suspect_field = f;
    }
}

static void look_at_field(row_looks *looks, field f, int64_t column)
{
    double value;
    const number_kind kind = field_number(f, &value);
    looks->fields++;
    looks->quoted += f.quoted;
    looks->numbers += kind == NUMBER_FINE || kind == NUMBER_TOO_LARGE;
    looks->missing += kind == NUMBER_MISSING || kind == NUMBER_INFINITE;
    if (kind == NUMBER_TEXT)
        look_at_text(looks, f, column);
}

/* Looks at the fields from number `first` on, counted from 0. */
static row_looks look_at_row(const rows *r, int64_t first)
{
    row_looks looks = {0};
    const char *at = r->lines.record;
    for (int64_t k = 0; at; k++) {
        const field f = fields_next(&at, r->lines.record_end, r->separator);
        if (k >= first)
            look_at_field(&looks, f, k + 1);
    }
    return looks;
}

static int has_unquoted_field(const char *at, const char *end, char separator)
{
    while (at)
        if (!fields_next(&at, end, separator).quoted)
            return 1;
    return 0;
}

/* Programs that quote texts only write a header of numbers as "1","2" before rows as 1,2. */
static roofs_status is_quoted_header(rows *r, const row_looks *looks, int *quoted, roofs_error *err)
{
    const char *next, *next_end;
    *quoted = 0;
    if (looks->quoted < looks->fields || looks->written > 0)
        return ROOFS_OK;
    TRY(lines_peek(&r->lines, &next, &next_end, err));
    *quoted = has_unquoted_field(next, next_end, r->separator);
    return ROOFS_OK;
}

/* True if a row with texts may be a row of numbers of which some are damaged. */
static int may_be_numbers(const row_looks *looks)
{
    const int64_t resembling = looks->nearly + looks->written;
    if (looks->numbers + looks->missing > 0)
        return looks->numbers + resembling >= looks->words;
    return looks->words == 0 && (looks->written > 0 || (looks->nearly > 0 && looks->fields == 1));
}

int header_is_clear(const names *list)
{
    row_looks looks = {0};
    for (int64_t k = 0; k < list->count; k++) {
        const char *name = names_get(list, k);
        look_at_field(&looks, (field){name, name + strlen(name), 1}, k + 1);
    }
    return looks.written == 0 || !may_be_numbers(&looks);
}

static roofs_status refuse_unclear(const rows *r, const row_looks *looks, roofs_error *err)
{
    return rows_field_error(&r->lines, looks->suspect, looks->suspect_field,
                            "is not a number, but the row is not clearly a row of names; correct "
                            "it, or if these are names, put all of them in quotes or give "
                            "--header yes",
                            err);
}

roofs_status first_row_is_header(rows *r, header_choice choice, int *named, roofs_error *err)
{
    row_looks looks = look_at_row(r, 0);
    *named = choice == HEADER_YES;
    if (choice != HEADER_AUTO)
        return ROOFS_OK;
    TRY(is_quoted_header(r, &looks, named, err));
    if (*named || looks.suspect == 0)
        return ROOFS_OK;
    looks = look_at_row(r, 0); /* the row has moved */
    if (may_be_numbers(&looks))
        return refuse_unclear(r, &looks, err);
    *named = 1;
    return ROOFS_OK;
}

roofs_status first_row_names_samples(const rows *r, header_choice choice, int *skip,
                                     roofs_error *err)
{
    const row_looks looks = look_at_row(r, 1);
    *skip = choice != HEADER_NO && looks.numbers == 0 && looks.suspect > 0;
    if (*skip && choice == HEADER_AUTO && may_be_numbers(&looks))
        return refuse_unclear(r, &looks, err);
    return ROOFS_OK;
}

static field first_field(const rows *r)
{
    const char *at = r->lines.record;
    return fields_next(&at, r->lines.record_end, r->separator);
}

roofs_status first_field_is_name(const rows *r, header_choice choice, int *named, roofs_error *err)
{
    double value;
    const field f = first_field(r);
    const int is_text = field_number(f, &value) == NUMBER_TEXT;
    *named = choice == HEADER_YES || (choice == HEADER_AUTO && is_text);
    if (choice != HEADER_AUTO || !is_text || f.quoted || field_resembles_number(f) == FIELD_WORD)
        return ROOFS_OK;
    return rows_field_error(&r->lines, 1, f,
                            "is not a number, but not clearly a name; correct it, or if the rows "
                            "begin with names, give --header yes",
                            err);
}

roofs_status first_field_stays_name(const rows *r, header_choice choice, roofs_error *err)
{
    double value;
    const field f = first_field(r);
    if (choice != HEADER_AUTO || f.quoted || field_number(f, &value) != NUMBER_FINE)
        return ROOFS_OK;
    return rows_field_error(&r->lines, 1, f,
                            "is a number, but the first row begins with a name; correct one of "
                            "them, or if all rows begin with names, give --header yes",
                            err);
}
