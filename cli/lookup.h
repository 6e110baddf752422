/* Finds the features of a model in a stream and sums up the predictions and their variances.
 *
 * Features are found by name if model and stream have names, otherwise by index. The sum is in the
 * order of the model, so its bits are those of roofs_predict and roofs_predict_interval for any
 * order of the files. */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include "base/interval.h"
#include "stream/source.h"

typedef struct named_feature {
    const char *name;
    int64_t place; /* in the model */
} named_feature;

typedef struct lookup {
    const roofs_result *model;
    int64_t n;
    double *sum;              /* n predictions */
    const interval *interval; /* NULL = none is wanted */
    double *variance;         /* of the predictions, for the interval; NULL = not wanted */
    const int64_t *part;      /* of each feature, or -1; NULL = no sums without a part are wanted */
    int64_t parts;
    double *without; /* n predictions for each part: without its features */
    double **held; /* per feature of the model: its values if an earlier one is missing, or NULL */
    int named;     /* every feature of the model has a name */
    named_feature *sorted; /* by name */
    int64_t next;          /* the feature of the model to add next */
    const double *fills;   /* per feature of the model: replaces missing values; or NULL */
    double *filled;        /* n values of one feature */
    int64_t missing;       /* values that were replaced */
    unsigned char *found;
    int absent_is_zero;         /* the stream lists only nonzero values */
    const double *absent_value; /* per feature of the model: its value if the stream does not have
                                 * it; NaN = it must be there. NULL = all must */
    int64_t absent; /* features of the model that the stream does not have, taken as 0 or
                       absent_value */
} lookup;

/* `v`: of the wanted interval, or NULL; it and the model stay valid as long as the lookup. */
roofs_status lookup_create(lookup *l, const roofs_result *model, const interval *v, int64_t n,
                           roofs_error *err);
void lookup_destroy(lookup *l);

/* Reads only the selected features, at their index in the model. If the stream has other features
 * at these indices, sets *matches to 0 and resets the sum. */
roofs_status lookup_in_place(lookup *l, source *s, int *matches, roofs_error *err);

/* Reads the whole stream. Holds features until all earlier features of the model are added: at most
 * selected * n values. The error names missing features. */
roofs_status lookup_scan(lookup *l, source *s, roofs_error *err);

#endif
