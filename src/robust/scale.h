/* Robust location and scale: fewer than half of the samples, however bad, cannot move them far.
 * Medians are the lower of the middle two. Numbers may be split over ranks: n of them are this
 * rank's, and all ranks get the same result. c NULL: one rank has all numbers. */
#ifndef ROBUST_SCALE_H
#define ROBUST_SCALE_H

#include "linalg/comm.h"

roofs_status lower_median(comm *c, const double *values, int64_t n, double *median,
                          roofs_error *err);

/* 1.4826 times the median of |y - median(y)|. Where that is zero, the mean of |y - median(y)|;
 * where that is zero too, 1. */
roofs_status robust_scale(comm *c, const double *y, int64_t n, double *scale, roofs_error *err);

/* The shortest interval that holds ceil(n/2) of the values: its middle and length. */
roofs_status shortest_half(comm *c, const double *values, int64_t n, double *middle, double *length,
                           roofs_error *err);

#endif
