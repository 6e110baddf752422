/* The trust set S: the samples with the smallest residuals. If samples are split over ranks, S is a
 * subset of all of them, and each rank has the mask of its own samples. */
#ifndef ROBUST_TRUST_H
#define ROBUST_TRUST_H

#include "base/archive.h"
#include "base/comm.h"
#include "base/order.h"
#include "linalg/workers.h"

typedef struct trust {
    int64_t n;                       /* samples of this rank */
    int64_t count;                   /* |S|, over all ranks */
    double *mask;                    /* 1 = trusted, 0 = not; or probabilities */
    double cut;                      /* largest absolute residual in S */
    order ascending;                 /* samples by |r| */
    double *sorted, *squares, *sums; /* scratch of eq. (5) */
    comm *comm;                      /* NULL = one rank has all samples */
    double *all;                     /* residuals of all ranks, if they are few enough to gather */
    struct trust_search *search;     /* scratch if they are too many */
    workers *workers;                /* borrowed; NULL = one thread */
} trust;

/* S = all samples. n: samples of this rank. The communicator is borrowed. */
roofs_status trust_create(trust *t, comm *c, int64_t n, roofs_error *err);
void trust_destroy(trust *t);
int64_t trust_bytes(int64_t n);

/* S = the samples with the tau smallest |r|; among equals the lower index comes first. tau is
 * round(ratio n) or, if ratio is 0, that of eq. (5). Line 12 of Algorithm 1. */
void trust_update(trust *t, const double *r, double ratio);

/* The same with the rule of RLHH instead of eq. (5). */
void trust_update_rlhh(trust *t, const double *r, double ratio);

/* S = the samples with |r| <= max(2.5 * NORMAL_PER_MEDIAN * median |r|, least), with the lower
 * median. Requires that one rank has all samples. */
void trust_by_scale(trust *t, const double *r, double least);

void trust_all(trust *t); /* S = all samples; the cut stays */

/* Saves or restores S. `graded`: the mask may hold probabilities. */
void trust_transfer(trust *t, int graded, archive *a);

#endif
