/* Tables with columns of every kind, for the verbs that read them. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "cli/inputs.h"
#include "table/levels.h"
#include "table/recipe.h"

extern const option_row table_rows[]; /* the options that fill a table_options: see GROUP */

/* Prints the messages of the stream about its tables, from number `first` on, on rank 0. Returns
 * how many there are. */
int64_t tables_print_notes(const char *who, const source *s, int64_t first);

/* The recipes of the columns read so far as JSON: `stored` (text of an earlier session, or NULL),
 * then those of the stream (or NULL), which replace columns of the same name. */
roofs_status tables_collect(const char *stored, const source *s, json_t **out, roofs_error *err);

/* The same as text; NULL if no column needs a recipe. Free *out with memory_free. */
roofs_status tables_collect_text(const char *stored, const source *s, char **out, roofs_error *err);

/* Stores in a model how the columns of its tables become features. `recipes` are those of all
 * columns, `ids` those of the samples (may be empty), `fills` see cli/fills.h, or NULL, `genotypes`
 * see cli/genotypes.h, or NULL. Does nothing if no file needs it. */
roofs_status tables_to_model(roofs_model *m, const input_args *in, const json_t *recipes,
                             const levels *ids, const double *fills, json_t *genotypes,
                             roofs_error *err);

/* The IDs of the samples of a model that are not trusted, in their order, as a list of texts that
 * the caller releases; NULL if the model does not have them. */
json_t *tables_outliers(const roofs_model *m);

/* The recipe of a model. Features that it does not list are numbers. Sets r->id as in the fit. */
roofs_status tables_from_model(const roofs_model *m, recipe *r, roofs_error *err);

#endif
