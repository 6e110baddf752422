/* order_sort on several threads. The order, by value and then by place, is the only one there is:
 * it does not depend on threads. */
#ifndef LINALG_ORDERING_H
#define LINALG_ORDERING_H

#include "base/order.h"
#include "linalg/workers.h"

/* Sorts |values[0..n)|, and writes them in order to sorted[0..n); w may be NULL. */
void ordering_sort(order *o, const double *values, int64_t n, workers *w, double *sorted);

#endif
