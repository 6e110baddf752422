/* The inner products of the columns of a list, kept while columns come and go. An entry has the
 * same bits in whatever order the columns came. */
#ifndef LINALG_INNER_H
#define LINALG_INNER_H

#include "linalg/columns.h"

typedef struct inner_products {
    int64_t count, stride; /* columns; numbers from row to row */
    double *rows;          /* symmetric */
    double *left, *right;  /* scratch: columns in memory */
    int64_t threads;
} inner_products;

/* For at most so many columns of n samples, of which `together` come at a time. */
typedef struct inner_shape {
    int64_t most, together, n, threads;
} inner_shape;

int64_t inner_bytes(const inner_shape *shape);
void inner_destroy(inner_products *p);

/* The columns from p->count on are new: computes their products with all columns. Samples must not
 * be split over ranks. */
roofs_status inner_extend(inner_products *p, columns *c, const inner_shape *shape,
                          roofs_error *err);

/* Leaves out the columns with keep[j] == 0. */
void inner_keep(inner_products *p, const unsigned char *keep);

/* The products are no longer those of the columns. */
void inner_reset(inner_products *p);

static inline const double *inner_row(const inner_products *p, int64_t j)
{
    return p->rows + j * p->stride;
}

/* out = products times x, for all columns. */
void inner_times(const inner_products *p, const double *x, double *out);

#endif
