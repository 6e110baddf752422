/* One number of one table: who answers, on which data. */
#ifndef CLI_REPRODUCE_TRIAL_H
#define CLI_REPRODUCE_TRIAL_H

#include "cli/reproduce/experiment.h"
#include "cli/reproduce/reviews.h"

typedef struct trial {
    const contender *who;
    setting what;
    arrival when;
    int64_t seed;
    int timed; /* to be run while nothing else is */
} trial;

enum { TRIAL_KEY = 160 };

/* The name under which its result is kept: everything it depends on. */
void trial_key(const trial *t, char key[TRIAL_KEY]);

/* Fills scores[MEASURES]; what makes no sense stays NAN. The monitor is asked while fits run
 * and may stop them. `all` is needed for trials on reviews only. */
roofs_status trial_run(const trial *t, const reviews *all, roofs_monitor monitor, double *scores,
                       roofs_error *err);

#endif
