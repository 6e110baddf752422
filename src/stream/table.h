/* A text table with samples as rows. Reading finds out what each column holds, makes a recipe, and
 * then gives the features of the recipe. Numbers, dates and codes of words go through the same
 * transposer, so memory stays bounded. */
#ifndef STREAM_TABLE_H
#define STREAM_TABLE_H

#include "stream/format.h"
#include "stream/name_list.h"
#include "stream/rows.h"
#include "stream/transpose.h"
#include "table/levels.h"

/* What a column has held so far, or what it is read as. */
typedef enum column_state {
    SEEN_NOTHING = 0, /* only missing values */
    SEEN_NUMBERS,
    SEEN_DATES,
    SEEN_WORDS,
    SEEN_MANY,    /* too many different words: they are not read any more */
    SEEN_UNCLEAR, /* dates whose order of day and month is not given */
    READ_WORDS,   /* a category by request */
    READ_LEVELS,  /* a category of a fitted recipe */
    READ_BOOLEAN, /* of a fitted recipe */
    READ_DATE,    /* of a fitted recipe */
    READ_NUMBER,  /* of a fitted recipe */
    READ_ID,
    READ_RESPONSE,
    READ_WEIGHTS, /* of the samples */
    READ_OFFSET,
    SKIPPED
} column_state;

/* True for a column that gives no feature. */
static inline int state_is_beside(unsigned state)
{
    return state == SKIPPED || (state >= READ_ID && state <= READ_OFFSET);
}

/* The first missing value of a column. */
typedef struct table_note {
    int64_t line;
    char text[FIELD_QUOTED];
} table_note;

typedef struct table_column {
    int64_t slot; /* in the rows of the transposer */
    levels words;
    int64_t missing; /* values */
    int64_t unknown; /* words that a fitted category does not have */
    table_note *first_missing;
    int has_time; /* a date has a time of day */
    recipe_column recipe;
    int32_t *slots;        /* of a category: the slot of each code; of a boolean: 0 or 1 */
    int64_t first_feature; /* of the file */
} table_column;

typedef struct table {
    reader *base;
    rows *rows;
    const table_options *options;    /* NULL: every value must be a number */
    names column_names;              /* of all columns; empty = the table has none */
    names columns, drop, categories; /* the lists of the options */
    names always;
    unsigned char *states; /* of all columns: a column_state */
    table_column *cells;   /* of all columns */
    int64_t width;         /* columns that are read: slots of the transposer */
    int64_t response, id;  /* their columns; -1 = none */
    int64_t special[SPECIALS];
    int is_plain; /* the first row after the header holds only numbers */
    int has_header;
    transposer *transposer;
    double *labels;
    double *numbers[SPECIALS]; /* of the special columns */
    int64_t *places; /* of a joined table: the sample of each row; NULL = the row itself */
    int64_t place_capacity;
    int64_t rows_read, rows_dropped;
    field id_field; /* of the current row */
    char *unquoted; /* scratch */
    int64_t unquoted_capacity;
    double *column, *scattered; /* the column that was read last */
    int64_t column_at;          /* its index; -1 = none */
    int64_t *used;              /* the columns that give features, in their order */
    int64_t used_count;
    int64_t number;          /* differs for every table that is opened */
    int64_t absent, surplus; /* of a join: samples without a row, rows without a sample */
} table;

roofs_status table_open(table *t, reader *r, rows *from, roofs_error *err);
roofs_status table_load(table *t, roofs_error *err);
roofs_status table_read(table *t, int64_t count, double *values, int64_t *got, roofs_error *err);
void table_close(table *t);

/* ---- table_row.c: one row to numbers and codes ------------------------- */

/* Reads the current row into `values`, one for each slot. */
roofs_status table_parse_row(table *t, double *values, roofs_error *err);

/* Makes *f a view of the field with "" as one quote, valid until the next call. */
roofs_status table_unquote(table *t, field *f, roofs_error *err);

/* BAD_DATA with file, line, column and its name, and what is wrong with the field. */
roofs_status table_field_error(const table *t, int64_t column, field f, const char *what,
                               roofs_error *err);

/* Refuses the missing values of a column, by the first of them, unless the options allow them. */
roofs_status table_check_missing(const table *t, int64_t column, roofs_error *err);

/* The name of a column for messages; "" if it has none. */
const char *table_column_name(const table *t, int64_t column);

/* ---- table_special.c: columns beside the features, and features that come first ------- */

/* The state of a column that the options name as response, special column or ID; SEEN_NOTHING for
 * others. */
column_state special_state(const table_options *o, const char *name);

/* Records column k, which has a state of special_state. BAD_DATA if it is the second one. */
roofs_status special_record(table *t, int64_t column, roofs_error *err);
int special_is_read(const table *t); /* the table has one, apart from response and ID */

/* After the last row: fills the numbers of the reader. Refuses missing ones. */
roofs_status special_read(table *t, roofs_error *err);

/* True if the features of the column come first. */
int table_is_always(const table *t, int64_t column);

/* ---- table_recipe.c: from what a column holds to its recipe ------------ */

/* After the last row. Refuses missing values where the options do not allow them. */
roofs_status table_make_recipes(table *t, roofs_error *err);

/* Before the first row: the columns of a fitted recipe. */
roofs_status table_use_recipe(table *t, recipe *fitted, roofs_error *err);

#endif
