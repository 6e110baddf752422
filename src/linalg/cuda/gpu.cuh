/* For all kernels of the CUDA plug-in: errors as status, and sums in a fixed order, so that the
 * bits are the same in every fit. */
#pragma once

extern "C" {
#include "linalg/columns.h"
}

#include <cooperative_groups.h>
#include <cuda_runtime.h>

roofs_status gpu_fail(cudaError_t error, const char *call, roofs_error *err);

#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        cudaError_t cuda_error_ = (call);                                                          \
        if (cuda_error_ != cudaSuccess)                                                            \
            return gpu_fail(cuda_error_, #call, err);                                              \
    } while (0)

/* Returns if the last launch failed. */
#define LAUNCHED() CUDA_TRY(cudaGetLastError())

/* A column in a list for kernels: z = (x - center) * factor. */
struct gpu_column {
    const void *x;
    double center, factor, unit;
};

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- sums in a fixed order --------------------------------------------- */

__device__ inline double warp_sum(double v)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ inline double warp_max(double v)
{
    for (int step = 16; step > 0; step /= 2)
        v = fmax(v, __shfl_xor_sync(0xffffffffu, v, step));
    return v;
}

/* All threads get the sums over the block. scratch: 32 * N doubles. */
template <int N> __device__ inline void block_sum(double (&v)[N], double *scratch)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;
    for (int k = 0; k < N; k++) {
        const double total = warp_sum(v[k]);
        if (lane == 0)
            scratch[k * 32 + warp] = total;
    }
    __syncthreads();
    for (int k = 0; k < N; k++)
        v[k] = warp_sum(lane < warps ? scratch[k * 32 + lane] : 0.0);
    __syncthreads();
}

/* The maximum over the block of numbers that are not negative. scratch: 32 doubles. */
__device__ inline double block_max(double v, double *scratch)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = (blockDim.x + 31) / 32;
    v = warp_max(v);
    if (lane == 0)
        scratch[warp] = v;
    __syncthreads();
    v = warp_max(lane < warps ? scratch[lane] : 0.0);
    __syncthreads();
    return v;
}

/* N sums over a cluster of at most 8 blocks of 512 threads; all threads get them. The two halves of
 * the scratch alternate, so that one barrier of the blocks is enough. */
enum { CLUSTER_WARPS = 16, CLUSTER_JOINED = 8 * CLUSTER_WARPS / 32 /* warps that add these */ };

template <int MOST> struct cluster_scratch {
    double partial[2][MOST][CLUSTER_WARPS]; /* of each warp */
    double joined[2][MOST][CLUSTER_JOINED];
};

template <int N, int MOST>
__device__ inline void cluster_sum(double (&v)[N], cluster_scratch<MOST> &scratch, int &side)
{
    enum { EACH = 8 * CLUSTER_WARPS }; /* threads for a sum */
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < N; k++) {
        const double total = warp_sum(v[k]);
        if (lane == 0)
            scratch.partial[side][k][warp] = total;
    }
    cluster.sync();
    for (int first = 0; first < N; first += CLUSTER_WARPS * 32 / EACH) {
        const int k = first + threadIdx.x / EACH, w = threadIdx.x % CLUSTER_WARPS;
        const int b = threadIdx.x / CLUSTER_WARPS % 8;
        double sum = 0;
        if (k < N && b < (int)cluster.num_blocks())
            sum = cluster.map_shared_rank(&scratch, b)->partial[side][k][w];
        sum = warp_sum(sum);
        if (lane == 0 && k < N)
            scratch.joined[side][k][warp % CLUSTER_JOINED] = sum;
    }
    __syncthreads();
    for (int k = 0; k < N; k++) {
        v[k] = 0;
        for (int j = 0; j < CLUSTER_JOINED; j++)
            v[k] += scratch.joined[side][k][j];
    }
    side = 1 - side;
}

template <int MOST>
__device__ inline double cluster_max(double v, cluster_scratch<MOST> &scratch, int &side)
{
    enum { EACH = 8 * CLUSTER_WARPS };
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    v = warp_max(v);
    if (threadIdx.x % 32 == 0)
        scratch.partial[side][0][threadIdx.x / 32] = v;
    cluster.sync();
    const int b = threadIdx.x / CLUSTER_WARPS % 8, w = threadIdx.x % CLUSTER_WARPS;
    v = cluster.map_shared_rank(&scratch, b < (int)cluster.num_blocks() ? b : 0)
            ->partial[side][0][w];
    v = warp_max(v);
    if (threadIdx.x % 32 == 0 && threadIdx.x < EACH)
        scratch.joined[side][0][threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch.joined[side][0][0];
    for (int j = 1; j < CLUSTER_JOINED; j++)
        v = fmax(v, scratch.joined[side][0][j]);
    side = 1 - side;
    return v;
}

/* A kernel may start while the last one on its stream still runs. Before it accesses memory that
 * the last one writes, it must call wait_for_last, which returns when the last one has ended and
 * allows the next one to start. */
__device__ inline void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ inline void wait_for_end_of_last()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ inline void wait_for_last()
{
    wait_for_end_of_last();
    let_next_begin();
}

/* Prefetches one cache line. */
__device__ inline void prefetch(const void *line)
{
    asm volatile("prefetch.global.L1 [%0];" ::"l"(line));
}

template <typename... Wanted, typename... Given>
cudaError_t launch_next(void (*kernel)(Wanted...), dim3 blocks, dim3 threads, size_t shared,
                        cudaStream_t stream, Given... given)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, Wanted(given)...);
}

/* Launch parameters of blocks in clusters of `cluster`. */
struct cluster_launch {
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config;

    cluster_launch(unsigned blocks, unsigned cluster, unsigned threads, size_t shared,
                   cudaStream_t stream)
        : attributes(), config()
    {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim.x = cluster;
        attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(threads);
        config.dynamicSmemBytes = shared;
        config.stream = stream;
        config.attrs = attributes;
        config.numAttrs = 1;
    }

    /* For kernels that call wait_for_last. */
    void as_next()
    {
        config.numAttrs = 2;
    }
};

/* Launches a kernel that calls wait_for_last. */
template <typename... Wanted, typename... Given>
cudaError_t launch_cluster(void (*kernel)(Wanted...), unsigned blocks, unsigned cluster,
                           unsigned threads, size_t shared, cudaStream_t stream, Given... given)
{
    cluster_launch how(blocks, cluster, threads, shared, stream);
    how.as_next();
    return cudaLaunchKernelEx(&how.config, kernel, Wanted(given)...);
}
