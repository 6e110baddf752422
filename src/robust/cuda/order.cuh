/* Order statistics of magnitudes on the GPU: which samples to trust and which features to keep. One
 * cluster of blocks of threads does one step after the other and meets in between, which takes less
 * time than launching kernels for them. Equals keep the order of their places, as on the CPU. */
#pragma once

#include "linalg/cuda/rooms.cuh"

#include <cub/block/block_scan.cuh>

/* 16 blocks are more than every GPU promises to have in one cluster: 8, where it has not. */
enum { ORDER_BLOCKS = 16, ORDER_BLOCKS_LEAST = 8, ORDER_THREADS = 1024 };

/* Up to 65536 keys are put into buckets by their leading bits, and the rank within a bucket is
 * found by comparing all in it; more are sorted by CUB beforehand. Most magnitudes are between 2^-8
 * and 2^4 in the units the fit is done in: 512 buckets for each power of two there, and 32 from
 * 2^-44 to 2^32. Others share the first or the last one, which is slow, not wrong. */
enum { ORDER_BUCKETS = 8192, ORDER_BUCKETS_MOST = 65536 };
enum { BUCKETS_BELOW = 36 * 32, BUCKETS_BETWEEN = 12 * 512 };

struct gpu_order {
    gpu_rooms rooms;
    uint64_t *sorted; /* bits of magnitudes, ascending */
    int32_t *rank;    /* of each key */
    uint64_t *loose;  /* in buckets, not yet in order */
    int32_t *loose_place;
    uint32_t *slot, *sizes; /* of a key in its bucket; of the buckets: zero between sorts */
    uint64_t *keys; /* of CUB, as those below */
    int32_t *places;
    void *temporary;
    size_t temporary_bytes;
    unsigned blocks; /* of the cluster */
};

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, roofs_error *err);
void gpu_order_destroy(gpu_order *o);

/* Sorts more keys than buckets are good for: |values[i]|, times 2^-exponent[i] where exponents are
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

/* Launches a kernel that is one cluster and begins with wait_for_last. */
template <typename Task>
cudaError_t launch_order(const gpu_order *o, void (*kernel)(Task), cudaStream_t stream, Task task)
{
    cluster_launch how(o->blocks, o->blocks, ORDER_THREADS, 0, stream);
    how.as_next();
    return cudaLaunchKernelEx(&how.config, kernel, task);
}

/* ---- inside such a kernel -------------------------------------------------------------- */

typedef cub::BlockScan<uint32_t, ORDER_THREADS, cub::BLOCK_SCAN_WARP_SCANS> count_scan;
typedef cub::BlockScan<double, ORDER_THREADS, cub::BLOCK_SCAN_WARP_SCANS> number_scan;

enum { STARTS = ORDER_BUCKETS + ORDER_BUCKETS / 32 + 1, SETTLE_AT_ONCE = 8 };
enum { NEAR_MOST = 5120, FEW_SHARE = 8, FEW_MOST = ORDER_BLOCKS * ORDER_THREADS / FEW_SHARE };

struct order_room {
    union {
        uint32_t starts[STARTS]; /* of the buckets, that of bucket b at start_at(b) */
        double near[NEAR_MOST];  /* numbers that ascend: the first ones */
        uint64_t few[FEW_MOST];  /* keys */
    };
    union {
        typename count_scan::TempStorage count;
        typename number_scan::TempStorage number;
    } scan;
    double own[33 * 2];  /* of block_sum */
    double brought[2];   /* by this block, by turns: read by the others */
    double joined;
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

/* Or a stretch of neighbours. */
struct stretch {
    int64_t begin, end;
};

__device__ inline stretch order_stretch(int64_t n)
{
    const int64_t each = (n + order_threads() - 1) / order_threads();
    const int64_t begin = order_thread() * each;
    return {begin < n ? begin : n, begin + each < n ? begin + each : n};
}

/* All blocks have come, and what they wrote can be read (with __ldcg, where it was read before). */
__device__ inline void order_meet()
{
    cooperative_groups::this_cluster().sync();
}

/* The last step: what a block has brought stays there until all have read it. */
__device__ inline void order_leave()
{
    order_meet();
}

/* What the blocks before `blocks` bring, made one by `join` in a fixed order; the others count as
 * `nothing`. `mine`: that of thread 0. */
template <typename Join>
__device__ inline double order_join(double mine, unsigned blocks, double nothing, order_room &room,
                                    int &turn, Join join)
{
    if (threadIdx.x == 0)
        room.brought[turn] = mine;
    order_meet();
    if (threadIdx.x < 32) {
        double all = nothing;
        if (threadIdx.x < blocks)
            all = *cooperative_groups::this_cluster().map_shared_rank(&room.brought[turn],
                                                                      threadIdx.x);
        all = join(all);
        if (threadIdx.x == 0)
            room.joined = all;
    }
    __syncthreads();
    turn = 1 - turn;
    return room.joined;
}

/* What all blocks bring, or those before this one. */
__device__ inline double order_sum(double mine, unsigned blocks, order_room &room, int &turn)
{
    return order_join(mine, blocks, 0, room, turn, [](double v) { return warp_sum(v); });
}

/* Of numbers that are not negative. */
__device__ inline double order_max(double mine, order_room &room, int &turn)
{
    return order_join(block_max(mine, room.own), gridDim.x, 0, room, turn,
                      [](double v) { return warp_max(v); });
}

/* What the threads before this one have. */
__device__ inline int64_t count_before(uint32_t mine, order_room &room, int &turn)
{
    uint32_t before, total;
    count_scan(room.scan.count).ExclusiveSum(mine, before, total);
    return before + (int64_t)order_sum(total, blockIdx.x, room, turn);
}

__device__ inline double sum_before(double mine, order_room &room, int &turn)
{
    double before, total;
    number_scan(room.scan.number).ExclusiveSum(mine, before, total);
    return before + order_sum(total, blockIdx.x, room, turn);
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
    uint4 size[EACH / 4];
    uint32_t mine = 0, start;
#pragma unroll
    for (int k = 0; k < EACH / 4; k++)
        size[k] = __ldcg((const uint4 *)(o.sizes + first) + k);
#pragma unroll
    for (int k = 0; k < EACH / 4; k++)
        mine += size[k].x + size[k].y + size[k].z + size[k].w;
    count_scan(room.scan.count).ExclusiveSum(mine, start);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint4 four = size[k / 4];
        room.starts[start_at(first + k)] = start;
        start += k % 4 == 0 ? four.x : k % 4 == 1 ? four.y : k % 4 == 2 ? four.z : four.w;
    }
    if (threadIdx.x == ORDER_THREADS - 1)
        room.starts[start_at(ORDER_BUCKETS)] = start;
    __syncthreads();
}

/* Within a bucket the smaller comes first, and of equals the one that stood first. */
__device__ inline void settle(const gpu_order &o, int64_t at, const order_room &room)
{
    const uint64_t mine = __ldcg(&o.loose[at]);
    const int32_t stood = __ldcg(&o.loose_place[at]);
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
    o.sorted[rank] = mine;
    o.rank[stood] = (int32_t)rank;
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

/* o.sorted and o.rank of n keys, of which each thread knows its own: key_of(i). */
template <typename Key>
__device__ inline void order_rank(const gpu_order &o, int64_t n, order_room &room, Key key_of)
{
    if (n > ORDER_BUCKETS_MOST)
        return; /* it has been done */
    ORDER_OWN(i, n)
    o.slot[i] = atomicAdd(&o.sizes[bucket_of(key_of(i))], 1);
    order_meet();
    find_starts(o, room);
    ORDER_OWN(i, n)
    {
        const uint64_t key = key_of(i);
        const uint32_t at = room.starts[start_at(bucket_of(key))] + o.slot[i];
        o.loose[at] = key;
        o.loose_place[at] = (int32_t)i;
    }
    order_meet();
    ORDER_OWN(b, ORDER_BUCKETS)
    o.sizes[b] = 0;
    ORDER_OWN(at, n)
    settle(o, at, room);
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
    } else {
        order_rank(o, count, room, reversed);
    }
    uint32_t staying = 0;
    for (int64_t j = own.begin; j < own.end; j++)
        staying += __ldcg(&o.rank[count - 1 - j]) >= leaving;
    int64_t before = count_before(staying, room, turn);
    for (int64_t j = own.begin; j < own.end; j++) {
        const int stays = __ldcg(&o.rank[count - 1 - j]) >= leaving;
        emit(j, stays, stays ? before : j - before);
        before += stays;
    }
}
