/* Sorting of magnitudes on the GPU, to find the samples to trust and the features to keep. One
 * team of blocks performs all steps with barriers in between, which is faster than a kernel per
 * step. Equals keep the order of their places, as on the CPU. */
#pragma once

#include "linalg/cuda/buffers.cuh"

#include <math_constants.h>

/* A team has 16 blocks, or 8 if the GPU does not support 16. Few threads are faster, because the
 * warps of a block share a processor. */
enum { ORDER_BLOCKS = 16, ORDER_BLOCKS_LEAST = 8, ORDER_THREADS = 1024, ORDER_THREADS_LEAST = 512 };

/* If each thread can hold its keys in registers (at most four), keys are put into buckets by their
 * leading bits, and the position within a bucket is found by comparison with all keys of the
 * bucket. Otherwise CUB sorts the keys before. Most magnitudes are between 2^-8 and 2^4 in the
 * units of the fit: each power of two has 512 buckets in this range, and 32 from 2^-44 to 2^32.
 * Other keys share the first or the last bucket. Large buckets are slow, but correct. */
enum { ORDER_EACH = 4, ORDER_BUCKETS = 8192 };
enum { BUCKETS_BELOW = 36 * 32, BUCKETS_BETWEEN = 12 * 512 };

struct gpu_order {
    gpu_buffers buffers;
    double *sorted;    /* magnitudes, ascending */
    int32_t *position; /* position of each key in `sorted`, if other kernels need it */
    double *loose;     /* keys by bucket, not sorted within buckets */
    int32_t *loose_place;
    uint32_t *sizes; /* of the buckets; zero between sorts */
    double *keys;    /* for CUB, as the members below */
    int32_t *places;
    void *temporary;
    size_t temporary_bytes;
    unsigned blocks;  /* of the team */
    double *exchange; /* of the team, if the GPU has no clusters; otherwise NULL */
};

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, int has_clusters, roofs_error *err);
void gpu_order_destroy(gpu_order *o);

/* Sorts keys |values[i]|, times 2^-exponent[i] unless `exponent` is NULL, if they are more than
 * threads can hold; otherwise does nothing. reversed: key i is that of value n - 1 - i. */
roofs_status gpu_order_sort_many(const gpu_order *o, const double *values, const int *exponent,
                                 int64_t n, int reversed, cudaStream_t stream, roofs_error *err);

/* stay[] = places of the `most` largest of |values[0..count)|, leave[] = places of the others, both
 * ascending. Of two equals the later one leaves. */
roofs_status gpu_order_divide(const gpu_order *o, const double *values, int64_t count, int64_t most,
                              int32_t *stay, int32_t *leave, cudaStream_t stream, roofs_error *err);

/* ---- kernels of one team ------------------------------------------------------------------ */

/* Kernels whose threads hold one key, up to ORDER_EACH keys, or none (CUB has sorted them). */
enum { HOLD_ONE, HOLD_SOME, HOLD_NONE, HOLD_KINDS };

template <typename Task> struct order_kernels {
    void (*of[HOLD_KINDS])(Task);
};

/* The number of keys per block. */
static inline int64_t order_share_of(const gpu_order *o, int64_t n)
{
    return ceil_div(n, 32 * (int64_t)o->blocks) * 32;
}

static inline int order_hold(const gpu_order *o, int64_t n)
{
    const int64_t share = order_share_of(o, n);
    return share <= ORDER_THREADS                         ? HOLD_ONE
           : share <= (int64_t)ORDER_THREADS * ORDER_EACH ? HOLD_SOME
                                                          : HOLD_NONE;
}

/* Must be called once before launch_order: sets the number of blocks that the GPU supports. */
template <typename Task>
roofs_status order_configure(gpu_order *o, const order_kernels<Task> &kernels, roofs_error *err)
{
    block_launch most(ORDER_BLOCKS, ORDER_THREADS, 0, nullptr);
    most.in_clusters(ORDER_BLOCKS);
    for (int k = 0; k < HOLD_KINDS && !o->exchange; k++) {
        int clusters = 0;
        CUDA_TRY(
            cudaFuncSetAttribute(kernels.of[k], cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
        if (cudaOccupancyMaxActiveClusters(&clusters, kernels.of[k], &most.config) != cudaSuccess)
            cudaGetLastError(); /* none of that size */
        if (clusters == 0)
            o->blocks = ORDER_BLOCKS_LEAST;
    }
    return ROOFS_OK;
}

/* Launches the kernel for n keys, with at least `threads` threads per block. The kernel must begin
 * with order_begin. */
template <typename Task>
cudaError_t launch_order(const gpu_order *o, const order_kernels<Task> &kernels, int64_t n,
                         int64_t threads, cudaStream_t stream, Task task)
{
    const int64_t share = order_share_of(o, n);
    threads = share > threads ? share : threads;
    threads = threads < ORDER_THREADS ? threads : ORDER_THREADS;
    return launch_team(o->exchange, kernels.of[order_hold(o, n)], o->blocks, (unsigned)threads, 0,
                       stream, task);
}

/* ---- inside such a kernel -------------------------------------------------------------- */

enum { STARTS = ORDER_BUCKETS + ORDER_BUCKETS / 32 + 1, SETTLE_AT_ONCE = 8 };
enum { NEAR_MOST = 5120, FEW_SHARE = 8, FEW_MOST = ORDER_BLOCKS * ORDER_THREADS / FEW_SHARE };

struct order_shared {
    union {
        uint32_t starts[STARTS]; /* of the buckets, that of bucket b at start_at(b) */
        double near[NEAR_MOST];  /* the first of ascending numbers */
        double few[FEW_MOST];    /* keys */
    };
    double own[32 * 2];                /* scratch of sums over the block */
    unsigned most[32];                 /* maximum of each warp */
    double exchanged[2][ORDER_BLOCKS]; /* the two are used alternately; other blocks write them */
    double *exchange;                  /* the same on the GPU, if there are no clusters */
};

/* Consecutive indices. */
struct index_range {
    int begin, end;
};

/* The indices of this block: a multiple of 32. The number of blocks is a power of two. */
__device__ inline index_range order_share(int n)
{
    const int bits = 5 + 31 - __clz((int)gridDim.x);
    const int share = (n + (1 << bits) - 1) >> bits << 5, begin = blockIdx.x * share;
    return {min(begin, n), min(begin + share, n)};
}

/* The indices of this thread. */
__device__ inline index_range order_thread_range(index_range block)
{
    const int width = block.end - block.begin, threads = blockDim.x;
    const int each = width <= threads ? 1 : (width + threads - 1) / threads;
    const int begin = block.begin + threadIdx.x * each;
    return {min(begin, block.end), min(begin + each, block.end)};
}

/* Calls act(i) for the indices of this thread, blockDim.x apart. */
template <typename Act> __device__ inline void order_own(int n, Act act)
{
    const index_range block = order_share(n);
    for (int i = block.begin + threadIdx.x; i < block.end; i += blockDim.x)
        act(i);
}

/* The same for at most EACH indices whose keys are in registers: act(e, i). */
template <int EACH, typename Act> __device__ inline void order_held(int n, Act act)
{
    const index_range block = order_share(n);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = block.begin + threadIdx.x + e * blockDim.x;
        if (i < block.end)
            act(e, i);
    }
}

/* A barrier of all blocks. Afterwards each can read what the others wrote; with __ldcg if it has
 * read the same memory before. */
__device__ inline void order_barrier()
{
    team_barrier();
}

/* Returns when all blocks run and the last kernel has ended. */
__device__ inline void order_begin(const gpu_order &o, order_shared &shared)
{
    shared.exchange = o.exchange;
    order_barrier();
    wait_for_last();
}

/* Exchanges a number of each block: lane k of every warp gets that of block k. Uses
 * `mine` of the first gridDim.x threads. */
__device__ inline double order_exchange(double mine, order_shared &shared, int &side)
{
    const unsigned lane = threadIdx.x % 32;
    double theirs = 0,
           *numbers = HAS_CLUSTERS ? shared.exchanged[side] : shared.exchange + side * ORDER_BLOCKS;
    if (HAS_CLUSTERS ? threadIdx.x < gridDim.x : threadIdx.x == 0)
        *cluster_shared(&numbers[blockIdx.x], threadIdx.x) = mine;
    order_barrier();
    if (lane < gridDim.x)
        theirs = HAS_CLUSTERS ? numbers[lane] : __ldcg(&numbers[lane]);
    side = 1 - side;
    return theirs;
}

/* The sum over all blocks, in a fixed order. */
__device__ inline double order_sum(double mine, order_shared &shared, int &side)
{
    return warp_sum(order_exchange(mine, shared, side));
}

/* The maximum over all threads of all blocks. */
__device__ inline unsigned order_max(unsigned mine, order_shared &shared, int &side)
{
    const unsigned lane = threadIdx.x % 32;
    mine = __reduce_max_sync(~0u, mine);
    if (lane == 0)
        shared.most[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = __reduce_max_sync(~0u, lane < blockDim.x / 32 ? shared.most[lane] : 0);
    return __reduce_max_sync(~0u, (unsigned)order_exchange(mine, shared, side));
}

__device__ inline uint32_t warp_sum(uint32_t v)
{
    return __reduce_add_sync(~0u, v);
}

/* The sum over the threads before this one in the block, plus the `extra` of each warp. own:
 * scratch like shared.own. */
template <typename T> __device__ inline T block_before(T mine, T extra, double *own)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    T *ends = (T *)own, upto = mine;
    for (int step = 1; step < 32; step *= 2) {
        const T before = __shfl_up_sync(~0u, upto, step);
        upto += lane >= step ? before : 0;
    }
    if (lane == 31) {
        ends[warp] = upto;
        ends[32 + warp] = extra;
    }
    const T before = __shfl_up_sync(~0u, upto, 1);
    __syncthreads();
    T offset = lane < warp ? ends[lane] : 0;
    offset += lane < blockDim.x / 32 ? ends[32 + lane] : 0;
    return warp_sum(offset) + (lane > 0 ? before : 0);
}

/* The sum over all threads before this one, of all blocks. */
template <typename T> __device__ inline T order_before(T mine, order_shared &shared, int &side)
{
    __shared__ T total;
    const T before = block_before<T>(mine, 0, shared.own);
    if (threadIdx.x == blockDim.x - 1)
        total = before + mine;
    __syncthreads();
    const double theirs = order_exchange((double)total, shared, side);
    return before + (T)warp_sum(threadIdx.x % 32 < blockIdx.x ? theirs : 0);
}

/* ---- positions ----------------------------------------------------------------------------- */

__device__ inline int bucket_of(double size)
{
    const uint64_t key = (uint64_t)__double_as_longlong(size);
    const int fine = (int)(key >> 43) - ((1023 - 8) << 9);   /* 11 bits of exponent, 9 more */
    const int rough = (int)(key >> 47) - ((1023 - 44) << 5); /* 5 more */
    const int outside = fine < 0 ? rough : BUCKETS_BETWEEN + rough - 12 * 32;
    const bool between = fine >= 0 && fine < BUCKETS_BETWEEN;
    return between ? BUCKETS_BELOW + fine : min(max(outside, 0), ORDER_BUCKETS - 1);
}

/* Avoids conflicts of shared memory banks. */
__device__ inline int start_at(int bucket)
{
    return bucket + bucket / 32;
}

/* Computes the begins of the buckets, in every block. */
__device__ inline void find_starts(const gpu_order &o, order_shared &shared)
{
    enum { EACH = ORDER_BUCKETS / ORDER_THREADS_LEAST };
    const int first = threadIdx.x * EACH;
    uint32_t size[EACH] = {}, mine = 0;
    if (first < ORDER_BUCKETS) {
#pragma unroll
        for (int k = 0; k < EACH; k += 4)
            *(uint4 *)(size + k) = __ldcg((const uint4 *)(o.sizes + first + k));
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        mine += size[k];
    uint32_t start = block_before(mine, 0u, shared.own), *out = &shared.starts[start_at(first)];
    if (first < ORDER_BUCKETS) {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            out[k] = start;
            start += size[k];
        }
    }
    if (first + EACH == ORDER_BUCKETS)
        shared.starts[start_at(ORDER_BUCKETS)] = start;
    __syncthreads();
}

/* The number of equal keys with a lower place. */
__device__ __noinline__ inline uint32_t equals_before(const double *keys, const int32_t *places,
                                                      int count, double mine, int place)
{
    uint32_t before = 0;
#pragma unroll 1
    for (int k = 0; k < count; k++)
        before += __ldcg(&keys[k]) == mine && __ldcg(&places[k]) < place;
    return before;
}

/* The position of a key: after the smaller keys of its bucket and the equal ones with a lower
 * place. */
__device__ inline uint32_t final_position(const gpu_order &o, double mine, int place,
                                          const order_shared &shared)
{
    const int bucket = bucket_of(mine);
    const uint32_t begin = shared.starts[start_at(bucket)],
                   end = shared.starts[start_at(bucket + 1)];
    uint32_t position = begin, equals = 0;
#pragma unroll 1
    for (uint32_t k = begin; k < end; k += SETTLE_AT_ONCE) {
        double other[SETTLE_AT_ONCE];
#pragma unroll
        for (int q = 0; q < SETTLE_AT_ONCE; q++)
            other[q] = k + q < end ? __ldcg(&o.loose[k + q]) : CUDART_NAN;
#pragma unroll
        for (int q = 0; q < SETTLE_AT_ONCE; q++) {
            position += other[q] < mine;
            equals += other[q] == mine;
        }
    }
    if (equals > 1) /* rare */
        position += equals_before(o.loose + begin, o.loose_place + begin, end - begin, mine, place);
    return position;
}

/* Sets o.position of a few keys by comparing each with all others; FEW_SHARE threads share a key.
 * Needs no barrier before, and key_of(k) for all k in all blocks. */
template <typename Key>
__device__ inline void position_few(const gpu_order &o, int n, order_shared &shared, Key key_of)
{
    const int share = threadIdx.x % FEW_SHARE;
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / FEW_SHARE;
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        shared.few[k] = key_of(k);
    __syncthreads();
    if (i >= n / 32 * 32 + 32) /* only whole warps return */
        return;
    const double mine = shared.few[i < n ? i : 0];
    int position = 0;
#pragma unroll 4
    for (int k = share; k < n; k += FEW_SHARE)
        position += shared.few[k] < mine || (shared.few[k] == mine && k < i);
    for (int step = FEW_SHARE / 2; step > 0; step /= 2)
        position += __shfl_xor_sync(~0u, position, step);
    if (share == 0 && i < n)
        o.position[i] = position;
}

/* Sets o.sorted of n keys. Each thread gives its own keys, key_of(e, i), and gets their positions,
 * take(e, i, position). */
template <int EACH, typename Key, typename Take>
__device__ inline void order_positions(const gpu_order &o, int n, order_shared &shared, Key key_of,
                                       Take take)
{
    uint32_t slot[EACH]; /* in the bucket */
    order_held<EACH>(
        n, [&](int e, int i) { slot[e] = atomicAdd(&o.sizes[bucket_of(key_of(e, i))], 1); });
    order_barrier();
    find_starts(o, shared);
    order_held<EACH>(n, [&](int e, int i) {
        const double key = key_of(e, i);
        const uint32_t at = shared.starts[start_at(bucket_of(key))] + slot[e];
        o.loose[at] = key;
        o.loose_place[at] = i;
    });
    order_barrier();
    order_own(ORDER_BUCKETS, [&](int b) { o.sizes[b] = 0; });
    order_held<EACH>(n, [&](int e, int i) {
        const double key = key_of(e, i);
        const uint32_t position = final_position(o, key, i, shared);
        o.sorted[position] = key;
        take(e, i, position);
    });
    order_barrier();
}

/* Calls emit(j, stays, index in its list) for every j: the `leaving` smallest keys leave, the later
 * one first among equals. key_of(j) must work in all blocks. EACH = 0: o.position is already set.
 */
template <int EACH, typename Key, typename Emit>
__device__ inline void order_divide(const gpu_order &o, int count, int leaving,
                                    order_shared &shared, int &side, Key key_of, Emit emit)
{
    const index_range own = order_thread_range(order_share(count));
    auto reversed = [&](int i) { return key_of(count - 1 - i); };
    if (count <= (int)(gridDim.x * blockDim.x / FEW_SHARE)) {
        position_few(o, count, shared, reversed);
        order_barrier();
    } else if constexpr (EACH > 0) {
        order_positions<EACH>(
            o, count, shared, [&](int, int i) { return reversed(i); },
            [&](int, int i, uint32_t position) { o.position[i] = (int32_t)position; });
    }
    uint32_t staying = 0;
    for (int j = own.begin; j < own.end; j++)
        staying += __ldcg(&o.position[count - 1 - j]) >= leaving;
    int before = (int)order_before(staying, shared, side);
    for (int j = own.begin; j < own.end; j++) {
        const int stays = __ldcg(&o.position[count - 1 - j]) >= leaving;
        emit(j, stays, stays ? before : j - before);
        before += stays;
    }
}
