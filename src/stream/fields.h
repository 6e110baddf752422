/* The fields of one record of a text table. */
#ifndef STREAM_FIELDS_H
#define STREAM_FIELDS_H

#include "base/number.h"
#include "stream/names.h"

typedef struct field {
    const char *begin, *end; /* without spaces and quotes around it */
    int quoted;              /* "" inside stands for one quote */
} field;

/* Tab, semicolon or comma: the first of them that stands outside of quotes. */
char fields_separator(const char *record, const char *end);

/* Takes the field at *at, which moves on, and to NULL past the last field. A
 * record has at least one field; it may be empty. */
field fields_next(const char **at, const char *end, char separator);

int64_t fields_count(const char *record, const char *end, char separator);

number_kind field_number(field f, double *value);

/* The field for a message: short, and nothing that upsets a terminal. */
enum { FIELD_QUOTED = 44 };
void field_quote(field f, char out[FIELD_QUOTED]);

/* Adds the field's text to a list, quotes undone. */
roofs_status field_add_name(field f, names *list, roofs_error *err);

#endif
