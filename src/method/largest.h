/* Keeping the largest coefficients. */
#ifndef METHOD_LARGEST_H
#define METHOD_LARGEST_H

#include "base/order.h"
#include "method/fit.h"

typedef struct largest {
    unsigned char *keep; /* per column: the answer of largest_mark */
    double *weight;      /* per column, the last first */
    order ranks;
    int64_t capacity[2];
} largest;

roofs_status largest_room(largest *l, int64_t count, roofs_error *err);
void largest_destroy(largest *l);

/* keep[j] = 1 for the `most` columns with the largest |coef|; among equals the earlier
 * arrival. In the user's unit, or in that of columns of scale 1. */
void largest_mark(largest *l, const fit *f, int64_t most);

#endif
