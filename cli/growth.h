/* How a quantity grows with a size. */
#ifndef CLI_GROWTH_H
#define CLI_GROWTH_H

#include <stdint.h>

/* The exponent b of value ~ size^b, by least squares on logarithms. All numbers must be above 0. */
double growth_exponent(const double *size, const double *value, int64_t count);

#endif
