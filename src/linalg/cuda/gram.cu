/* The diagonal blocks of Z'WZ, on the tensor cores (double precision). A block of 128
 * columns is a matrix of 16 tiles of 32 x 32. Each warp computes one of the 10 tiles on and below
 * the diagonal. The samples are split so that all processors have work; partial sums are added in
 * order. */
#include "linalg/cuda/device_cuda.cuh"

enum {
    TILE = 32,  /* columns of a warp's tile */
    TILES = 10, /* on and below the diagonal */
    GRAM_THREADS = TILES * 32,
    CHUNK = 32,        /* samples in shared memory at a time */
    PITCH = CHUNK + 4, /* so that the rows of a fragment are in different banks */
    EACH = (GPU_BLOCK * CHUNK + GRAM_THREADS - 1) / GRAM_THREADS,
    TILE_VALUES = TILE * TILE
};

struct gram_task {
    const gpu_column *list;
    int64_t count, n, rows; /* rows: samples of a split, a multiple of CHUNK */
    const double *weight;
    double *partial; /* [block][split][tile][32][32] */
};

/* c += a b with a 16 x 8 and b 8 x 8. Thread l = 4 g + h has a[g][h], a[g + 8][h], a[g][h + 4],
 * a[g + 8][h + 4]; b[h][g], b[h + 4][g]; and c[g][2 h], c[g][2 h + 1], c[g + 8][2 h],
 * c[g + 8][2 h + 1]. */
__device__ inline void multiply(double (&c)[4], const double (&a)[4], const double (&b)[2])
{
    if constexpr (HAS_CLUSTERS) {
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
            "{%8, %9}, {%0, %1, %2, %3};"
            : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
            : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
    } else {
        for (int k = 0; k < 2; k++)
            for (int q = 0; q < 2; q++) /* 8 x 4 by 4 x 8, which has the same threads */
                asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, "
                    "%1};"
                    : "+d"(c[2 * q]), "+d"(c[2 * q + 1])
                    : "d"(a[2 * k + q]), "d"(b[k]));
    }
}

/* A column of the block; a missing one has factor 0. */
struct gram_column {
    const void *x;
    double center, factor;
};

/* Bypasses the first-level cache: the last kernel, which wrote none of this memory, may still run.
 */
__device__ static gpu_column load_fresh(const gpu_column *c)
{
    static_assert(sizeof(gpu_column) == 2 * sizeof(double2), "two loads");
    const double2 low = __ldcg((const double2 *)c), high = __ldcg((const double2 *)c + 1);
    return {(const void *)__double_as_longlong(low.x), low.y, high.x, high.y};
}

__device__ static void load_columns(const gram_task &t, int64_t first, gram_column *columns)
{
    if (threadIdx.x >= GPU_BLOCK)
        return;
    const int64_t j = first + threadIdx.x;
    const gpu_column c = load_fresh(&t.list[j < t.count ? j : first]);
    columns[threadIdx.x] = {c.x, c.center, j < t.count ? c.factor : 0};
}

/* Loads the values of CHUNK samples from `begin` on: each lane a sample, each warp every tenth
 * column. They arrive while the chunk before is multiplied. */
template <typename T>
__device__ void load_chunk(const gram_task &t, const gram_column *columns, int64_t begin,
                           int64_t end, T (&raw)[EACH], double &weight)
{
    const int64_t i = begin + threadIdx.x % 32;
    weight = i < end ? __ldcg(&t.weight[i]) : 0;
    for (int k = 0; k < EACH; k++) {
        const int column = threadIdx.x / 32 + k * TILES;
        raw[k] = column < GPU_BLOCK && i < end ? ((const T *)columns[column].x)[i] : T(0);
    }
}

/* Stores sqrt(w) z of the loaded values; samples past the end have weight 0. */
template <typename T>
__device__ void store_chunk(const gram_column *columns, const T (&raw)[EACH], double weight,
                            double *chunk)
{
    const double root = sqrt(weight);
    for (int k = 0; k < EACH; k++) {
        const int column = threadIdx.x / 32 + k * TILES;
        if (column < GPU_BLOCK)
            chunk[column * PITCH + threadIdx.x % 32] =
                ((double)raw[k] - columns[column].center) * columns[column].factor * root;
    }
}

template <typename T> __global__ void __launch_bounds__(GRAM_THREADS) gram_kernel(gram_task t)
{
    __shared__ double chunk[GPU_BLOCK * PITCH];
    __shared__ gram_column columns[GPU_BLOCK];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t first = blockIdx.x * (int64_t)GPU_BLOCK;
    const int64_t from = blockIdx.y * t.rows;
    const int64_t end = from + t.rows < t.n ? from + t.rows : t.n;
    int down = 0; /* tile (down, across) of the lower triangle */
    while ((down + 1) * (down + 2) / 2 <= warp)
        down++;
    const int across = warp - down * (down + 1) / 2;
    const double *left = chunk + (down * TILE + lane / 4) * PITCH + lane % 4;
    const double *right = chunk + (across * TILE + lane / 4) * PITCH + lane % 4;

    double sum[2][4][4] = {}, weight;
    T raw[EACH];
    load_columns(t, first, columns);
    __syncthreads();
    load_chunk<T>(t, columns, from, end, raw, weight);
    for (int64_t begin = from; begin < end; begin += CHUNK) {
        __syncthreads();
        store_chunk<T>(columns, raw, weight, chunk);
        __syncthreads();
        if (begin + CHUNK < end)
            load_chunk<T>(t, columns, begin + CHUNK, end, raw, weight);
#pragma unroll
        for (int i = 0; i < CHUNK; i += 8) {
            double a[2][4], b[4][2];
            for (int q = 0; q < 2; q++)
                for (int k = 0; k < 4; k++)
                    a[q][k] = left[(q * 16 + k % 2 * 8) * PITCH + i + k / 2 * 4];
            for (int p = 0; p < 4; p++)
                for (int k = 0; k < 2; k++)
                    b[p][k] = right[p * 8 * PITCH + i + k * 4];
            for (int q = 0; q < 2; q++)
                for (int p = 0; p < 4; p++)
                    multiply(sum[q][p], a[q], b[p]);
        }
    }
    wait_for_last(); /* only to keep the order of kernels */
    double *out =
        t.partial + ((blockIdx.x * (int64_t)gridDim.y + blockIdx.y) * TILES + warp) * TILE_VALUES;
    for (int q = 0; q < 2; q++)
        for (int p = 0; p < 4; p++)
            for (int k = 0; k < 4; k++)
                out[(q * 16 + k / 2 * 8 + lane / 4) * TILE + p * 8 + lane % 4 * 2 + k % 2] =
                    sum[q][p][k];
}

/* Adds the splits in order and puts each tile in its place. */
__global__ void __launch_bounds__(TILE_VALUES / 4)
    join_gram_kernel(const double *partial, int64_t splits, double *gram)
{
    const int tile = blockIdx.y;
    int down = 0;
    wait_for_last();
    while ((down + 1) * (down + 2) / 2 <= tile)
        down++;
    const int across = tile - down * (down + 1) / 2;
    const int at = blockIdx.z * (TILE_VALUES / 4) + threadIdx.x;
    const double *from = partial + (blockIdx.x * splits * TILES + tile) * TILE_VALUES + at;
    double sum = 0;
#pragma unroll 8
    for (int64_t s = 0; s < splits; s++)
        sum += from[s * TILES * TILE_VALUES];
    gram[blockIdx.x * (int64_t)GPU_BLOCK * GPU_BLOCK + (down * TILE + at / TILE) * GPU_BLOCK +
         across * TILE + at % TILE] = sum;
}

/* Gives at most as many blocks of threads as processors, so that all run at the same time. */
int64_t gram_splits(const device *d, int64_t blocks)
{
    const int64_t chunks = ceil_div(d->shape.n, CHUNK);
    int64_t splits = d->processors / blocks;
    splits = splits < chunks / 4 ? splits : chunks / 4;
    return splits > 1 ? splits : 1;
}

roofs_status gpu_gram_blocks(device *d, const gpu_column *list, int64_t count, const double *weight,
                             const gram_buffers *to, roofs_error *err)
{
    const int64_t blocks = ceil_div(count, GPU_BLOCK), splits = to->splits;
    const int64_t rows = ceil_div(ceil_div(d->shape.n, splits), CHUNK) * CHUNK;
    const gram_task task = {list, count, d->shape.n, rows, weight, to->partial};
    const dim3 grid((unsigned)blocks, (unsigned)splits);
    CUDA_TRY(launch_next(d->has_clusters,
                         d->size == sizeof(float) ? gram_kernel<float> : gram_kernel<double>, grid,
                         GRAM_THREADS, 0, d->stream, task));
    CUDA_TRY(launch_next(d->has_clusters, join_gram_kernel, dim3((unsigned)blocks, TILES, 4),
                         TILE_VALUES / 4, 0, d->stream, to->partial, splits, to->gram));
    return ROOFS_OK;
}
