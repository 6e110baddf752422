/* A number of a table: mean and error over seeds. */
#ifndef CLI_REPRODUCE_SUMMARY_H
#define CLI_REPRODUCE_SUMMARY_H

#include "cli/reproduce/journal.h"

typedef struct cell {
    int64_t seeds; /* that have run */
    double mean;   /* NAN if there is none, or nothing to measure */
    double error;  /* standard error of the mean; NAN for fewer than two seeds */
    const char *failure;
} cell;

/* The measure is that of the experiment. */
cell summarise(const journal *j, const catalogue *c, const experiment *e, int64_t row, int64_t q,
               int64_t point, arrival when);

/* The exponent of growth along a panel, by least squares on logarithms; NAN for fewer than three
 * sizes. */
double summarise_exponent(const journal *j, const catalogue *c, const experiment *e, int64_t row,
                          int64_t q, arrival when);

/* True if we or the paper have a number in this row of the panel. */
int row_has_anything(const journal *j, const catalogue *c, const experiment *e, int64_t row,
                     int64_t q);

/* Compares a number with the paper: -1 worse, 0 about the same, 1 better. */
int compare_with_paper(measure m, double ours, double paper);

const char *arrival_title(const experiment *e, arrival when);

#endif
