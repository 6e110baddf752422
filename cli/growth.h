/* The growth of a quantity with a size. */
#ifndef CLI_GROWTH_H
#define CLI_GROWTH_H

#include <stdint.h>

/* The power of the size by which the values grow: the slope of their logarithms over those of
 * the sizes, by least squares. All must be above 0. */
double growth_exponent(const double *size, const double *value, int64_t count);

#endif
