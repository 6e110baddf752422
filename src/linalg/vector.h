/* Sums over vectors of n numbers. Every sum has a fixed order (eight interleaved partial sums), so
 * the bits depend neither on threads nor on the width of the registers. */
#ifndef LINALG_VECTOR_H
#define LINALG_VECTOR_H

#include "base/comm.h"

double vector_sum(const double *x, int64_t n);
double vector_dot(const double *x, const double *y, int64_t n);

/* sum weight x; a NULL weight is 1. */
double vector_weighted_sum(const double *weight, const double *x, int64_t n);

/* |x|^2 - |y|^2, accurate also where y is close to x. */
double vector_squares_less(const double *x, const double *y, int64_t n);

/* y += a x */
void vector_add(double *y, double a, const double *x, int64_t n);

/* The Euclidean norm; intermediate results neither overflow nor underflow. */
double vector_norm(const double *x, int64_t n);

/* The norm of x, for the sum of its squares: it may have overflowed or underflowed. */
double vector_norm_of(const double *x, int64_t n, double squares);

double vector_largest(const double *x, int64_t n); /* largest |x_i|; 0 for n = 0 */

/* The same over all ranks; x and y are the n samples of this rank. */
double comm_total(comm *c, const double *x, int64_t n);
double comm_dot(comm *c, const double *x, const double *y, int64_t n);
double comm_weighted_sum(comm *c, const double *weight, const double *x, int64_t n);

/* sum weight x y; scratch holds n numbers. */
double comm_weighted_dot(comm *c, const double *weight, const double *x, const double *y, int64_t n,
                         double *scratch);

double comm_norm(comm *c, const double *x, int64_t n);
double comm_norm_of(comm *c, double own); /* from the norm of this rank's samples */

/* The number of samples of all ranks: each counts case_weight[i] times, or once if that is NULL. */
double comm_cases(comm *c, const double *case_weight, int64_t n);

#endif
