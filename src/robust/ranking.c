#include "robust/ranking.h"

#include "base/memory.h"
#include "base/sorted.h"

#include <string.h>

enum { KEY_BITS = 64, DIGIT_BITS = 4 };

/* Keys sort as the numbers do; -0 is 0. */
static uint64_t key_of(double number)
{
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double number_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* By keys: a candidate need not be a number. */
static int64_t below_key(const ranking *r, uint64_t key)
{
    int64_t low = 0, high = r->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (key_of(r->sorted[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next digit of each key: the largest with no more numbers below it than the place says. */
static void find_digit(const ranking *r, const int64_t *wanted, int64_t count, int shift,
                       double *below, uint64_t *keys)
{
    for (int64_t k = 0; k < count; k++)
        for (uint64_t d = 1; d < RANKING_WAYS; d++)
            below[k * RANKING_WAYS + (int64_t)d] = (double)below_key(r, keys[k] + (d << shift));
    comm_sum(r->comm, below, count * RANKING_WAYS);
    for (int64_t k = 0; k < count; k++) {
        uint64_t digit = RANKING_WAYS - 1;
        while (digit > 0 && below[k * RANKING_WAYS + (int64_t)digit] > (double)wanted[k])
            digit--;
        keys[k] += digit << shift;
    }
}

void ranking_select(const ranking *r, const int64_t *wanted, int64_t count, double *values,
                    int64_t *below, double *scratch, uint64_t *keys)
{
    memset(keys, 0, (size_t)count * sizeof *keys);
    memset(scratch, 0, (size_t)(count * RANKING_WAYS) * sizeof *scratch);
    for (int shift = KEY_BITS - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS)
        find_digit(r, wanted, count, shift, scratch, keys);
    for (int64_t k = 0; k < count; k++) {
        values[k] = number_of(keys[k]);
        scratch[k] = (double)below_key(r, keys[k]);
    }
    comm_sum(r->comm, scratch, count);
    for (int64_t k = 0; k < count; k++)
        below[k] = (int64_t)scratch[k];
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
    const char *what = "order statistics";
    double *sorted = NULL, *scratch = NULL;
    int64_t *below = NULL;
    uint64_t *keys = NULL;
    roofs_status status = sorted_copy(&sorted, numbers, n, err);
    if (status == ROOFS_OK)
        status = memory_get(&scratch, count * RANKING_WAYS, sizeof *scratch, what, err);
    if (status == ROOFS_OK)
        status = memory_get(&below, count, sizeof *below, what, err);
    if (status == ROOFS_OK)
        status = memory_get(&keys, count, sizeof *keys, what, err);
    const ranking r = {.comm = c, .sorted = sorted, .n = n};
    if (status == ROOFS_OK)
        ranking_select(&r, wanted, count, values, below, scratch, keys);
    memory_free(sorted);
    memory_free(scratch);
    memory_free(below);
    memory_free(keys);
    return status == ROOFS_OK ? comm_status(c, err) : status;
}

roofs_status ranked_values(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                           int64_t count, double *values, roofs_error *err)
{
    int few = comm_is_alone(c) || comm_count(c, n) <= c->gather_most;
    return (few ? pick_gathered : pick_selected)(c, numbers, n, wanted, count, values, err);
}
