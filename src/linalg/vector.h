/* Sums over vectors of n samples. The order of every sum is fixed (eight
 * interleaved partial sums), so the bits do not depend on threads or on how wide
 * the machine's registers are. */
#ifndef LINALG_VECTOR_H
#define LINALG_VECTOR_H

#include <stdint.h>

double vector_sum(const double *x, int64_t n);
double vector_dot(const double *x, const double *y, int64_t n);

/* y += a x */
void vector_add(double *y, double a, const double *x, int64_t n);

/* sqrt of the sum of squares, without overflow or underflow on the way. */
double vector_norm(const double *x, int64_t n);

double vector_largest(const double *x, int64_t n); /* largest |x_i|; 0 for n = 0 */

#endif
