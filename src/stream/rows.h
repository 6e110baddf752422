/* Rows of numbers from a text file; every complaint names file, line and column. */
#ifndef STREAM_ROWS_H
#define STREAM_ROWS_H

#include "stream/fields.h"
#include "stream/lines.h"

typedef struct rows {
    lines lines;
    char separator;
    int keep_missing;   /* to be set by the caller: missing values are NaN, not refused */
    int64_t fields;     /* in every row */
    int64_t fields_set; /* the line that decided it */
} rows;

/* Whether a file that begins like this is text: no control characters. */
int rows_are_text(const unsigned char *start, int64_t length);

/* Reads the first row and finds the separator. Refuses an empty file. */
roofs_status rows_open(rows *r, bytes *input, roofs_error *err);
void rows_close(rows *r);

/* Makes the number of fields of the current row that of every row. */
void rows_fix_width(rows *r);

/* What the fields of the current row from number `first` on are: how many are
 * numbers, missing values and text. */
typedef struct row_census {
    int64_t numbers, missing, texts;
} row_census;
row_census rows_census(const rows *r, int64_t first);

/* Adds all fields of the current row to a list of names. */
roofs_status rows_names(const rows *r, names *list, roofs_error *err);

/* The numbers of the current row. Where `name` is not NULL the first field is a
 * name and is added to it; `values` gets the others. */
roofs_status rows_numbers(const rows *r, names *name, double *values, roofs_error *err);

#endif
