/* Products of many short rows of single precision numbers. */
#ifndef LINALG_ROWS_H
#define LINALG_ROWS_H

#include <stdint.h>

/* The number of rows to allocate for `count` others of rows_products. */
static inline int64_t rows_padded(int64_t count)
{
    return (count + 3) / 4 * 4;
}

/* out[k * others + l] = product of row k and other l. Rows have `length` numbers, a multiple of
 * eight; the others are padded by rows_padded. The order of each sum is fixed: the bits do not
 * depend on threads; 0 threads = one per core. */
void rows_products(const float *rows, int64_t count, const float *other, int64_t others,
                   int64_t length, int64_t threads, double *out);

#endif
