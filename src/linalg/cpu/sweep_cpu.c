/* Coordinate sweeps in blocks of eight columns. For a block the slopes Z_B W r and
 * the Gram matrix Z_B W Z_B' are made in one read; the coordinates are updated on
 * that small matrix, by one thread, in exact order; then r follows.
 *
 * Threads own strips of samples. A strip's r needs only its own rows, so each
 * thread brings r up to date with the last block and goes straight on to the sums
 * of the next one: one meeting per block, each column read once. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/lanes.h"

#include <string.h>

enum { TILE_ROWS = 256 }; /* eight standardised columns of so many rows fit the first cache */

typedef struct block {
    const device_column *columns;
    int64_t count; /* 1..DEVICE_BLOCK; 0 = no block */
    double delta[DEVICE_BLOCK], spread[DEVICE_BLOCK];
} block;

int64_t cpu_strips(int64_t n)
{
    return (n + STRIP_ROWS - 1) / STRIP_ROWS;
}

/* Rows begin..begin+rows of the block's columns; missing columns are zero. */
static void load_tile(const device *d, const block *b, int64_t begin, int64_t rows,
                      double tile[DEVICE_BLOCK][TILE_ROWS])
{
    for (int64_t q = 0; q < b->count; q++) {
        const device_column *c = &b->columns[q];
        const char *x = (const char *)cpu_values(d, c->place) + begin * d->k->size;
        d->k->standardise(x, c->center, c->factor, rows, tile[q]);
        memset(tile[q] + rows, 0, (size_t)(TILE_ROWS - rows) * sizeof tile[q][0]);
    }
    if (b->count < DEVICE_BLOCK)
        memset(tile[b->count], 0, (size_t)(DEVICE_BLOCK - b->count) * sizeof tile[0]);
}

/* ---- what a block did to the samples ----------------------------------- */

EVERY_WIDTH static void apply_column(const double *z, double delta, double spread, int64_t rows,
                                     double *restrict r, double *restrict variance)
{
    for (int64_t i = 0; i < rows; i++) {
        r[i] -= delta * z[i];
        variance[i] += spread * (z[i] * z[i]);
    }
}

static void apply(const device *d, const block *b, int64_t begin, int64_t rows, double *r,
                  double *variance)
{
    double z[TILE_ROWS];
    for (int64_t q = 0; q < b->count; q++) {
        const device_column *c = &b->columns[q];
        if (b->delta[q] == 0 && b->spread[q] == 0)
            continue;
        const char *x = (const char *)cpu_values(d, c->place) + begin * d->k->size;
        d->k->standardise(x, c->center, c->factor, rows, z);
        apply_column(z, b->delta[q], b->spread[q], rows, r, variance);
    }
}

/* ---- sums of a block --------------------------------------------------- */

/* A quarter of the Gram matrix: four columns of `left` with four of `right`. */
EVERY_WIDTH static void gram_tile(const double (*left)[TILE_ROWS], const double (*right)[TILE_ROWS],
                                  lanes sum[4][4])
{
    for (int a = 0; a < 4; a++) {
        lanes s0 = sum[a][0], s1 = sum[a][1], s2 = sum[a][2], s3 = sum[a][3];
        for (int64_t i = 0; i < TILE_ROWS; i += LANES) {
            lanes l = lanes_load_f64(left[a] + i);
            s0 += l * lanes_load_f64(right[0] + i);
            s1 += l * lanes_load_f64(right[1] + i);
            s2 += l * lanes_load_f64(right[2] + i);
            s3 += l * lanes_load_f64(right[3] + i);
        }
        sum[a][0] = s0;
        sum[a][1] = s1;
        sum[a][2] = s2;
        sum[a][3] = s3;
    }
}

/* weighted = w z, and slope += (w z)'r. */
EVERY_WIDTH static void weigh_tile(const double (*tile)[TILE_ROWS], const double *w,
                                   const double *r, double (*weighted)[TILE_ROWS],
                                   lanes slope[DEVICE_BLOCK])
{
    for (int q = 0; q < DEVICE_BLOCK; q++) {
        lanes s = slope[q];
        for (int64_t i = 0; i < TILE_ROWS; i += LANES) {
            lanes v = lanes_load_f64(tile[q] + i) * lanes_load_f64(w + i);
            memcpy(weighted[q] + i, &v, sizeof v);
            s += v * lanes_load_f64(r + i);
        }
        slope[q] = s;
    }
}

typedef struct strip_sums {
    lanes slope[DEVICE_BLOCK];
    lanes gram[3][4][4]; /* quarters (0,0), (1,0), (1,1) */
} strip_sums;

static void add_tile(const device *d, const block *b, int64_t begin, int64_t rows,
                     const device_sweep *how, strip_sums *sums)
{
    double tile[DEVICE_BLOCK][TILE_ROWS] __attribute__((aligned(64)));
    double weighted[DEVICE_BLOCK][TILE_ROWS] __attribute__((aligned(64)));
    double w[TILE_ROWS] = {0}, r[TILE_ROWS] = {0};
    load_tile(d, b, begin, rows, tile);
    memcpy(w, how->weight + begin, (size_t)rows * sizeof *w);
    memcpy(r, how->r + begin, (size_t)rows * sizeof *r);
    weigh_tile(tile, w, r, weighted, sums->slope);
    gram_tile(weighted, tile, sums->gram[0]);
    if (b->count > 4) {
        gram_tile(weighted + 4, tile, sums->gram[1]);
        gram_tile(weighted + 4, tile + 4, sums->gram[2]);
    }
}

static void total_strip(const strip_sums *sums, sweep_sums *out)
{
    for (int q = 0; q < DEVICE_BLOCK; q++)
        out->slope[q] = lanes_total(sums->slope[q]);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            out->gram[a][b] = lanes_total(sums->gram[0][a][b]);
            out->gram[a + 4][b] = lanes_total(sums->gram[1][a][b]);
            out->gram[a + 4][b + 4] = lanes_total(sums->gram[2][a][b]);
        }
}

/* One strip of samples: the last block's effect, then the next block's sums. */
static void do_strip(device *d, const block *last, const block *next, int64_t strip,
                     const device_sweep *how)
{
    strip_sums sums = {0};
    int64_t end = (strip + 1) * STRIP_ROWS < d->shape.n ? (strip + 1) * STRIP_ROWS : d->shape.n;
    for (int64_t begin = strip * STRIP_ROWS; begin < end; begin += TILE_ROWS) {
        int64_t rows = end - begin < TILE_ROWS ? end - begin : TILE_ROWS;
        apply(d, last, begin, rows, how->r + begin, how->variance + begin);
        if (next->count > 0)
            add_tile(d, next, begin, rows, how, &sums);
    }
    if (next->count > 0)
        total_strip(&sums, &d->partial[strip]);
}

/* ---- the sweep --------------------------------------------------------- */

/* Adds the strips in order and fills the upper half of the Gram matrix. */
static void join_strips(const device *d, sweep_sums *out)
{
    *out = (sweep_sums){0};
    for (int64_t s = 0; s < cpu_strips(d->shape.n); s++)
        for (int a = 0; a < DEVICE_BLOCK; a++) {
            out->slope[a] += d->partial[s].slope[a];
            for (int b = 0; b <= a; b++)
                out->gram[a][b] += d->partial[s].gram[a][b];
        }
    for (int a = 0; a < DEVICE_BLOCK; a++)
        for (int b = a + 1; b < DEVICE_BLOCK; b++)
            out->gram[a][b] = out->gram[b][a];
}

static void decide(const device *d, int64_t first, block *b, const device_sweep *how)
{
    sweep_sums sums;
    join_strips(d, &sums);
    how->update(how->user, first, b->count, sums.slope, sums.gram, b->delta, b->spread);
}

static block block_at(const device_column *columns, int64_t count, int64_t first)
{
    int64_t left = count - first;
    return (block){.columns = columns + first,
                   .count = left < 0              ? 0
                            : left < DEVICE_BLOCK ? left
                                                  : DEVICE_BLOCK};
}

void cpu_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how)
{
    const int64_t strips = cpu_strips(d->shape.n);
    block last = {0}, next = block_at(columns, count, 0);
#pragma omp parallel num_threads(cpu_team(d, count))
    for (int64_t first = 0; first < count + DEVICE_BLOCK; first += DEVICE_BLOCK) {
#pragma omp for schedule(static)
        for (int64_t s = 0; s < strips; s++)
            do_strip(d, &last, &next, s, how);
#pragma omp single
        {
            last = next;
            if (last.count > 0)
                decide(d, first, &last, how);
            next = block_at(columns, count, first + DEVICE_BLOCK);
        }
    }
}

void cpu_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                     double *out)
{
    const int64_t n = d->shape.n;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, count))
    for (int64_t begin = 0; begin < n; begin += TILE_ROWS) {
        int64_t rows = n - begin < TILE_ROWS ? n - begin : TILE_ROWS;
        double z[TILE_ROWS], unused[TILE_ROWS] = {0};
        for (int64_t j = 0; j < count; j++) {
            const device_column *c = &columns[j];
            const char *x = (const char *)cpu_values(d, c->place) + begin * d->k->size;
            d->k->standardise(x, c->center, c->factor, rows, z);
            apply_column(z, 0, weight[j], rows, unused, out + begin);
        }
    }
}
