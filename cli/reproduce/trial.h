/* A trial: one method or reference on one data set. */
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

/* The name of its result in the journal: all that the result depends on. */
void trial_key(const trial *t, char key[TRIAL_KEY]);

/* What does not change the result of a trial. */
typedef struct surroundings {
    const reviews *all;    /* needed for trials on reviews only */
    const char *device;    /* for the methods that can use it */
    roofs_monitor monitor; /* of all fits */
} surroundings;

/* Fills scores[MEASURES]; measures that do not apply are NAN. */
roofs_status trial_run(const trial *t, const surroundings *around, double *scores,
                       roofs_error *err);

#endif
