#include "robust/cuda/order.cuh"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_radix_sort.cuh>

enum { BUCKETS_MOST = 65536, SPREAD = 1024 };
enum { SCAN = 512, COARSE = 8, COARSE_MOST = 4096, TAU_THREADS = 256 };

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, roofs_error *err)
{
    const char *what = "sorting";
    *o = {};
    o->capacity = capacity;
    TRY(gpu_get(&o->keys, capacity, what, err));
    TRY(gpu_get(&o->sorted, capacity, what, err));
    TRY(gpu_get(&o->places, capacity, what, err));
    TRY(gpu_get(&o->place, capacity, what, err));
    TRY(gpu_get(&o->loose, capacity, what, err));
    TRY(gpu_get(&o->stays, capacity, what, err));
    TRY(gpu_get(&o->sizes, ORDER_BUCKETS, what, err));
    TRY(gpu_get(&o->starts, ORDER_BUCKETS + 1, what, err));
    TRY(gpu_get(&o->used, ORDER_BUCKETS, what, err));
    TRY(gpu_get(&o->totals, capacity / SCAN + 1, what, err));
    if (capacity <= BUCKETS_MOST)
        return ROOFS_OK;
    CUDA_TRY(cub::DeviceRadixSort::SortPairs(nullptr, o->temporary_bytes, o->keys, o->sorted,
                                             o->places, o->place, (int)capacity));
    return gpu_take(&o->temporary, (int64_t)o->temporary_bytes, what, err);
}

void gpu_order_destroy(gpu_order *o)
{
    void *blocks[] = {o->keys,  o->sorted, o->places, o->place,  o->loose,    o->stays,
                      o->sizes, o->starts, o->used,   o->totals, o->temporary};
    for (void *block : blocks)
        cudaFree(block);
    *o = {};
}

__global__ void key_kernel(const double *values, const int *exponent, int64_t n, int reversed,
                           order_keys out)
{
    wait_for_last();
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double size = fabs(values[i]);
    if (exponent && exponent[i] != 0)
        size = ldexp(size, -exponent[i]);
    order_put(out, reversed ? n - 1 - i : i, size);
}

/* starts[b]: where bucket b begins; starts[ORDER_BUCKETS] = n. The sizes are zero for the next sort. */
__global__ void __launch_bounds__(SPREAD) start_kernel(uint32_t *sizes, uint32_t *starts,
                                                       uint32_t *used)
{
    wait_for_last();
    typedef cub::BlockScan<uint32_t, SPREAD, cub::BLOCK_SCAN_WARP_SCANS> scan;
    __shared__ typename scan::TempStorage room;
    enum { EACH = ORDER_BUCKETS / SPREAD };
    uint32_t start[EACH], total;
    uint4 *mine = (uint4 *)sizes + 2 * threadIdx.x;
    const uint4 a = mine[0], b = mine[1], none = make_uint4(0, 0, 0, 0);
    uint32_t size[EACH] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    scan(room).ExclusiveSum(size, start, total);
    uint4 *out = (uint4 *)starts + 2 * threadIdx.x, *count = (uint4 *)used + 2 * threadIdx.x;
    out[0] = make_uint4(start[0], start[1], start[2], start[3]);
    out[1] = make_uint4(start[4], start[5], start[6], start[7]);
    mine[0] = mine[1] = count[0] = count[1] = none;
    if (threadIdx.x == 0)
        starts[ORDER_BUCKETS] = total;
}

/* Into the buckets, in any order. */
__global__ void fill_kernel(const uint64_t *keys, int64_t n, const uint32_t *starts,
                            uint32_t *used, uint64_t *loose, int32_t *loose_place)
{
    wait_for_last();
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int bucket = bucket_of(keys[i]);
    const uint32_t at = starts[bucket] + atomicAdd(&used[bucket], 1);
    loose[at] = keys[i];
    loose_place[at] = (int32_t)i;
}

/* Within a bucket the smaller comes first, and of equals the one that stood first. */
__global__ void settle_kernel(const uint64_t *loose, const int32_t *loose_place, int64_t n,
                              const uint32_t *starts, uint64_t *sorted, int32_t *place)
{
    wait_for_last();
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint64_t mine = loose[i];
    const int32_t stood = loose_place[i];
    const int bucket = bucket_of(mine);
    const uint32_t begin = starts[bucket], end = starts[bucket + 1];
    uint32_t rank = begin;
#pragma unroll 8
    for (uint32_t k = begin; k < end; k++) {
        const uint64_t other = loose[k];
        rank += other < mine;
        if (other == mine && k != i) /* hardly ever */
            rank += loose_place[k] < stood;
    }
    sorted[rank] = mine;
    place[rank] = stood;
}

order_keys gpu_order_keys(const gpu_order *o, int64_t n)
{
    return {o->keys, o->places, n > BUCKETS_MOST ? nullptr : o->sizes};
}

roofs_status gpu_order_sort(gpu_order *o, const double *values, const int *exponent, int64_t n,
                            int reversed, cudaStream_t stream, roofs_error *err)
{
    CUDA_TRY(launch_next(key_kernel, (unsigned)ceil_div(n, 128), 128, 0, stream, values, exponent, n,
                         reversed, gpu_order_keys(o, n)));
    return gpu_order_sort_keys(o, n, stream, err);
}

roofs_status gpu_order_sort_keys(gpu_order *o, int64_t n, cudaStream_t stream, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(n, 128);
    if (n > BUCKETS_MOST) {
        CUDA_TRY(cub::DeviceRadixSort::SortPairs(o->temporary, o->temporary_bytes, o->keys,
                                                 o->sorted, o->places, o->place, (int)n, 0, 64,
                                                 stream));
        return ROOFS_OK;
    }
    CUDA_TRY(launch_next(start_kernel, 1, SPREAD, 0, stream, o->sizes, o->starts, o->used));
    CUDA_TRY(launch_next(fill_kernel, blocks, 128, 0, stream, o->keys, n, o->starts, o->used,
                         o->loose, o->places));
    CUDA_TRY(launch_next(settle_kernel, blocks, 128, 0, stream, o->loose, o->places, n, o->starts,
                         o->sorted, o->place));
    return ROOFS_OK;
}

/* ---- eq. (5) ---------------------------------------------------------------- */

__device__ static double value_of(uint64_t key)
{
    return __longlong_as_double((long long)key);
}

/* Squares in a unit in which the smaller half is at most 1 (see robust/tau.c), and their sums
 * within stretches of SCAN; totals[b] is that of a whole stretch. */
__global__ void __launch_bounds__(SCAN)
    scan_kernel(const uint64_t *sorted, int64_t n, double *squares, double *sums, double *totals,
                unsigned long long *tau)
{
    wait_for_last();
    typedef cub::BlockScan<double, SCAN, cub::BLOCK_SCAN_WARP_SCANS> scan;
    __shared__ typename scan::TempStorage room;
    const double middle = value_of(sorted[n / 2]);
    int exponent = 0;
    if (middle > 0)
        frexp(middle, &exponent);
    const double once = ldexp(1.0, -exponent / 2), again = ldexp(1.0, exponent / 2 - exponent);
    const int64_t k = blockIdx.x * (int64_t)SCAN + threadIdx.x;
    const double scaled = k < n ? value_of(sorted[k]) * once * again : 0, square = scaled * scaled;
    double sum, total;
    scan(room).InclusiveSum(square, sum, total);
    if (k < n) {
        squares[k] = square;
        sums[k] = sum;
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = total;
    if (k == 0) {
        const int64_t half = (n + 1) / 2;
        *tau = (unsigned long long)(half + 1 < n ? half + 1 : n);
    }
}

__device__ static int64_t first_at_least(const double *squares, int64_t n, double wanted)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (squares[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for all squares, of which every 8th stands in `coarse`. */
__device__ static int64_t first_of_all(const double *squares, int64_t n, const double *coarse,
                                       double wanted)
{
    const int64_t all = (n + COARSE - 1) / COARSE, known = all < COARSE_MOST ? all : COARSE_MOST;
    const int64_t at = first_at_least(coarse, known, wanted);
    const int64_t from = at > 0 ? (at - 1) * COARSE : 0;
    const int64_t to = at < known ? (at * COARSE < n ? at * COARSE : n) : n;
    return from + first_at_least(squares + from, to - from, wanted);
}

/* The lowest rank, from 1, whose square is closest to `mean`. */
__device__ static int64_t closest_rank(const double *squares, int64_t n, const double *coarse,
                                       double mean)
{
    const int64_t above = first_of_all(squares, n, coarse, mean);
    if (above == 0)
        return 1;
    const double below = squares[above - 1];
    if (above < n && squares[above] - mean < mean - below)
        return above + 1;
    if (above == 1 || squares[above - 2] < below)
        return above;
    return first_at_least(squares, above, below) + 1;
}

__global__ void __launch_bounds__(TAU_THREADS)
    tau_kernel(const uint64_t *sorted, int64_t n, const double *squares, const double *sums,
               const double *totals, unsigned long long *best)
{
    wait_for_last();
    __shared__ double coarse[COARSE_MOST], before;
    const int64_t half = (n + 1) / 2, lowest = half + 1 + blockIdx.x * (int64_t)TAU_THREADS;
    const int64_t stretch = (lowest - half - 1) / SCAN; /* that of all sums needed here: it has */
    if (threadIdx.x < 32) {                             /* a multiple of TAU_THREADS places */
        double sum = 0;
        for (int64_t b = threadIdx.x; b < stretch; b += 32)
            sum += totals[b];
        sum = warp_sum(sum);
        if (threadIdx.x == 0)
            before = sum;
    }
    for (int64_t k = threadIdx.x; k < COARSE_MOST && k * COARSE < n; k += TAU_THREADS)
        coarse[k] = squares[k * COARSE];
    __syncthreads();
    const int64_t tau = lowest + threadIdx.x, smallest = tau - half;
    unsigned fits = 0;
    if (tau <= n) {
        const double mean = (before + sums[smallest - 1]) / (double)smallest;
        const int64_t other = smallest == 2 ? 1 : closest_rank(squares, n, coarse, mean);
        if (value_of(sorted[tau - 1]) <=
            2.0 * (double)tau * value_of(sorted[other - 1]) / (double)other)
            fits = (unsigned)tau;
    }
    fits = __reduce_max_sync(0xffffffffu, fits);
    if (threadIdx.x % 32 == 0 && fits > 0)
        atomicMax(best, (unsigned long long)fits);
}

roofs_status gpu_tau(const gpu_order *o, int64_t n, double *squares, double *sums,
                     unsigned long long *tau, cudaStream_t stream, roofs_error *err)
{
    CUDA_TRY(launch_next(scan_kernel, (unsigned)ceil_div(n, SCAN), SCAN, 0, stream, o->sorted, n,
                         squares, sums, o->totals, tau));
    CUDA_TRY(launch_next(tau_kernel, (unsigned)ceil_div(n / 2, TAU_THREADS) + 1, TAU_THREADS, 0,
                         stream, o->sorted, n, squares, sums, o->totals, tau));
    return ROOFS_OK;
}

/* ---- who stays ---------------------------------------------------------------- */

enum { PART_THREADS = 1024 };

__global__ void mark_kernel(const int32_t *place, int64_t count, int64_t leaving, uint32_t *stays)
{
    wait_for_last();
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < count)
        stays[count - 1 - place[k]] = k >= leaving;
}

__global__ void __launch_bounds__(PART_THREADS)
    part_kernel(const uint32_t *stays, int64_t count, int32_t *stay, int32_t *leave)
{
    wait_for_last();
    typedef cub::BlockScan<int, PART_THREADS> scan;
    __shared__ typename scan::TempStorage room;
    int64_t before = 0;
    for (int64_t begin = 0; begin < count; begin += PART_THREADS) {
        const int64_t j = begin + threadIdx.x;
        const int mine = j < count && stays[j];
        int ahead, total;
        scan(room).ExclusiveSum(mine, ahead, total);
        __syncthreads();
        if (mine)
            stay[before + ahead] = (int32_t)j;
        else if (j < count)
            leave[j - before - ahead] = (int32_t)j;
        before += total;
    }
}

roofs_status gpu_order_part(gpu_order *o, int64_t count, int64_t most, int32_t *stay,
                            int32_t *leave, cudaStream_t stream, roofs_error *err)
{
    CUDA_TRY(launch_next(mark_kernel, (unsigned)ceil_div(count, 256), 256, 0, stream, o->place, count,
                         count - most, o->stays));
    CUDA_TRY(launch_next(part_kernel, 1, PART_THREADS, 0, stream, o->stays, count, stay, leave));
    return ROOFS_OK;
}
