/* A sweep over columns, in blocks of 128. The small Gram matrices do not depend on the residual, so
 * they are computed first. Then, for each block of columns, the strips of samples update their
 * residuals by the moves of the last block and sum the slopes of the next, and one block of threads
 * decides the moves. Where all strips fit on the GPU at once, this is one kernel: the strips hold
 * their residuals and the last block, and load the next one during the decision. Otherwise it is a
 * chain of kernels. */
#include "method/cuda/decide.cuh"
#include "method/cuda/strip.cuh"

struct sweep_task {
    const gpu_column *list;
    int64_t count, blocks;
    const double *w;
    double *r, *V;
    int64_t n;
    int rows;    /* samples of a strip, a multiple of 16 */
    int reset_V; /* V starts at zero */
    double *slopes;
    decide_task decide;
};

__device__ static int width_of(int64_t count, int64_t block)
{
    const int64_t left = count - block * GPU_BLOCK;
    return left < GPU_BLOCK ? (int)left : GPU_BLOCK;
}

__global__ void prepare_kernel(bayes_columns columns, const int32_t *which, int64_t count,
                               const double *gram, bayes_report *numbers, coordinate *out)
{
    const int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    wait_for_last();
    if (at == 0)
        numbers->barrier = {};
    if (at >= count)
        return;
    const double d = gram[at * GPU_BLOCK + at % GPU_BLOCK];
    out[at] = prepare(columns, which ? which[at] : at, d, numbers->samples, numbers->prior);
}

/* ---- one kernel ------------------------------------------------------------------------ */

__device__ static void barrier_arrive(unsigned *counter)
{
    __syncthreads(); /* all threads have written their results */
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1u);
    }
}

__device__ static void barrier_wait(const unsigned *counter, unsigned wanted)
{
    if (threadIdx.x == 0) {
        unsigned now;
        do
            asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
        while (now < wanted);
    }
    __syncthreads();
}

template <typename T>
__device__ static void strip_blocks(const sweep_task &t, strip_shared &shared, T *tiles)
{
    const strip s = strip_of(t.n, t.rows);
    const int64_t i = s.begin + threadIdx.x;
    const int mine = (int)threadIdx.x < s.mine;
    double r = mine ? t.r[i] : 0, w = mine ? t.w[i] : 0, V = mine && !t.reset_V ? t.V[i] : 0;
    strip_load(s, t.list, width_of(t.count, 0), shared.columns[0], tiles);
    for (int64_t b = 0; b <= t.blocks; b++) {
        const int now = b % 2, last = 1 - now;
        if (b > 0) {
            barrier_wait(&t.decide.barrier->decided, (unsigned)b);
            if (threadIdx.x < GPU_BLOCK)
                shared.moves[threadIdx.x] = strip_move_of(shared.columns[last][threadIdx.x],
                                                          __ldcg(&t.decide.delta[threadIdx.x]),
                                                          __ldcg(&t.decide.spread[threadIdx.x]));
            __syncthreads();
            strip_follow(s, tiles + last * GPU_BLOCK * s.rows, width_of(t.count, b - 1), shared, r,
                         V);
        }
        if (b == t.blocks)
            break;
        __pipeline_wait_prior(0);
        strip_slopes(s, tiles + now * GPU_BLOCK * s.rows, shared.columns[now], width_of(t.count, b),
                     shared, r, w, t.slopes + blockIdx.x * (int64_t)GPU_BLOCK);
        barrier_arrive(&t.decide.barrier->summed);
        if (b + 1 < t.blocks)
            strip_load(s, t.list + (b + 1) * GPU_BLOCK, width_of(t.count, b + 1),
                       shared.columns[last], tiles + last * GPU_BLOCK * s.rows);
    }
    if (mine) {
        t.r[i] = r;
        t.V[i] = V;
    }
}

__device__ static void decide_blocks(const sweep_task &t, decide_shared &shared)
{
    const unsigned strips = (unsigned)t.decide.strips;
    decide_known known = {};
    double largest = 0;
    decide_load(t.decide, 0, known);
    for (int64_t b = 0; b < t.blocks; b++) {
        coordinate_estimate answer = {};
        barrier_wait(&t.decide.barrier->summed, strips * (unsigned)(b + 1));
        const double slope = decide_slope(t.decide, shared);
        const double delta = decide_moves(known, slope, shared, answer);
        decide_publish(t.decide, b, delta, answer);
        barrier_arrive(&t.decide.barrier->decided);
        largest = fmax(largest, threadIdx.x < GPU_BLOCK ? fabs(delta) : 0);
        decide_write(t.decide, b, known.c, delta, answer);
        if (b + 1 < t.blocks)
            decide_load(t.decide, b + 1, known);
    }
    largest = block_max(largest, shared.scratch);
    if (threadIdx.x == 0)
        t.decide.barrier->largest_move = largest;
}

/* One block of threads for each strip, and one for the decisions: all are resident at once. */
template <typename T> __global__ void __launch_bounds__(STRIP_THREADS, 1) sweep_kernel(sweep_task t)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ union {
        strip_shared strip;
        decide_shared decide;
    } shared;
    static_assert((int)STRIP_THREADS == (int)DECIDE_THREADS, "both sides are in one kernel");
    if (blockIdx.x < t.decide.strips)
        strip_blocks(t, shared.strip, (T *)memory);
    else
        decide_blocks(t, shared.decide);
}

/* ---- a chain of kernels -------------------------------------------------------------------- */

/* Columns do not change in a sweep, so they are loaded before the last block is decided. */
template <typename T>
__global__ void __launch_bounds__(STRIP_THREADS) strip_kernel(sweep_task t, int64_t b)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ strip_shared shared;
    const strip s = strip_of(t.n, t.rows);
    const int64_t i = s.begin + threadIdx.x;
    const int mine = (int)threadIdx.x < s.mine;
    const int last = b > 0 ? width_of(t.count, b - 1) : 0;
    const int next = b < t.blocks ? width_of(t.count, b) : 0;
    T *last_tile = (T *)memory, *next_tile = last_tile + GPU_BLOCK * s.rows;
    if (b > 0) /* the first decision needs the results of prepare_kernel */
        let_next_begin();
    strip_load(s, t.list + (b - 1) * GPU_BLOCK, last, shared.columns[0], last_tile);
    strip_load(s, t.list + b * GPU_BLOCK, next, shared.columns[1], next_tile);
    wait_for_last();
    double r = mine ? t.r[i] : 0, w = mine ? t.w[i] : 0,
           V = mine && (b > 0 || !t.reset_V) ? t.V[i] : 0;
    if ((int)threadIdx.x < last)
        shared.moves[threadIdx.x] =
            strip_move_of(shared.columns[0][threadIdx.x], t.decide.delta[threadIdx.x],
                          t.decide.spread[threadIdx.x]);
    __pipeline_wait_prior(0);
    __syncthreads();
    strip_follow(s, last_tile, last, shared, r, V);
    if (mine) {
        t.r[i] = r;
        t.V[i] = V;
    }
    strip_slopes(s, next_tile, shared.columns[1], next, shared, r, w,
                 t.slopes + blockIdx.x * (int64_t)GPU_BLOCK);
}

__global__ void __launch_bounds__(DECIDE_THREADS) decide_kernel(decide_task t, int64_t b)
{
    __shared__ decide_shared shared;
    decide_known known = {};
    coordinate_estimate answer = {};
    decide_load(t, b, known);
    wait_for_last(); /* for the slopes; the loads above are constant in a sweep */
    const double slope = decide_slope(t, shared);
    const double delta = decide_moves(known, slope, shared, answer);
    decide_publish(t, b, delta, answer);
    decide_write(t, b, known.c, delta, answer);
    const double largest = block_max(threadIdx.x < GPU_BLOCK ? fabs(delta) : 0, shared.scratch);
    if (threadIdx.x == 0)
        t.barrier->largest_move = fmax(t.barrier->largest_move, largest);
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Samples of a strip at most, a multiple of 16. */
static int most_rows(const device *d)
{
    const int most = d->size == sizeof(float) ? strip_most<float>() : strip_most<double>();
    const int64_t tiles = d->shared_most - STRIP_OTHER;
    const int64_t fit = tiles / (2 * GPU_BLOCK * d->size) / 16 * 16;
    return (int)(fit < most ? fit : most);
}

/* About one strip for each processor, and one processor for the decisions. */
static int strip_rows(const device *d)
{
    const int most = most_rows(d);
    const int64_t rows = ceil_div(ceil_div(d->shape.n, d->processors - 6), 16) * 16;
    return (int)(rows < STRIP_LEAST ? STRIP_LEAST : rows > most ? most : rows);
}

int64_t bayes_slopes(const device *d)
{
    return ceil_div(d->shape.n, strip_rows(d)) * GPU_BLOCK;
}

/* Sets the upper bound for all strips, because other fits may run at the same time. */
roofs_status bayes_configure(const device *d, roofs_error *err)
{
    const int bytes = 2 * GPU_BLOCK * most_rows(d) * (int)d->size;
    for (const void *kernel :
         {(const void *)strip_kernel<float>, (const void *)strip_kernel<double>,
          (const void *)sweep_kernel<float>, (const void *)sweep_kernel<double>})
        CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    return ROOFS_OK;
}

static roofs_status launch_sweep(device *d, const sweep_task &task, size_t shared, roofs_error *err)
{
    const void *kernel = d->size == sizeof(float) ? (const void *)sweep_kernel<float>
                                                  : (const void *)sweep_kernel<double>;
    sweep_task copy = task;
    void *arguments[] = {&copy};
    CUDA_TRY(cudaLaunchCooperativeKernel(kernel, dim3((unsigned)task.decide.strips + 1),
                                         dim3(STRIP_THREADS), arguments, shared, d->stream));
    return ROOFS_OK;
}

static roofs_status launch_sweep_chain(device *d, const sweep_task &task, size_t shared,
                                       roofs_error *err)
{
    void (*kernel)(sweep_task, int64_t) =
        d->size == sizeof(float) ? strip_kernel<float> : strip_kernel<double>;
    const unsigned strips = (unsigned)task.decide.strips;
    for (int64_t b = 0; b <= task.blocks; b++) {
        CUDA_TRY(launch_next(d->has_clusters, kernel, strips, STRIP_THREADS, shared, d->stream,
                             task, b));
        if (b < task.blocks)
            CUDA_TRY(launch_next(d->has_clusters, decide_kernel, 1, DECIDE_THREADS, 0, d->stream,
                                 task.decide, b));
    }
    return ROOFS_OK;
}

roofs_status bayes_sweep(bayes_gpu *s, const gpu_column *list, int64_t count, const int32_t *which,
                         roofs_error *err)
{
    device *d = s->d;
    const int64_t n = d->shape.n, blocks = ceil_div(count, GPU_BLOCK);
    const int rows = strip_rows(d);
    const size_t shared = (size_t)(2 * GPU_BLOCK * rows * d->size);
    s->gram.splits = gram_splits(d, blocks);
    TRY(gpu_gram_blocks(d, list, count, s->samples.W, &s->gram, err));
    CUDA_TRY(launch_next(d->has_clusters, prepare_kernel, (unsigned)ceil_div(count, 64), 64, 0,
                         d->stream, s->columns[s->side], which, count, s->gram.gram, s->numbers,
                         s->prepared));
    const decide_task decide = {.columns = s->columns[s->side],
                                .which = which,
                                .count = count,
                                .prepared = s->prepared,
                                .gram = s->gram.gram,
                                .slopes = s->slopes,
                                .strips = ceil_div(n, rows),
                                .prior = s->prior,
                                .delta = s->delta,
                                .spread = s->spread,
                                .barrier = &s->numbers->barrier};
    const sweep_task task = {.list = list,
                             .count = count,
                             .blocks = blocks,
                             .w = s->samples.W,
                             .r = s->samples.r,
                             .V = s->samples.V,
                             .n = n,
                             .rows = rows,
                             .reset_V = !which,
                             .slopes = s->slopes,
                             .decide = decide};
    if (decide.strips < d->processors)
        return launch_sweep(d, task, shared, err);
    return launch_sweep_chain(d, task, shared, err);
}
