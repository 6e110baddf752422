/* The values of a NumPy array file as doubles or floats. */
#ifndef STREAM_NPY_VALUES_H
#define STREAM_NPY_VALUES_H

#include "stream/npy_header.h"

/* Reads `count` values into `to`, from index `first` if `first` >= 0 (uncompressed files only),
 * otherwise from the current position of `input`. F32 only for floats of at most 32 bits. */
roofs_status npy_read_values(bytes *input, const npy_header *header, int64_t first, int64_t count,
                             roofs_dtype dtype, void *to, roofs_error *err);

/* Reads all values from the current position. Memory grows with what has been read, not with what
 * the header claims. Free *values with memory_free, also after a failure. */
roofs_status npy_read_growing(bytes *input, const npy_header *header, double **values,
                              roofs_error *err);

/* The narrower type that holds every value of the file. */
roofs_dtype npy_dtype(const npy_header *header);

#endif
