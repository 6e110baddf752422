/* Times another program on the same data, for `roofs bench --rival`. */
#ifndef CLI_BENCH_RIVAL_H
#define CLI_BENCH_RIVAL_H

#include "stream/simulator.h"

/* Writes the data to a temporary folder and runs `command DIR --mu M --batch 100
 * --threads T`, which must print a JSON object with fit_seconds. */
roofs_status measure_rival(const char *command, const simulation *what, int64_t threads,
                           double *seconds, roofs_error *err);

#endif
