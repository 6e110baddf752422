/* Communication between ranks: processes that share the samples of a fit. A single rank, the
 * default, needs no communication.
 *
 * A sum over all samples adds the sums of the ranks in the order of the ranks. Its bits depend only
 * on the number of ranks. */
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
    int agreed;          /* the last failure has been returned on all ranks */
} comm;

/* The first of n samples of the shard of `rank`. The shard ends where that of rank + 1 begins. */
int64_t shard_begin(int64_t n, int64_t rank, int64_t ranks);

/* One rank with n samples. */
comm comm_self(int64_t n);

/* Joins the ranks of `with`; this rank has n of the samples. `own` is the result of checks that
 * this rank has made alone: a failure is then returned on all ranks. */
roofs_status comm_join(comm *c, const roofs_comm *with, int64_t n, roofs_status own,
                       roofs_error *err);
void comm_leave(comm *c);

/* In all functions below NULL means a single rank. */
static inline int comm_is_alone(const comm *c)
{
    return !c || c->with.size == 1;
}

/* Rank 0 prints and writes for all. */
static inline int comm_is_root(const comm *c)
{
    return !c || c->with.rank == 0;
}

/* The number of samples of all ranks (this one has n), and the index of its first sample. */
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

/* all = `bytes` bytes of each rank, in the order of the ranks. */
void comm_gather(comm *c, const void *mine, int64_t bytes, void *all);

/* Copies `mine` of `rank` to `theirs` on every rank. */
void comm_take_from(comm *c, int64_t rank, const void *mine, int64_t bytes, void *theirs);

int64_t comm_shard(const comm *c, int64_t rank); /* samples of a rank */

/* all = `bytes` bytes per sample, of all ranks; `mine` holds those of this rank's n samples. */
void comm_gather_samples(comm *c, int64_t n, const void *mine, int64_t bytes, void *all);

/* all = the numbers of all ranks; this rank has `count`. */
void comm_gather_some(comm *c, const double *mine, int64_t count, double *all);

/* The same if the total is not known before: allocates *all for *number numbers. Free it with
 * memory_free. */
roofs_status comm_gather_all(comm *c, const double *mine, int64_t count, double **all,
                             int64_t *number, roofs_error *err);

/* Returns OK if `own` is OK on all ranks. Otherwise returns, on every rank, the failure of the
 * first rank that failed. The text names that rank unless all ranks failed. Whatever a rank checks
 * alone goes through here before the next call of this header: the other ranks would wait. */
roofs_status comm_agree(comm *c, roofs_status own, roofs_error *err);

/* A point of the program where all ranks must be, with the same numbers. */
typedef struct comm_point {
    const char *call; /* completes "the ranks differ in ..." */
    int64_t count;    /* a number that must be equal */
    uint64_t digest;  /* of whatever else must be equal */
} comm_point;

/* The same, and a failure on every rank unless all of them are at this point. */
roofs_status comm_agree_at(comm *c, comm_point at, roofs_status own, roofs_error *err);

/* FAILED once a call has failed. */
roofs_status comm_status(const comm *c, roofs_error *err);

#endif
