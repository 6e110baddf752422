/* The data of one trial: simulated, or IMDb reviews. */
#ifndef CLI_REPRODUCE_TRIAL_DATA_H
#define CLI_REPRODUCE_TRIAL_DATA_H

#include "cli/reproduce/experiment.h"

typedef struct trial_data trial_data;

typedef struct trial_data_kind {
    /* Features first..first+count-1; valid until the next call. */
    roofs_status (*block)(trial_data *m, int64_t first, int64_t count, roofs_block *out,
                          roofs_error *err);

    /* Scores a fit. Measures that do not apply stay NAN. */
    roofs_status (*score)(trial_data *m, const roofs_result *answer, double *scores,
                          roofs_error *err);

    /* Scores a reference row that is not a fit. */
    roofs_status (*reference)(trial_data *m, answer_kind kind, double *scores, roofs_error *err);

    void (*destroy)(trial_data *m);
} trial_data_kind;

struct trial_data {
    const trial_data_kind *kind;
    setting what;
    const double *y;
    int plain; /* the paper's setting: no intercept, no standardisation */
};

roofs_status trial_data_simulate(trial_data **out, const setting *what, arrival when, int64_t seed,
                                 roofs_error *err);

#endif
