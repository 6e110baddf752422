/* From what a column holds to its recipe. */
#ifndef TABLE_DECIDE_H
#define TABLE_DECIDE_H

#include "table/levels.h"
#include "table/recipe.h"

enum { MAX_LEVELS = 30 }; /* of a category, unless the choices say otherwise */

/* What the values of a column are. */
typedef enum column_content {
    HOLDS_NUMBERS,  /* or only missing values */
    HOLDS_BOOLEANS, /* 1 and 0 */
    HOLDS_DATES,
    HOLDS_WORDS,
    HOLDS_CATEGORY, /* words; a category by request */
    HOLDS_MANY,     /* too many different words */
    HOLDS_UNCLEAR   /* dates whose order of day and month is not given */
} column_content;

typedef struct column_facts {
    column_content content;
    const levels *words; /* with their counts */
    int64_t missing;     /* values */
    int has_time;        /* a date has a time of day */
} column_facts;

typedef struct recipe_choices {
    int64_t max_levels; /* 0 = MAX_LEVELS */
    int64_t date_parts;
    date_order order;
    missing_policy missing;
} recipe_choices;

/* True if a statistic of the fit, or a level of its own, replaces missing values. */
int missing_is_replaced(missing_policy policy);

/* Sets the kind of *r and all that belongs to it, except `fill`. *slots, which the caller frees, is
 * for words: the slot of each code of a category, or 0 or 1 for each word of a boolean. */
roofs_status recipe_decide(recipe_column *r, const column_facts *facts, const recipe_choices *c,
                           int32_t **slots, roofs_error *err);

#endif
