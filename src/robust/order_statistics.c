#include "robust/order_statistics.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/sorted.h"

#include <string.h>

enum {
    SUBINTERVALS = 16, /* into which a step cuts the interval between the bounds */
    GATHERED = 32,     /* most numbers between the bounds that are gathered */
    MOST_KNOWN = 1024  /* most values that are recorded as bounds for later calls */
};

/* Bounds of the value at a position: its key is within low..high. */
typedef struct order_bounds {
    uint64_t low, high;
    int64_t below;       /* numbers of all ranks whose key is below low */
    int64_t inside;      /* numbers of all ranks in low..high */
    int64_t first, last; /* this rank's numbers in low..high: sorted[first..last) */
    int64_t list;        /* index of its list of counts */
} order_bounds;

/* A value that has been found. */
typedef struct known_statistic {
    int64_t position, below;
    double value;
} known_statistic;

roofs_status order_statistics_create(order_statistics *r, comm *c, int64_t most, roofs_error *err)
{
    const char *what = "order statistics";
    const int64_t ranks = comm_is_alone(c) ? 1 : c->with.size;
    *r = (order_statistics){.comm = c};
    TRY(memory_get(&r->bounds, most, sizeof *r->bounds, what, err));
    TRY(memory_get(&r->counts, most, SUBINTERVALS * sizeof *r->counts, what, err));
    TRY(memory_get(&r->mine, most, (GATHERED + 1) * sizeof *r->mine, what, err));
    TRY(memory_get(&r->all, memory_bytes(most, (GATHERED + ranks)), sizeof *r->all, what, err));
    return memory_get(&r->known, MOST_KNOWN, sizeof *r->known, what, err);
}

void order_statistics_destroy(order_statistics *r)
{
    memory_free(r->bounds);
    memory_free(r->counts);
    memory_free(r->mine);
    memory_free(r->all);
    memory_free(r->known);
    *r = (order_statistics){0};
}

void order_statistics_begin(order_statistics *r, const double *sorted, int64_t n)
{
    r->sorted = sorted;
    r->n = n;
    r->known_count = 0;
}

/* ---- keys -------------------------------------------------------------- */

static const uint64_t last_key = UINT64_MAX - 1; /* so that last_key + 1 exists */

/* Keys sort like the numbers; -0 has the key of 0. */
static uint64_t number_key(double number)
{
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    uint64_t key = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    return key < last_key ? key : last_key;
}

static double key_number(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The count of this rank's numbers below a key; it lies within from..to. Keys are compared, because
 * a cut need not be the key of a number. */
static int64_t below_key(const order_statistics *r, uint64_t key, int64_t from, int64_t to)
{
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (number_key(r->sorted[middle]) < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- bounds ------------------------------------------------------------ */

/* The bounds that the nearest known values give. */
static order_bounds starting_bounds(const order_statistics *r, int64_t wanted)
{
    order_bounds b = {.high = last_key, .inside = INT64_MAX, .last = r->n};
    int64_t above = 0;
    while (above < r->known_count && r->known[above].position <= wanted)
        above++;
    if (above > 0) {
        b.low = number_key(r->known[above - 1].value);
        b.below = r->known[above - 1].below;
        b.first = below_key(r, b.low, 0, r->n);
    }
    if (above < r->known_count) {
        b.high = number_key(r->known[above].value);
        b.last = below_key(r, b.high + 1, b.first, r->n);
    }
    return b;
}

static int is_settled(const order_bounds *b)
{
    return b->low == b->high || b->inside <= GATHERED;
}

/* The key where subinterval k begins; for k = SUBINTERVALS the key after the last one. */
static uint64_t cut_key(const order_bounds *b, uint64_t k)
{
    const uint64_t width = b->high - b->low, step = width / SUBINTERVALS + 1;
    return k == SUBINTERVALS || k > width / step ? b->high + 1 : b->low + k * step;
}

/* counts[k - 1] = this rank's numbers below cut k, for k = 1..SUBINTERVALS. */
static void count_below_cuts(const order_statistics *r, const order_bounds *b, double *counts)
{
    int64_t below = b->first;
    for (uint64_t k = 1; k <= SUBINTERVALS; k++) {
        below = below_key(r, cut_key(b, k), below, b->last);
        counts[k - 1] = (double)below;
    }
}

/* The value lies in the last subinterval that has at most `wanted` numbers below it. */
static void narrow_bounds(const order_statistics *r, order_bounds *b, const double *counts,
                          int64_t wanted)
{
    uint64_t k = SUBINTERVALS - 1;
    while (k > 0 && counts[k - 1] > (double)wanted)
        k--;
    const uint64_t low = cut_key(b, k), high = cut_key(b, k + 1) - 1;
    if (k > 0)
        b->below = (int64_t)counts[k - 1];
    b->inside = (int64_t)counts[k] - b->below;
    b->low = low;
    b->high = high >= low ? high : low; /* counts are wrong after a failed sum */
    b->first = below_key(r, b->low, b->first, b->last);
    b->last = below_key(r, b->high + 1, b->first, b->last);
}

/* Fills r->counts with one list of counts per position that is not settled; consecutive positions
 * with the same bounds share a list. Returns the number of lists. */
static int64_t count_unsettled(order_statistics *r, int64_t count)
{
    const order_bounds *last = NULL;
    int64_t lists = 0;
    for (int64_t k = 0; k < count; k++) {
        order_bounds *b = &r->bounds[k];
        if (is_settled(b))
            continue;
        if (!last || b->low != last->low || b->high != last->high)
            count_below_cuts(r, b, &r->counts[SUBINTERVALS * lists++]);
        b->list = lists - 1;
        last = b;
    }
    return lists;
}

static void narrow_all(order_statistics *r, const int64_t *wanted, int64_t count)
{
    for (;;) {
        int64_t lists = count_unsettled(r, count);
        if (lists == 0 || r->comm->broken)
            return;
        comm_sum(r->comm, r->counts, SUBINTERVALS * lists);
        for (int64_t k = 0; k < count; k++)
            if (!is_settled(&r->bounds[k]))
                narrow_bounds(r, &r->bounds[k], &r->counts[SUBINTERVALS * r->bounds[k].list],
                              wanted[k]);
    }
}

/* ---- the numbers left between the bounds -------------------------------- */

/* r->mine = for each position the count of this rank's numbers that are left, then the numbers.
 * Returns the length. */
static int64_t pack_left(order_statistics *r, int64_t count)
{
    int64_t at = 0;
    for (int64_t k = 0; k < count; k++) {
        const order_bounds *b = &r->bounds[k];
        int64_t number = b->low == b->high ? 0 : b->last - b->first;
        r->mine[at++] = (double)number;
        memcpy(r->mine + at, r->sorted + b->first, (size_t)number * sizeof *r->mine);
        at += number;
    }
    return at;
}

/* list[0] is a count; that many ascending numbers follow. */
static void insert_sorted(double *list, double number)
{
    int64_t at = (int64_t)++list[0];
    for (; at > 1 && list[at - 1] > number; at--)
        list[at] = list[at - 1];
    list[at] = number;
}

/* r->mine = for each position the numbers of all ranks that are left, as a list of GATHERED + 1. */
static void gather_left(order_statistics *r, int64_t count)
{
    comm_gather_some(r->comm, r->mine, pack_left(r, count), r->all);
    if (r->comm->broken)
        return;
    for (int64_t k = 0; k < count; k++)
        r->mine[k * (GATHERED + 1)] = 0;
    const double *at = r->all;
    for (int64_t p = 0; p < r->comm->with.size; p++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t left = (int64_t)*at++; left > 0; left--)
                insert_sorted(&r->mine[k * (GATHERED + 1)], *at++);
}

static known_statistic pick_value(const order_bounds *b, const double *list, int64_t wanted)
{
    known_statistic f = {.position = wanted, .below = b->below, .value = key_number(b->low)};
    if (b->low == b->high)
        return f;
    f.value = list[1 + wanted - b->below];
    for (int64_t k = 1; list[k] < f.value; k++)
        f.below++;
    return f;
}

/* Inserts a value by position, unless the list is full. */
static void record_known(order_statistics *r, known_statistic value)
{
    int64_t at = r->known_count;
    if (at == MOST_KNOWN)
        return;
    for (; at > 0 && r->known[at - 1].position > value.position; at--)
        r->known[at] = r->known[at - 1];
    r->known[at] = value;
    r->known_count++;
}

void order_statistics_select(order_statistics *r, const int64_t *wanted, int64_t count,
                             double *values, int64_t *below)
{
    for (int64_t k = 0; k < count; k++)
        r->bounds[k] = starting_bounds(r, wanted[k]);
    narrow_all(r, wanted, count);
    if (!r->comm->broken) /* after a failure more than GATHERED may be left */
        gather_left(r, count);
    for (int64_t k = 0; k < count && !r->comm->broken; k++) {
        known_statistic f = pick_value(&r->bounds[k], &r->mine[k * (GATHERED + 1)], wanted[k]);
        values[k] = f.value;
        below[k] = f.below;
        record_known(r, f);
    }
}

/* ---- from numbers in any order ----------------------------------------- */

int order_statistics_are_few(comm *c, int64_t n)
{
    return comm_is_alone(c) || comm_count(c, n) <= c->gather_most;
}

roofs_status order_statistics_sort(comm *c, const double *numbers, int64_t n, double **sorted,
                                   int64_t *count, roofs_error *err)
{
    double *all = NULL;
    TRY(comm_gather_all(c, numbers, n, &all, count, err));
    roofs_status status = sorted_copy(sorted, all, *count, err);
    memory_free(all);
    return status;
}

static roofs_status values_by_sorting(comm *c, const double *numbers, int64_t n,
                                      const int64_t *wanted, int64_t count, double *values,
                                      roofs_error *err)
{
    double *sorted = NULL;
    int64_t number;
    TRY(order_statistics_sort(c, numbers, n, &sorted, &number, err));
    for (int64_t k = 0; k < count; k++)
        values[k] = sorted[wanted[k]];
    memory_free(sorted);
    return ROOFS_OK;
}

static roofs_status values_by_counting(comm *c, const double *numbers, int64_t n,
                                       const int64_t *wanted, int64_t count, double *values,
                                       roofs_error *err)
{
    double *sorted = NULL;
    int64_t *below = NULL;
    order_statistics r = {0};
    roofs_status status = sorted_copy(&sorted, numbers, n, err);
    if (status == ROOFS_OK)
        status = memory_get(&below, count, sizeof *below, "order statistics", err);
    if (status == ROOFS_OK)
        status = order_statistics_create(&r, c, count, err);
    if (status == ROOFS_OK) {
        order_statistics_begin(&r, sorted, n);
        order_statistics_select(&r, wanted, count, values, below);
    }
    order_statistics_destroy(&r);
    memory_free(sorted);
    memory_free(below);
    return status == ROOFS_OK ? comm_status(c, err) : status;
}

roofs_status order_statistics_of(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                                 int64_t count, double *values, roofs_error *err)
{
    return (order_statistics_are_few(c, n) ? values_by_sorting : values_by_counting)(
        c, numbers, n, wanted, count, values, err);
}

/* ---- case weights ------------------------------------------------------ */

static roofs_status order_gathered(weighted_order *o, const double *values, const double *weights,
                                   int64_t n, roofs_error *err)
{
    ranked *list = NULL;
    TRY(memory_get(&o->value, n + 1, 2 * sizeof *o->value, "weighted samples", err));
    o->weight = o->value + n + 1;
    TRY(order_rank(&list, values, n, err));
    for (int64_t k = n - 1; k >= 0; k--) {
        const double weight = weights ? weights[list[k].place] : 1;
        if (weight == 0)
            continue;
        o->value[o->count] = list[k].value;
        o->weight[o->count++] = weight;
        o->total += weight;
    }
    memory_free(list);
    return ROOFS_OK;
}

roofs_status weighted_order_create(weighted_order *o, comm *c, const double *values,
                                   const double *case_weight, int64_t n, roofs_error *err)
{
    double *all = NULL, *weights = NULL;
    int64_t number = 0;
    *o = (weighted_order){0};
    roofs_status status = comm_gather_all(c, values, n, &all, &number, err);
    if (status == ROOFS_OK && case_weight)
        status = comm_gather_all(c, case_weight, n, &weights, &number, err);
    if (status == ROOFS_OK)
        status = comm_agree(c, order_gathered(o, all, weights, number, err), err);
    memory_free(all);
    memory_free(weights);
    return status;
}

void weighted_order_destroy(weighted_order *o)
{
    memory_free(o->value);
    *o = (weighted_order){0};
}
