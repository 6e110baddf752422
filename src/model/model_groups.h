/* Credible groups, errors of coefficients, noise, half the widths of intervals, scales and quality
 * in a model file. All are optional. */
#ifndef MODEL_GROUPS_H
#define MODEL_GROUPS_H

#include "model/model_fields.h"

/* NULL if a number is not finite, or without memory. */
json_t *groups_to_json(const roofs_result *v);
json_t *noise_to_json(const roofs_noise *of);
json_t *quality_to_json(const roofs_quality *of);

/* Adds the fields of *s to the object of a feature. On failure frees it and returns NULL. */
json_t *spread_to_json(json_t *feature, const roofs_spread *s);

/* Call these after the features are read. */
roofs_status read_groups(const reading *in, const json_t *root, roofs_model *m);
roofs_status read_spread(const reading *in, const json_t *root, roofs_model *m);
roofs_status read_half_widths(const reading *in, const json_t *root, roofs_model *m);
roofs_status read_scale(const reading *in, const json_t *root, roofs_model *m);
roofs_status read_quality(const reading *in, const json_t *root, roofs_model *m);

#endif
