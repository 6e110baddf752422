/* Samples whose numbers are equal; 0 equals -0. The samples may be split over ranks: n of them are
 * this rank's, and all ranks get the same result. */
#ifndef ROBUST_TIES_H
#define ROBUST_TIES_H

#include "base/comm.h"

/* *size = how many numbers have the most frequent value, if at least a fifth of all numbers have
 * it; otherwise 0. Number i counts case_weight[i] times; NULL = once. */
roofs_status ties_largest(comm *c, const double *values, const double *case_weight, int64_t n,
                          double *size, roofs_error *err);

/* The most frequent value, and its share of the numbers. It gathers all numbers. */
typedef struct tie {
    double value, size, share;
} tie;
/* Whether the samples with this value may be corrupt: neither a coincidence nor most of all. */
int tie_may_be_corrupt(const tie *found);

roofs_status ties_most_frequent(comm *c, const double *values, const double *case_weight, int64_t n,
                                tie *found, roofs_error *err);

/* *count = how many different values the numbers have; DIFFERENT_MOST + 1 if they have more than
 * DIFFERENT_MOST. Those with case weight 0 do not count. */
enum { DIFFERENT_MOST = 10 };
roofs_status ties_different(comm *c, const double *values, const double *case_weight, int64_t n,
                            int64_t *count, roofs_error *err);

#endif
