/* The samples' side of a sweep: a block of threads has a strip of samples, and their values in 128
 * columns in shared memory. */
#pragma once

#include "method/cuda/bayes_gpu.cuh"

#include <cuda_pipeline.h>

enum { STRIP_THREADS = 512, STRIP_LEAST = 32 };
enum { STRIP_OTHER = 28 << 10 /* shared memory besides the values, in bytes, at most */ };

/* Samples of a strip at most: two blocks of columns fill the shared memory. */
template <typename T> constexpr int strip_most()
{
    return 640 / (int)sizeof(T);
}

/* The change of r and V by a column whose coefficient has moved. */
struct __align__(16) strip_move
{
    double center, by, spread; /* for values that are not standardised */
};

struct strip_shared {
    gpu_column columns[2][GPU_BLOCK]; /* of two blocks, alternately */
    strip_move moves[GPU_BLOCK];
    double wr[strip_most<float>()];
    double change[STRIP_THREADS], more[STRIP_THREADS];
};

struct strip {
    int64_t begin;  /* the first of its samples */
    int mine, rows; /* samples, and capacity */
};

__device__ inline strip strip_of(int64_t n, int rows)
{
    const int64_t begin = blockIdx.x * (int64_t)rows;
    return {begin, n - begin < rows ? (int)(n - begin) : rows, rows};
}

/* Starts the copies of values to `tile`, column by column; pads them with zeros. */
template <typename T>
__device__ void strip_load(const strip &s, const gpu_column *list, int count, gpu_column *columns,
                           T *tile)
{
    const int width = 16 / sizeof(T), each = s.rows / width;
    if ((int)threadIdx.x < count)
        columns[threadIdx.x] = list[threadIdx.x];
    __syncthreads();
    for (int at = threadIdx.x; at < count * each; at += STRIP_THREADS) {
        const int q = at / each, i = at % each * width, left = s.mine - i;
        T *to = tile + q * s.rows + i;
        if (left > 0)
            __pipeline_memcpy_async(to, (const T *)columns[q].x + s.begin + i, 16,
                                    left < width ? (width - left) * sizeof(T) : 0);
        else
            for (int k = 0; k < width; k++)
                to[k] = 0;
    }
    __pipeline_commit();
}

__device__ inline strip_move strip_move_of(const gpu_column &c, double delta, double spread)
{
    return {c.center, delta * c.factor, spread * c.factor * c.factor};
}

/* Updates r and V of this thread's sample by the moves of the block in `tile`. */
template <typename T>
__device__ void strip_follow(const strip &s, const T *tile, int count, strip_shared &shared,
                             double &r, double &V)
{
    const int row = threadIdx.x % s.rows, group = threadIdx.x / s.rows;
    const int groups = STRIP_THREADS / s.rows;
    double c = 0, v = 0;
    if (group < groups) {
#pragma unroll 4
        for (int q = group; q < count; q += groups) {
            const strip_move move = shared.moves[q];
            const double off = (double)tile[q * s.rows + row] - move.center;
            c += move.by * off;
            v += move.spread * (off * off);
        }
    }
    shared.change[threadIdx.x] = c;
    shared.more[threadIdx.x] = v;
    __syncthreads();
    if ((int)threadIdx.x < s.mine)
        for (int k = 0; k < groups; k++) {
            r -= shared.change[k * s.rows + threadIdx.x];
            V += shared.more[k * s.rows + threadIdx.x];
        }
}

/* out[q]: the strip's partial slopes of the block in `tile`; r, w: of this thread's sample. */
template <typename T>
__device__ void strip_slopes(const strip &s, const T *tile, const gpu_column *columns, int count,
                             strip_shared &shared, double r, double w, double *out)
{
    enum { WARPS = STRIP_THREADS / 32, EACH = GPU_BLOCK / WARPS }; /* columns of a warp, at once */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    double slope[EACH] = {}, center[EACH];
    int at[EACH];
    if ((int)threadIdx.x < s.rows)
        shared.wr[threadIdx.x] = w * r;
    __syncthreads();
    for (int k = 0; k < EACH; k++) {
        const int q = warp + k * WARPS < count ? warp + k * WARPS : 0;
        center[k] = columns[q].center;
        at[k] = q * s.rows;
    }
    for (int i = lane; i < s.rows; i += 32) {
        const double wr = shared.wr[i];
        for (int k = 0; k < EACH; k++)
            slope[k] += ((double)tile[at[k] + i] - center[k]) * wr;
    }
    for (int k = 0; k < EACH; k++)
        slope[k] = warp_sum(slope[k]);
    for (int k = 0; k < EACH; k++)
        if (lane == 0 && warp + k * WARPS < count)
            out[warp + k * WARPS] = slope[k] * columns[warp + k * WARPS].factor;
}
