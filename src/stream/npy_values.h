/* The values of a NumPy array file as doubles or floats. */
#ifndef STREAM_NPY_VALUES_H
#define STREAM_NPY_VALUES_H

#include "stream/npy_header.h"

/* `count` values into `to`, from place `first` where `first` >= 0 (plain files
 * only), else from where `input` stands. F32 only for floats of 32 bits and less. */
roofs_status npy_take_values(bytes *input, const npy_header *header, int64_t first, int64_t count,
                             roofs_dtype dtype, void *to, roofs_error *err);

/* The narrower type that holds every value of the file. */
roofs_dtype npy_dtype(const npy_header *header);

#endif
