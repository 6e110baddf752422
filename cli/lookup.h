/* Finds the features of a model in a stream and adds them up.
 *
 * Features are found by name if both have names, otherwise by index. The sum is made in the order
 * of the model: it has the bits of roofs_predict for any order of the files. */
#ifndef CLI_LOOKUP_H
#define CLI_LOOKUP_H

#include "base/status.h"
#include "stream/source.h"

typedef struct named_feature {
    const char *name;
    int64_t place; /* in the model */
} named_feature;

typedef struct lookup {
    const roofs_result *model;
    int64_t n;
    double *sum;           /* n predictions */
    double **held;         /* per feature of the model: read before its turn, NULL otherwise */
    int named;             /* every feature of the model has a name */
    named_feature *sorted; /* by name */
    int64_t turn;          /* features of the model already added */
    unsigned char *found;
    int absent_is_zero; /* in streams that list only what is not zero */
    int64_t absent;     /* features of the model that the stream does not have: counted as 0 */
} lookup;

roofs_status lookup_create(lookup *l, const roofs_result *model, int64_t n, roofs_error *err);
void lookup_destroy(lookup *l);

/* Reads the selected features only, at their index in the model. *fits = 0: the files have other
 * features there; the sum is reset. */
roofs_status lookup_in_place(lookup *l, source *s, int *fits, roofs_error *err);

/* Reads the whole stream. A feature that comes before its turn is held: at worst
 * selected * n values. Features that are missing are named in the error. */
roofs_status lookup_scan(lookup *l, source *s, roofs_error *err);

#endif
