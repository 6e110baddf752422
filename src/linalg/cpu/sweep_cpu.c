/* Coordinate sweeps in blocks of four columns. One read of a block gives its slopes Z_B'W r and its
 * Gram matrix Z_B'W Z_B. One thread computes the four updates from these. Then all threads update r
 * and the variances.
 *
 * Threads divide the samples. r of a sample depends only on this sample. So each thread applies the
 * last block, which is still in its cache, and then sums the next one: each column is read from
 * memory once. Where the samples of a thread do not fit in its cache, each block visits the pieces in
 * the opposite order, because the last ones of the block before are the most likely to be there. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/lanes.h"

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

/* ---- sums over pieces -------------------------------------------------- */

void cpu_add_pieces(const device *d, const double *each, int64_t stride, int64_t numbers, int team,
                    double *total)
{
    const int64_t pieces = d->pieces.count;
    for (int64_t k = 0; k < numbers; k += LANES) {
        lanes sum = {0};
        for (int64_t first = 0; first < pieces; first += GROUP) {
            const int64_t end = first + GROUP < pieces ? first + GROUP : pieces;
            const int is_summed = piece_owner(d, first, team) == piece_owner(d, end - 1, team);
            lanes group = lanes_load_f64(each + first * stride + k);
            for (int64_t p = first + 1; p < end && !is_summed; p++)
                group += lanes_load_f64(each + p * stride + k);
            sum += group;
        }
        memcpy(total + k, &sum, sizeof sum);
    }
}

void cpu_add_own_groups(const device *d, double *each, int64_t stride, int64_t numbers,
                        workers_range own)
{
    for (int64_t first = (own.begin + GROUP - 1) / GROUP * GROUP; first < own.end; first += GROUP) {
        const int64_t end = first + GROUP < d->pieces.count ? first + GROUP : d->pieces.count;
        if (end > own.end)
            return;
        for (int64_t k = 0; k < numbers; k += LANES) {
            lanes group = lanes_load_f64(each + first * stride + k);
            for (int64_t p = first + 1; p < end; p++)
                group += lanes_load_f64(each + p * stride + k);
            memcpy(each + first * stride + k, &group, sizeof group);
        }
    }
}

/* ---- the sweep --------------------------------------------------------- */

typedef struct sweep {
    device *d;
    const device_column *columns;
    int64_t end; /* of the columns */
    int64_t begin;
    const device_sweep *how;
    _Alignas(128) double delta[DEVICE_BLOCK]; /* of the last block: on lines of their own */
    double spread[DEVICE_BLOCK];
} sweep;

/* Adds the sums of the pieces, and computes the updates of a block from them. */
static void update_block(sweep *s, int64_t first, int64_t count, int team)
{
    sweep_sums sums;
    double gram[DEVICE_BLOCK][DEVICE_BLOCK];
    cpu_add_pieces(s->d, s->d->partial, BLOCK_SUMS, BLOCK_SUMS, team, sums.slope);
    for (int q = 0, at = 0; q < DEVICE_BLOCK; q++)
        for (int p = 0; p <= q; p++)
            gram[q][p] = gram[p][q] = sums.gram[at++];
    memset(s->delta, 0, sizeof s->delta);
    memset(s->spread, 0, sizeof s->spread);
    s->how->update(s->how->user, first, count, sums.slope, (const double(*)[DEVICE_BLOCK])gram,
                   s->delta, s->spread);
}

/* One piece of the samples: applies the last block, then sums the next one, and prefetches. */
static void sweep_piece(const sweep *s, const sweep_block *last, const sweep_block *next,
                        const sweep_block *later, int64_t ahead, int64_t piece)
{
    const device *d = s->d;
    const workers_range rows = cpu_piece(d, piece);
    const int64_t begin = rows.begin, count = rows.end - rows.begin;
    double *r = s->how->r + begin;
    if (last->count > 0)
        d->k->apply_block(last, begin, count, r, s->how->variance + begin);
    if (next->count > 0)
        d->k->sum_block(next, begin, count, s->how->weight + begin, r, later, begin + ahead,
                        (sweep_sums *)(d->partial + piece * BLOCK_SUMS));
}

/* Prefetching a whole block ahead hides the time in which one thread computes the updates. Where a
 * block is large, the next samples of the same block are prefetched instead. */
static void sweep_pieces(const sweep *s, const sweep_block *last, const sweep_block *next,
                         const sweep_block *later, workers_range own, int backwards)
{
    const device *d = s->d;
    const int64_t bytes = (own.end - own.begin) * d->pieces.rows * d->k->size * DEVICE_BLOCK;
    const int far = bytes <= NEAR_BYTES && later->count > 0;
    backwards &= bytes > CACHE_BYTES;
    for (int64_t k = own.begin; k < own.end; k++)
        sweep_piece(s, last, next, far ? later : next, far ? 0 : AHEAD_ROWS,
                    backwards ? own.begin + own.end - 1 - k : k);
}

static void sweep_thread(void *user, int me, int team)
{
    sweep *s = user;
    device *d = s->d;
    const workers_range own = workers_share(d->pieces.count, me, team);
    sweep_block last = {0}, next, later;
    next = cpu_block_at(d, s->columns, s->end, s->begin);
    later = cpu_block_at(d, s->columns, s->end, s->begin + DEVICE_BLOCK);
    for (int64_t step = 1, first = s->begin;; step++, first += DEVICE_BLOCK) {
        sweep_pieces(s, &last, &next, &later, own, step % 2 == 0);
        if (next.count == 0)
            return;
        cpu_add_own_groups(d, d->partial, BLOCK_SUMS, BLOCK_SUMS, own);
        if (team > 1)
            workers_reach(d->workers, me, step);
        last = next;
        next = later;
        later = cpu_block_at(d, s->columns, s->end, first + 2 * DEVICE_BLOCK);
        if (me == 0) {
            if (team > 1)
                workers_wait_all(d->workers, team, step);
            update_block(s, first, last.count, team);
            if (team > 1)
                workers_open(d->workers, step);
        } else {
            workers_wait_open(d->workers, step);
        }
        memcpy(last.delta, s->delta, sizeof last.delta);
        memcpy(last.spread, s->spread, sizeof last.spread);
    }
}

void cpu_dense_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                     const device_sweep *how)
{
    sweep s = {.d = d, .columns = columns, .begin = begin, .end = end, .how = how};
    workers_run(d->workers, (end - begin) * d->shape.n, d->pieces.count, sweep_thread, &s);
}

/* ---- squares ----------------------------------------------------------- */

typedef struct squares {
    const device *d;
    const cpu_subset *p;
    const double *weight;
    double *out;
} squares;

/* Applies blocks with delta = 0; r is unused. */
static void add_squares_of(const squares *s, int64_t begin, int64_t rows)
{
    double unused[AHEAD_ROWS] = {0};
    for (int64_t first = 0; first < s->p->count; first += DEVICE_BLOCK) {
        sweep_block b = cpu_block_at(s->d, s->p->columns, s->p->count, first);
        for (int64_t q = 0; q < b.count; q++)
            b.spread[q] = s->weight[cpu_list_position(s->p, first + q)];
        s->d->k->apply_block(&b, begin, rows, unused, s->out + begin);
    }
}

static void squares_thread(void *user, int me, int team)
{
    const squares *s = user;
    const workers_range own = workers_share(s->d->pieces.count, me, team);
    for (int64_t piece = own.begin; piece < own.end; piece++) {
        const workers_range rows = cpu_piece(s->d, piece);
        for (int64_t at = rows.begin; at < rows.end; at += AHEAD_ROWS)
            add_squares_of(s, at, rows.end - at < AHEAD_ROWS ? rows.end - at : AHEAD_ROWS);
    }
}

void cpu_dense_add_squares(device *d, const cpu_subset *p, const double *weight, double *out)
{
    squares s = {d, p, weight, out};
    workers_run(d->workers, p->count * d->shape.n, d->pieces.count, squares_thread, &s);
}
