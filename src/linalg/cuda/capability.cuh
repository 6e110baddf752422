/* Compute capability 9.0 has clusters: blocks that run together, wait for each other and read each
 * other's shared memory. It also has bulk copies, and kernels that start before the last one ends.
 * Code for earlier GPUs uses cooperative launches, and memory of the GPU instead. */
#pragma once

#include <cooperative_groups.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900

static constexpr bool HAS_CLUSTERS = false;

__device__ inline unsigned cluster_blocks()
{
    return 1;
}

__device__ inline unsigned cluster_rank()
{
    return 0;
}

__device__ inline void cluster_barrier()
{
    __syncthreads();
}

/* `shared` of block `block` of the cluster. */
template <typename T> __device__ inline T *cluster_shared(T *shared, unsigned)
{
    return shared;
}

#else

static constexpr bool HAS_CLUSTERS = true;

__device__ inline unsigned cluster_blocks()
{
    return cooperative_groups::this_cluster().num_blocks();
}

__device__ inline unsigned cluster_rank()
{
    return cooperative_groups::this_cluster().block_rank();
}

__device__ inline void cluster_barrier()
{
    cooperative_groups::this_cluster().sync();
}

template <typename T> __device__ inline T *cluster_shared(T *shared, unsigned block)
{
    return cooperative_groups::this_cluster().map_shared_rank(shared, block);
}

#endif

/* A barrier of all blocks of a kernel that launch_team has started. */
__device__ inline void team_barrier()
{
    if constexpr (HAS_CLUSTERS)
        cluster_barrier();
    else
        cooperative_groups::this_grid().sync();
}
