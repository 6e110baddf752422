/* The threads of a fit. A job is a function that every thread calls with its number; it divides the
 * work by these numbers. No result may depend on how many threads there are: so their number may
 * change while a fit runs. */
#ifndef LINALG_WORKERS_H
#define LINALG_WORKERS_H

#include "base/status.h"

typedef struct workers workers;

/* threads: at least 1. */
roofs_status workers_create(workers **out, int64_t threads, roofs_error *err);
void workers_destroy(workers *w);
int64_t workers_bytes(int64_t threads);

/* Jobs get at most so many threads from now on, while others work side by side; at least 1. */
void workers_limit(workers *w, int64_t threads);

/* The number of threads that a job on so many values would get; w may be NULL, for one thread, here
 * and in workers_run. */
int workers_for(const workers *w, int64_t values);

/* Calls job(user, me, count) on `count` threads, me = 0..count - 1, and returns when all have
 * returned. There are at most `most` threads, and one for few values. */
typedef void (*workers_job)(void *user, int me, int count);
void workers_run(workers *w, int64_t values, int64_t most, workers_job job, void *user);

/* Calls job(user, 0) and job(user, 1) and returns when both have returned: side by side, the first
 * on the calling thread, or one after the other if the system has no second thread. Both may use
 * the threads of other workers than w. */
void workers_pair(workers *w, void (*job)(void *user, int64_t k), void *user);

/* Inside a job: each thread counts its steps from 1, and can wait until all `count` threads have
 * reached a step. A waiting thread spins for a short time and then sleeps. What a thread has
 * written before workers_reach is visible after workers_wait_all. Counters are 0 when a job begins.
 */
void workers_reach(workers *w, int me, int64_t step);
void workers_wait_all(workers *w, int count, int64_t step);

/* For the first thread, instead of workers_wait_all. Returns 1 if it has waited so much longer in
 * this job than it has worked that it should go on alone: other programs have the cores of the
 * other threads. The next jobs then get one thread. */
int workers_wait_or_leave(workers *w, int count, int64_t step);

/* The same for one more counter, which one thread of the job sets. */
void workers_open(workers *w, int64_t step);
void workers_wait_open(workers *w, int64_t step);

/* ---- pieces of the samples --------------------------------------------- */

/* Sums over samples are partial sums over fixed pieces of the samples, at most PIECES_MOST, which
 * depend on n alone: the bits do not depend on the number of threads. 48 of them divide well. */
enum { PIECES_MOST = 48, PIECE_ROWS_LEAST = 128, SUMS_MOST = 8 };

typedef struct workers_pieces {
    int64_t count, rows; /* the last piece may be shorter */
} workers_pieces;

workers_pieces workers_pieces_of(int64_t n);

/* Calls piece(user, begin, end, sums) for each piece, samples begin..end - 1; `begin` is a multiple
 * of eight. total[k] = the sum over the pieces of sums[k], in order, for k < numbers <= SUMS_MOST.
 * `cost` is the time that a sample takes, in units of the time to read a value of a column. */
typedef void (*workers_piece)(void *user, int64_t begin, int64_t end, double *sums);
void workers_sum(workers *w, int64_t n, int64_t cost, workers_piece piece, void *user, int numbers,
                 double *total);

/* ---- shares ------------------------------------------------------------ */

/* The items begin..end - 1 of `items` that thread `me` of `count` gets. */
typedef struct workers_range {
    int64_t begin, end;
} workers_range;

static inline workers_range workers_share(int64_t items, int me, int count)
{
    return (workers_range){(items * me + count - 1) / count,
                           (items * (me + 1) + count - 1) / count};
}

#endif
