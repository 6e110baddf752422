/* Upload and survey of the borrowed batch. Later batches are uploaded at the same time. */
#include "linalg/cuda/device_cuda.cuh"
#include "linalg/moments_formula.h"

extern "C" {
#include "base/block.h"
}

#include <cmath>
#include <cstring>

static cudaPointerAttributes attributes_of(const void *values)
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
    const cudaMemoryType type = attributes_of(values).type;
    return type == cudaMemoryTypeDevice || type == cudaMemoryTypeManaged;
}

/* Every GPU can read managed memory. */
static roofs_status check_same_gpu(const void *values, roofs_error *err)
{
    const cudaPointerAttributes where = attributes_of(values);
    int gpu = 0;
    CUDA_TRY(cudaGetDevice(&gpu));
    if (where.type == cudaMemoryTypeManaged || where.device == gpu)
        return ROOFS_OK;
    return fail(
        err, ROOFS_BAD_DATA,
        "device cuda: the features are on GPU %d, but the fit uses GPU %d, the current device of "
        "CUDA; select the GPU of the features before the fit, or copy the features",
        where.device, gpu);
}

/* ---- uploads -------------------------------------------------------------- */

/* True if `b` begins with feature `first` of `all`. */
static int begins_at(const roofs_block *all, int64_t first, const roofs_block *b)
{
    const int64_t size = dtype_size(all->dtype);
    const int64_t number = all->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    if (b->n != all->n || b->dtype != all->dtype || block_is_sparse(b) != block_is_sparse(all))
        return 0;
    if (block_is_sparse(all))
        return b->starts == (const char *)all->starts + first * number && b->index == all->index &&
               b->values == all->values && b->samples == all->samples;
    if (b->levels != (all->levels ? all->levels + 4 * first : NULL))
        return 0;
    return b->values == (const char *)all->values + first * all->feature_stride * size &&
           b->feature_stride == all->feature_stride && b->sample_stride == all->sample_stride;
}

/* True if `b` is the next batch of the upload, or all of its features from that batch on. */
static int is_next_of_upload(const device *d, const roofs_block *b)
{
    const int64_t first = d->received * d->shape.batch, left = d->upload.count - first;
    const int64_t batch = left < d->shape.batch ? left : d->shape.batch;
    return d->is_uploading && begins_at(&d->upload, first, b) &&
           (b->count == batch || b->count == left);
}

/* Starts the upload of the first `batches` batches to batches[first] and those after it. Uploads
 * wait until the kept columns of an overwritten batch are in their slots. */
static roofs_status start_upload(device *d, int first, const roofs_block *block, int64_t batches,
                                 roofs_error *err)
{
    const gpu_upload what = {*block, first};
    d->upload = *block;
    d->received = 0;
    d->is_uploading = 1;
    CUDA_TRY(cudaStreamWaitEvent(d->uploads, d->slots_written, 0));
    upload_team_start(d->team, &what, batches);
    return ROOFS_OK;
}

/* Allows the upload to overwrite the batch before the borrowed one. */
static roofs_status continue_upload(device *d, roofs_error *err)
{
    CUDA_TRY(cudaStreamWaitEvent(d->uploads, d->slots_written, 0));
    upload_team_allow(d->team, d->received + RING - 1);
    return ROOFS_OK;
}

/* The survey of a batch has waited for its upload. */
static roofs_status receive_batch(device *d, roofs_error *err)
{
    if (d->surveyed_ahead == d->ring_at)
        CUDA_TRY(cudaEventSynchronize(d->survey_done));
    else
        TRY(upload_team_wait(d->team, d->received, d->stream, err));
    d->received++;
    d->is_uploading = d->received * d->shape.batch < d->upload.count;
    d->borrowed = d->batches[d->ring_at];
    d->borrowed_stride = d->lead * d->size;
    d->borrowed_is_ours = 1;
    return ROOFS_OK;
}

/* ---- blocks that are on the GPU --------------------------------------------- */

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

/* Uses a block on the GPU in place. Copies it, on the GPU, if it has another type, another order or
 * columns that are not aligned. */
static roofs_status borrow_from_gpu(device *d, const roofs_block *b, roofs_error *err)
{
    const int64_t size = dtype_size(b->dtype);
    const int64_t stride = b->feature_stride * size;
    char *copy = d->batches[d->ring_at];
    if (dtype_is_packed(b->dtype))
        return fail(err, ROOFS_BAD_DATA,
                    "device cuda: features in 8 or 2 bits are in the memory of the GPU; convert "
                    "them to 32-bit or 64-bit values, or pass them in main memory");
    TRY(check_same_gpu(b->values, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* other streams may still compute its values */
    d->borrowed_is_ours = 0;
    if (b->sample_stride == 1 && size == d->size && (uintptr_t)b->values % 16 == 0 &&
        stride % 16 == 0 && b->n * size % 16 == 0) {
        d->borrowed = (const char *)b->values;
        d->borrowed_stride = stride;
        return ROOFS_OK;
    }
    const int blocks = d->processors * 8;
#define CONVERT(To, From)                                                                          \
    convert_kernel<<<blocks, 256, 0, d->stream>>>((To *)copy, d->lead, (const From *)b->values,    \
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
    d->borrowed = copy;
    d->borrowed_stride = d->lead * d->size;
    d->borrowed_is_ours = 1;
    return ROOFS_OK;
}

/* Waits for all uploads and kernels. Then buffers may be overwritten, and the caller may free its
 * block. */
static roofs_status stop_uploads(device *d, roofs_error *err)
{
    d->is_uploading = d->has_hint = 0;
    d->surveyed_ahead = -1;
    TRY(upload_team_stop(d->team, err));
    CUDA_TRY(cudaStreamSynchronize(d->surveys));
    CUDA_TRY(cudaStreamSynchronize(d->uploads));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* ---- surveys ------------------------------------------------------------- */

template <typename T> struct view {
    const char *base;
    int64_t stride, n;

    __device__ const T *column(int64_t k) const
    {
        return (const T *)(base + k * stride);
    }
};

struct survey_task {
    const double *weight;
    double total;
    int64_t first; /* sample with a weight */
    int centred, flatness;
};

enum { SURVEY_THREADS = 512, SURVEY_HELD = 20 };

/* The values of a feature. If they are few enough (HELD), each thread has its values in registers.
 */
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

    /* Calls act(e, i) for sample i, the e-th of this thread. */
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

/* One block of threads per feature. */
template <typename T, bool HELD>
__global__ void __launch_bounds__(SURVEY_THREADS)
    survey_kernel(view<T> batch, survey_task how, device_facts *facts)
{
    __shared__ double scratch[32 * 2];
    __shared__ unsigned long long bad;
    const T *x = batch.column(blockIdx.x);
    if (threadIdx.x == 0)
        bad = ~0ull;
    __syncthreads();
    const surveyed<T, HELD> all(x, batch.n);
    const double origin = how.weight ? (double)x[how.first] : 0;
    double largest = 0, sums[2] = {0, 0}; /* sum for the mean; count of values that differ */
    all.each([&](int e, int64_t i) {
        const double value = all.value(e, i), size = fabs(value);
        if (!(size <= 1.7976931348623157e308))
            atomicMin(&bad, (unsigned long long)i);
        largest = size > largest ? size : largest;
        if (how.weight) {
            sums[0] += mean_term(value, origin, how.weight[i]);
            sums[1] += differs_from_origin(value, origin, how.weight[i]);
        }
    });
    largest = block_max(largest, scratch);
    block_sum(sums, scratch);
    device_facts out = {};
    out.not_finite = bad == ~0ull ? -1 : (int64_t)bad;
    out.largest = largest;
    if (how.weight && out.not_finite < 0) {
        out.mean = mean_of(sums[0], how.total, origin);
        out.constant = sums[1] == 0;
        const double about = how.centred ? out.mean : 0;
        double squares[1] = {0}, fourths[1] = {0};
        all.each([&](int e, int64_t i) {
            squares[0] += scale_term(all.value(e, i), about, how.weight[i]);
        });
        block_sum(squares, scratch);
        out.scale = scale_of(squares[0], how.total);
        if (how.flatness && out.scale > 0) {
            const double factor = 1 / out.scale;
            all.each([&](int e, int64_t i) {
                fourths[0] += flatness_term(all.value(e, i), about, factor, how.weight[i]);
            });
            block_sum(fourths, scratch);
            out.flatness = flatness_of(fourths[0], how.total);
        }
    }
    if (threadIdx.x == 0)
        facts[blockIdx.x] = out;
}

template <typename T>
static void survey_all(const device *d, const char *batch, int64_t stride, int64_t count,
                       const survey_task &how, device_facts *facts, cudaStream_t stream)
{
    const view<T> all = {batch, stride, d->shape.n};
    if (all.n <= SURVEY_THREADS * SURVEY_HELD)
        survey_kernel<T, true><<<(unsigned)count, SURVEY_THREADS, 0, stream>>>(all, how, facts);
    else
        survey_kernel<T, false><<<(unsigned)count, SURVEY_THREADS, 0, stream>>>(all, how, facts);
}

static roofs_status launch_survey(const device *d, const char *batch, int64_t stride, int64_t count,
                                  const survey_task &how, device_facts *facts, cudaStream_t stream,
                                  roofs_error *err)
{
    if (d->size == sizeof(float))
        survey_all<float>(d, batch, stride, count, how, facts, stream);
    else
        survey_all<double>(d, batch, stride, count, how, facts, stream);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status upload_weight(device *d, const double *weight, roofs_error *err)
{
    const int64_t bytes = d->shape.n * (int64_t)sizeof(double);
    memcpy(d->pinned, weight, (size_t)bytes);
    return gpu_copy(d, d->survey_weight, d->pinned, bytes, err);
}

static roofs_status survey_now(device *d, const survey_options *options, roofs_error *err)
{
    const int64_t n = d->shape.n;
    survey_task how = {nullptr, options->total, 0, options->centred, options->flatness};
    if (options->weight) {
        how.first = moments_origin(options->weight, n);
        how.weight = options->weight_on_device;
    }
    if (options->weight && !how.weight) {
        TRY(upload_weight(d, options->weight, err));
        how.weight = d->survey_weight;
    }
    TRY(launch_survey(d, d->borrowed, d->borrowed_stride, d->borrowed_count, how, d->facts,
                      d->stream, err));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* A survey without weights does not depend on the fit. So the next batch, if it is uploaded, is
 * surveyed while the GPU works on this one. */
static roofs_status survey_ahead(device *d, roofs_error *err)
{
    const int64_t next = (d->ring_at + 1) % RING,
                  left = d->upload.count - d->received * d->shape.batch;
    if (!d->surveys_are_plain || !upload_team_has_sent(d->team, d->received))
        return ROOFS_OK;
    TRY(upload_team_wait(d->team, d->received, d->surveys, err));
    TRY(launch_survey(d, d->batches[next], d->lead * d->size,
                      left < d->shape.batch ? left : d->shape.batch, {}, d->facts_ahead, d->surveys,
                      err));
    CUDA_TRY(cudaEventRecord(d->survey_done, d->surveys));
    d->surveyed_ahead = next;
    return ROOFS_OK;
}

/* Uses the result only once: the batch may be rescaled afterwards. */
static roofs_status use_survey_ahead(device *d)
{
    d->surveyed_ahead = -1;
    memcpy(d->facts, d->facts_ahead, (size_t)d->borrowed_count * sizeof *d->facts);
    return ROOFS_OK;
}

void cuda_survey(device *d, const survey_options *how, device_facts *facts)
{
    const int is_done = !how->weight && d->surveyed_ahead == d->ring_at;
    d->surveys_are_plain = !how->weight;
    for (int64_t k = 0; k < d->borrowed_count; k++)
        facts[k] = device_facts{-1, 0, 0, 0, 0, 0};
    if (d->borrowed_count == 0)
        return;
    const roofs_status status = is_done ? use_survey_ahead(d) : survey_now(d, how, &d->deferred);
    if (status == ROOFS_OK)
        memcpy(facts, d->facts, (size_t)d->borrowed_count * sizeof *facts);
}

roofs_status cuda_deferred(device *d, roofs_error *err)
{
    if (d->deferred.status == ROOFS_OK)
        return ROOFS_OK;
    if (err)
        *err = d->deferred;
    return d->deferred.status;
}

template <typename T> __global__ void rescale_kernel(T *to, const T *from, int exponent, int64_t n)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = (T)ldexp((double)from[i], -exponent);
}

/* Copies a block of the caller first, because its values must not change. */
roofs_status cuda_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    const int64_t stride = d->lead * d->size;
    char *batch = d->batches[d->ring_at];
    if (!d->borrowed_is_ours) {
        CUDA_TRY(cudaMemcpy2DAsync(batch, (size_t)stride, d->borrowed, (size_t)d->borrowed_stride,
                                   (size_t)(d->shape.n * d->size), (size_t)d->borrowed_count,
                                   cudaMemcpyDeviceToDevice, d->stream));
        d->borrowed = batch;
        d->borrowed_stride = stride;
        d->borrowed_is_ours = 1;
    }
    char *column = batch + k * stride;
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

/* ---- borrow and prefetch ------------------------------------------------------ */

/* Starts the uploads of the prefetch hint. */
static void start_prefetch(device *d)
{
    const roofs_block *next = &d->hint;
    if (!d->has_hint || d->deferred.status != ROOFS_OK)
        return;
    d->has_hint = 0;
    if (next->count == 0 || (!block_is_sparse(next) && cuda_holds(next->values)))
        return;
    if (is_next_of_upload(d, next)) {
        if (continue_upload(d, &d->deferred) == ROOFS_OK)
            (void)survey_ahead(d, &d->deferred);
    } else if (!d->is_uploading || stop_uploads(d, &d->deferred) == ROOFS_OK) {
        (void)start_upload(d, (d->ring_at + 1) % RING, next, RING - 1, &d->deferred);
    }
}

roofs_status gpu_wait(device *d, roofs_error *err)
{
    start_prefetch(d);
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* The uploads start in gpu_wait, after the host has launched its kernels. */
void cuda_prefetch(device *d, const roofs_block *next)
{
    roofs_error ignored = {}; /* the first deferred error is kept */
    d->has_hint = next != nullptr;
    if (next)
        d->hint = *next;
    else
        (void)stop_uploads(d, d->deferred.status == ROOFS_OK ? &d->deferred : &ignored);
}

roofs_status cuda_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    start_prefetch(d); /* if no gpu_wait came after the hint */
    TRY(cuda_deferred(d, err));
    TRY(gpu_write_slots(d, err));
    d->ring_at = (d->ring_at + 1) % RING;
    d->borrowed_count = block->count;
    if (is_next_of_upload(d, block))
        return receive_batch(d, err);
    TRY(stop_uploads(d, err));
    if (block->count == 0)
        return ROOFS_OK;
    if (!block_is_sparse(block) && cuda_holds(block->values))
        return borrow_from_gpu(d, block, err);
    TRY(start_upload(d, d->ring_at, block, 1, err));
    return receive_batch(d, err);
}
