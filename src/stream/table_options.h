/* How text tables become features. */
#ifndef STREAM_TABLE_OPTIONS_H
#define STREAM_TABLE_OPTIONS_H

#include "table/dates.h"

#include <stdint.h>

/* Columns of numbers that are no features: how often a sample counts, and what is known of its
 * response. */
typedef enum special_column { SPECIAL_WEIGHTS, SPECIAL_OFFSET, SPECIALS } special_column;

typedef struct table_options {
    const char *response; /* the column of the response; NULL = another file has it */
    const char
        *special[SPECIALS];     /* special columns; NULL = another file has it, or there is none */
    const char *id;             /* the column that identifies samples; NULL = their order does */
    const char *columns, *drop; /* lists for name_list_split: the columns to read, or not */
    const char *categories;     /* columns of words, whatever they hold */
    const char *always;         /* columns whose features come first in their file */
    int64_t max_levels;         /* of a category; 0 = MAX_LEVELS */
    int64_t date_parts;         /* dates also give weekdays, months and hours */
    int64_t order;              /* a date_order: of day and month in dates such as 3/4/2020 */
    int thousands, decimal_comma;  /* how numbers are written */
    int64_t drop_missing_response; /* leave samples without a response out */
    int only_response;             /* read only the response, special columns and the ID */
    struct recipe *fitted;         /* NULL = make a recipe; otherwise apply this one */
} table_options;

#endif
