/* The results, for people and programs. */
#ifndef CLI_REPRODUCE_RESULTS_H
#define CLI_REPRODUCE_RESULTS_H

#include "cli/print.h"
#include "cli/reproduce/summary.h"

typedef struct findings {
    const catalogue *catalogue;
    const journal *journal;
    int quick;
    double patience;   /* 0: that of each experiment */
    const int *wanted; /* the experiments of this run */
} findings;

/* "0.968 ±0.002"; "-" for an empty cell. */
short_text text_of_cell(const experiment *e, const cell *number);

/* "10%", "2,000": a point of an axis. */
short_text text_of_point(const panel *p, int64_t point);

/* Why a cell is empty: not possible, too slow, or not run yet. */
void explain_empty(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
                   const cell *number, char *text, size_t size);

void results_print(const findings *f, const experiment *e);

/* NAME.csv and NAME.json in the folder. */
roofs_status results_write(const findings *f, const experiment *e, const char *into,
                           roofs_error *err);

/* report.html in the folder: the experiments of this run and of earlier ones. */
roofs_status results_page(const findings *f, const char *into, roofs_error *err);

/* One plot: a curve for every contender. */
roofs_status figure_panel(FILE *page, const findings *f, const experiment *e, int64_t q,
                          arrival when, roofs_error *err);

#endif
