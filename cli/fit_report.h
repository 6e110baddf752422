/* What `roofs fit` prints. */
#ifndef CLI_FIT_REPORT_H
#define CLI_FIT_REPORT_H

#include "stream/missing.h"

typedef struct fit_times {
    double reading, fitting; /* seconds */
} fit_times;

int fit_print_json(const roofs_result *result, const fit_times *times,
                   const missing_count *missing);
void fit_print_summary(const roofs_result *result, const fit_times *times,
                       const missing_count *missing);

/* Prints the memory a fit would take. `filled`: values of a sparse feature, 0 = features are dense;
 * `prefetch`: batches are read ahead. */
roofs_status fit_explain(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                         int64_t filled, int prefetch, roofs_error *err);

#endif
