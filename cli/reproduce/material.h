/* The data of one trial: simulated, or the IMDb reviews. */
#ifndef CLI_REPRODUCE_MATERIAL_H
#define CLI_REPRODUCE_MATERIAL_H

#include "cli/reproduce/experiment.h"

typedef struct material material;

typedef struct material_kind {
    /* Features first..first+count-1; valid until the next call. */
    roofs_status (*block)(material *m, int64_t first, int64_t count, roofs_block *out,
                          roofs_error *err);

    /* Scores a fit; measures that do not apply stay NAN. */
    roofs_status (*score)(material *m, const roofs_result *answer, double *scores,
                          roofs_error *err);

    /* Scores a reference row that is not a fit. */
    roofs_status (*reference)(material *m, answer_kind kind, double *scores, roofs_error *err);

    void (*destroy)(material *m);
} material_kind;

struct material {
    const material_kind *kind;
    setting what;
    const double *y;
    int plain; /* the paper's setting: no intercept, no standardising */
};

roofs_status material_simulate(material **out, const setting *what, arrival when, int64_t seed,
                               roofs_error *err);

#endif
