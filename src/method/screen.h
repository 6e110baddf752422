/* Correlations on 512 to 1023 of the samples. They show which pairs of columns cannot have a
 * large correlation, so that only few pairs need all samples. A row holds the values of a column at
 * these samples. */
#ifndef METHOD_SCREEN_H
#define METHOD_SCREEN_H

#include "linalg/rows.h"
#include "method/fit.h"

typedef struct screen {
    fit *f;
    int64_t stride, first; /* of the samples of this rank: first, first + stride, ... */
    int64_t some;          /* their number */
    int64_t length;        /* of a row, padded to whole lanes */
    float *root;           /* root of the weights */
    double total;          /* sum of the weights, of all ranks */
} screen;

void screen_create(screen *s, fit *f); /* without weights */
void screen_destroy(screen *s);

/* The weights of all samples. */
roofs_status screen_weigh(screen *s, const double *W, roofs_error *err);

/* row = the values z of a column. */
void screen_take(const screen *s, const double *z, float *row);

/* Rows of values become rows of weighted mean 0 (with an intercept) and length 1. */
roofs_status screen_normalise(const screen *s, float *rows, int64_t count, roofs_error *err);

/* out[k * others + l] = product of row k and other l, of this rank. The others are padded by
 * rows_padded. */
void screen_products(const screen *s, const float *rows, int64_t count, const float *other,
                     int64_t others, double *out);

/* A correlation of at least `near` is at least this on these samples. */
double screen_least(const screen *s, double near);

/* The bytes of a row, at most. */
int64_t screen_row_bytes(void);

#endif
