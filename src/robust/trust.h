/* The set S of samples to trust: those with the smallest residuals. */
#ifndef ROBUST_TRUST_H
#define ROBUST_TRUST_H

#include "base/archive.h"
#include "base/order.h"

typedef struct trust {
    int64_t n;
    int64_t count; /* |S| */
    double *mask;  /* 1 = trusted, 0 = not: as numbers, to be multiplied with */
    double cut;    /* largest absolute residual in S */
    order ranks;
    double *sorted, *squares, *sums; /* scratch of eq. (5) */
} trust;

roofs_status trust_create(trust *t, int64_t n, roofs_error *err); /* S = [n] */
void trust_destroy(trust *t);
int64_t trust_bytes(int64_t n);

/* S = the tau smallest |r|, the lower sample number first among equals, with tau
 * = round(ratio n) or, where ratio is 0, from eq. (5). Line 12 of Algorithm 1. */
void trust_update(trust *t, const double *r, double ratio);

/* The two halves of it, for other rules: t->sorted = |r| in ascending order (ranks as
 * above), then S = the tau smallest. */
void trust_sort(trust *t, const double *r);
void trust_take(trust *t, int64_t tau);

/* round(ratio n), within 1..n */
int64_t trust_size(double ratio, int64_t n);

/* S = those with |r| <= 2.5 * 1.4826 * (lower) median |r|, or <= `least` where that is more. */
void trust_by_scale(trust *t, const double *r, double least);

void trust_all(trust *t); /* S = [n]; the cut stays */

/* `graded`: the mask may hold probabilities. */
void trust_transfer(trust *t, int graded, archive *a);

#endif
