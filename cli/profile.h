/* Where the time of a fit went: the table of `roofs fit --profile`. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/fit_report.h"

enum { PROFILE_MOST = 16 }; /* phases */

typedef struct profile_line {
    const char *name;
    double seconds;
    double bytes; /* read; 0 = not counted */
} profile_line;

typedef struct profile {
    profile_line lines[PROFILE_MOST];
    int64_t count;
    int64_t threads;
    double bandwidth; /* bytes per second that the threads read from memory; 0 = not measured */
} profile;

/* The phases of a fit, while it exists. `times`: of the whole session so far. */
void profile_take(profile *p, const roofs_estimator *e, const fit_times *times, double read_bytes);

/* One more line. */
void profile_add(profile *p, const char *name, double seconds, double bytes);

/* The bytes that the values of a block take. */
double profile_block_bytes(const roofs_block *b);

/* Measures the memory bandwidth of this machine. */
void profile_measure(profile *p);

void profile_print(FILE *file, const profile *p);
json_t *profile_json(const profile *p);

#endif
