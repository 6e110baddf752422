/* A number of a table: what the seeds say together. */
#ifndef CLI_REPRODUCE_SUMMARY_H
#define CLI_REPRODUCE_SUMMARY_H

#include "cli/reproduce/journal.h"

typedef struct cell {
    int64_t seeds; /* that have run */
    double mean;   /* NAN without any, or where there is nothing to measure */
    double error;  /* standard error of the mean; NAN for fewer than two seeds */
    const char *failure;
} cell;

/* Of the experiment's own measure. */
cell summarise(const journal *j, const catalogue *c, const experiment *e, int64_t row, int64_t q,
               int64_t point, arrival when);

/* The power of the size with which the mean grows along a panel, by least squares on the
 * logarithms; NAN for fewer than three sizes. */
double summarise_exponent(const journal *j, const catalogue *c, const experiment *e, int64_t row,
                          int64_t q, arrival when);

/* Whether the panel has any result in this row, or the paper has. */
int row_has_anything(const journal *j, const catalogue *c, const experiment *e, int64_t row,
                     int64_t q);

/* How a number compares with the paper's: -1 worse, 0 about the same, 1 better. */
int compare_with_paper(measure m, double ours, double paper);

const char *arrival_title(const experiment *e, arrival when);

#endif
