/* What `roofs fit` tells: shared by its steps and its report. */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "stream/missing.h"

typedef struct fit_times {
    double reading, fitting; /* seconds */
} fit_times;

int fit_print_json(const roofs_result *result, const fit_times *times,
                   const missing_count *missing);
void fit_print_summary(const roofs_result *result, const fit_times *times,
                       const missing_count *missing);

/* The memory a fit would take, on standard output. `filled`: values of a sparse feature; 0 =
 * features are dense; `ahead`: batches are read ahead. */
roofs_status fit_explain(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                         int64_t filled, int ahead, roofs_error *err);

#endif
