/* The numbers of the tables: means and errors over seeds. */
#ifndef CLI_REPRODUCE_SUMMARY_H
#define CLI_REPRODUCE_SUMMARY_H

#include "cli/reproduce/journal.h"

/* The results of a reproduction. */
typedef struct findings {
    const catalogue *catalogue;
    const journal *journal;
    int quick;
    double patience;   /* 0: that of each experiment */
    const int *wanted; /* the chosen experiments */
} findings;

typedef struct cell {
    int64_t seeds; /* seeds with a result */
    double mean;   /* NAN without seeds, or if the measure does not apply */
    double error;  /* standard error of the mean; NAN for fewer than two seeds */
    const char *failure;
} cell;

/* The measure of the experiment, for one row, panel q, point and order of arrival. */
cell summarise(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
               arrival when);

/* The exponent of growth along a panel; NAN for fewer than three sizes. */
double summarise_exponent(const findings *f, const experiment *e, int64_t row, int64_t q,
                          arrival when);

/* True if this row of the panel has a number, ours or the paper's. */
int row_has_numbers(const findings *f, const experiment *e, int64_t row, int64_t q);

/* Compares a number with the paper: -1 worse, 0 about the same, 1 better. */
int compare_with_paper(measure m, double ours, double paper);

const char *arrival_title(const experiment *e, arrival when);

#endif
