/* NumPy's array file, both ways. */
#ifndef STREAM_NPY_H
#define STREAM_NPY_H

#include "base/status.h"

#include <stdio.h>

/* Writes the header of a C-order array; `descr` is NumPy's type, e.g. "<f8".
 * The values follow as they stand in memory on a little-endian machine. */
void npy_write_header(FILE *file, const char *descr, int64_t rank, const int64_t *shape);

/* Reads a whole numeric array of any shape as doubles; for small files such as
 * those of `simulate`. *values is to be freed with memory_free. */
roofs_status npy_read_all(const char *path, double **values, int64_t *count, roofs_error *err);

#endif
