/* The set S of samples to trust: those with the smallest residuals. */
#ifndef ROBUST_TRUST_H
#define ROBUST_TRUST_H

#include "base/archive.h"
#include "base/order.h"
#include "linalg/comm.h"

typedef struct trust {
    int64_t n;     /* samples, of this rank */
    int64_t count; /* |S|, over all ranks */
    double *mask;  /* 1 = trusted, 0 = not: as numbers, to be multiplied with */
    double cut;    /* largest absolute residual in S */
    order ranks;
    double *sorted, *squares, *sums; /* scratch of eq. (5) */
    comm *comm;                      /* NULL = one rank has all samples */
    double *all;                     /* residuals of all ranks, where they are few enough */
    struct trust_search *search;     /* scratch where they are not */
} trust;

/* S = [n]. n: samples of this rank. */
roofs_status trust_create(trust *t, comm *c, int64_t n, roofs_error *err);
void trust_destroy(trust *t);
int64_t trust_bytes(int64_t n);

/* S = the tau smallest |r|, the lower sample number first among equals, with tau
 * = round(ratio n) or, where ratio is 0, from eq. (5). Line 12 of Algorithm 1. */
void trust_update(trust *t, const double *r, double ratio);

/* The same with the rule of RLHH in place of eq. (5). */
void trust_update_rlhh(trust *t, const double *r, double ratio);

/* S = those with |r| <= 2.5 * 1.4826 * (lower) median |r|, or <= `least` where that is more. Not
 * for samples that are split over ranks. */
void trust_by_scale(trust *t, const double *r, double least);

void trust_all(trust *t); /* S = [n]; the cut stays */

/* `graded`: the mask may hold probabilities. */
void trust_transfer(trust *t, int graded, archive *a);

#endif
