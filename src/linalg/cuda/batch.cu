/* The batch that is worked on: how it comes, and what is known about it. Those after it come over
 * meanwhile. */
#include "linalg/cuda/device_cuda.cuh"
#include "linalg/moments_formula.h"

extern "C" {
#include "linalg/block.h"
}

#include <cmath>
#include <cstring>

static cudaPointerAttributes place_of(const void *values)
{
    cudaPointerAttributes where = {};
    if (cudaPointerGetAttributes(&where, values) != cudaSuccess) {
        cudaGetLastError();
        where.type = cudaMemoryTypeUnregistered;
    }
    return where;
}

int cuda_holds(const void *values)
{
    const cudaMemoryType type = place_of(values).type;
    return type == cudaMemoryTypeDevice || type == cudaMemoryTypeManaged;
}

/* Managed memory is wherever it is needed. */
static roofs_status check_gpu(const void *values, roofs_error *err)
{
    const cudaPointerAttributes where = place_of(values);
    int gpu = 0;
    CUDA_TRY(cudaGetDevice(&gpu));
    if (where.type == cudaMemoryTypeManaged || where.device == gpu)
        return ROOFS_OK;
    return fail(
        err, ROOFS_BAD_DATA,
        "device cuda: features lie on GPU %d, but the fit is on GPU %d, CUDA's current one; "
        "make theirs the current one before the fit, or bring them over",
        where.device, gpu);
}

/* ---- on its way ----------------------------------------------------------- */

/* Does `b` begin with feature `first` of `all`? */
static int begins_at(const roofs_block *all, int64_t first, const roofs_block *b)
{
    const int64_t size = all->dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    const int64_t number = all->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    if (b->n != all->n || b->dtype != all->dtype || block_is_sparse(b) != block_is_sparse(all))
        return 0;
    if (block_is_sparse(all))
        return b->starts == (const char *)all->starts + first * number && b->index == all->index &&
               b->values == all->values && b->samples == all->samples;
    return b->values == (const char *)all->values + first * all->feature_stride * size &&
           b->feature_stride == all->feature_stride && b->sample_stride == all->sample_stride;
}

/* Is `b` what follows the batches that have been received: all of it, or one more batch? */
static int is_next(const device *d, const roofs_block *b)
{
    const int64_t first = d->received * d->shape.batch, left = d->expected.count - first;
    const int64_t batch = left < d->shape.batch ? left : d->shape.batch;
    return d->expects && begins_at(&d->expected, first, b) &&
           (b->count == batch || b->count == left);
}

/* Columns of the batch that was in a room before are kept before it is written over. */
static roofs_status ship(device *d, int room, const roofs_block *block, int64_t batches,
                         roofs_error *err)
{
    const gpu_shipment what = {*block, room};
    d->expected = *block;
    d->received = 0;
    d->expects = 1;
    CUDA_TRY(cudaStreamWaitEvent(d->copies, d->kept, 0));
    gpu_team_ship(d->team, &what, batches);
    return ROOFS_OK;
}

/* The room of the batch before this one is free. */
static roofs_status ship_on(device *d, roofs_error *err)
{
    CUDA_TRY(cudaStreamWaitEvent(d->copies, d->kept, 0));
    gpu_team_allow(d->team, d->received + RING - 1);
    return ROOFS_OK;
}

static roofs_status receive(device *d, roofs_error *err)
{
    if (d->early == d->turn)
        CUDA_TRY(cudaEventSynchronize(d->looked)); /* so it is here */
    else
        TRY(gpu_team_wait(d->team, d->received, d->stream, err));
    d->received++;
    d->expects = d->received * d->shape.batch < d->expected.count;
    d->borrowed = d->rooms[d->turn];
    d->borrowed_stride = d->lead * d->size;
    d->borrowed_is_ours = 1;
    return ROOFS_OK;
}

/* ---- on the GPU already ----------------------------------------------------- */

template <typename To, typename From>
__global__ void convert_kernel(To *to, int64_t lead, const From *from, int64_t n, int64_t count,
                               int64_t feature_stride, int64_t sample_stride)
{
    for (int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; at < n * count;
         at += (int64_t)gridDim.x * blockDim.x) {
        const int64_t k = at / n, i = at % n;
        to[k * lead + i] = (To)from[k * feature_stride + i * sample_stride];
    }
}

/* A block that lies on the GPU is used there; copied, on the GPU, where it has another type,
 * another order or columns that begin at odd places. */
static roofs_status borrow_there(device *d, const roofs_block *b, roofs_error *err)
{
    const int64_t size = b->dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    const int64_t stride = b->feature_stride * size;
    char *room = d->rooms[d->turn];
    TRY(check_gpu(b->values, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* whoever made it has finished */
    d->borrowed_is_ours = 0;
    if (b->sample_stride == 1 && size == d->size && (uintptr_t)b->values % 16 == 0 &&
        stride % 16 == 0 && b->n * size % 16 == 0) {
        d->borrowed = (const char *)b->values;
        d->borrowed_stride = stride;
        return ROOFS_OK;
    }
    const int blocks = d->processors * 8;
#define CONVERT(To, From)                                                                          \
    convert_kernel<<<blocks, 256, 0, d->stream>>>((To *)room, d->lead, (const From *)b->values,    \
                                                  b->n, b->count, b->feature_stride,               \
                                                  b->sample_stride)
    if (d->size == sizeof(float) && size == sizeof(float))
        CONVERT(float, float);
    else if (d->size == sizeof(float))
        CONVERT(float, double);
    else if (size == sizeof(float))
        CONVERT(double, float);
    else
        CONVERT(double, double);
#undef CONVERT
    LAUNCHED();
    d->borrowed = room;
    d->borrowed_stride = d->lead * d->size;
    d->borrowed_is_ours = 1;
    return ROOFS_OK;
}

/* Nothing that still runs may be written over, nor read a block that is about to go. */
static roofs_status wait_for_all(device *d, roofs_error *err)
{
    d->expects = d->is_due = 0;
    d->early = -1;
    TRY(gpu_team_stop(d->team, err));
    CUDA_TRY(cudaStreamSynchronize(d->looks));
    CUDA_TRY(cudaStreamSynchronize(d->copies));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* ---- what is known about it ---------------------------------------------- */

template <typename T> struct view {
    const char *base;
    int64_t stride, n;

    __device__ const T *column(int64_t k) const
    {
        return (const T *)(base + k * stride);
    }
};

struct look_there {
    const double *weight;
    double total;
    int64_t first; /* sample with a weight */
    int centred, flatness;
};

enum { SURVEY_THREADS = 512, SURVEY_HELD = 20 };

/* A feature's values: those of each thread are in registers, where there are not too many. */
template <typename T, bool HELD> struct surveyed {
    const T *x;
    int64_t n;
    T held[HELD ? SURVEY_HELD : 1];

    __device__ surveyed(const T *column, int64_t samples) : x(column), n(samples)
    {
        each([&](int e, int64_t i) {
            if (HELD)
                held[e] = x[i];
        });
    }

    __device__ double value(int e, int64_t i) const
    {
        return (double)(HELD ? held[e] : x[i]);
    }

    /* act(e, i) for each of this thread's samples, the e-th of which is i. */
    template <typename Act> __device__ void each(Act act) const
    {
        if constexpr (HELD) {
#pragma unroll
            for (int e = 0; e < SURVEY_HELD; e++)
                if (threadIdx.x + e * SURVEY_THREADS < n)
                    act(e, threadIdx.x + e * SURVEY_THREADS);
        } else {
            for (int64_t i = threadIdx.x; i < n; i += SURVEY_THREADS)
                act(0, i);
        }
    }
};

/* One block of threads for one feature. */
template <typename T, bool HELD>
__global__ void __launch_bounds__(SURVEY_THREADS)
    survey_kernel(view<T> batch, look_there look, device_facts *facts)
{
    __shared__ double room[32 * 2];
    __shared__ unsigned long long bad;
    const T *x = batch.column(blockIdx.x);
    if (threadIdx.x == 0)
        bad = ~0ull;
    __syncthreads();
    const surveyed<T, HELD> all(x, batch.n);
    const double origin = look.weight ? (double)x[look.first] : 0;
    double largest = 0, sums[2] = {0, 0}; /* of weights times values; of values that differ */
    all.each([&](int e, int64_t i) {
        const double value = all.value(e, i), size = fabs(value);
        if (!(size <= 1.7976931348623157e308))
            atomicMin(&bad, (unsigned long long)i);
        largest = size > largest ? size : largest;
        if (look.weight) {
            sums[0] += mean_term(value, origin, look.weight[i]);
            sums[1] += differs_from_origin(value, origin, look.weight[i]);
        }
    });
    largest = block_max(largest, room);
    block_sum(sums, room);
    device_facts out = {};
    out.not_finite = bad == ~0ull ? -1 : (int64_t)bad;
    out.largest = largest;
    if (look.weight && out.not_finite < 0) {
        out.mean = mean_of(sums[0], look.total, origin);
        out.constant = sums[1] == 0;
        const double about = look.centred ? out.mean : 0;
        double squares[1] = {0}, fourths[1] = {0};
        all.each([&](int e, int64_t i) {
            squares[0] += scale_term(all.value(e, i), about, look.weight[i]);
        });
        block_sum(squares, room);
        out.scale = scale_of(squares[0], look.total);
        if (look.flatness && out.scale > 0) {
            const double factor = 1 / out.scale;
            all.each([&](int e, int64_t i) {
                fourths[0] += flatness_term(all.value(e, i), about, factor, look.weight[i]);
            });
            block_sum(fourths, room);
            out.flatness = flatness_of(fourths[0], look.total);
        }
    }
    if (threadIdx.x == 0)
        facts[blockIdx.x] = out;
}

template <typename T>
static void survey_all(const device *d, const char *batch, int64_t stride, int64_t count,
                       const look_there &how, device_facts *facts, cudaStream_t stream)
{
    const view<T> all = {batch, stride, d->shape.n};
    if (all.n <= SURVEY_THREADS * SURVEY_HELD)
        survey_kernel<T, true><<<(unsigned)count, SURVEY_THREADS, 0, stream>>>(all, how, facts);
    else
        survey_kernel<T, false><<<(unsigned)count, SURVEY_THREADS, 0, stream>>>(all, how, facts);
}

static roofs_status launch_survey(const device *d, const char *batch, int64_t stride, int64_t count,
                                  const look_there &how, device_facts *facts, cudaStream_t stream,
                                  roofs_error *err)
{
    if (d->size == sizeof(float))
        survey_all<float>(d, batch, stride, count, how, facts, stream);
    else
        survey_all<double>(d, batch, stride, count, how, facts, stream);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status bring_weight(device *d, const double *here, const double **there,
                                 roofs_error *err)
{
    const int64_t bytes = d->shape.n * (int64_t)sizeof(double);
    *there = here == d->weight_here ? d->weight_there : d->vector[0];
    if (here == d->weight_here)
        return ROOFS_OK;
    memcpy(d->stage, here, (size_t)bytes);
    return gpu_bring(d, d->vector[0], d->stage, bytes, err);
}

static roofs_status survey(device *d, const device_look *look, roofs_error *err)
{
    const int64_t n = d->shape.n;
    look_there how = {nullptr, look->total, 0, look->centred, look->flatness};
    if (look->weight) {
        how.first = moments_origin(look->weight, n);
        TRY(bring_weight(d, look->weight, &how.weight, err));
    }
    TRY(launch_survey(d, d->borrowed, d->borrowed_stride, d->borrowed_count, how, d->facts,
                      d->stream, err));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* A look without weights does not need the fit: the next batch is looked at while this one is
 * worked on, if it is there. */
static roofs_status look_early(device *d, roofs_error *err)
{
    const int64_t room = (d->turn + 1) % RING,
                  left = d->expected.count - d->received * d->shape.batch;
    if (!d->looks_are_plain || !gpu_team_has_sent(d->team, d->received))
        return ROOFS_OK;
    TRY(gpu_team_wait(d->team, d->received, d->looks, err));
    TRY(launch_survey(d, d->rooms[room], d->lead * d->size,
                      left < d->shape.batch ? left : d->shape.batch, {}, d->early_facts, d->looks,
                      err));
    CUDA_TRY(cudaEventRecord(d->looked, d->looks));
    d->early = room;
    return ROOFS_OK;
}

/* Once: the batch may be changed after it. */
static roofs_status take_early(device *d)
{
    d->early = -1;
    memcpy(d->facts, d->early_facts, (size_t)d->borrowed_count * sizeof *d->facts);
    return ROOFS_OK;
}

void cuda_survey(device *d, const device_look *look, device_facts *facts)
{
    const int is_early = !look->weight && d->early == d->turn;
    d->looks_are_plain = !look->weight;
    for (int64_t k = 0; k < d->borrowed_count; k++)
        facts[k] = device_facts{-1, 0, 0, 0, 0, 0};
    if (d->borrowed_count == 0)
        return;
    const roofs_status status = is_early ? take_early(d) : survey(d, look, &d->trouble);
    if (status == ROOFS_OK)
        memcpy(facts, d->facts, (size_t)d->borrowed_count * sizeof *facts);
}

roofs_status cuda_check(device *d, roofs_error *err)
{
    if (d->trouble.status == ROOFS_OK)
        return ROOFS_OK;
    if (err)
        *err = d->trouble;
    return d->trouble.status;
}

template <typename T> __global__ void rescale_kernel(T *to, const T *from, int exponent, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = (T)ldexp((double)from[i], -exponent);
}

/* What is not ours is copied first: the caller's values stay as they are. */
roofs_status cuda_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    const int64_t stride = d->lead * d->size;
    char *room = d->rooms[d->turn];
    if (!d->borrowed_is_ours) {
        CUDA_TRY(cudaMemcpy2DAsync(room, (size_t)stride, d->borrowed, (size_t)d->borrowed_stride,
                                   (size_t)(d->shape.n * d->size), (size_t)d->borrowed_count,
                                   cudaMemcpyDeviceToDevice, d->stream));
        d->borrowed = room;
        d->borrowed_stride = stride;
        d->borrowed_is_ours = 1;
    }
    char *column = room + k * stride;
    const unsigned blocks = (unsigned)ceil_div(d->shape.n, 256);
    if (d->size == sizeof(float))
        rescale_kernel<<<blocks, 256, 0, d->stream>>>((float *)column, (const float *)column,
                                                      exponent, d->shape.n);
    else
        rescale_kernel<<<blocks, 256, 0, d->stream>>>((double *)column, (const double *)column,
                                                      exponent, d->shape.n);
    LAUNCHED();
    return ROOFS_OK;
}

/* ---- one batch after the other ----------------------------------------------- */

void gpu_expect_now(device *d)
{
    const roofs_block *rest = &d->due;
    if (!d->is_due || d->trouble.status != ROOFS_OK)
        return;
    d->is_due = 0;
    if (rest->count == 0 || (!block_is_sparse(rest) && cuda_holds(rest->values)))
        return;
    if (is_next(d, rest)) {
        if (ship_on(d, &d->trouble) == ROOFS_OK)
            (void)look_early(d, &d->trouble);
    } else if (!d->expects || wait_for_all(d, &d->trouble) == ROOFS_OK) {
        (void)ship(d, (d->turn + 1) % RING, rest, RING - 1, &d->trouble);
    }
}

void cuda_expect(device *d, const roofs_block *rest)
{
    roofs_error more = {}; /* trouble that is known stays */
    d->is_due = rest != nullptr;
    if (rest)
        d->due = *rest;
    else
        (void)wait_for_all(d, d->trouble.status == ROOFS_OK ? &d->trouble : &more);
}

roofs_status cuda_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    gpu_expect_now(d); /* no round has been made since */
    TRY(cuda_check(d, err));
    TRY(gpu_flush(d, err));
    d->turn = (d->turn + 1) % RING;
    d->borrowed_count = block->count;
    if (is_next(d, block))
        return receive(d, err);
    TRY(wait_for_all(d, err));
    if (block->count == 0)
        return ROOFS_OK;
    if (!block_is_sparse(block) && cuda_holds(block->values))
        return borrow_there(d, block, err);
    TRY(ship(d, d->turn, block, 1, err));
    return receive(d, err);
}
