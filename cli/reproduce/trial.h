/* One trial: a row of the tables, fitted to one data set. */
#ifndef CLI_REPRODUCE_TRIAL_H
#define CLI_REPRODUCE_TRIAL_H

#include "cli/reproduce/experiment.h"
#include "cli/reproduce/reviews.h"

typedef struct trial {
    const contender *who;
    setting what;
    arrival when;
    int64_t seed;
    int timed; /* no other trial runs at the same time */
} trial;

enum { TRIAL_KEY = 160 };

/* The key of the result in the journal: all that the result depends on. */
void trial_key(const trial *t, char key[TRIAL_KEY]);

/* Does not change the result. */
typedef struct trial_context {
    const reviews *all;    /* only for trials on reviews */
    int64_t device;        /* for the methods that run on a GPU */
    roofs_monitor monitor; /* of every fit; may stop it */
} trial_context;

/* Fills scores[MEASURES]; measures that do not apply stay NAN. */
roofs_status trial_run(const trial *t, const trial_context *context, double *scores,
                       roofs_error *err);

#endif
