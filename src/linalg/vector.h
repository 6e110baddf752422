/* Sums over vectors of n numbers. Every sum has a fixed order (eight interleaved partial sums), so
 * the bits depend neither on threads nor on the width of the machine's registers. */
#ifndef LINALG_VECTOR_H
#define LINALG_VECTOR_H

#include <stdint.h>

double vector_sum(const double *x, int64_t n);
double vector_dot(const double *x, const double *y, int64_t n);

/* y += a x */
void vector_add(double *y, double a, const double *x, int64_t n);

/* The square root of the sum of squares; intermediate results neither overflow nor underflow. */
double vector_norm(const double *x, int64_t n);

double vector_largest(const double *x, int64_t n); /* largest |x_i|; 0 for n = 0 */

#endif
