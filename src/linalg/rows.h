/* Products of many short rows of single precision numbers. The length of a row is a multiple of
 * eight. Sums have a fixed order: the bits do not depend on threads. */
#ifndef LINALG_ROWS_H
#define LINALG_ROWS_H

#include "linalg/workers.h"

/* The number of rows to allocate for `count` rows of rows_products: it reads whole groups of four,
 * and one row more. */
static inline int64_t rows_padded(int64_t count)
{
    return (count + 4) / 4 * 4;
}

/* out[k * others + l] = product of row k and other l. Both are padded by rows_padded. */
void rows_products(const float *rows, int64_t count, const float *other, int64_t others,
                   int64_t length, workers *w, double *out);

/* Rows of which products of a few numbers were computed first. */
typedef struct rows_refined {
    const float *rows;                          /* count */
    const float *const *other;                  /* others */
    const double *unit;                         /* factor of the products with each other */
    const unsigned char *always, *other_always; /* all products of these are needed */
    int64_t count, others, length;
    workers *w;
} rows_refined;

/* Where |out| is at least `least`, and where always, out becomes unit times the product of these
 * rows; 0 in other places. */
void rows_refine(const rows_refined *r, double least, double *out);

/* sums[2 k] = sum weight v, sums[2 k + 1] = sum weight v^2 over row k. */
void rows_moments(const float *const *rows, int64_t count, const float *weight, int64_t length,
                  workers *w, double *sums);

/* out = (v - mean) factor unit of each row; mean = shift[2 k], unit = shift[2 k + 1]. Unless it is
 * NULL, fourth[k] = sum of the fourth powers of row k. */
void rows_normalise(const float *const *rows, int64_t count, const float *factor, int64_t length,
                    workers *w, const double *shift, float *out, double *fourth);

/* The product of two rows. */
double rows_pair(const float *row, const float *other, int64_t length);

/* A column in steps: sums[0] = sum W c, sums[1] = sum W c^2, sums[2] = sum t c over its codes c. */
void rows_code_sums(const signed char *codes, const double *W, const double *t, int64_t n,
                    double sums[3]);

#endif
