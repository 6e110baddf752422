/* Sums for `roofs bench` and `roofs reproduce`. The fit does not use them. */
#ifndef CLI_ARITHMETIC_H
#define CLI_ARITHMETIC_H

#include <stdint.h>

double sum_values(const double *x, int64_t n);
double dot_product(const double *x, const double *y, int64_t n);

/* Sorts the values and returns the middle one. */
double take_median(double *values, int64_t count);

#endif
