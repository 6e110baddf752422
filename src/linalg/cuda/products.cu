/* Products on columns. The one that rounds of method roofs live on, the gradient and its image,
 * reads every column once: a cluster of blocks holds whole columns in its shared memory, a part of
 * the samples in each block, while the gradient is summed up and the image follows. */
#include "linalg/cuda/device_cuda.cuh"

#include <cuda_pipeline.h>

#include <cstring>

namespace cg = cooperative_groups;

/* ---- gradient and image in one read ---------------------------------------- */

/* Each thread has EACH samples: their r, their part of the image, and their values of the G
 * columns at hand, in registers. Columns come through shared memory, two groups ahead; how they
 * are standardised comes with them, five groups ahead. Up to 10240 samples one block has whole
 * columns; more are shared by a cluster of blocks, which meet once per group. */
enum { DESCEND_THREADS = 512, DESCEND_WARPS = DESCEND_THREADS / 32, GROUP_MOST = 4, AHEAD = 8 };
enum { CLUSTER_MOST = 8 };

struct descend_shared {
    gpu_column columns[AHEAD][GROUP_MOST];
    uint64_t arrival[2]; /* of the two tiles */
    cluster_room<1> room;
    double dots[2][GROUP_MOST][DESCEND_WARPS]; /* by turns; read by the whole cluster */
};

struct descend_task {
    const gpu_column *list;
    int64_t count, n;
    int backwards; /* the last columns first */
    int rows;      /* samples per block */
    const double *r;
    double *gradient, *images, *levels, *squares;
};

/* ---- copies by the processor's copy engine, and barriers that say when they have arrived */

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
    unsigned there = 0;
    while (!there)
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(there)
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

/* The group whose turn it is. A round begins with the columns that the last one ended with: they
 * may still be in the cache. */
template <int G> __device__ int64_t group_at(const descend_task &t, int64_t turn)
{
    return t.backwards ? (t.count + G - 1) / G - 1 - turn : turn;
}

/* Rows begin.. of a group's columns begin to arrive in `tile`; by one thread. Columns are padded to
 * multiples of 16 bytes. */
template <typename T, int G>
__device__ void fetch(const descend_task &t, int64_t turn, const gpu_column *columns, int64_t begin,
                      int mine, T *tile, uint64_t *arrival)
{
    const int64_t group = group_at<G>(t, turn);
    const unsigned bytes = ((unsigned)(mine * sizeof(T)) + 15) / 16 * 16;
    const int64_t left = t.count - group * G;
    const int width = left < G ? (int)left : G;
    arrival_expect(arrival, width * bytes);
    for (int c = 0; c < width && bytes > 0; c++)
        bulk_copy(tile + c * t.rows, (const T *)columns[c].x + begin, bytes, arrival);
}

/* What is known of a group's columns begins to arrive, 16 bytes for each thread. */
template <int G>
__device__ void fetch_columns(const descend_task &t, int64_t turn, gpu_column *columns)
{
    const int64_t group = group_at<G>(t, turn);
    const int c = threadIdx.x / 2, half = threadIdx.x % 2;
    if (c < G && group >= 0 && group * G + c < t.count)
        __pipeline_memcpy_async((double2 *)(columns + c) + half,
                                (const double2 *)(t.list + group * G + c) + half, 16);
}

/* The sum of column c over all warps of all blocks: every thread adds the same in the same
 * order. */
__device__ inline double total_of(descend_shared *s, int turn, int c)
{
    cg::cluster_group cluster = cg::this_cluster();
    double total = 0;
    for (unsigned b = 0; b < cluster.num_blocks(); b++) {
        const double *dots = b == cluster.block_rank()
                                 ? s->dots[turn][c]
                                 : cluster.map_shared_rank(s, b)->dots[turn][c];
        for (int w = 0; w < DESCEND_WARPS; w++)
            total += dots[w];
    }
    return total;
}

template <typename T, int G, int EACH>
__global__ void __launch_bounds__(DESCEND_THREADS, 1) descend_kernel(descend_task t)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) descend_shared s;
    cg::cluster_group cluster = cg::this_cluster();
    T *tiles = (T *)memory;
    const int64_t begin = cluster.block_rank() * (int64_t)t.rows;
    const int64_t here = blockIdx.x / cluster.num_blocks(), step = gridDim.x / cluster.num_blocks();
    const int64_t groups = (t.count + G - 1) / G;
    const int mine = t.n <= begin ? 0 : (int)(t.n - begin < t.rows ? t.n - begin : t.rows);

    if (threadIdx.x == 0) {
        arrival_create(&s.arrival[0]);
        arrival_create(&s.arrival[1]);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    for (int k = 0; k < 5; k++) /* the groups of the first five turns */
        fetch_columns<G>(t, here + k * step, s.columns[k]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < 2; k++)
        if (threadIdx.x == 0 && here + k * step < groups)
            fetch<T, G>(t, here + k * step, s.columns[k], begin, mine, tiles + k * G * t.rows,
                        &s.arrival[k]);
    double r[EACH], image[EACH], r_sum[1] = {0}, level = 0, square = 0;
    for (int e = 0; e < EACH; e++) {
        const int i = threadIdx.x + e * DESCEND_THREADS;
        r[e] = i < mine ? t.r[begin + i] : 0;
        r_sum[0] += r[e];
        image[e] = 0;
    }
    int room_turn = 0;
    cluster_sum(r_sum, s.room, room_turn);

    int64_t group = here;
    for (int k = 0; group < groups; k++, group += step) {
        const int turn = k % 2;
        T *tile = tiles + turn * G * t.rows;
        __pipeline_wait_prior(2);
        arrival_wait(&s.arrival[turn], k / 2 % 2);
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
                s.dots[turn][c][threadIdx.x / 32] = total;
        }
        if (cluster.num_blocks() > 1)
            cluster.sync();
        else
            __syncthreads();
        /* The tile is in registers: the group after the next may come. */
        if (threadIdx.x == 0 && group + 2 * step < groups)
            fetch<T, G>(t, group + 2 * step, s.columns[(k + 2) % AHEAD], begin, mine, tile,
                        &s.arrival[turn]);
        fetch_columns<G>(t, group + 5 * step, s.columns[(k + 5) % AHEAD]);
        __pipeline_commit();
        for (int c = 0; c < G; c++) {
            const int64_t column = group_at<G>(t, group) * G + c;
            if (column >= t.count)
                break;
            const gpu_column col = s.columns[k % AHEAD][c];
            const double slope =
                col.factor * (total_of(&s, turn, c) - col.center * r_sum[0]) * col.unit;
            const double weight = slope * col.unit * col.factor;
            level -= weight * col.center;
            square += slope * slope;
            if (threadIdx.x == 0 && cluster.block_rank() == 0)
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
            t.images[here * t.n + begin + i] = image[e];
    }
    if (threadIdx.x == 0 && cluster.block_rank() == 0) {
        t.levels[here] = level;
        t.squares[here] = square;
    }
    cluster.sync(); /* others may still read this block's sums */
}

typedef void (*descend_function)(descend_task);

/* Few samples: four columns at a time; many: one. A processor has one block, with two groups of
 * at most 82 kB each on their way. */
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

static int cut_up(const device *d, descend_plan *p)
{
    for (p->kind = 0; p->kind < 3; p->kind++) {
        const descend_kind *kind = &descend_kinds[p->kind];
        for (p->cluster = 1; p->cluster <= kind->cluster_most; p->cluster *= 2) {
            const int64_t rows = ceil_div(ceil_div(d->shape.n, p->cluster), 32) * 32;
            if (rows > kind->each * DESCEND_THREADS)
                continue;
            p->rows = (int)rows;
            p->shared = (size_t)(2 * kind->group * rows * d->size);
            return 1;
        }
    }
    return 0;
}

roofs_status gpu_plan_descend(const device *d, descend_plan *p, roofs_error *err)
{
    *p = {};
    if (!cut_up(d, p))
        return ROOFS_OK; /* too long: two reads then */
    descend_function kernel = descend_of(d, p);
    /* The most for all fits: others may run beside this one, with other numbers of samples. */
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)(d->shared_most - 4096)));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)p->cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)p->cluster);
    config.blockDim = dim3(DESCEND_THREADS);
    config.dynamicSmemBytes = p->shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    CUDA_TRY(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    p->clusters = clusters < d->clusters_most ? clusters : d->clusters_most;
    return ROOFS_OK;
}

roofs_status gpu_descend(device *d, const descend_plan *p, const gpu_column *list, int64_t count,
                         int backwards, const double *r, double *gradient, roofs_error *err)
{
    const descend_task task = {list, count,    d->shape.n, backwards, p->rows,
                               r,    gradient, d->images,  d->levels, d->squares};
    CUDA_TRY(launch_cluster(descend_of(d, p), (unsigned)(p->clusters * p->cluster),
                            (unsigned)p->cluster, DESCEND_THREADS, p->shared, d->stream, task));
    return ROOFS_OK;
}

/* ---- products, one block of threads per column ------------------------------ */

template <typename T>
__global__ void products_kernel(const gpu_column *list, int64_t n, const double *r, double *out)
{
    __shared__ double room[33];
    const gpu_column c = list[blockIdx.x];
    const T *x = (const T *)c.x;
    double sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum[0] += ((double)x[i] - c.center) * c.factor * r[i];
    block_sum(sum, room);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum[0];
}

roofs_status gpu_products(device *d, const gpu_column *list, int64_t count, const double *r,
                          double *out, roofs_error *err)
{
    if (count == 0)
        return ROOFS_OK;
    if (d->size == sizeof(float))
        products_kernel<float><<<(unsigned)count, 256, 0, d->stream>>>(list, d->shape.n, r, out);
    else
        products_kernel<double><<<(unsigned)count, 256, 0, d->stream>>>(list, d->shape.n, r, out);
    LAUNCHED();
    return ROOFS_OK;
}

/* ---- sums of columns --------------------------------------------------------- */

enum { ADD_ROWS = 32, ADD_PARTS = 16, ADD_COLUMNS = 256 };

/* 32 samples per block; 16 groups of threads share the columns and are added in order. */
template <typename T>
__global__ void __launch_bounds__(ADD_ROWS *ADD_PARTS)
    add_kernel(const gpu_column *list, int64_t count, const double *weight, int squares, int64_t n,
               double *out)
{
    __shared__ gpu_column columns[ADD_COLUMNS];
    __shared__ double weights[ADD_COLUMNS], part[ADD_PARTS][ADD_ROWS];
    const int me = threadIdx.y * ADD_ROWS + threadIdx.x;
    const int64_t i = blockIdx.x * (int64_t)ADD_ROWS + threadIdx.x;
    double sum = 0;
    for (int64_t first = 0; first < count; first += ADD_COLUMNS) {
        const int width = count - first < ADD_COLUMNS ? (int)(count - first) : ADD_COLUMNS;
        __syncthreads();
        if (me < width) {
            columns[me] = list[first + me];
            weights[me] = weight[first + me];
        }
        __syncthreads();
        if (i < n)
#pragma unroll 8
            for (int j = threadIdx.y; j < width; j += ADD_PARTS) {
                const gpu_column c = columns[j];
                const double z = ((double)((const T *)c.x)[i] - c.center) * c.factor;
                sum += weights[j] * (squares ? z * z : z);
            }
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || i >= n)
        return;
    for (int k = 1; k < ADD_PARTS; k++)
        sum += part[k][threadIdx.x];
    out[i] += sum;
}

roofs_status gpu_add(device *d, const gpu_column *list, int64_t count, const double *weight,
                     int squares, double *out, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(d->shape.n, ADD_ROWS);
    const dim3 threads(ADD_ROWS, ADD_PARTS);
    if (d->size == sizeof(float))
        add_kernel<float>
            <<<blocks, threads, 0, d->stream>>>(list, count, weight, squares, d->shape.n, out);
    else
        add_kernel<double>
            <<<blocks, threads, 0, d->stream>>>(list, count, weight, squares, d->shape.n, out);
    LAUNCHED();
    return ROOFS_OK;
}

/* ---- calls with host vectors -------------------------------------------------- */

static roofs_status send(device *d, const double *from, int64_t count, double *to, roofs_error *err)
{
    CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyHostToDevice, d->stream));
    return ROOFS_OK;
}

static roofs_status fetch_back(device *d, const double *from, int64_t count, double *to,
                               roofs_error *err)
{
    CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* image = levels + partial images, in order; out += it where `add` */
__global__ void join_kernel(const double *images, const double *levels, int64_t parts, int64_t n,
                            double *image)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int64_t k = 0; k < parts; k++)
        sum += levels[k];
    for (int64_t k = 0; k < parts; k++)
        sum += images[k * n + i];
    image[i] = sum;
}

__global__ void unit_kernel(const gpu_column *list, int64_t count, double *gradient, double *weight)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j >= count)
        return;
    gradient[j] *= list[j].unit;
    weight[j] = gradient[j] * list[j].unit;
}

/* Samples too many for a cluster: the gradient, then its image. */
static roofs_status descend_in_two(device *d, int64_t count, roofs_error *err)
{
    const int64_t n = d->shape.n;
    TRY(gpu_products(d, d->list, count, d->vector[0], d->numbers, err));
    unit_kernel<<<(unsigned)ceil_div(count, 128), 128, 0, d->stream>>>(d->list, count, d->numbers,
                                                                       d->weight);
    LAUNCHED();
    CUDA_TRY(cudaMemsetAsync(d->vector[1], 0, (size_t)n * sizeof(double), d->stream));
    return gpu_add(d, d->list, count, d->weight, 0, d->vector[1], err);
}

static roofs_status descend(device *d, const device_column *columns, int64_t count, const double *r,
                            double *gradient, double *image, roofs_error *err)
{
    const int64_t n = d->shape.n;
    descend_plan plan;
    TRY(gpu_plan_descend(d, &plan, err));
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, r, n, d->vector[0], err));
    if (plan.clusters == 0) {
        TRY(descend_in_two(d, count, err));
    } else {
        TRY(gpu_descend(d, &plan, d->list, count, 0, d->vector[0], d->numbers, err));
        join_kernel<<<(unsigned)ceil_div(n, 128), 128, 0, d->stream>>>(
            d->images, d->levels, plan.clusters, n, d->vector[1]);
        LAUNCHED();
    }
    TRY(fetch_back(d, d->numbers, count, gradient, err));
    return fetch_back(d, d->vector[1], n, image, err);
}

void cuda_descend(device *d, const device_column *columns, int64_t count, const double *r,
                  double *gradient, double *image)
{
    if (count == 0)
        memset(image, 0, (size_t)d->shape.n * sizeof *image);
    else if (d->trouble.status == ROOFS_OK)
        (void)descend(d, columns, count, r, gradient, image, &d->trouble);
}

static roofs_status products(device *d, const device_column *columns, int64_t count,
                             const double *r, double *out, roofs_error *err)
{
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, r, d->shape.n, d->vector[0], err));
    TRY(gpu_products(d, d->list, count, d->vector[0], d->numbers, err));
    return fetch_back(d, d->numbers, count, out, err);
}

void cuda_products(device *d, const device_column *columns, int64_t count, const double *r,
                   double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)products(d, columns, count, r, out, &d->trouble);
}

static roofs_status add(device *d, const device_column *columns, int64_t count,
                        const double *weight, int squares, double *out, roofs_error *err)
{
    const int64_t n = d->shape.n;
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, weight, count, d->weight, err));
    TRY(send(d, out, n, d->vector[0], err));
    TRY(gpu_add(d, d->list, count, d->weight, squares, d->vector[0], err));
    return fetch_back(d, d->vector[0], n, out, err);
}

void cuda_add(device *d, const device_column *columns, int64_t count, const double *weight,
              double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)add(d, columns, count, weight, 0, out, &d->trouble);
}

void cuda_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                      double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)add(d, columns, count, weight, 1, out, &d->trouble);
}

template <typename T>
__global__ void sample_kernel(const gpu_column *list, int64_t count, int64_t sample, double *out)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j < count)
        out[j] = ((double)((const T *)list[j].x)[sample] - list[j].center) * list[j].factor;
}

static roofs_status sample_of(device *d, const device_column *columns, int64_t count,
                              int64_t sample, double *out, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(count, 128);
    TRY(gpu_send_list(d, columns, count, d->list, err));
    if (d->size == sizeof(float))
        sample_kernel<float><<<blocks, 128, 0, d->stream>>>(d->list, count, sample, d->numbers);
    else
        sample_kernel<double><<<blocks, 128, 0, d->stream>>>(d->list, count, sample, d->numbers);
    LAUNCHED();
    return fetch_back(d, d->numbers, count, out, err);
}

void cuda_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                 double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)sample_of(d, columns, count, sample, out, &d->trouble);
}

/* ---- Gram matrices and sweeps with a host's decisions: the plain way --------------- */

/* Column blockIdx.x against column blockIdx.y, its elder or itself. */
template <typename T>
__global__ void cross_kernel(const gpu_column *list, int64_t n, const double *weight, double *gram)
{
    __shared__ double room[33];
    if (blockIdx.y > blockIdx.x)
        return;
    const gpu_column a = list[blockIdx.x], b = list[blockIdx.y];
    double sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum[0] += ((double)((const T *)a.x)[i] - a.center) * a.factor * weight[i] *
                  (((double)((const T *)b.x)[i] - b.center) * b.factor);
    block_sum(sum, room);
    if (threadIdx.x == 0) {
        gram[blockIdx.x * (int64_t)gridDim.x + blockIdx.y] = sum[0];
        gram[blockIdx.y * (int64_t)gridDim.x + blockIdx.x] = sum[0];
    }
}

static roofs_status cross(device *d, int64_t count, const double *weight, double *gram,
                          roofs_error *err)
{
    const dim3 blocks((unsigned)count, (unsigned)count);
    if (d->size == sizeof(float))
        cross_kernel<float><<<blocks, 128, 0, d->stream>>>(d->list, d->shape.n, weight, gram);
    else
        cross_kernel<double><<<blocks, 128, 0, d->stream>>>(d->list, d->shape.n, weight, gram);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status gram_of(device *d, const device_column *columns, int64_t count,
                            const double *weight, double *gram, roofs_error *err)
{
    double *there = nullptr;
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, weight, d->shape.n, d->vector[0], err));
    TRY(gpu_get(&there, count * count, "a Gram matrix", err));
    roofs_status status = cross(d, count, d->vector[0], there, err);
    if (status == ROOFS_OK)
        status = fetch_back(d, there, count * count, gram, err);
    cudaFree(there);
    return status;
}

void cuda_gram(device *d, const device_column *columns, int64_t count, const double *weight,
               double *gram)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)gram_of(d, columns, count, weight, gram, &d->trouble);
}

/* For every few columns the host is asked, as the table says; methods have their own rounds. */
static roofs_status sweep(device *d, const device_column *columns, int64_t count,
                          const device_sweep *how, roofs_error *err)
{
    const int64_t n = d->shape.n;
    for (int64_t first = 0; first < count; first += DEVICE_BLOCK) {
        const int64_t width = count - first < DEVICE_BLOCK ? count - first : DEVICE_BLOCK;
        double slope[DEVICE_BLOCK] = {}, gram[DEVICE_BLOCK][DEVICE_BLOCK] = {};
        double delta[DEVICE_BLOCK] = {}, spread[DEVICE_BLOCK] = {};
        double small[DEVICE_BLOCK * DEVICE_BLOCK];
        for (int64_t i = 0; i < n; i++)
            d->stage[n + i] = how->weight[i] * how->r[i];
        TRY(products(d, columns + first, width, d->stage + n, slope, err));
        TRY(gram_of(d, columns + first, width, how->weight, small, err));
        for (int64_t q = 0; q < width; q++)
            for (int64_t p = 0; p < width; p++)
                gram[q][p] = small[q * width + p];
        how->update(how->user, first, width, slope, gram, delta, spread);
        for (int64_t q = 0; q < width; q++)
            delta[q] = -delta[q];
        TRY(add(d, columns + first, width, delta, 0, how->r, err));
        TRY(add(d, columns + first, width, spread, 1, how->variance, err));
    }
    return ROOFS_OK;
}

void cuda_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how)
{
    if (d->trouble.status == ROOFS_OK)
        (void)sweep(d, columns, count, how, &d->trouble);
}
