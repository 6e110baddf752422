/* Prints and writes the results. */
#ifndef CLI_REPRODUCE_RESULTS_H
#define CLI_REPRODUCE_RESULTS_H

#include "base/output.h"
#include "cli/print.h"
#include "cli/reproduce/summary.h"

/* "0.968 ±0.002"; "-" for an empty cell. */
short_text text_of_cell(const experiment *e, const cell *number);

/* "10%", "2,000": a point of an axis. */
short_text text_of_point(const panel *p, int64_t point);

/* Why a cell is empty: it failed, is too slow, does not apply or has not run yet. */
void explain_empty(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
                   const cell *number, char *text, size_t size);

/* Prints the verdict on an experiment, a line per order of arrival. */
void results_print_line(const findings *f, const experiment *e);

/* Prints all numbers of an experiment. */
void results_print(const findings *f, const experiment *e);

/* Opens a file of the folder for writing. */
roofs_status results_open(output *out, const char *into, const char *name, roofs_error *err);

/* Writes NAME.csv and NAME.json to the folder. */
roofs_status results_write(const findings *f, const experiment *e, const char *into,
                           roofs_error *err);

/* Writes report.html to the folder: the chosen experiments, and those with earlier results. */
roofs_status results_page(const findings *f, const char *into, roofs_error *err);

/* One plot: a curve for every contender. */
roofs_status figure_panel(FILE *page, const findings *f, const experiment *e, int64_t q,
                          arrival when, roofs_error *err);

#endif
