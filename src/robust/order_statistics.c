#include "robust/ranking.h"

#include "base/memory.h"
#include "base/sorted.h"

#include <string.h>

enum {
    WAYS = 16,   /* parts into which the bounds of a number are cut */
    FEW = 32,    /* numbers that are brought together */
    FOUND = 1024 /* numbers that are remembered */
};

/* What is known of the number at a place: its key is one of low..high. */
typedef struct ranking_bounds {
    uint64_t low, high;
    int64_t below;       /* numbers of all ranks whose key is below low */
    int64_t inside;      /* and in low..high */
    int64_t first, last; /* this rank's in low..high */
    int64_t list;        /* its place among the counts */
} ranking_bounds;

typedef struct ranking_found {
    int64_t place, below;
    double value;
} ranking_found;

roofs_status ranking_create(ranking *r, comm *c, int64_t most, roofs_error *err)
{
    const char *what = "order statistics";
    const int64_t ranks = comm_is_alone(c) ? 1 : c->with.size;
    *r = (ranking){.comm = c};
    TRY(memory_get(&r->bounds, most, sizeof *r->bounds, what, err));
    TRY(memory_get(&r->counts, most, WAYS * sizeof *r->counts, what, err));
    TRY(memory_get(&r->mine, most, (FEW + 1) * sizeof *r->mine, what, err));
    TRY(memory_get(&r->all, memory_bytes(most, (FEW + ranks)), sizeof *r->all, what, err));
    return memory_get(&r->found, FOUND, sizeof *r->found, what, err);
}

void ranking_destroy(ranking *r)
{
    memory_free(r->bounds);
    memory_free(r->counts);
    memory_free(r->mine);
    memory_free(r->all);
    memory_free(r->found);
    *r = (ranking){0};
}

void ranking_begin(ranking *r, const double *sorted, int64_t n)
{
    r->sorted = sorted;
    r->n = n;
    r->found_count = 0;
}

/* ---- keys -------------------------------------------------------------- */

static const uint64_t last_key = UINT64_MAX - 1; /* so that there is one above it */

/* Keys sort as the numbers do; -0 is 0. */
static uint64_t key_of(double number)
{
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    uint64_t key = bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    return key < last_key ? key : last_key;
}

static double number_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* How many of this rank's numbers are below; it is known to be from..to of them. By keys: a
 * candidate need not be a number. */
static int64_t below_key(const ranking *r, uint64_t key, int64_t from, int64_t to)
{
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (key_of(r->sorted[middle]) < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* ---- bounds ------------------------------------------------------------ */

/* Between the nearest places that have been found. */
static ranking_bounds first_bounds(const ranking *r, int64_t wanted)
{
    ranking_bounds b = {.high = last_key, .inside = INT64_MAX, .last = r->n};
    int64_t above = 0;
    while (above < r->found_count && r->found[above].place <= wanted)
        above++;
    if (above > 0) {
        b.low = key_of(r->found[above - 1].value);
        b.below = r->found[above - 1].below;
        b.first = below_key(r, b.low, 0, r->n);
    }
    if (above < r->found_count) {
        b.high = key_of(r->found[above].value);
        b.last = below_key(r, b.high + 1, b.first, r->n);
    }
    return b;
}

static int is_settled(const ranking_bounds *b)
{
    return b->low == b->high || b->inside <= FEW;
}

/* Where part d begins; part WAYS is what follows. */
static uint64_t part_key(const ranking_bounds *b, uint64_t d)
{
    const uint64_t width = b->high - b->low, step = width / WAYS + 1;
    return d == WAYS || d > width / step ? b->high + 1 : b->low + d * step;
}

/* This rank's numbers below parts 1..WAYS. */
static void count_parts(const ranking *r, const ranking_bounds *b, double *counts)
{
    int64_t below = b->first;
    for (uint64_t d = 1; d <= WAYS; d++) {
        below = below_key(r, part_key(b, d), below, b->last);
        counts[d - 1] = (double)below;
    }
}

/* The part with the number is the last with no more numbers below it than the place says. */
static void narrow(const ranking *r, ranking_bounds *b, const double *counts, int64_t wanted)
{
    uint64_t part = WAYS - 1;
    while (part > 0 && counts[part - 1] > (double)wanted)
        part--;
    const uint64_t low = part_key(b, part), high = part_key(b, part + 1) - 1;
    if (part > 0)
        b->below = (int64_t)counts[part - 1];
    b->inside = (int64_t)counts[part] - b->below;
    b->low = low;
    b->high = high >= low ? high : low; /* unless the ranks no longer reach each other */
    b->first = below_key(r, b->low, b->first, b->last);
    b->last = below_key(r, b->high + 1, b->first, b->last);
}

/* r->counts = lists of counts, one for each place that is not settled, or for several in a row that
 * have the same bounds; returns how many lists. */
static int64_t count_all_parts(ranking *r, int64_t count)
{
    const ranking_bounds *last = NULL;
    int64_t lists = 0;
    for (int64_t k = 0; k < count; k++) {
        ranking_bounds *b = &r->bounds[k];
        if (is_settled(b))
            continue;
        if (!last || b->low != last->low || b->high != last->high)
            count_parts(r, b, &r->counts[WAYS * lists++]);
        b->list = lists - 1;
        last = b;
    }
    return lists;
}

static void draw_together(ranking *r, const int64_t *wanted, int64_t count)
{
    for (;;) {
        int64_t lists = count_all_parts(r, count);
        if (lists == 0 || r->comm->broken)
            return;
        comm_sum(r->comm, r->counts, WAYS * lists);
        for (int64_t k = 0; k < count; k++)
            if (!is_settled(&r->bounds[k]))
                narrow(r, &r->bounds[k], &r->counts[WAYS * r->bounds[k].list], wanted[k]);
    }
}

/* ---- the few that are left --------------------------------------------- */

/* For each place how many, and which. */
static int64_t pack(ranking *r, int64_t count)
{
    int64_t at = 0;
    for (int64_t k = 0; k < count; k++) {
        const ranking_bounds *b = &r->bounds[k];
        int64_t number = b->low == b->high ? 0 : b->last - b->first;
        r->mine[at++] = (double)number;
        memcpy(r->mine + at, r->sorted + b->first, (size_t)number * sizeof *r->mine);
        at += number;
    }
    return at;
}

/* list: how many, then which, ascending. */
static void insert(double *list, double number)
{
    int64_t at = (int64_t)++list[0];
    for (; at > 1 && list[at - 1] > number; at--)
        list[at] = list[at - 1];
    list[at] = number;
}

/* r->mine = for each place the few of all ranks, FEW + 1 numbers apart. */
static void bring_together(ranking *r, int64_t count)
{
    comm_gather_some(r->comm, r->mine, pack(r, count), r->all);
    if (r->comm->broken)
        return;
    for (int64_t k = 0; k < count; k++)
        r->mine[k * (FEW + 1)] = 0;
    const double *at = r->all;
    for (int64_t p = 0; p < r->comm->with.size; p++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t left = (int64_t)*at++; left > 0; left--)
                insert(&r->mine[k * (FEW + 1)], *at++);
}

static ranking_found pick(const ranking_bounds *b, const double *list, int64_t wanted)
{
    ranking_found f = {.place = wanted, .below = b->below, .value = number_of(b->low)};
    if (b->low == b->high)
        return f;
    f.value = list[1 + wanted - b->below];
    for (int64_t k = 1; list[k] < f.value; k++)
        f.below++;
    return f;
}

static void remember(ranking *r, ranking_found what)
{
    int64_t at = r->found_count;
    if (at == FOUND)
        return;
    for (; at > 0 && r->found[at - 1].place > what.place; at--)
        r->found[at] = r->found[at - 1];
    r->found[at] = what;
    r->found_count++;
}

void ranking_select(ranking *r, const int64_t *wanted, int64_t count, double *values,
                    int64_t *below)
{
    for (int64_t k = 0; k < count; k++)
        r->bounds[k] = first_bounds(r, wanted[k]);
    draw_together(r, wanted, count);
    if (!r->comm->broken) /* else more than a few may be left */
        bring_together(r, count);
    for (int64_t k = 0; k < count && !r->comm->broken; k++) {
        ranking_found f = pick(&r->bounds[k], &r->mine[k * (FEW + 1)], wanted[k]);
        values[k] = f.value;
        below[k] = f.below;
        remember(r, f);
    }
}

/* ---- from numbers in any order ----------------------------------------- */

static roofs_status pick_gathered(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                                  int64_t count, double *values, roofs_error *err)
{
    double *all = NULL, *sorted = NULL;
    int64_t number;
    TRY(comm_gather_all(c, numbers, n, &all, &number, err));
    roofs_status status = sorted_copy(&sorted, all, number, err);
    memory_free(all);
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++)
        values[k] = sorted[wanted[k]];
    memory_free(sorted);
    return status;
}

static roofs_status pick_selected(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                                  int64_t count, double *values, roofs_error *err)
{
    double *sorted = NULL;
    int64_t *below = NULL;
    ranking r = {0};
    roofs_status status = sorted_copy(&sorted, numbers, n, err);
    if (status == ROOFS_OK)
        status = memory_get(&below, count, sizeof *below, "order statistics", err);
    if (status == ROOFS_OK)
        status = ranking_create(&r, c, count, err);
    if (status == ROOFS_OK) {
        ranking_begin(&r, sorted, n);
        ranking_select(&r, wanted, count, values, below);
    }
    ranking_destroy(&r);
    memory_free(sorted);
    memory_free(below);
    return status == ROOFS_OK ? comm_status(c, err) : status;
}

roofs_status ranked_values(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                           int64_t count, double *values, roofs_error *err)
{
    int few = comm_is_alone(c) || comm_count(c, n) <= c->gather_most;
    return (few ? pick_gathered : pick_selected)(c, numbers, n, wanted, count, values, err);
}
