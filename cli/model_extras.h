/* What a model says about forced features and its offset, for `roofs inspect` and `roofs report`.
 */
#ifndef CLI_MODEL_EXTRAS_H
#define CLI_MODEL_EXTRAS_H

#include "roofs/roofs.h"

#include <jansson.h>

typedef struct model_extras {
    int64_t forced;     /* features of the model that are forced */
    char names[240];    /* of the first of them */
    const char *offset; /* see roofs_model_offset */
} model_extras;

model_extras model_extras_of(const roofs_model *m);

/* Lines of the summary of `roofs inspect`; none if the model has neither. */
void model_extras_print(const model_extras *x);

/* Adds the members "always" (indices) and "offset" to a summary. */
void model_extras_to_json(const roofs_model *m, json_t *summary);

#endif
