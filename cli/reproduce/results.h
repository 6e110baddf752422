/* What has been found, for people and programs. */
#ifndef CLI_REPRODUCE_RESULTS_H
#define CLI_REPRODUCE_RESULTS_H

#include "cli/print.h"
#include "cli/reproduce/summary.h"

typedef struct findings {
    const catalogue *catalogue;
    const journal *journal;
    int quick;
    double patience;   /* 0: that of each experiment */
    const int *wanted; /* which experiments this run is about */
} findings;

/* "0.968 ±0.002"; "-" where there is nothing. */
short_text text_of_cell(const experiment *e, const cell *number);

/* "10%", "2,000": a point of an axis. */
short_text text_of_point(const panel *p, int64_t point);

/* Why a cell is empty: it cannot be done, it would take too long, it has not run yet. */
void explain_empty(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
                   const cell *number, char *text, size_t size);

void results_print(const findings *f, const experiment *e);

/* NAME.csv and NAME.json in the folder. */
roofs_status results_write(const findings *f, const experiment *e, const char *into,
                           roofs_error *err);

/* report.html in the folder: what this run is about and what was there before. */
roofs_status results_page(const findings *f, const char *into, roofs_error *err);

/* One plot: a curve for every contender. */
roofs_status figure_panel(FILE *page, const findings *f, const experiment *e, int64_t q,
                          arrival when, roofs_error *err);

#endif
