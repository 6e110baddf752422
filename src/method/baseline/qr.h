/* Least squares that do not mind dependent columns. */
#ifndef BASELINE_QR_H
#define BASELINE_QR_H

#include "base/status.h"

/* x = the shortest of the vectors that make |Z x - b| smallest; returns the rank. Z: m x
 * n by columns, overwritten, and b too. Columns count as dependent where what is left of
 * them is below `least` times the longest column. */
roofs_status qr_least_squares(double *z, int64_t m, int64_t n, double *b, double least, double *x,
                              int64_t *rank, roofs_error *err);

/* Rows with the same least squares: *kept <= min(m, n) of them, by rows, n + 1 numbers each, the
 * last one that of b. Of rows on several ranks, what is kept of each can so be joined. Z and b are
 * overwritten. */
roofs_status qr_compress(double *z, int64_t m, int64_t n, double *b, double *rows, int64_t *kept,
                         roofs_error *err);

#endif
