/* Coordinate sweeps in blocks of four columns. One read of a block gives its slopes Z_B'W r and its
 * Gram matrix Z_B'W Z_B. One thread computes the four updates from these. Then all threads update r
 * and the variances.
 *
 * Threads divide the samples. r of a sample depends only on this sample. So each thread applies the
 * last block, which is still in its cache, and then computes the slopes of the next one. The Gram
 * matrix of the block after that does not depend on r: several threads compute it while one
 * computes updates. Each column is read from memory once. Where the samples of a thread do not fit
 * in its cache, each block visits the pieces in the opposite order, because the last ones of the
 * block before are the most likely to be there. */
#include "base/memory.h"
#include "linalg/cpu/device_cpu.h"
#include "linalg/lanes.h"

static void set_column(sweep_block *b, int64_t q, const cpu_column *c)
{
    b->x[q] = c->values;
    b->dtype[q] = c->dtype;
    b->codes[q] = &c->codes;
}

/* Called when all columns are set. */
static void set_kernels(const device *d, sweep_block *b)
{
    const int64_t bytes = dtype_bytes(ROOFS_2BIT, d->shape.n);
    int is_mixed = 0;
    for (int64_t q = 1; q < DEVICE_BLOCK; q++)
        is_mixed |= b->dtype[q] != b->dtype[0];
    b->k = is_mixed ? &kernels_mixed : d->kernels[b->dtype[0]];
    b->last_at = bytes > CODES_WORD ? bytes - CODES_WORD : 0;
    b->whole = bytes < CODES_WORD ? 0 : 4 * b->last_at + 1;
}

sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first)
{
    sweep_block b = {.count = count - first < DEVICE_BLOCK ? count - first : DEVICE_BLOCK};
    if (b.count <= 0)
        return (sweep_block){0};
    for (int64_t q = 0; q < DEVICE_BLOCK; q++) {
        const device_column *c = &columns[q < b.count ? first + q : first];
        set_column(&b, q, cpu_at(d, c->place));
        b.center[q] = c->center;
        b.factor[q] = q < b.count ? c->factor : 0;
    }
    set_kernels(d, &b);
    return b;
}

sweep_block cpu_block_of(const device *d, const cpu_column *column)
{
    sweep_block b = {.count = 1};
    for (int64_t q = 0; q < DEVICE_BLOCK; q++)
        set_column(&b, q, column);
    set_kernels(d, &b);
    return b;
}

int64_t cpu_block_bytes(const device *d, const device_column *columns, int64_t count)
{
    int64_t bytes = 0;
    for (int64_t k = 0; k < count; k++)
        bytes += dtype_bytes(cpu_at(d, columns[k].place)->dtype, d->shape.n);
    return count > 0 ? bytes / count * DEVICE_BLOCK : 0;
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
    _Alignas(128) double delta[DEVICE_BLOCK]; /* of the last block: on lines of their own */
    double spread[DEVICE_BLOCK];
    int is_left; /* the first thread goes on alone */
    char apart[128 - 2 * DEVICE_BLOCK * sizeof(double) - sizeof(int)];
    device *d;
    const device_column *columns;
    int64_t begin, end;  /* columns */
    int64_t block_bytes; /* of a block */
    const device_sweep *how;
} sweep;

/* So many threads wait longer than the products take that they can compute before. Fewer sum a
 * block with one read. */
enum { MANY = 6 };

/* The share of a thread. */
typedef struct sweep_share {
    workers_range pieces;
    int is_near;     /* a block ahead fits in the cache */
    int is_cached;   /* a block does */
    int looks_ahead; /* it computes products while it waits, see multiply_pieces */
} sweep_share;

static sweep_share share_of(const sweep *s, int me, int team)
{
    const device *d = s->d;
    sweep_share own = {.pieces = workers_share(d->pieces.count, me, team)};
    const int64_t bytes = s->block_bytes / d->pieces.count * (own.pieces.end - own.pieces.begin);
    own.is_near = bytes <= NEAR_BYTES;
    own.is_cached = bytes <= CACHE_BYTES;
    own.looks_ahead = team >= MANY;
    return own;
}

static double *slopes_at(const device *d, int64_t piece)
{
    return d->partial + piece * SLOPES;
}

/* The products of block `step`; those of the next block are computed before these are added. */
static double *products_at(const device *d, int64_t step, int64_t piece)
{
    return d->partial + PIECES_MOST * (SLOPES + step % 2 * PRODUCTS) + piece * PRODUCTS;
}

/* Adds the sums of the pieces, and computes the updates of a block from them. */
static void update_block(sweep *s, int64_t step, int64_t first, int64_t count, int team)
{
    double slope[SLOPES], sums[PRODUCTS], gram[DEVICE_BLOCK][DEVICE_BLOCK];
    cpu_add_pieces(s->d, slopes_at(s->d, 0), SLOPES, SLOPES, team, slope);
    cpu_add_pieces(s->d, products_at(s->d, step, 0), PRODUCTS, PRODUCTS, team, sums);
    for (int q = 0, at = 0; q < DEVICE_BLOCK; q++)
        for (int p = 0; p <= q; p++)
            gram[q][p] = gram[p][q] = sums[at++];
    memset(s->delta, 0, sizeof s->delta);
    memset(s->spread, 0, sizeof s->spread);
    s->how->update(s->how->user, first, count, slope, (const double(*)[DEVICE_BLOCK])gram, s->delta,
                   s->spread);
}

/* Prefetching a whole block ahead hides the time in which one thread computes the updates. Where a
 * block is large, the next samples of the same block are prefetched instead. */
static const sweep_block *block_ahead(const sweep_share *own, const sweep_block *now,
                                      const sweep_block *later, int64_t *rows)
{
    const int far = own->is_near && later->count > 0;
    *rows = far ? 0 : AHEAD_ROWS;
    return far ? later : now;
}

/* Applies the last block and sums the next one, with its products unless they are known. */
static void sweep_pieces(const sweep *s, const sweep_share *own, const sweep_block *last,
                         const sweep_block *next, const sweep_block *later, int64_t step)
{
    const device *d = s->d;
    const device_sweep *how = s->how;
    int64_t ahead;
    const sweep_block *coming = block_ahead(own, next, later, &ahead);
    for (int64_t k = own->pieces.begin; k < own->pieces.end; k++) {
        const int backwards = step % 2 == 0 && !own->is_cached;
        const int64_t piece = backwards ? own->pieces.begin + own->pieces.end - 1 - k : k;
        const workers_range rows = cpu_piece(d, piece);
        const int64_t at = rows.begin, count = rows.end - rows.begin;
        if (last->count > 0)
            last->k->apply_block(last, at, count, how->r + at, how->variance + at);
        if (next->count > 0 && own->looks_ahead)
            next->k->sum_slopes(next, at, count, how->weight + at, how->r + at,
                                slopes_at(d, piece));
        else if (next->count > 0)
            next->k->sum_block(next, at, count, how->weight + at, how->r + at, coming, at + ahead,
                               slopes_at(d, piece), products_at(d, step, piece));
    }
    cpu_add_own_groups(d, slopes_at(d, 0), SLOPES, SLOPES, own->pieces);
    if (!own->looks_ahead)
        cpu_add_own_groups(d, products_at(d, step, 0), PRODUCTS, PRODUCTS, own->pieces);
}

/* The products of a block do not depend on r: a thread computes them while it waits. */
static void multiply_pieces(const sweep *s, const sweep_share *own, const sweep_block *b,
                            const sweep_block *later, int64_t step)
{
    const device *d = s->d;
    int64_t ahead;
    const sweep_block *next = block_ahead(own, b, later, &ahead);
    for (int64_t piece = own->pieces.begin; piece < own->pieces.end; piece++) {
        const workers_range rows = cpu_piece(d, piece);
        b->k->sum_gram(b, rows.begin, rows.end - rows.begin, s->how->weight + rows.begin, next,
                       rows.begin + ahead, products_at(d, step, piece));
    }
    cpu_add_own_groups(d, products_at(d, step, 0), PRODUCTS, PRODUCTS, own->pieces);
}

static sweep_block sweep_block_at(const sweep *s, int64_t step)
{
    return cpu_block_at(s->d, s->columns, s->end, s->begin + step * DEVICE_BLOCK);
}

/* All samples, from block `step` on; the changes of the block before, `last`, are not yet applied.
 */
static void sweep_alone(sweep *s, sweep_block last, int64_t step)
{
    const sweep_share all = share_of(s, 0, 1), *own = &all;
    sweep_block next = sweep_block_at(s, step);
    const sweep_block none = {0};
    for (;; step++) {
        sweep_pieces(s, own, &last, &next, &none, step);
        if (next.count == 0)
            return;
        last = next;
        next = sweep_block_at(s, step + 1);
        update_block(s, step, s->begin + step * DEVICE_BLOCK, last.count, 1);
        memcpy(last.delta, s->delta, sizeof last.delta);
        memcpy(last.spread, s->spread, sizeof last.spread);
    }
}

static void sweep_together(sweep *s, int me, int team)
{
    workers *all = s->d->workers;
    const sweep_share share = share_of(s, me, team), *own = &share;
    sweep_block last = {0}, next = sweep_block_at(s, 0), later = sweep_block_at(s, 1);
    if (own->looks_ahead)
        multiply_pieces(s, own, &next, &later, 0);
    for (int64_t step = 0;; step++) {
        sweep_pieces(s, own, &last, &next, &later, step);
        if (next.count == 0)
            return;
        workers_reach(all, me, step + 1);
        last = next;
        next = later;
        later = sweep_block_at(s, step + 2);
        if (next.count > 0 && own->looks_ahead)
            multiply_pieces(s, own, &next, &later, step + 1);
        if (me == 0) {
            s->is_left = workers_wait_or_leave(all, team, step + 1);
            update_block(s, step, s->begin + step * DEVICE_BLOCK, last.count, team);
            workers_open(all, step + 1);
        } else {
            workers_wait_open(all, step + 1);
        }
        if (s->is_left && me > 0)
            return; /* the first thread already changes delta */
        memcpy(last.delta, s->delta, sizeof last.delta);
        memcpy(last.spread, s->spread, sizeof last.spread);
        if (s->is_left) {
            sweep_alone(s, last, step + 1);
            return;
        }
    }
}

static void sweep_thread(void *user, int me, int team)
{
    sweep *s = user;
    if (team == 1)
        sweep_alone(s, (sweep_block){0}, 0);
    else
        sweep_together(s, me, team);
}

void cpu_dense_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                     const device_sweep *how)
{
    sweep s = {.d = d,
               .columns = columns,
               .begin = begin,
               .end = end,
               .block_bytes = cpu_block_bytes(d, columns + begin, end - begin),
               .how = how};
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
        b.k->apply_block(&b, begin, rows, unused, s->out + begin);
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
