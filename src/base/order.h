/* Order statistics of magnitudes. Numbers that are not negative sort like their
 * bit patterns, so a radix sort does it in O(n), and equal values keep the order
 * of their places: the answer is the same on every machine. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include "base/status.h"

typedef struct order_item {
    uint64_t key;  /* bits of the magnitude */
    int64_t place; /* where it stood */
} order_item;

typedef struct order {
    order_item *items; /* after order_sort: ascending */
    order_item *spare;
    int64_t n;
} order;

roofs_status order_create(order *o, int64_t n, roofs_error *err);
void order_destroy(order *o);

/* Sorts |values[0..n)|, n at most the size given to order_create. */
void order_sort(order *o, const double *values, int64_t n);

/* The magnitude at rank k (from 0) of the last order_sort. */
double order_value(const order *o, int64_t k);

#endif
