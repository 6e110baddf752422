/* Coordinate sweeps in blocks of four columns. One read of a block gives its slopes Z_B'W r and its
 * Gram matrix Z_B'W Z_B. One thread computes the four updates from these. Then all threads update r
 * and the variances.
 *
 * Threads divide the samples into strips. r of a strip depends only on the strip. So each thread
 * applies the last block, which is still in its cache, and then sums the next one: each column is
 * read from memory once. */
#include "linalg/cpu/device_cpu.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

int64_t cpu_strips(int64_t n)
{
    return (n + STRIP_ROWS - 1) / STRIP_ROWS;
}

sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first)
{
    sweep_block b = {.count = count - first < DEVICE_BLOCK ? count - first : DEVICE_BLOCK};
    if (b.count <= 0)
        return (sweep_block){0};
    for (int64_t q = 0; q < DEVICE_BLOCK; q++) {
        const device_column *c = &columns[q < b.count ? first + q : first];
        b.x[q] = cpu_at(d, c->place)->values;
        b.center[q] = c->center;
        b.factor[q] = q < b.count ? c->factor : 0;
    }
    return b;
}

/* One strip of samples: applies the last block, then sums the next one. */
static void sweep_strip(device *d, const sweep_block *last, const sweep_block *next, int64_t strip,
                        const device_sweep *how)
{
    int64_t begin = strip * STRIP_ROWS, left = d->shape.n - begin;
    int64_t rows = left < STRIP_ROWS ? left : STRIP_ROWS;
    if (last->count > 0)
        d->k->apply_block(last, begin, rows, how->r + begin, how->variance + begin);
    if (next->count > 0)
        d->k->sum_block(next, begin, rows, how->weight + begin, how->r + begin, &d->partial[strip]);
}

/* ---- barrier ----------------------------------------------------------- */

/* The last thread that arrives does the work for one thread and then opens the barrier for the
 * others. OpenMP's "for" and "single" together need two barriers for this, and a sweep has several
 * hundred of them per batch. All zero before the first use. */
typedef struct barrier {
    atomic_int arrived; /* threads that wait now */
    atomic_int opened;  /* how often the barrier has been opened */
} barrier;

/* Returns 1 in the last of `team` threads, which must then call barrier_open. Returns 0 in the
 * others, once the barrier is open. A waiting thread spins first, because most waits are short,
 * and then yields its core. */
static int barrier_is_last(barrier *b, int team)
{
    enum { SPINS = 4096 };
    int before = atomic_load_explicit(&b->opened, memory_order_acquire);
    if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) == team - 1)
        return 1;
    for (int spin = 0; atomic_load_explicit(&b->opened, memory_order_acquire) == before; spin++)
        if (spin > SPINS)
            sched_yield();
    return 0;
}

static void barrier_open(barrier *b)
{
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->opened, 1, memory_order_acq_rel);
}

/* ---- the sweep --------------------------------------------------------- */

/* Adds the sums of the strips in order, and computes the updates of one block from them. */
static void sweep_update_block(const device *d, int64_t first, sweep_block *block,
                               const device_sweep *how)
{
    sweep_sums sums = {0};
    for (int64_t s = 0; s < cpu_strips(d->shape.n); s++)
        for (int a = 0; a < DEVICE_BLOCK; a++) {
            sums.slope[a] += d->partial[s].slope[a];
            for (int b = 0; b <= a; b++)
                sums.gram[a][b] += d->partial[s].gram[a][b];
        }
    for (int a = 0; a < DEVICE_BLOCK; a++)
        for (int b = a + 1; b < DEVICE_BLOCK; b++)
            sums.gram[a][b] = sums.gram[b][a];
    how->update(how->user, first, block->count, sums.slope, sums.gram, block->delta, block->spread);
}

void cpu_dense_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                     const device_sweep *how)
{
    const int64_t strips = cpu_strips(d->shape.n);
    sweep_block last = {0}, next = cpu_block_at(d, columns, end, begin);
    barrier strip_barrier = {0};
#pragma omp parallel num_threads(cpu_team(d, end - begin))
    {
        const int team = omp_get_num_threads(), me = omp_get_thread_num();
        const int64_t from = strips * me / team, to = strips * (me + 1) / team;
        for (int64_t first = begin; first < end + DEVICE_BLOCK; first += DEVICE_BLOCK) {
            for (int64_t s = from; s < to; s++)
                sweep_strip(d, &last, &next, s, how);
            if (!barrier_is_last(&strip_barrier, team))
                continue;
            last = next;
            if (last.count > 0)
                sweep_update_block(d, first, &last, how);
            next = cpu_block_at(d, columns, end, first + DEVICE_BLOCK);
            barrier_open(&strip_barrier);
        }
    }
}

/* Applies blocks with delta = 0; r is unused. */
void cpu_dense_add_squares(device *d, const cpu_subset *p, const double *weight, double *out)
{
    const int64_t n = d->shape.n, count = p->count;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, count))
    for (int64_t begin = 0; begin < n; begin += STRIP_ROWS) {
        int64_t rows = n - begin < STRIP_ROWS ? n - begin : STRIP_ROWS;
        double unused[STRIP_ROWS] = {0};
        for (int64_t first = 0; first < count; first += DEVICE_BLOCK) {
            sweep_block b = cpu_block_at(d, p->columns, count, first);
            for (int64_t q = 0; q < b.count; q++)
                b.spread[q] = weight[cpu_list_position(p, first + q)];
            d->k->apply_block(&b, begin, rows, unused, out + begin);
        }
    }
}
