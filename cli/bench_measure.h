/* The measurements behind `roofs bench`. */
#ifndef CLI_BENCH_MEASURE_H
#define CLI_BENCH_MEASURE_H

#include "stream/simulator.h"

/* Bytes per second at which all threads together read main memory. */
roofs_status measure_read_bandwidth(int64_t threads, double *bytes_per_second, roofs_error *err);

/* Bytes per second at which the rounds of method roofs read `columns` kept columns. */
roofs_status measure_rounds(int64_t n, int64_t columns, int64_t threads, double *bytes_per_second,
                            roofs_error *err);

typedef struct fit_timing {
    double seconds;      /* in calls of the library, without generating the data */
    double column_bytes; /* bytes of the columns that the rounds read */
    int64_t rounds;
} fit_timing;

/* Times one fit in the paper's setting (no intercept, no standardisation). Simulated data is
 * generated batch by batch. */
roofs_status measure_fit(const simulation *what, const char *method, int64_t threads, int no_groups,
                         fit_timing *out, roofs_error *err);

#endif
