/* The gradient and its image, the main work of a round of method roofs, with one read of every
 * column: a cluster of blocks has whole columns in its shared memory, each block a range of the
 * samples, while it sums the gradient and then the image. */
#include "linalg/cuda/device_cuda.cuh"

#include <cuda_pipeline.h>

/* Each thread has in registers, for EACH samples, r, the image and the values of a group of G
 * columns. Values are copied to shared memory two groups ahead; centers and factors five groups
 * ahead. Up to 10240 samples, one block has whole columns; above, a cluster of blocks divides the
 * samples, with one barrier per group. */
enum { DESCEND_THREADS = 512, DESCEND_WARPS = DESCEND_THREADS / 32, GROUP_MOST = 4, AHEAD = 8 };
enum { CLUSTER_MOST = 8, PREFETCHED = 2 /* groups, while the last kernel still runs */ };

struct descend_shared {
    gpu_column columns[AHEAD][GROUP_MOST];
    uint64_t arrival[2]; /* of the two tiles */
    team_scratch<1> scratch;
    double dots[2][GROUP_MOST][DESCEND_WARPS]; /* used alternately; the whole cluster reads them */
};

struct descend_task : descend_job {
    int64_t n;
    int rows; /* samples per block */
    double *images, *levels, *squares;
};

/* ---- bulk copies, and barriers that report their arrival ------------------ */

__device__ inline unsigned address_of(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

__device__ inline void arrival_create(uint64_t *arrival)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(arrival)) : "memory");
}

__device__ inline void arrival_expect(uint64_t *arrival, unsigned bytes)
{
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(arrival)),
        "r"(bytes)
        : "memory");
}

__device__ inline void arrival_wait(uint64_t *arrival, unsigned phase)
{
    unsigned arrived = 0;
    while (!arrived)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(arrived)
                     : "r"(address_of(arrival)), "r"(phase)
                     : "memory");
}

__device__ inline void bulk_copy(void *to, const void *from, unsigned bytes, uint64_t *arrival)
{
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(address_of(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(address_of(arrival))
        : "memory");
}

/* Prefetches to the second-level cache. */
__device__ inline void bulk_prefetch(const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)),
                 "r"(bytes)
                 : "memory");
}

/* The group of a step. A round begins with the columns that the last round ended with: they may
 * still be in the cache. */
template <int G> __device__ int64_t group_at(const descend_task &t, int64_t step)
{
    return t.backwards ? (t.count + G - 1) / G - 1 - step : step;
}

template <int G> __device__ int group_width(const descend_task &t, int64_t step)
{
    const int64_t left = t.count - group_at<G>(t, step) * G;
    return left < G ? (int)left : G;
}

/* Columns are padded to multiples of 16 bytes. */
template <typename T> __device__ unsigned padded_bytes(int values)
{
    return ((unsigned)(values * sizeof(T)) + 15) / 16 * 16;
}

/* Starts the copies of `mine` samples of a group's columns to `tile`. All threads call it. Without
 * bulk copies, each thread copies the samples that it will read. */
template <typename T, int G>
__device__ void load_group(const descend_task &t, int64_t step, const gpu_column *columns,
                           int64_t begin, int mine, T *tile, uint64_t *arrival)
{
    const int width = group_width<G>(t, step);
    if constexpr (HAS_CLUSTERS) {
        const unsigned bytes = padded_bytes<T>(mine);
        if (threadIdx.x > 0)
            return;
        arrival_expect(arrival, width * bytes);
        for (int c = 0; c < width && bytes > 0; c++)
            bulk_copy(tile + c * t.rows, (const T *)columns[c].x + begin, bytes, arrival);
    } else {
        for (int c = 0; c < width; c++)
            for (int i = threadIdx.x; i < mine; i += DESCEND_THREADS)
                __pipeline_memcpy_async(tile + c * t.rows + i, (const T *)columns[c].x + begin + i,
                                        sizeof(T));
    }
}

/* Waits for the tile of step k. Without bulk copies, the copies of a step are committed
 * together, and those of one later step may still run. */
__device__ inline void wait_for_group(descend_shared &s, int k)
{
    if constexpr (HAS_CLUSTERS) {
        __pipeline_wait_prior(2);
        arrival_wait(&s.arrival[k % 2], k / 2 % 2);
    } else {
        __pipeline_wait_prior(1);
    }
}

/* Prefetches the same values to the second-level cache. */
template <typename T, int G>
__device__ void prefetch_group(const descend_task &t, int64_t step, const gpu_column *columns,
                               int64_t begin, int mine)
{
    const unsigned bytes = padded_bytes<T>(mine);
    const int width = group_width<G>(t, step);
    for (int c = 0; c < width && bytes > 0; c++)
        bulk_prefetch((const T *)columns[c].x + begin, bytes);
}

/* Starts the copies of a group's entries of the list, 16 bytes per thread. */
template <int G>
__device__ void load_columns_of(const descend_task &t, int64_t step, gpu_column *columns)
{
    const int64_t group = group_at<G>(t, step);
    const int c = threadIdx.x / 2, half = threadIdx.x % 2;
    if (c < G && group >= 0 && group * G + c < t.count)
        __pipeline_memcpy_async((double2 *)(columns + c) + half,
                                (const double2 *)(t.list + group * G + c) + half, 16);
}

/* The sum of column c over all warps of all blocks, in the same order in every thread. */
__device__ inline double sum_of_dots(descend_shared *s, int side, int c)
{
    double total = 0;
    for (unsigned b = 0; b < cluster_blocks(); b++) {
        const double *dots =
            b == cluster_rank() ? s->dots[side][c] : cluster_shared(s, b)->dots[side][c];
        for (int w = 0; w < DESCEND_WARPS; w++)
            total += dots[w];
    }
    return total;
}

/* The columns of this cluster, and the samples of this block. */
struct descend_share {
    int64_t first, step; /* its first group, and the distance to the next ones */
    int64_t groups;      /* of all clusters */
    int64_t begin;
    int mine;
};

template <int G> __device__ descend_share share_of(const descend_task &t)
{
    const int64_t begin = cluster_rank() * (int64_t)t.rows, left = t.n - begin;
    return {blockIdx.x / cluster_blocks(), gridDim.x / cluster_blocks(), (t.count + G - 1) / G,
            begin,
            left < 0        ? 0
            : left < t.rows ? (int)left
                            : t.rows};
}

/* Starts the copies of the first two groups, and prefetches those after them. */
template <typename T, int G>
__device__ void begin_loading(const descend_task &t, const descend_share &own, descend_shared &s,
                              T *tiles)
{
    s.scratch.exchange = nullptr;
    if constexpr (HAS_CLUSTERS)
        if (threadIdx.x == 0) {
            arrival_create(&s.arrival[0]);
            arrival_create(&s.arrival[1]);
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
    for (int k = 0; k < 5; k++) /* the first five groups */
        load_columns_of<G>(t, own.first + k * own.step, s.columns[k]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (own.first + k * own.step < own.groups)
            load_group<T, G>(t, own.first + k * own.step, s.columns[k], own.begin, own.mine,
                             tiles + k * G * t.rows, &s.arrival[k]);
        if (!HAS_CLUSTERS)
            __pipeline_commit();
    }
    if constexpr (HAS_CLUSTERS)
        for (int k = 2; t.prefetch && k < 2 + PREFETCHED; k++)
            if (threadIdx.x == 0 && own.first + k * own.step < own.groups)
                prefetch_group<T, G>(t, own.first + k * own.step, s.columns[k], own.begin,
                                     own.mine);
}

/* Waits for the copies of begin_loading, which write to shared memory. */
__device__ inline void end_loading(const descend_share &own, descend_shared &s)
{
    if constexpr (HAS_CLUSTERS)
        for (int k = 0; k < 2 && own.first + k * own.step < own.groups; k++)
            arrival_wait(&s.arrival[k], 0);
    else
        __pipeline_wait_prior(0);
}

template <typename T, int G, int EACH>
__global__ void __launch_bounds__(DESCEND_THREADS, 1) descend_kernel(descend_task t)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) descend_shared s;
    T *tiles = (T *)memory;
    const descend_share own = share_of<G>(t);
    const int64_t first = own.first, step = own.step, groups = own.groups, begin = own.begin;
    const int mine = own.mine;

    if (!t.prefetch)
        wait_for_end_of_last();
    begin_loading<T, G>(t, own, s, tiles);
    wait_for_end_of_last();
    if (t.stop && *t.stop) {
        end_loading(own, s);
        return;
    }
    double r[EACH], image[EACH], r_sum[1] = {0}, level = 0, square = 0;
    for (int e = 0; e < EACH; e++) {
        const int i = threadIdx.x + e * DESCEND_THREADS;
        r[e] = i < mine ? t.r[begin + i] : 0;
        r_sum[0] += r[e];
        image[e] = 0;
    }
    int scratch_side = 0;
    team_sum(r_sum, s.scratch, scratch_side);

    int64_t group = first;
    for (int k = 0; group < groups; k++, group += step) {
        const int side = k % 2;
        T *tile = tiles + side * G * t.rows;
        wait_for_group(s, k);
        double x[G][EACH], dot[G] = {};
        for (int c = 0; c < G; c++)
            for (int e = 0; e < EACH; e++) {
                const int i = threadIdx.x + e * DESCEND_THREADS;
                x[c][e] = i < mine ? (double)tile[c * t.rows + i] : 0;
                dot[c] += x[c][e] * r[e];
            }
        for (int c = 0; c < G; c++) {
            const double total = warp_sum(dot[c]);
            if (threadIdx.x % 32 == 0)
                s.dots[side][c][threadIdx.x / 32] = total;
        }
        if (cluster_blocks() > 1)
            cluster_barrier();
        else
            __syncthreads();
        /* The tile is in registers, so its memory is free for the group after the next. */
        if (group + 2 * step < groups)
            load_group<T, G>(t, group + 2 * step, s.columns[(k + 2) % AHEAD], begin, mine, tile,
                             &s.arrival[side]);
        load_columns_of<G>(t, group + 5 * step, s.columns[(k + 5) % AHEAD]);
        __pipeline_commit();
        for (int c = 0; c < G; c++) {
            const int64_t column = group_at<G>(t, group) * G + c;
            if (column >= t.count)
                break;
            const gpu_column col = s.columns[k % AHEAD][c];
            const double slope =
                col.factor * (sum_of_dots(&s, side, c) - col.center * r_sum[0]) * col.unit;
            const double weight = slope * col.unit * col.factor;
            level -= weight * col.center;
            square += slope * slope;
            if (threadIdx.x == 0 && cluster_rank() == 0)
                t.gradient[column] = slope;
            for (int e = 0; e < EACH; e++)
                image[e] += weight * x[c][e];
        }
    }
    __pipeline_wait_prior(0);
    let_next_begin();
    for (int e = 0; e < EACH; e++) {
        const int i = threadIdx.x + e * DESCEND_THREADS;
        if (i < mine)
            t.images[first * t.n + begin + i] = image[e];
    }
    if (threadIdx.x == 0 && cluster_rank() == 0) {
        t.levels[first] = level;
        t.squares[first] = square;
    }
    cluster_barrier(); /* other blocks may still read the sums of this block */
}

typedef void (*descend_function)(descend_task);

/* The fewer samples, the more columns per group. A processor has one block, and copies two groups
 * of at most 82 kB each at a time. */
struct descend_kind {
    int group, each, cluster_most;
    descend_function wide, narrow;
};

static const descend_kind descend_kinds[] = {
    {4, 5, 1, descend_kernel<double, 4, 5>, descend_kernel<float, 4, 5>},
    {2, 10, 1, descend_kernel<double, 2, 10>, descend_kernel<float, 2, 10>},
    {1, 20, CLUSTER_MOST, descend_kernel<double, 1, 20>, descend_kernel<float, 1, 20>},
};

static descend_function descend_of(const device *d, const descend_plan *p)
{
    const descend_kind *kind = &descend_kinds[p->kind];
    return d->size == sizeof(float) ? kind->narrow : kind->wide;
}

/* Shared memory of a block besides descend_shared. */
static int64_t shared_for_tiles(const device *d)
{
    return d->shared_most - 4096;
}

static int choose_kind(const device *d, descend_plan *p)
{
    for (p->kind = 0; p->kind < 3; p->kind++) {
        const descend_kind *kind = &descend_kinds[p->kind];
        const int cluster_most = d->has_clusters ? kind->cluster_most : 1;
        for (p->cluster = 1; p->cluster <= cluster_most; p->cluster *= 2) {
            const int64_t rows = ceil_div(ceil_div(d->shape.n, p->cluster), 32) * 32;
            const int64_t shared = 2 * kind->group * rows * (int64_t)d->size;
            if (rows > kind->each * DESCEND_THREADS || shared > shared_for_tiles(d))
                continue;
            p->rows = (int)rows;
            p->shared = (size_t)shared;
            return 1;
        }
    }
    return 0;
}

roofs_status gpu_plan_descend(const device *d, descend_plan *p, roofs_error *err)
{
    *p = {};
    if (!choose_kind(d, p))
        return ROOFS_OK; /* too many samples: clusters = 0 */
    descend_function kernel = descend_of(d, p);
    /* The maximum, because fits with more samples may run at the same time. */
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)shared_for_tiles(d)));
    int at_once = 0; /* clusters, or blocks per processor */
    if (d->has_clusters) {
        block_launch how((unsigned)p->cluster, DESCEND_THREADS, p->shared, nullptr);
        how.in_clusters(p->cluster);
        CUDA_TRY(cudaOccupancyMaxActiveClusters(&at_once, kernel, &how.config));
    } else {
        CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel, DESCEND_THREADS,
                                                               p->shared));
        at_once *= d->processors;
    }
    p->clusters = at_once < d->clusters_most ? at_once : d->clusters_most;
    return ROOFS_OK;
}

roofs_status gpu_descend(device *d, const descend_plan *p, const descend_job *job, roofs_error *err)
{
    const descend_task task = {*job, d->shape.n, p->rows, d->images, d->levels, d->squares};
    block_launch how((unsigned)(p->clusters * p->cluster), DESCEND_THREADS, p->shared, d->stream);
    if (d->has_clusters) {
        how.in_clusters(p->cluster);
        how.as_next();
    }
    CUDA_TRY(cudaLaunchKernelEx(&how.config, descend_of(d, p), task));
    return ROOFS_OK;
}
