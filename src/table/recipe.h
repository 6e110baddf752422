/* How the columns of a table become features. A fit makes the recipe from its tables, the model
 * file stores it, and `predict` applies it. docs/model-file.md has the JSON form. */
#ifndef TABLE_RECIPE_H
#define TABLE_RECIPE_H

#include "table/dates.h"
#include "table/missing.h"
#include "table/names.h"

#include <jansson.h>

typedef enum column_kind {
    COLUMN_NUMBER,
    COLUMN_BOOLEAN,  /* 1 for true, yes, t, y; 0 for false, no, f, n */
    COLUMN_CATEGORY, /* a feature for each level; if there are two, only for the second */
    COLUMN_DATE,     /* days since 1970-01-01; with parts also weekdays, months and hours */
    COLUMN_LEFT_OUT,
    COLUMN_ID,
    COLUMN_RESPONSE
} column_kind;

typedef struct recipe_column {
    char *name;
    column_kind kind;
    names levels;     /* of a category, ascending as bytes */
    int has_rare;     /* a category has a level for all words that are not in `levels` */
    int has_missing;  /* a category has a level for missing values */
    int has_fill;     /* missing values become `fill`, a statistic of the fit */
    double fill;      /* not of categories */
    int has_absent;   /* a feature shows where values were missing; not of categories */
    int has_parts;    /* of a date: weekdays and months */
    int has_hours;    /* of a date with parts: hours, too */
    date_order order; /* of a date */
    char *reason;     /* why the column is left out */
    int is_optional;  /* `predict`: a number that the model has, perhaps from another file */
    int64_t found;    /* `predict`: the table that has the column; 0 = none so far */
} recipe_column;

typedef struct recipe {
    int is_given; /* by a model that was fitted to tables */
    recipe_column *columns;
    int64_t count, capacity;
    char *id, *response; /* names of columns, or NULL */
    double *fills;       /* of the features of the model, if its files were no tables; or NULL */
    int64_t fill_count;
    missing_policy missing;
    int thousands, decimal_comma; /* how numbers are written */
} recipe;                         /* an empty recipe is all zero */

void recipe_column_free(recipe_column *c);
void recipe_free(recipe *r);

/* Adds a column with this name. The pointer is valid until the next call. */
roofs_status recipe_add(recipe *r, const char *name, column_kind kind, recipe_column **out,
                        roofs_error *err);

/* The index of the column of this name, or -1. Takes time proportional to the columns. */
int64_t recipe_find(const recipe *r, const char *name);

/* False for a number without anything to replace missing values: recipes do not list it. */
int recipe_is_needed(const recipe_column *c);

/* The levels of a category, the rare one and that of missing values included. */
int64_t recipe_slots(const recipe_column *c);
int64_t recipe_features(const recipe_column *c);

/* Adds the name of feature k of the column. */
roofs_status recipe_feature_name(const recipe_column *c, int64_t k, names *list, roofs_error *err);

/* Feature k of the column for a value: a number, a date in days, 0 or 1 of a boolean, or the slot
 * of a category (-1: an unknown word). NaN is missing, and stays so where nothing replaces it. */
double recipe_value(const recipe_column *c, int64_t k, double value);

/* 1 or 0 for a word of a boolean, in any case; -1 for other words. */
int boolean_read(const char *text, const char *end);

/* ---- JSON -------------------------------------------------------------- */

const char *missing_policy_name(missing_policy policy);

json_t *recipe_column_to_json(const recipe_column *c); /* NULL: no memory */

/* Reads the text that roofs_model_table returns. An error names the field. */
roofs_status recipe_parse(recipe *r, const char *text, roofs_error *err);

#endif
