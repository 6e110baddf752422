/* Sums over the samples of all ranks. */
#ifndef LINALG_COMM_H
#define LINALG_COMM_H

#include "base/comm.h"

/* x and y are the n samples of this rank. */
double comm_total(comm *c, const double *x, int64_t n);
double comm_dot(comm *c, const double *x, const double *y, int64_t n);
double comm_norm(comm *c, const double *x, int64_t n);

#endif
