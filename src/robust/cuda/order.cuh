/* Order statistics of magnitudes on the GPU: which samples to trust and which features to keep. A
 * few blocks of threads do one step after the other and meet in between, which takes less time than
 * launching kernels for them. Equals keep the order of their places, as on the CPU. */
#pragma once

#include "linalg/cuda/rooms.cuh"

#include <cub/block/block_scan.cuh>

enum { ORDER_BLOCKS = 32, ORDER_THREADS = 512, ORDER_ALL = ORDER_BLOCKS * ORDER_THREADS };

/* Up to 65536 keys are put into buckets by their leading bits, and the rank within a bucket is
 * found by comparing all in it; more are sorted by CUB beforehand. Most magnitudes are between 2^-8
 * and 2^4 in the units the fit is done in: 512 buckets for each power of two there, and 32 from
 * 2^-44 to 2^32. Others share the first or the last one, which is slow, not wrong. */
enum { ORDER_BUCKETS = 8192, ORDER_BUCKETS_MOST = 65536 };
enum { BUCKETS_BELOW = 36 * 32, BUCKETS_BETWEEN = 12 * 512 };

/* Where the blocks meet. */
struct order_meeting {
    unsigned gate;                 /* how often a block has come to it */
    double parts[2][ORDER_BLOCKS]; /* what each brings, by turns */
};

struct gpu_order {
    gpu_rooms rooms;
    uint64_t *sorted; /* bits of magnitudes, ascending */
    int32_t *rank;    /* of each key */
    uint64_t *loose;  /* in buckets, not yet in order */
    int32_t *loose_place;
    uint32_t *slot, *sizes; /* of a key in its bucket; of the buckets: zero between sorts */
    order_meeting *meeting;
    uint64_t *keys; /* of CUB, as those below */
    int32_t *places;
    void *temporary;
    size_t temporary_bytes;
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

/* Launches a kernel whose blocks meet: all are there at the same time. It calls wait_for_last. */
template <typename Task>
cudaError_t launch_order(void (*kernel)(Task), cudaStream_t stream, Task task)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeCooperative;
    attributes[0].val.cooperative = 1;
    attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(ORDER_BLOCKS);
    config.blockDim = dim3(ORDER_THREADS);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
    return cudaLaunchKernelEx(&config, kernel, task);
}

/* ---- inside such a kernel -------------------------------------------------------------- */

typedef cub::BlockScan<uint32_t, ORDER_THREADS, cub::BLOCK_SCAN_WARP_SCANS> count_scan;
typedef cub::BlockScan<double, ORDER_THREADS, cub::BLOCK_SCAN_WARP_SCANS> number_scan;

enum { STARTS = ORDER_BUCKETS + ORDER_BUCKETS / 32 + 1, SETTLE_AT_ONCE = 8 };
enum { NEAR_MOST = 5120, FEW_SHARE = 8, FEW_MOST = ORDER_ALL / FEW_SHARE };

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
    double before[ORDER_THREADS]; /* sums of what is near, before each thread's part of it */
    double own[33 * 2];           /* of block_sum */
    double joined;
};

__device__ inline int64_t order_thread()
{
    return blockIdx.x * (int64_t)ORDER_THREADS + threadIdx.x;
}

/* Every thread has its own places. */
#define ORDER_OWN(i, n) for (int64_t i = order_thread(); i < (n); i += ORDER_ALL)

/* Or a stretch of neighbours. */
struct stretch {
    int64_t begin, end;
};

__device__ inline stretch order_stretch(int64_t n)
{
    const int64_t each = (n + ORDER_ALL - 1) / ORDER_ALL, begin = order_thread() * each;
    return {begin < n ? begin : n, begin + each < n ? begin + each : n};
}

/* All blocks have come, and what they wrote can be read (with __ldcg, where it was read before).
 * The gate counts on and on; 2^32 is a multiple of the number of blocks. */
__device__ inline void order_meet(const gpu_order &o)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned before = atomicAdd(&o.meeting->gate, 1u);
        const unsigned wanted = (before / ORDER_BLOCKS + 1) * ORDER_BLOCKS;
        unsigned now;
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];"
                         : "=r"(now)
                         : "l"(&o.meeting->gate)
                         : "memory");
        while ((int)(now - wanted) < 0);
    }
    __syncthreads();
}

/* What all blocks bring, or those before this one; in a fixed order. `mine`: that of thread 0. */
__device__ inline double order_sum(const gpu_order &o, double mine, unsigned blocks,
                                   order_room &room, int &turn)
{
    double *parts = o.meeting->parts[turn];
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
    order_meet(o);
    if (threadIdx.x < 32) {
        double sum = 0;
        for (unsigned b = threadIdx.x; b < blocks; b += 32)
            sum += __ldcg(&parts[b]);
        sum = warp_sum(sum);
        if (threadIdx.x == 0)
            room.joined = sum;
    }
    __syncthreads();
    turn = 1 - turn;
    return room.joined;
}

__device__ inline double order_max(const gpu_order &o, double mine, order_room &room, int &turn)
{
    double *parts = o.meeting->parts[turn];
    mine = block_max(mine, room.own);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = mine;
    order_meet(o);
    if (threadIdx.x < 32) {
        double most = __ldcg(&parts[threadIdx.x]);
        for (unsigned b = threadIdx.x; b < ORDER_BLOCKS; b += 32)
            most = fmax(most, __ldcg(&parts[b]));
        most = warp_max(most);
        if (threadIdx.x == 0)
            room.joined = most;
    }
    __syncthreads();
    turn = 1 - turn;
    return room.joined;
}

/* What the threads before this one have. */
__device__ inline int64_t count_before(const gpu_order &o, uint32_t mine, order_room &room,
                                       int &turn)
{
    uint32_t before, total;
    count_scan(room.scan.count).ExclusiveSum(mine, before, total);
    return before + (int64_t)order_sum(o, total, blockIdx.x, room, turn);
}

__device__ inline double sum_before(const gpu_order &o, double mine, order_room &room, int &turn)
{
    double before, total;
    number_scan(room.scan.number).ExclusiveSum(mine, before, total);
    return before + order_sum(o, total, blockIdx.x, room, turn);
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
    order_meet(o);
    find_starts(o, room);
    ORDER_OWN(i, n)
    {
        const uint64_t key = key_of(i);
        const uint32_t at = room.starts[start_at(bucket_of(key))] + o.slot[i];
        o.loose[at] = key;
        o.loose_place[at] = (int32_t)i;
    }
    order_meet(o);
    ORDER_OWN(b, ORDER_BUCKETS)
    o.sizes[b] = 0;
    ORDER_OWN(at, n)
    settle(o, at, room);
    order_meet(o);
}

/* emit(j, stays, place in its list) for every j: those with the `leaving` smallest keys leave, the
 * later of two equals first. key_of(j) must be known to all. */
template <typename Key, typename Emit>
__device__ inline void order_part(const gpu_order &o, int64_t count, int64_t leaving,
                                  order_room &room, int &turn, Key key_of, Emit emit)
{
    const stretch own = order_stretch(count);
    auto reversed = [&](int64_t i) { return key_of(count - 1 - i); };
    if (count <= FEW_MOST) {
        rank_few(o, (int)count, room, reversed);
        order_meet(o);
    } else {
        order_rank(o, count, room, reversed);
    }
    uint32_t staying = 0;
    for (int64_t j = own.begin; j < own.end; j++)
        staying += __ldcg(&o.rank[count - 1 - j]) >= leaving;
    int64_t before = count_before(o, staying, room, turn);
    for (int64_t j = own.begin; j < own.end; j++) {
        const int stays = __ldcg(&o.rank[count - 1 - j]) >= leaving;
        emit(j, stays, stays ? before : j - before);
        before += stays;
    }
}
