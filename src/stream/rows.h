/* Rows of numbers from a text file. Errors name file, line and column. */
#ifndef STREAM_ROWS_H
#define STREAM_ROWS_H

#include "stream/lines.h"
#include "table/fields.h"

typedef struct rows {
    lines lines;
    char separator;
    int keep_missing;   /* set by the caller: read missing values as NaN */
    int64_t fields;     /* in every row */
    int64_t fields_set; /* the line that set it */
} rows;

/* True if the start of a file is text: no control characters. */
int rows_are_text(const unsigned char *start, int64_t length);

/* Reads the first row and finds the separator. Refuses an empty file. */
roofs_status rows_open(rows *r, bytes *input, roofs_error *err);
void rows_close(rows *r);

/* BAD_DATA: file, line, column, the quoted field and `what`. */
roofs_status rows_field_error(const lines *l, int64_t column, field f, const char *what,
                              roofs_error *err);

/* Every row must have as many fields as the current one. */
void rows_fix_width(rows *r);

/* Adds all fields of the current row to a list of names. */
roofs_status rows_names(const rows *r, names *list, roofs_error *err);

/* Reads the numbers of the current row. If `name` is not NULL, the first field is a name and is
 * added to it. */
roofs_status rows_numbers(const rows *r, names *name, double *values, roofs_error *err);

/* The common case: reads a plain number that is followed by the separator or the end, moves *at
 * behind both, or to NULL at the end, and returns 1. Otherwise returns 0. */
int rows_plain_number(const char **at, const char *end, char separator, double *value);

/* BAD_DATA: the current row has another number of fields. */
roofs_status rows_width_error(const rows *r, roofs_error *err);

#endif
