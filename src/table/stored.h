/* The object "table" of a model: the recipes of the columns that it uses, and how its table was
 * read. */
#ifndef TABLE_STORED_H
#define TABLE_STORED_H

#include "table/recipe.h"

typedef struct stored_facts {
    const char *response, *id; /* names of columns, or NULL */
    missing_policy missing;
    int thousands, decimal_comma;
    const names *ids; /* of the samples; NULL = unknown */
} stored_facts;

/* The object for the model `v`, from the recipes of all columns. The caller releases it, after a
 * failure, too. */
roofs_status stored_make(const stored_facts *f, const recipe *all, const roofs_result *v,
                         json_t **out, roofs_error *err);

/* Reads the text of roofs_model_table (or NULL). Features of `v` that it does not list are numbers.
 */
roofs_status stored_read(const char *text, const roofs_result *v, recipe *r, roofs_error *err);

#endif
