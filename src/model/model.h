/* What is left of a fit, and its JSON file (format in docs/model-file.md). */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/comm.h"
#include "base/sized.h"

#include <jansson.h>

extern const sized_type result_type;

struct roofs_model {
    roofs_result view; /* points into the fields below */
    char *method;
    char *library; /* version that made the model */
    roofs_feature *features;
    unsigned char *trust;
    double *clean; /* NULL where the method does not tell */
    roofs_batch *history;
    double *quantile;
    json_t *settings;
    int index_base; /* how the file counted its features, 0 or 1; -1: no matter */
};

/* Copies `view` (that of an estimator, with residuals), and what the other ranks have of the
 * samples. Takes over `settings`, also on failure. */
roofs_status model_build(roofs_model **out, const roofs_result *view, comm *c, json_t *settings,
                         roofs_error *err);

/* Lets m->view point to what the model owns. */
void model_point_view(roofs_model *m);

/* The whole file as a JSON value and back. */
roofs_status model_to_json(const roofs_model *m, json_t **out, roofs_error *err);
roofs_status model_from_json(roofs_model **out, const json_t *root, const char *path,
                             roofs_error *err);

#endif
