/* The summary and the memory estimate that `roofs fit` prints. */
#ifndef CLI_FIT_REPORT_H
#define CLI_FIT_REPORT_H

#include "table/missing.h"

#include <jansson.h>
#include <stdio.h>

typedef struct fit_times {
    double reading, fitting; /* seconds */
} fit_times;

/* The words of these flags ROOFS_WARNING_... as a list. */
json_t *json_warnings(int64_t flags);

/* How the selection depends on the order of the features; NULL if that was not measured. */
json_t *json_orders(const roofs_result *result);

/* One line per flag on standard error: what was found and what to do. */
void fit_print_warnings(int64_t flags);

/* Prints a warning if no feature counts as selected. */
void fit_warn_if_nothing_matters(const roofs_result *r);

/* What the summary has beside the result. */
typedef struct fit_facts {
    fit_times times;
    missing_count missing;
    int64_t passes;    /* that were made */
    int64_t peak;      /* bytes of memory, see fit_peak_bytes */
    json_t *exchanged; /* as profile: pairs of samples */
    json_t *profile;   /* owned by the call that prints it; NULL = none */
} fit_facts;

/* The most memory that this program has used so far. */
int64_t fit_peak_bytes(void);

/* The object that --json prints. */
json_t *json_fit(const roofs_result *result, const fit_facts *facts);
int fit_print_json(const roofs_result *result, const fit_facts *facts);

/* The lines "samples" and "features", also of `roofs inspect`; the second one without its end. */
void fit_print_counts(FILE *file, const roofs_result *result);

/* The line "start", also of `roofs inspect`: the chosen hypothesis, if several were compared. */
void fit_print_hypothesis(FILE *file, const roofs_result *result);

/* The line "orders", also of `roofs inspect`, if orders were compared. */
void fit_print_orders(FILE *file, const roofs_result *result);

void fit_print_summary(const roofs_result *result, const fit_facts *facts);

/* Prints the memory that a fit needs. `filled`: values of a sparse feature, 0 = features are dense;
 * `prefetch`: a second buffer reads ahead; `tables`: bytes of tables that are loaded. */
roofs_status fit_explain(const roofs_settings *settings, int64_t n, roofs_dtype storage,
                         int64_t filled, int prefetch, int64_t tables, roofs_error *err);

#endif
