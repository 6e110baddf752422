/* Reads and writes NumPy array files. */
#ifndef STREAM_NPY_H
#define STREAM_NPY_H

#include "base/status.h"

#include <stdio.h>

/* Writes the header of a C-order array; `descr` is the type in NumPy's notation, e.g. "<f8". The
 * caller writes the values after it, in little-endian order. */
void npy_write_header(FILE *file, const char *descr, int64_t rank, const int64_t *shape);

/* Reads a whole numeric array of any shape as doubles. Free *values with memory_free. */
roofs_status npy_read_all(const char *path, double **values, int64_t *count, roofs_error *err);

#endif
