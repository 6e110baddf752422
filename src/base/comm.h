/* Communication between ranks: processes that share the samples of a fit. A single rank, the
 * default, calls nothing: its sums are its own.
 *
 * A sum over all samples adds the sums of the ranks in the order of the ranks. Its bits depend on
 * the number of ranks and on nothing else. */
#ifndef BASE_COMM_H
#define BASE_COMM_H

#include "base/status.h"

typedef struct comm {
    roofs_comm with;
    int64_t n;           /* samples of this rank */
    int64_t total;       /* samples of all ranks */
    int64_t first;       /* index of this rank's first sample among all */
    int64_t gather_most; /* most numbers that are gathered on one rank */
    int64_t *shards;     /* samples of each rank */
    int64_t *sizes;      /* scratch: one per rank */
    double *each;        /* scratch: one per rank */
    int broken;          /* a call has failed: sums are no longer valid */
    int agreed;          /* all ranks know of the last failure */
} comm;

/* The first of n samples that `rank` of `ranks` holds; its shard ends where the next begins. */
int64_t shard_begin(int64_t n, int64_t rank, int64_t ranks);

/* One rank with n samples. */
comm comm_self(int64_t n);

/* Joins the ranks of `with` as the one that holds n of the samples. */
roofs_status comm_join(comm *c, const roofs_comm *with, int64_t n, roofs_error *err);
void comm_leave(comm *c);

/* NULL counts as a single rank, here and below. */
static inline int comm_is_alone(const comm *c)
{
    return !c || c->with.size == 1;
}

/* Rank 0 prints and writes for all. */
static inline int comm_is_root(const comm *c)
{
    return !c || c->with.rank == 0;
}

/* Samples of all ranks, of which this one has n; the index of its first one. */
static inline int64_t comm_samples(const comm *c, int64_t n)
{
    return comm_is_alone(c) ? n : c->total;
}

static inline int64_t comm_first(const comm *c)
{
    return comm_is_alone(c) ? 0 : c->first;
}

/* Sums values[0..count) over the ranks. The two halves allow other work in between. */
void comm_sum(comm *c, double *values, int64_t count);
void comm_start_sum(comm *c, double *values, int64_t count);
void comm_finish_sum(comm *c);

double comm_sum_of(comm *c, double own);
int64_t comm_count(comm *c, int64_t own); /* an exact sum */

double comm_largest_of(comm *c, double own);

/* all = the same number of bytes of each rank. */
void comm_gather(comm *c, const void *mine, int64_t bytes, void *all);

/* theirs = what `rank` has in `mine`. */
void comm_take_from(comm *c, int64_t rank, const void *mine, int64_t bytes, void *theirs);

int64_t comm_shard(const comm *c, int64_t rank); /* samples of a rank */

/* all = `bytes` of each sample, of all ranks; mine are those of this rank's n samples. */
void comm_gather_samples(comm *c, int64_t n, const void *mine, int64_t bytes, void *all);

/* all = the numbers of each rank, of which this one has `count`. */
void comm_gather_some(comm *c, const double *mine, int64_t count, double *all);

/* The same where the total is not known beforehand: *all holds *number numbers, the caller frees
 * it. */
roofs_status comm_gather_all(comm *c, const double *mine, int64_t count, double **all,
                             int64_t *number, roofs_error *err);

/* Returns OK if all ranks call it with OK, and otherwise, on every rank, the failure of the first
 * rank that failed. The text names that rank unless all of them failed. */
roofs_status comm_agree(comm *c, roofs_status own, roofs_error *err);

/* FAILED once a call has failed. */
roofs_status comm_status(const comm *c, roofs_error *err);

#endif
