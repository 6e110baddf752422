#include "base/order.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first sort uses three digits from the highest bit in which any two keys differ. An insertion
 * sort then moves the few keys that are out of order. If there are too many, all six digits are
 * sorted. */
enum { FEW = 512 }; /* so many are merged instead */
enum { DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, LEADING = 3, DIGITS = 6 };

roofs_status order_create(order *o, int64_t n, roofs_error *err)
{
    *o = (order){.n = n};
    TRY(memory_reserve(&o->items, n, sizeof *o->items, "sorting", err));
    return memory_reserve(&o->spare, n, sizeof *o->spare, "sorting", err);
}

void order_destroy(order *o)
{
    memory_free(o->items);
    memory_free(o->spare);
    *o = (order){0};
}

static int digit_of(uint64_t key, int shift)
{
    return (int)((key >> shift) & (BUCKETS - 1));
}

/* One stable pass over the digit at `shift`. */
static void order_scatter(order *o, int shift, int64_t counts[BUCKETS])
{
    int64_t start = 0;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t size = counts[b];
        counts[b] = start;
        start += size;
    }
    for (int64_t i = 0; i < o->n; i++)
        o->spare[counts[digit_of(o->items[i].key, shift)]++] = o->items[i];
    order_item *sorted = o->spare;
    o->spare = o->items;
    o->items = sorted;
}

/* Insertion sort of almost sorted items. Returns 0 if it needs too many moves. */
static int insertion_sort(order *o)
{
    int64_t moves_left = 4 * o->n;
    for (int64_t i = 1; i < o->n; i++) {
        order_item item = o->items[i];
        int64_t at = i;
        for (; at > 0 && o->items[at - 1].key > item.key; at--)
            o->items[at] = o->items[at - 1];
        o->items[at] = item;
        moves_left -= i - at;
        if (moves_left < 0)
            return 0;
    }
    return 1;
}

/* The position of the highest bit in which keys differ, counted from 1. */
static int differing_bits(const order *o)
{
    uint64_t differing = 0;
    for (int64_t i = 1; i < o->n; i++)
        differing |= o->items[i].key ^ o->items[0].key;
    int bits = 0;
    while (bits < 64 && differing >> bits)
        bits++;
    return bits;
}

static void sort_by_digits(order *o, int lowest, int digits)
{
    int64_t counts[DIGITS][BUCKETS];
    memset(counts, 0, (size_t)digits * sizeof counts[0]);
    for (int64_t i = 0; i < o->n; i++)
        for (int d = 0; d < digits; d++)
            counts[d][digit_of(o->items[i].key, lowest + d * DIGIT_BITS)]++;
    for (int d = 0; d < digits; d++)
        order_scatter(o, lowest + d * DIGIT_BITS, counts[d]);
}

/* Merges the sorted halves of items into spare, and swaps both. */
static void merge_halves(order *o, int64_t width)
{
    for (int64_t begin = 0; begin < o->n; begin += 2 * width) {
        const int64_t middle = begin + width < o->n ? begin + width : o->n;
        const int64_t end = middle + width < o->n ? middle + width : o->n;
        int64_t left = begin, right = middle;
        for (int64_t to = begin; to < end; to++) {
            const int first =
                right == end || (left < middle && o->items[left].key <= o->items[right].key);
            o->spare[to] = o->items[first ? left : right];
            left += first;
            right += !first;
        }
    }
    order_item *sorted = o->spare;
    o->spare = o->items;
    o->items = sorted;
}

void order_sort_items(order *o)
{
    if (o->n < FEW) {
        for (int64_t width = 1; width < o->n; width *= 2)
            merge_halves(o, width);
        return;
    }
    int bits = differing_bits(o);
    sort_by_digits(o, bits > LEADING * DIGIT_BITS ? bits - LEADING * DIGIT_BITS : 0, LEADING);
    if (!insertion_sort(o))
        sort_by_digits(o, 0, DIGITS); /* stable: equal keys have kept their order */
}

void order_sort(order *o, const double *values, int64_t n)
{
    o->n = n;
    for (int64_t i = 0; i < n; i++) {
        double magnitude = fabs(values[i]);
        memcpy(&o->items[i].key, &magnitude, sizeof magnitude);
        o->items[i].place = i;
    }
    order_sort_items(o);
}

double order_value(const order *o, int64_t k)
{
    double magnitude;
    memcpy(&magnitude, &o->items[k].key, sizeof magnitude);
    return magnitude;
}

/* ---- ranks ------------------------------------------------------------- */

static int by_value(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

roofs_status order_rank(ranked **out, const double *values, int64_t count, roofs_error *err)
{
    TRY(memory_get(out, count + 1, sizeof **out, "sorting", err));
    for (int64_t k = 0; k < count; k++)
        (*out)[k] = (ranked){k, values[k]};
    qsort(*out, (size_t)count, sizeof **out, by_value);
    return ROOFS_OK;
}
