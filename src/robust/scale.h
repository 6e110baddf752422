/* Robust location and scale: they stay bounded if fewer than half of the samples are corrupt.
 * Medians are lower medians. Numbers may be split over ranks: n of them are this rank's, and all
 * ranks get the same result. c NULL: one rank has all numbers. */
#ifndef ROBUST_SCALE_H
#define ROBUST_SCALE_H

#include "base/comm.h"

/* Normal numbers have a standard deviation of so many times their median distance from the mean. */
#define NORMAL_PER_MEDIAN 1.4826

/* Case weights: number i counts case_weight[i] times, as if it occurred so often; NULL = once.
 * Their sum over all ranks is above 0. */
roofs_status lower_median(comm *c, const double *values, const double *case_weight, int64_t n,
                          double *median, roofs_error *err);

/* NORMAL_PER_MEDIAN times the median of |y - median(y)|; if that is zero, the mean of |y -
 * median(y)|; if that is zero too, 1. */
roofs_status robust_scale(comm *c, const double *y, const double *case_weight, int64_t n,
                          double *scale, roofs_error *err);

/* The middle and the length of the shortest interval that contains ceil(n/2) of the values. */
roofs_status shortest_half(comm *c, const double *values, const double *case_weight, int64_t n,
                           double *middle, double *length, roofs_error *err);

#endif
