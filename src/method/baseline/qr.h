/* Least squares by QR with column pivoting, for columns that may be dependent. */
#ifndef BASELINE_QR_H
#define BASELINE_QR_H

#include "base/status.h"

/* x = the vector of minimum norm among those that minimise |Z x - b|; *rank = the numerical rank of
 * Z. Z is m x n, stored by columns. Z and b are overwritten. A column counts as dependent where its
 * remainder is at most `least` times the longest column. */
roofs_status qr_least_squares(double *z, int64_t m, int64_t n, double *b, double least, double *x,
                              int64_t *rank, roofs_error *err);

/* Compresses a least squares problem to *count <= min(m, n) rows with the same solution. A row has
 * n + 1 numbers, the last one for b. The rows of several ranks can be stacked to one problem. Z and
 * b are overwritten. */
roofs_status qr_compress(double *z, int64_t m, int64_t n, double *b, double *rows, int64_t *count,
                         roofs_error *err);

#endif
