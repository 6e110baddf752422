/* The trials of the chosen experiments. Each core runs one trial at a time; timed trials run alone.
 */
#ifndef CLI_REPRODUCE_SCHEDULE_H
#define CLI_REPRODUCE_SCHEDULE_H

#include "cli/reproduce/journal.h"
#include "cli/reproduce/trial.h"

typedef struct schedule {
    trial *trials; /* not yet run, the longest first */
    int64_t count, capacity;
    json_t *listed; /* their keys */
} schedule;

/* Adds the trials of `e` that are not in the journal. `patience` 0: that of the experiment. */
roofs_status schedule_add(schedule *s, const catalogue *c, const experiment *e, double patience,
                          const journal *j, roofs_error *err);
void schedule_free(schedule *s);

/* Number of seeds that `patience` allows for one number of a table; may be 0. */
int64_t seeds_allowed(const experiment *e, const contender *who, const setting *what,
                      double patience);

typedef struct schedule_options {
    int64_t workers;
    const char *reviews; /* folder of the IMDb data */
    int64_t device;      /* for the methods that run on a GPU */
    int quiet;
} schedule_options;

int64_t schedule_cores(void); /* that this process may use */

/* Expected duration in seconds. */
double schedule_wall_seconds(const schedule *s, int64_t workers);

/* Runs all trials, until a signal or an error. A trial that is impossible is no error. */
roofs_status schedule_run(const schedule *s, const schedule_options *how, journal *j,
                          roofs_error *err);

#endif
