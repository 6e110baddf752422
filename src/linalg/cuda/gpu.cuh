/* For all kernels of the CUDA plug-in: errors as status, and sums in a fixed order, so that the
 * bits are the same in every fit. */
#pragma once

extern "C" {
#include "linalg/columns.h"
}

#include "linalg/cuda/capability.cuh"

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

/* N sums over a team of at most 8 blocks of 512 threads; all threads get them. A team is a cluster,
 * or without clusters a kernel of launch_team that sets `exchange`, or else a block. The two halves
 * of the scratch alternate, so that one barrier of the blocks is enough. */
enum { TEAM_MOST = 8, TEAM_WARPS = 16, TEAM_JOINED = TEAM_MOST * TEAM_WARPS / 32 };

template <int MOST> struct team_scratch {
    double partial[2][MOST][TEAM_WARPS]; /* of each warp */
    double joined[2][MOST][TEAM_JOINED];
    double *exchange; /* team_exchange(MOST) numbers on the GPU if there are no clusters, or NULL */
};

constexpr int64_t team_exchange(int most)
{
    return 2 * TEAM_MOST * most * TEAM_WARPS;
}

template <int MOST> __device__ inline unsigned team_blocks(const team_scratch<MOST> &scratch)
{
    return HAS_CLUSTERS ? cluster_blocks() : scratch.exchange ? gridDim.x : 1;
}

/* The partial sum of a warp of a block, if there are no clusters. */
template <int MOST>
__device__ inline double *team_slot(team_scratch<MOST> &scratch, int side, unsigned block, int k,
                                    int warp)
{
    if (!scratch.exchange)
        return &scratch.partial[side][k][warp];
    return &scratch.exchange[((side * TEAM_MOST + block) * MOST + k) * TEAM_WARPS + warp];
}

template <int MOST>
__device__ inline void team_write(team_scratch<MOST> &scratch, int side, int k, double total)
{
    const int warp = threadIdx.x / 32;
    if constexpr (HAS_CLUSTERS)
        scratch.partial[side][k][warp] = total;
    else
        *team_slot(scratch, side, blockIdx.x, k, warp) = total;
}

template <int MOST>
__device__ inline double team_read(team_scratch<MOST> &scratch, int side, unsigned block, int k,
                                   int warp)
{
    if constexpr (HAS_CLUSTERS)
        return cluster_shared(&scratch, block)->partial[side][k][warp];
    else
        return scratch.exchange ? __ldcg(team_slot(scratch, side, block, k, warp))
                                : scratch.partial[side][k][warp];
}

template <int MOST> __device__ inline void team_wait(const team_scratch<MOST> &scratch)
{
    if (HAS_CLUSTERS || scratch.exchange)
        team_barrier();
    else
        __syncthreads();
}

template <int N, int MOST>
__device__ inline void team_sum(double (&v)[N], team_scratch<MOST> &scratch, int &side)
{
    enum { EACH = TEAM_MOST * TEAM_WARPS }; /* threads for a sum */
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int k = 0; k < N; k++) {
        const double total = warp_sum(v[k]);
        if (lane == 0)
            team_write(scratch, side, k, total);
    }
    team_wait(scratch);
    for (int first = 0; first < N; first += TEAM_WARPS * 32 / EACH) {
        const int k = first + threadIdx.x / EACH, w = threadIdx.x % TEAM_WARPS;
        const unsigned b = threadIdx.x / TEAM_WARPS % TEAM_MOST;
        double sum = 0;
        if (k < N && b < team_blocks(scratch))
            sum = team_read(scratch, side, b, k, w);
        sum = warp_sum(sum);
        if (lane == 0 && k < N)
            scratch.joined[side][k][warp % TEAM_JOINED] = sum;
    }
    __syncthreads();
    for (int k = 0; k < N; k++) {
        v[k] = 0;
        for (int j = 0; j < TEAM_JOINED; j++)
            v[k] += scratch.joined[side][k][j];
    }
    side = 1 - side;
}

template <int MOST>
__device__ inline double team_max(double v, team_scratch<MOST> &scratch, int &side)
{
    enum { EACH = TEAM_MOST * TEAM_WARPS };
    v = warp_max(v);
    if (threadIdx.x % 32 == 0)
        team_write(scratch, side, 0, v);
    team_wait(scratch);
    const unsigned b = threadIdx.x / TEAM_WARPS % TEAM_MOST;
    v = team_read(scratch, side, b < team_blocks(scratch) ? b : 0, 0, threadIdx.x % TEAM_WARPS);
    v = warp_max(v);
    if (threadIdx.x % 32 == 0 && threadIdx.x < EACH)
        scratch.joined[side][0][threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch.joined[side][0][0];
    for (int j = 1; j < TEAM_JOINED; j++)
        v = fmax(v, scratch.joined[side][0][j]);
    side = 1 - side;
    return v;
}

/* With clusters, a kernel may start while the last one on its stream still runs. Before it accesses
 * memory that the last one writes, it must call wait_for_last, which returns when the last one has
 * ended and allows the next one to start. */
__device__ inline void let_next_begin()
{
    if constexpr (HAS_CLUSTERS)
        asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ inline void wait_for_end_of_last()
{
    if constexpr (HAS_CLUSTERS)
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

/* Launch parameters. */
struct block_launch {
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config;

    block_launch(dim3 blocks, dim3 threads, size_t shared, cudaStream_t stream)
        : attributes(), config()
    {
        config.gridDim = blocks;
        config.blockDim = threads;
        config.dynamicSmemBytes = shared;
        config.stream = stream;
        config.attrs = attributes;
    }

    void in_clusters(int64_t blocks)
    {
        add(cudaLaunchAttributeClusterDimension).clusterDim = {(unsigned)blocks, 1, 1};
    }

    /* All blocks run at the same time; for GPUs without clusters. */
    void together()
    {
        add(cudaLaunchAttributeCooperative).cooperative = 1;
    }

    /* For kernels that call wait_for_last, on GPUs with clusters. */
    void as_next()
    {
        add(cudaLaunchAttributeProgrammaticStreamSerialization)
            .programmaticStreamSerializationAllowed = 1;
    }

  private:
    cudaLaunchAttributeValue &add(cudaLaunchAttributeID id)
    {
        cudaLaunchAttribute *attribute = &attributes[config.numAttrs++];
        attribute->id = id;
        return attribute->val;
    }
};

/* Launches a kernel that calls wait_for_last. has_clusters: of the device. */
template <typename... Wanted, typename... Given>
cudaError_t launch_next(int has_clusters, void (*kernel)(Wanted...), dim3 blocks, dim3 threads,
                        size_t shared, cudaStream_t stream, Given... given)
{
    block_launch how(blocks, threads, shared, stream);
    if (has_clusters)
        how.as_next();
    return cudaLaunchKernelEx(&how.config, kernel, Wanted(given)...);
}

/* The same for a kernel whose blocks are a team; `exchange` is NULL if the device has clusters. */
template <typename... Wanted, typename... Given>
cudaError_t launch_team(const double *exchange, void (*kernel)(Wanted...), unsigned blocks,
                        unsigned threads, size_t shared, cudaStream_t stream, Given... given)
{
    block_launch how(blocks, threads, shared, stream);
    if (exchange) {
        how.together();
    } else {
        how.in_clusters(blocks);
        how.as_next();
    }
    return cudaLaunchKernelEx(&how.config, kernel, Wanted(given)...);
}
