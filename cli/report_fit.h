/* The report of one fit: text, tables and figures. */
#ifndef CLI_REPORT_FIT_H
#define CLI_REPORT_FIT_H

#include "cli/print.h"
#include "cli/trace.h"

#include <stdio.h>

/* Writes the page about a model; `name` is its title. `trace` may be empty. */
roofs_status fit_page(FILE *page, const roofs_model *model, const trace_lines *trace,
                      const char *name, roofs_error *err);

/* One figure each. */
roofs_status figure_coefficients(FILE *page, const roofs_result *m, roofs_error *err);
roofs_status figure_residuals(FILE *page, const roofs_result *m, roofs_error *err);
roofs_status figure_samples(FILE *page, const roofs_result *m, roofs_error *err);
roofs_status figure_clean_sorted(FILE *page, const roofs_result *m, roofs_error *err);
roofs_status figure_clean_histogram(FILE *page, const roofs_result *m, roofs_error *err);

/* Four figures with one value per batch. */
roofs_status figures_stream(FILE *page, const roofs_result *m, roofs_error *err);

/* The name of a feature; "feature 12", written to *number, if it has none. */
const char *feature_label(const roofs_feature *feature, short_text *number);

/* Three figures of a trace: the paths of the coefficients, time and memory. */
roofs_status figures_trace(FILE *page, const roofs_result *m, const trace_lines *t,
                           roofs_error *err);

#endif
