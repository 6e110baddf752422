/* One answer on one data set. */
#ifndef CLI_REPRODUCE_TRIAL_H
#define CLI_REPRODUCE_TRIAL_H

#include "cli/reproduce/experiment.h"
#include "cli/reproduce/reviews.h"

typedef struct trial {
    const contender *who;
    setting what;
    arrival when;
    int64_t seed;
    int timed; /* runs alone */
} trial;

enum { TRIAL_KEY = 160 };

/* The key of its result in the journal: everything it depends on. */
void trial_key(const trial *t, char key[TRIAL_KEY]);

/* Context that does not change the result. */
typedef struct surroundings {
    const reviews *all;    /* only for trials on reviews */
    int64_t device;        /* for the methods that run on a GPU */
    roofs_monitor monitor; /* called during fits; may stop them */
} surroundings;

/* Fills scores[MEASURES]; measures that do not apply stay NAN. */
roofs_status trial_run(const trial *t, const surroundings *around, double *scores,
                       roofs_error *err);

#endif
