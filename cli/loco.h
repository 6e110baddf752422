/* Predictions that leave one chromosome out, in the layout of the .loco files of REGENIE. */
#ifndef CLI_LOCO_H
#define CLI_LOCO_H

#include "stream/variants.h"

#include <stdio.h>

typedef struct loco {
    names chromosomes;   /* 1 to 23, then others of the model */
    int64_t *chromosome; /* of each feature of the model; -1 = none: a covariate */
} loco;                  /* an empty one is all zero */

void loco_free(loco *l);

/* BAD_DATA if the model has no variants. */
roofs_status loco_begin(loco *l, const roofs_result *model, const variant_list *variants,
                        roofs_error *err);

/* `rows`: n predictions for each chromosome; `ids`: "FID IID" of each person. */
void loco_write(const loco *l, FILE *file, const names *ids, int64_t n, const double *rows);

#endif
