/* Order statistics of magnitudes on the GPU: which samples to trust and which features to keep. One
 * cluster of blocks of threads does one step after the other and meets in between, which takes less
 * time than launching kernels for them. Equals keep the order of their places, as on the CPU. */
#pragma once

#include "linalg/cuda/rooms.cuh"

/* 16 blocks are more than every GPU promises to have in one cluster: 8, where it has not. */
enum { ORDER_BLOCKS = 16, ORDER_BLOCKS_LEAST = 8, ORDER_THREADS = 1024 };

/* Keys that the threads have in registers, four each, are put into buckets by their leading bits,
 * and the rank within a bucket is found by comparing with all in it; more are sorted by CUB
 * beforehand. Most magnitudes are between 2^-8 and 2^4 in the units the fit is done in: 512 buckets
 * for each power of two there, and 32 from 2^-44 to 2^32. Others share the first or the last one,
 * which is slow, not wrong. */
enum { ORDER_EACH = 4, ORDER_BUCKETS = 8192 };
enum { BUCKETS_BELOW = 36 * 32, BUCKETS_BETWEEN = 12 * 512 };

struct gpu_order {
    gpu_rooms rooms;
    uint64_t *sorted; /* bits of magnitudes, ascending */
    int32_t *rank;    /* of each key, where somebody else is to know */
    uint64_t *loose;  /* in buckets, not yet in order */
    int32_t *loose_place;
    uint32_t *sizes; /* of the buckets: zero between sorts */
    uint64_t *keys;  /* of CUB, as those below */
    int32_t *places;
    void *temporary;
    size_t temporary_bytes;
    unsigned blocks; /* of the cluster */
};

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, roofs_error *err);
void gpu_order_destroy(gpu_order *o);

/* Are they to be sorted beforehand? */
static inline int order_is_many(const gpu_order *o, int64_t n)
{
    return n > (int64_t)o->blocks * ORDER_THREADS * ORDER_EACH;
}

/* Sorts more keys than the threads can hold: |values[i]|, times 2^-exponent[i] where exponents are
 * given. reversed: key i is that of value n - 1 - i. Does nothing for others. */
roofs_status gpu_order_sort_many(const gpu_order *o, const double *values, const int *exponent,
                                 int64_t n, int reversed, cudaStream_t stream, roofs_error *err);

/* stay[] = places of the `most` largest of |values[0..count)|, leave[] = those of the others, both
 * ascending; the later of two equals leaves. */
roofs_status gpu_order_part(const gpu_order *o, const double *values, int64_t count, int64_t most,
                            int32_t *stay, int32_t *leave, cudaStream_t stream, roofs_error *err);

/* To be called once for a kernel before launch_order: how many blocks may its cluster have? */
template <typename Task>
roofs_status order_admit(gpu_order *o, void (*kernel)(Task), roofs_error *err)
{
    int clusters = 0;
    const cluster_launch most(ORDER_BLOCKS, ORDER_BLOCKS, ORDER_THREADS, 0, nullptr);
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CUDA_TRY(cudaOccupancyMaxActiveClusters(&clusters, kernel, &most.config));
    o->blocks = clusters > 0 ? ORDER_BLOCKS : ORDER_BLOCKS_LEAST;
    return ROOFS_OK;
}

/* Launches a kernel that is one cluster and begins with order_begin. */
template <typename Task>
cudaError_t launch_order(const gpu_order *o, void (*kernel)(Task), cudaStream_t stream, Task task)
{
    cluster_launch how(o->blocks, o->blocks, ORDER_THREADS, 0, stream);
    how.as_next();
    return cudaLaunchKernelEx(&how.config, kernel, task);
}

/* ---- inside such a kernel -------------------------------------------------------------- */

enum { STARTS = ORDER_BUCKETS + ORDER_BUCKETS / 32 + 1, SETTLE_AT_ONCE = 8 };
enum { NEAR_MOST = 5120, FEW_SHARE = 8, FEW_MOST = ORDER_BLOCKS * ORDER_THREADS / FEW_SHARE };

struct order_room {
    union {
        uint32_t starts[STARTS]; /* of the buckets, that of bucket b at start_at(b) */
        double near[NEAR_MOST];  /* numbers that ascend: the first ones */
        uint64_t few[FEW_MOST];  /* keys */
    };
    double own[32 * 2];              /* of sums over the block */
    double brought[2][ORDER_BLOCKS]; /* by the blocks, by turns; they write it */
};

__device__ inline int64_t order_thread()
{
    return blockIdx.x * (int64_t)ORDER_THREADS + threadIdx.x;
}

__device__ inline int64_t order_threads()
{
    return gridDim.x * (int64_t)ORDER_THREADS;
}

/* Every thread has its own places. */
#define ORDER_OWN(i, n) for (int64_t i = order_thread(); i < (n); i += order_threads())

/* The same, where they are few enough to be held in registers: act(e, i) for the e-th of them. */
template <typename Act> __device__ inline void order_held(int64_t n, Act act)
{
#pragma unroll
    for (int e = 0; e < ORDER_EACH; e++) {
        const int64_t i = order_thread() + e * order_threads();
        if (i < n)
            act(e, i);
    }
}

__device__ inline bool order_holds(int64_t n)
{
    return n <= order_threads() * ORDER_EACH;
}

/* Or a stretch of neighbours; the blocks have equal shares. */
struct stretch {
    int64_t begin, end;
};

__device__ inline stretch order_share(int64_t n)
{
    const int64_t share = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * share;
    return {begin < n ? begin : n, begin + share < n ? begin + share : n};
}

__device__ inline stretch order_stretch(int64_t n)
{
    const stretch block = order_share(n);
    const int64_t each = (block.end - block.begin + ORDER_THREADS - 1) / ORDER_THREADS;
    const int64_t begin = block.begin + threadIdx.x * each;
    return {begin < block.end ? begin : block.end,
            begin + each < block.end ? begin + each : block.end};
}

/* All blocks have come, and what they wrote can be read (with __ldcg, where it was read before). */
__device__ inline void order_meet()
{
    cooperative_groups::this_cluster().sync();
}

/* All blocks are there, and the last kernel has ended. */
__device__ inline void order_begin()
{
    order_meet();
    wait_for_last();
}

/* What the blocks bring, in all threads of a warp: thread k has that of block k. `mine` is known to
 * the first threads at least. */
__device__ inline double order_exchange(double mine, order_room &room, int &turn)
{
    double *here = &room.brought[turn][blockIdx.x];
    if (threadIdx.x < gridDim.x)
        *cooperative_groups::this_cluster().map_shared_rank(here, threadIdx.x) = mine;
    order_meet();
    const unsigned lane = threadIdx.x % 32;
    const double theirs = lane < gridDim.x ? room.brought[turn][lane] : 0;
    turn = 1 - turn;
    return theirs;
}

/* The sum of what all blocks bring, in a fixed order. */
__device__ inline double order_sum(double mine, order_room &room, int &turn)
{
    return warp_sum(order_exchange(mine, room, turn));
}

/* The largest of all numbers, which are whole. */
__device__ inline unsigned order_max(unsigned mine, order_room &room, int &turn)
{
    unsigned *most = (unsigned *)room.own;
    mine = __reduce_max_sync(~0u, mine);
    if (threadIdx.x % 32 == 0)
        most[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = __reduce_max_sync(~0u, most[threadIdx.x % 32]);
    return __reduce_max_sync(~0u, (unsigned)order_exchange(mine, room, turn));
}

/* What the threads before this one in the block have, and the `extra` of all. own: as room.own. */
template <typename T>
__device__ inline T block_before(T mine, T extra, double *own, T *total = nullptr)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    T *ends = (T *)own, *extras = ends + 32, upto = mine;
    for (int step = 1; step < 32; step *= 2) {
        const T before = __shfl_up_sync(~0u, upto, step);
        upto += lane >= step ? before : 0;
        extra += __shfl_xor_sync(~0u, extra, step);
    }
    if (lane == 31) {
        ends[warp] = upto;
        extras[warp] = extra;
    }
    __syncthreads();
    T offset = (lane < warp ? ends[lane] : 0) + extras[lane], all = ends[lane];
    for (int step = 16; step > 0; step /= 2) {
        offset += __shfl_xor_sync(~0u, offset, step);
        all += __shfl_xor_sync(~0u, all, step);
    }
    if (total)
        *total = all;
    const T before = __shfl_up_sync(~0u, upto, 1);
    __syncthreads(); /* the room may be used again */
    return offset + (lane > 0 ? before : 0);
}

/* What all threads before this one have, of all blocks. */
template <typename T> __device__ inline T order_before(T mine, order_room &room, int &turn)
{
    T total;
    const T before = block_before<T>(mine, 0, room.own, &total);
    const double theirs = order_exchange((double)total, room, turn);
    return before + (T)warp_sum(threadIdx.x % 32 < blockIdx.x ? theirs : 0);
}

/* ---- ranks --------------------------------------------------------------------------------- */

__device__ inline uint64_t order_key(double size)
{
    return (uint64_t)__double_as_longlong(fabs(size));
}

__device__ inline double order_value(uint64_t key)
{
    return __longlong_as_double((long long)key);
}

__device__ inline int bucket_of(uint64_t key)
{
    const int fine = (int)(key >> 43) - ((1023 - 8) << 9);   /* 11 bits of exponent, 9 more */
    const int rough = (int)(key >> 47) - ((1023 - 44) << 5); /* 5 more */
    if (fine < 0)
        return rough < 0 ? 0 : rough;
    if (fine < BUCKETS_BETWEEN)
        return BUCKETS_BELOW + fine;
    const int above = BUCKETS_BETWEEN + rough - 12 * 32;
    return above < ORDER_BUCKETS ? above : ORDER_BUCKETS - 1;
}

/* So that neighbours of a thread and of its neighbours lie in different banks. */
__device__ inline int start_at(int bucket)
{
    return bucket + bucket / 32;
}

/* Every block finds out for itself where the buckets begin. */
__device__ inline void find_starts(const gpu_order &o, order_room &room)
{
    enum { EACH = ORDER_BUCKETS / ORDER_THREADS };
    const int first = threadIdx.x * EACH;
    const uint4 low = __ldcg((const uint4 *)(o.sizes + first));
    const uint4 high = __ldcg((const uint4 *)(o.sizes + first) + 1);
    const uint32_t size[EACH] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    uint32_t mine = 0;
    for (int k = 0; k < EACH; k++)
        mine += size[k];
    uint32_t start = block_before(mine, 0u, room.own);
    for (int k = 0; k < EACH; k++) {
        room.starts[start_at(first + k)] = start;
        start += size[k];
    }
    if (threadIdx.x == ORDER_THREADS - 1)
        room.starts[start_at(ORDER_BUCKETS)] = start;
    __syncthreads();
}

/* Within a bucket the smaller comes first, and of equals the one that stood first. */
__device__ inline uint32_t settled_rank(const gpu_order &o, uint64_t mine, int32_t stood,
                                        const order_room &room)
{
    const int bucket = bucket_of(mine);
    const uint32_t begin = room.starts[start_at(bucket)], end = room.starts[start_at(bucket + 1)];
    uint32_t rank = begin, equals = 0;
    for (uint32_t k = begin; k < end; k += SETTLE_AT_ONCE) {
        uint64_t other[SETTLE_AT_ONCE];
#pragma unroll
        for (int q = 0; q < SETTLE_AT_ONCE; q++)
            other[q] = k + q < end ? __ldcg(&o.loose[k + q]) : ~0ull;
#pragma unroll
        for (int q = 0; q < SETTLE_AT_ONCE; q++) {
            rank += other[q] < mine;
            equals += other[q] == mine;
        }
    }
    if (equals > 1) /* hardly ever: there are others like it */
        for (uint32_t k = begin; k < end; k++)
            rank += __ldcg(&o.loose[k]) == mine && __ldcg(&o.loose_place[k]) < stood;
    return rank;
}

/* o.rank of a few keys, by comparing each with all: some threads share a key. No meeting is needed
 * before, and what key_of needs must be known to all. */
template <typename Key>
__device__ inline void rank_few(const gpu_order &o, int n, order_room &room, Key key_of)
{
    const int share = threadIdx.x % FEW_SHARE, i = (int)order_thread() / FEW_SHARE;
    for (int k = threadIdx.x; k < n; k += ORDER_THREADS)
        room.few[k] = key_of(k);
    __syncthreads();
    if (i >= n / 32 * 32 + 32) /* whole warps go */
        return;
    const uint64_t mine = room.few[i < n ? i : 0];
    int rank = 0;
#pragma unroll 4
    for (int k = share; k < n; k += FEW_SHARE)
        rank += room.few[k] < mine || (room.few[k] == mine && k < i);
    for (int step = FEW_SHARE / 2; step > 0; step /= 2)
        rank += __shfl_xor_sync(0xffffffffu, rank, step);
    if (share == 0 && i < n)
        o.rank[i] = rank;
}

/* o.sorted of n keys that are held, of which each thread knows its own: key_of(e, i), and is told
 * its rank: take(e, i, rank). */
template <typename Key, typename Take>
__device__ inline void order_rank(const gpu_order &o, int64_t n, order_room &room, Key key_of,
                                  Take take)
{
    uint32_t slot[ORDER_EACH]; /* in the bucket */
    order_held(
        n, [&](int e, int64_t i) { slot[e] = atomicAdd(&o.sizes[bucket_of(key_of(e, i))], 1); });
    order_meet();
    find_starts(o, room);
    order_held(n, [&](int e, int64_t i) {
        const uint64_t key = key_of(e, i);
        const uint32_t at = room.starts[start_at(bucket_of(key))] + slot[e];
        o.loose[at] = key;
        o.loose_place[at] = (int32_t)i;
    });
    order_meet();
    ORDER_OWN(b, ORDER_BUCKETS)
    o.sizes[b] = 0;
    order_held(n, [&](int e, int64_t i) {
        const uint64_t key = key_of(e, i);
        const uint32_t rank = settled_rank(o, key, (int32_t)i, room);
        o.sorted[rank] = key;
        take(e, i, rank);
    });
    order_meet();
}

/* emit(j, stays, place in its list) for every j: those with the `leaving` smallest keys leave, the
 * later of two equals first. key_of(j) must be known to all. */
template <typename Key, typename Emit>
__device__ inline void order_part(const gpu_order &o, int64_t count, int64_t leaving,
                                  order_room &room, int &turn, Key key_of, Emit emit)
{
    const stretch own = order_stretch(count);
    auto reversed = [&](int64_t i) { return key_of(count - 1 - i); };
    if (count <= order_threads() / FEW_SHARE) {
        rank_few(o, (int)count, room, reversed);
        order_meet();
    } else if (order_holds(count)) {
        order_rank(
            o, count, room, [&](int, int64_t i) { return reversed(i); },
            [&](int, int64_t i, uint32_t rank) { o.rank[i] = (int32_t)rank; });
    }
    uint32_t staying = 0;
    for (int64_t j = own.begin; j < own.end; j++)
        staying += __ldcg(&o.rank[count - 1 - j]) >= leaving;
    int64_t before = order_before(staying, room, turn);
    for (int64_t j = own.begin; j < own.end; j++) {
        const int stays = __ldcg(&o.rank[count - 1 - j]) >= leaving;
        emit(j, stays, stays ? before : j - before);
        before += stays;
    }
}
