#include "base/order.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, DIGITS = 6 }; /* 6 * 11 >= 64 bits */

roofs_status order_create(order *o, int64_t n, roofs_error *err)
{
    *o = (order){.n = n};
    TRY(memory_get(&o->items, n, sizeof *o->items, "sorting", err));
    return memory_get(&o->spare, n, sizeof *o->spare, "sorting", err);
}

void order_destroy(order *o)
{
    memory_free(o->items);
    memory_free(o->spare);
    *o = (order){0};
}

static int digit_of(uint64_t key, int digit)
{
    return (int)((key >> (digit * DIGIT_BITS)) & (BUCKETS - 1));
}

/* One histogram per digit, made in a single read. */
static void count_digits(const order *o, int64_t counts[DIGITS][BUCKETS])
{
    memset(counts, 0, sizeof(int64_t) * DIGITS * BUCKETS);
    for (int64_t i = 0; i < o->n; i++)
        for (int d = 0; d < DIGITS; d++)
            counts[d][digit_of(o->items[i].key, d)]++;
}

static void scatter(order *o, int digit, int64_t counts[BUCKETS])
{
    int64_t start = 0;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t here = counts[b];
        counts[b] = start;
        start += here;
    }
    for (int64_t i = 0; i < o->n; i++)
        o->spare[counts[digit_of(o->items[i].key, digit)]++] = o->items[i];
    order_item *sorted = o->spare;
    o->spare = o->items;
    o->items = sorted;
}

void order_sort(order *o, const double *values, int64_t n)
{
    o->n = n;
    for (int64_t i = 0; i < n; i++) {
        double magnitude = fabs(values[i]);
        memcpy(&o->items[i].key, &magnitude, sizeof magnitude);
        o->items[i].place = i;
    }
    int64_t counts[DIGITS][BUCKETS];
    count_digits(o, counts);
    for (int d = 0; d < DIGITS; d++) {
        int all_alike = n > 0 && counts[d][digit_of(o->items[0].key, d)] == n;
        if (!all_alike)
            scatter(o, d, counts[d]);
    }
}

double order_value(const order *o, int64_t k)
{
    double magnitude;
    memcpy(&magnitude, &o->items[k].key, sizeof magnitude);
    return magnitude;
}

double order_median(const order *o)
{
    return order_value(o, (o->n - 1) / 2);
}
