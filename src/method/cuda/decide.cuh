/* The columns' side of a sweep: one block of threads decides how far the coefficients of 128
 * columns move. */
#pragma once

#include "method/cuda/bayes_gpu.cuh"

enum { SLOPES_AT_ONCE = 33 /* loads: on most GPUs all of them */ };
enum { DECIDE_THREADS = 512, SHARE = DECIDE_THREADS / GPU_BLOCK, TERMS = GPU_BLOCK / SHARE };

/* A smaller change of a move, relative to it, counts as rounding. */
static __device__ const double SETTLED = 0x1p-45;

struct decide_task {
    bayes_columns columns;
    const int32_t *which; /* NULL: all */
    int64_t count;
    const coordinate *prepared;
    const double *gram;
    const double *slopes;
    int64_t strips;
    slab_gpu prior;
    double *delta, *spread;
    sweep_barrier *barrier;
};

struct decide_shared {
    __align__(16) double delta[GPU_BLOCK];
    double others[GPU_BLOCK], partial[SHARE][GPU_BLOCK], scratch[33];
};

/* Constant in a sweep: the thread's coordinate, and its terms of the Gram matrix. */
struct decide_known {
    double gram[TERMS];
    coordinate c;
    double negligible; /* a smaller change of a move counts as rounding */
};

__device__ inline coordinate prepare(const bayes_columns &columns, int64_t j, double d,
                                     const mixture_numbers &m, const slab_numbers &prior)
{
    return coordinate_prepare(columns.coef[j], d, columns.k[j], &m, &prior);
}

/* Four threads share a row of the Gram matrix: each has every fourth pair of its terms. */
__device__ inline int term_at(int k)
{
    return k / 2 * (2 * SHARE) + threadIdx.x % SHARE * 2 + k % 2;
}

__device__ inline void decide_load(const decide_task &t, int64_t block, decide_known &known)
{
    const int q = threadIdx.x / SHARE;
    const double *row = t.gram + (block * GPU_BLOCK + q) * GPU_BLOCK;
#pragma unroll
    for (int k = 0; k < TERMS; k++)
        known.gram[k] = term_at(k) < q ? row[term_at(k)] : 0;
    const int64_t at = block * GPU_BLOCK + threadIdx.x;
    if (threadIdx.x >= GPU_BLOCK)
        return;
    known.c = at < t.count ? t.prepared[at] : coordinate{};
    known.negligible = SETTLED * sqrt(known.c.v);
}

/* The slope of coordinate threadIdx.x: the sum over all strips. */
__device__ inline double decide_slope(const decide_task &t, decide_shared &shared)
{
    const int q = threadIdx.x % GPU_BLOCK, group = threadIdx.x / GPU_BLOCK;
    double sum = 0, slope = 0;
    for (int64_t first = group; first < t.strips; first += SLOPES_AT_ONCE * SHARE)
#pragma unroll
        for (int k = 0; k < SLOPES_AT_ONCE; k++) {
            const int64_t s = first + k * SHARE;
            sum += s < t.strips ? __ldcg(&t.slopes[s * GPU_BLOCK + q]) : 0;
        }
    shared.partial[group][q] = sum;
    __syncthreads();
    if (threadIdx.x < GPU_BLOCK)
        for (int k = 0; k < SHARE; k++)
            slope += shared.partial[k][threadIdx.x];
    return slope;
}

/* Sum over p < q of G_qp delta_p, into shared.others[q]. */
__device__ inline void add_others(const decide_known &known, decide_shared &shared)
{
    double sums[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < TERMS; k += 2) {
        if (k / 2 > (int)threadIdx.x / 32) /* above the diagonal, for the whole warp */
            break;
        const double2 two = *(const double2 *)&shared.delta[term_at(k)];
        sums[k % 4] += known.gram[k] * two.x;
        sums[k % 4 + 1] += known.gram[k + 1] * two.y;
    }
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int step = SHARE / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % SHARE == 0)
        shared.others[threadIdx.x / SHARE] = sum;
}

/* Coordinate q needs the moves of those before it: delta_q = F_q(slope_q - sum_{p<q} G_qp delta_p).
 * Rounds compute all moves at once until none changes beyond rounding. After k rounds the first k
 * moves are final, so the rounds end, with the same moves as sequential updates. Nearly orthogonal
 * columns take about ten rounds. Four threads share the sum of a coordinate and hold its row of the
 * Gram matrix; the first 128 threads compute the moves. */
__device__ inline double decide_moves(const decide_known &known, double slope,
                                      decide_shared &shared, coordinate_estimate &answer)
{
    const int me = threadIdx.x;
    double mine = 0;
    if (me < GPU_BLOCK)
        shared.others[me] = 0;
    for (int round = 0; round <= GPU_BLOCK + 1; round++) {
        int changed = 0;
        if (me < GPU_BLOCK) {
            const double now = coordinate_move(&known.c, slope - shared.others[me], &answer);
            changed = fabs(now - mine) > fmax(SETTLED * fabs(now), known.negligible);
            shared.delta[me] = mine = now;
        }
        if (!__syncthreads_or(changed))
            break;
        add_others(known, shared);
        __syncthreads();
    }
    return mine;
}

/* Writes the moves and the changes of variances, which the strips need. */
__device__ inline void decide_publish(const decide_task &t, int64_t block, double delta,
                                      const coordinate_estimate &answer)
{
    const int64_t at = block * GPU_BLOCK + threadIdx.x;
    if (threadIdx.x >= GPU_BLOCK || at >= t.count)
        return;
    const double old = t.which ? t.columns.variance[t.which[at]] : 0;
    t.delta[threadIdx.x] = delta;
    t.spread[threadIdx.x] = answer.variance - old;
}

/* Writes the results that no strip waits for. */
__device__ inline void decide_write(const decide_task &t, int64_t block, const coordinate &c,
                                    double delta, const coordinate_estimate &answer)
{
    const int64_t at = block * GPU_BLOCK + threadIdx.x;
    if (threadIdx.x >= GPU_BLOCK || at >= t.count)
        return;
    const int64_t j = t.which ? t.which[at] : at;
    t.columns.coef[j] = coordinate_is_defined(&c) ? c.before + delta : 0;
    t.columns.variance[j] = answer.variance;
    t.columns.probability[j] = answer.probability;
    if (coordinate_is_defined(&c))
        slab_record(t.prior, t.columns.feature[j], answer.R, coordinate_variance(&t.prepared[at]),
                    t.columns.k[j]);
}
