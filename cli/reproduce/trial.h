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

/* What a trial does not depend on. */
typedef struct surroundings {
    const reviews *all;    /* needed for trials on reviews only */
    const char *device;    /* where methods compute that can do so there */
    roofs_monitor monitor; /* asked while fits run, and may stop them */
} surroundings;

/* Fills scores[MEASURES]; what makes no sense stays NAN. */
roofs_status trial_run(const trial *t, const surroundings *around, double *scores,
                       roofs_error *err);

#endif
