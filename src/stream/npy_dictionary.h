/* The dictionary of a .npy header, as NumPy writes it:
 * {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */
#ifndef STREAM_NPY_DICTIONARY_H
#define STREAM_NPY_DICTIONARY_H

#include "stream/npy_header.h"

/* Fills type, order and shape. Refuses everything that NumPy does not write: other keys, keys that
 * occur twice, other spellings of numbers and types. `texts` allows the types S and U. `name` is
 * that of the file. */
roofs_status npy_parse_dictionary(const char *text, int64_t length, int texts, const char *name,
                                  npy_header *h, roofs_error *err);

#endif
