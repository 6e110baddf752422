/* Samples that are split over ranks, and how partial sums meet. Alone (one rank, the
 * default) nothing is called and nothing is rounded another way: sums are what they were.
 *
 * A sum over samples is made of the ranks' own sums, added in the order of the ranks: the
 * bits depend on the number of ranks, but on nothing else. */
#ifndef LINALG_COMM_H
#define LINALG_COMM_H

#include "base/status.h"

typedef struct comm {
    roofs_comm with;
    int64_t n;           /* samples of this rank */
    int64_t total;       /* of all */
    int64_t first;       /* the place of this rank's first sample among all */
    int64_t gather_most; /* so many numbers may lie on one rank; more are never gathered */
    int64_t *parts;      /* samples of each rank */
    int64_t *sizes;      /* scratch: one per rank */
    double *each;        /* scratch: one per rank */
    int broken;          /* a call has failed: what sums say is no longer true */
    int agreed;          /* the last failure is known to all ranks */
} comm;

/* One rank with n samples. */
comm comm_self(int64_t n);

/* This rank of several, with n of the samples. */
roofs_status comm_join(comm *c, const roofs_comm *with, int64_t n, roofs_error *err);
void comm_leave(comm *c);

/* NULL is alone, too, in this and all below. */
static inline int comm_is_alone(const comm *c)
{
    return !c || c->with.size == 1;
}

/* Samples of all ranks, of which this one has n; the place of its first one. */
static inline int64_t comm_samples(const comm *c, int64_t n)
{
    return comm_is_alone(c) ? n : c->total;
}

static inline int64_t comm_first(const comm *c)
{
    return comm_is_alone(c) ? 0 : c->first;
}

/* values[0..count) summed over the ranks; the same in two halves, between which other work is
 * done. */
void comm_sum(comm *c, double *values, int64_t count);
void comm_start_sum(comm *c, double *values, int64_t count);
void comm_finish_sum(comm *c);

double comm_sum_of(comm *c, double own);
int64_t comm_count(comm *c, int64_t own); /* a sum, exact */

double comm_largest_of(comm *c, double own);

/* Over the samples of all ranks; x and y are this rank's n. */
double comm_total(comm *c, const double *x, int64_t n);
double comm_dot(comm *c, const double *x, const double *y, int64_t n);
double comm_norm(comm *c, const double *x, int64_t n);

/* all = the same number of bytes of each rank. */
void comm_gather(comm *c, const void *mine, int64_t bytes, void *all);

/* theirs = what one rank has in `mine`. */
void comm_take_from(comm *c, int64_t rank, const void *mine, int64_t bytes, void *theirs);

int64_t comm_part(const comm *c, int64_t rank); /* samples of a rank */

/* all = `bytes` of each sample, of all ranks; mine are those of this rank's n samples. */
void comm_gather_samples(comm *c, int64_t n, const void *mine, int64_t bytes, void *all);

/* all = the numbers of each rank, of which this one has `count`. */
void comm_gather_some(comm *c, const double *mine, int64_t count, double *all);

/* The same where it is not known how many they will be: in *all, which is the caller's to
 * free, *number of them. */
roofs_status comm_gather_all(comm *c, const double *mine, int64_t count, double **all,
                             int64_t *number, roofs_error *err);

/* Whether all ranks got so far: OK, or on all of them the failure of the first rank that has
 * one. Says which rank it was, unless it was all of them. */
roofs_status comm_agree(comm *c, roofs_status own, roofs_error *err);

/* FAILED once a call has failed. */
roofs_status comm_status(const comm *c, roofs_error *err);

#endif
