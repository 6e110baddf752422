/* The fields of one record of a text table. */
#ifndef TABLE_FIELDS_H
#define TABLE_FIELDS_H

#include "base/number.h"
#include "table/names.h"

typedef struct field {
    const char *begin, *end; /* without surrounding spaces and quotes */
    int quoted;              /* "" inside means one quote */
} field;

/* The first of tab, semicolon and comma that occurs outside of quotes. */
char fields_separator(const char *record, const char *end);

/* Returns the field at *at and moves *at to the next one, or to NULL after the last. A record has
 * at least one field, which may be empty. */
field fields_next(const char **at, const char *end, char separator);

/* The same in a record without quotes. */
field fields_next_plain(const char **at, const char *end, char separator);

int64_t fields_count(const char *record, const char *end, char separator);

number_kind field_number(field f, double *value);

/* How close a field that is not a number comes to one. "12,000", "1_000", "0x1p3" and "1.2.3" have
 * only characters of numbers; "3x" and "1R.5" begin like a number and have one other character. */
typedef enum field_likeness { FIELD_WORD, FIELD_NEARLY, FIELD_WRITTEN_AS } field_likeness;
field_likeness field_resembles_number(field f);

/* The field for a message: shortened, without zero bytes. `fail` escapes it. */
enum { FIELD_QUOTED = 44 };
void field_quote(field f, char out[FIELD_QUOTED]);

/* Adds the text of the field, unquoted, to a list. */
roofs_status field_add_name(field f, names *list, roofs_error *err);

#endif
