/* Order statistics of magnitudes. Non-negative numbers sort like their bit patterns, so a radix
 * sort takes O(n). Equal values keep their order: the result is the same on every machine. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include "base/status.h"

typedef struct order_item {
    uint64_t key;  /* bits of the magnitude */
    int64_t place; /* index before sorting */
} order_item;

typedef struct order {
    order_item *items; /* after order_sort: ascending */
    order_item *spare;
    int64_t n;
} order;

roofs_status order_create(order *o, int64_t n, roofs_error *err);
void order_destroy(order *o);

/* Sorts |values[0..n)|; n is at most that of order_create. */
void order_sort(order *o, const double *values, int64_t n);

/* Sorts items[0..n) by key; they may move to `spare`, which then is `items`. */
void order_sort_items(order *o);

/* The magnitude at position k of the last order_sort. */
double order_value(const order *o, int64_t k);

typedef struct ranked {
    int64_t place; /* index before sorting */
    double value;
} ranked;

/* *out = values[0..count), the largest first; among equals the earlier. It allocates; free *out
 * with memory_free. */
roofs_status order_rank(ranked **out, const double *values, int64_t count, roofs_error *err);

#endif
