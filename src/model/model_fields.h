/* Fields of JSON objects in a model file. Reading checks them; errors name the file and the field.
 */
#ifndef MODEL_FIELDS_H
#define MODEL_FIELDS_H

#include "model/model.h"

/* Appends `item` and returns the list. On failure frees both and returns NULL, so that no
 * incomplete list is written. */
json_t *append_item(json_t *list, json_t *item);

/* What the functions below need for their messages. */
typedef struct reading {
    const char *path;
    roofs_error *err;
} reading;

/* BAD_DATA: "'field' should be `wanted`". */
roofs_status bad_field(const reading *in, const char *field, const char *wanted);

roofs_status get_int(const reading *in, const json_t *object, const char *field, int64_t high,
                     int64_t *out); /* from 0 to high */
roofs_status get_real(const reading *in, const json_t *object, const char *field, double *out);
roofs_status get_share(const reading *in, const json_t *object, const char *field,
                       double *out); /* from 0 to 1 */
roofs_status get_positive(const reading *in, const json_t *object, const char *field,
                          double *out); /* 0 or more */
roofs_status get_text(const reading *in, const json_t *object, const char *field, char **out);
roofs_status get_name(const reading *in, const json_t *object, const char **out); /* may be null */
roofs_status get_list(const reading *in, const json_t *object, const char *field,
                      const json_t **out, int64_t *count);

#endif
