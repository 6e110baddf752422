/* Exact order statistics of numbers that are split over ranks, for more numbers than one rank can
 * store. Two bounds enclose a value. In each step all ranks count their numbers below a few cuts
 * between the bounds, and the bounds move to the cuts that enclose the value. When few numbers are
 * left between the bounds, the ranks gather them. */
#ifndef ROBUST_ORDER_STATISTICS_H
#define ROBUST_ORDER_STATISTICS_H

#include "base/comm.h"

typedef struct order_statistics {
    comm *comm;
    const double *sorted; /* this rank's numbers, ascending; borrowed */
    int64_t n;

    /* scratch */
    struct order_bounds *bounds;   /* of each wanted position */
    double *counts;                /* numbers below the cuts of each */
    double *mine, *all;            /* numbers left between the bounds */
    struct known_statistic *known; /* values found so far, by position */
    int64_t known_count;
} order_statistics;

/* `most`: the most positions per call of order_statistics_select. */
roofs_status order_statistics_create(order_statistics *r, comm *c, int64_t most, roofs_error *err);
void order_statistics_destroy(order_statistics *r);

/* Sets this rank's n numbers, ascending. They are borrowed. */
void order_statistics_begin(order_statistics *r, const double *sorted, int64_t n);

/* values[k] = the number at position wanted[k] (from 0) among those of all ranks; below[k] = the
 * count of smaller numbers. All ranks call this with the same positions. */
void order_statistics_select(order_statistics *r, const int64_t *wanted, int64_t count,
                             double *values, int64_t *below);

/* The same values from numbers in any order, n of them on this rank. If the numbers are few, every
 * rank gathers and sorts them. */
roofs_status order_statistics_of(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                                 int64_t count, double *values, roofs_error *err);

/* True if the numbers, n of them on this rank, are few enough to gather. */
int order_statistics_are_few(comm *c, int64_t n);

/* *sorted = the *count numbers of all ranks, ascending; the caller frees it. */
roofs_status order_statistics_sort(comm *c, const double *numbers, int64_t n, double **sorted,
                                   int64_t *count, roofs_error *err);

/* Numbers with case weights: number i counts case_weight[i] times, as if it occurred so often. */
typedef struct weighted_order {
    double *value, *weight; /* of all ranks, ascending; those with weight 0 are left out */
    int64_t count;
    double total; /* sum of the weights, in this order */
} weighted_order;

/* case_weight NULL = 1 each. It gathers all numbers on every rank. */
roofs_status weighted_order_create(weighted_order *o, comm *c, const double *values,
                                   const double *case_weight, int64_t n, roofs_error *err);
void weighted_order_destroy(weighted_order *o);

#endif
