/* Order statistics of numbers that lie on several ranks, exact, without bringing them together
 * where they are many: a number is found digit by digit (of its bit pattern, which sorts as the
 * number does), by counting how many are below each candidate. */
#ifndef ROBUST_RANKING_H
#define ROBUST_RANKING_H

#include "linalg/comm.h"

enum { RANKING_WAYS = 16 }; /* candidates per digit, the lowest included */

/* This rank's numbers, ascending. */
typedef struct ranking {
    comm *comm;
    const double *sorted;
    int64_t n;
} ranking;

/* values[k] = the number at place wanted[k] (from 0) of all; below[k] = how many are smaller.
 * scratch: RANKING_WAYS count numbers, and `count` keys. */
void ranking_select(const ranking *r, const int64_t *wanted, int64_t count, double *values,
                    int64_t *below, double *scratch, uint64_t *keys);

/* The same from numbers in any order, of which this rank has n: gathered where they are few. */
roofs_status ranked_values(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                           int64_t count, double *values, roofs_error *err);

#endif
