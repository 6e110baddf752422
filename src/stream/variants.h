/* The variants of a model: who they are, for predictions from other files. They stand in the object
 * "genotypes" of the table of a model; docs/model-file.md has the JSON form. */
#ifndef STREAM_VARIANTS_H
#define STREAM_VARIANTS_H

#include "stream/bim.h"
#include "table/levels.h"

#include <jansson.h>

typedef enum variant_state {
    VARIANT_ABSENT = 0,
    VARIANT_OTHER, /* a file has other alleles there */
    VARIANT_FOUND
} variant_state;

typedef struct fitted_variant {
    const char *name; /* of the feature */
    variant variant;
    double mean; /* of the copies of A1 in the fit */

    /* set by variant_list_match */
    variant_state state;
    int is_swapped;     /* the file counts A2 */
    int64_t file, line; /* where it was found, counted from 0 */
} fitted_variant;

typedef struct variant_list {
    json_t *root; /* the memory of all texts */
    fitted_variant *items;
    int64_t count;
    levels names, keys;    /* keys: IDs and places */
    int64_t *first, *next; /* keys: chains of entries; entry 2 k and 2 k + 1 are of item k */
    int64_t first_capacity;
    const char *response; /* the phenotype; or NULL */
} variant_list;           /* an empty list is all zero */

/* Reads the text that roofs_model_table returns; NULL, or a text without variants, gives an empty
 * list. */
roofs_status variant_list_parse(variant_list *list, const char *text, roofs_error *err);
void variant_list_free(variant_list *list);

/* The item of the feature of this name; NULL if there is none. */
const fitted_variant *variant_list_find(const variant_list *list, const char *name);

/* The item that is this variant, by ID or by chromosome and position, and by its alleles; NULL if
 * there is none, or if another line has it. */
fitted_variant *variant_list_match(const variant_list *list, variant v, int64_t file, int64_t line);

/* How many items have a state, and how many of those found are swapped. */
int64_t variant_list_count(const variant_list *list, variant_state state);
int64_t variant_list_swapped(const variant_list *list);

/* An item of the list as JSON; NULL: no memory. */
json_t *variant_to_json(const char *name, variant v, double mean);

#endif
