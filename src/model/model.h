/* A fitted model and its JSON file. Format: docs/model-file.md. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/comm.h"
#include "base/sized.h"

#include <jansson.h>

extern const sized_type result_type;

struct roofs_model {
    roofs_result view; /* points into the fields below */
    char *method;
    char *library; /* version of roofs that fitted the model */
    roofs_feature *features;
    unsigned char *trust;
    double *clean; /* NULL if the method does not estimate it */
    roofs_batch *history;
    double *quantile;
    double *frequency; /* NULL if no orders were compared */
    roofs_group *groups;
    roofs_member *members; /* of all groups, one after the other; their names are the model's */
    int64_t member_count;
    roofs_spread *spread; /* NULL if the method does not estimate it */
    unsigned char *is_selected;
    double *half_width; /* NULL without cross-validation */
    double *scale;      /* NULL if it is not known */
    json_t *settings;
    json_t *table;    /* how the columns of a table become features; NULL = no table */
    char *table_text; /* the same as text */
    char *offset;     /* see roofs_model_offset */
    int index_base;   /* the files count features from 0 or 1; -1 = unknown */
};

/* The samples of this rank in the unit of the method: 2^exponent of it is that of the caller. */
typedef struct model_samples {
    const double *y, *residual;
    const double *case_weight; /* NULL = 1 each */
    double pivot;              /* a number near the responses, the same on all ranks */
    int exponent;
} model_samples;

/* Builds a model from the view of an estimator, gathering the samples of all ranks. `own` is the
 * status of the view: a failure is returned on all ranks. Takes ownership of `settings`, also on
 * failure. */
roofs_status model_build(roofs_model **out, roofs_status own, const roofs_result *view,
                         const model_samples *samples, comm *c, json_t *settings, roofs_error *err);

/* How well the fit explains the trusted samples of all ranks; all 0 if a number is not finite. */
roofs_quality quality_of(const model_samples *samples, const roofs_result *view, comm *c);

/* If `status` is OK, points m->view to the arrays of the model and sets *out; otherwise destroys m.
 * Returns the status. */
roofs_status model_complete(roofs_model *m, roofs_status status, roofs_model **out,
                            roofs_error *err);

/* True if these numbers are finite, not negative and ascend, and their count is possible. */
int half_widths_are_valid(const double *half_width, int64_t count);

/* Stores the table of a model; takes a reference. */
roofs_status model_keep_table(roofs_model *m, json_t *table, roofs_error *err);

/* Converts a model to JSON and back. */
roofs_status model_to_json(const roofs_model *m, json_t **out, roofs_error *err);
roofs_status model_from_json(roofs_model **out, const json_t *root, const char *path,
                             roofs_error *err);

#endif
