/* Which trials an experiment needs, and how they get done: one per core at a time, those whose
 * time is measured one after the other. */
#ifndef CLI_REPRODUCE_SCHEDULE_H
#define CLI_REPRODUCE_SCHEDULE_H

#include "cli/reproduce/journal.h"
#include "cli/reproduce/trial.h"

typedef struct schedule {
    trial *trials; /* still to be run, the longest first */
    int64_t count, capacity;
    json_t *listed; /* their keys */
    double seconds; /* of all of them, on one core */
} schedule;

/* Adds what `e` needs and the journal does not have. `patience` 0: that of the experiment. */
roofs_status schedule_add(schedule *s, const catalogue *c, const experiment *e, double patience,
                          const journal *j, roofs_error *err);
void schedule_free(schedule *s);

/* Seeds that one number of the experiment gets: as many as patience allows, maybe none. */
int64_t seeds_allowed(const experiment *e, const contender *who, const setting *what,
                      double patience);

typedef struct working {
    int64_t workers;
    const char *reviews; /* folder of the IMDb data */
    const char *device;  /* of the methods that have rounds there */
    int quiet;
} working;

int64_t schedule_cores(void); /* of this machine, as far as we may use them */
double schedule_wall_seconds(const schedule *s, int64_t workers);

/* Runs until all is done, a signal comes or something fails that is not the trial's fault. */
roofs_status schedule_run(const schedule *s, const working *how, journal *j, roofs_error *err);

#endif
