/* Where columns live on the GPU: the kept ones and two batches in one allocation. A batch comes
 * over while the one before it is worked on. */
#include "linalg/cuda/device_cuda.cuh"

extern "C" {
#include "linalg/block.h"
}

#include <cmath>
#include <cstring>
#include <new>

enum { LINE = 32 /* values; columns begin at whole lines */ };

roofs_status gpu_fail(cudaError_t error, const char *call, roofs_error *err)
{
    cudaGetLastError(); /* it has been told */
    return fail(err, error == cudaErrorMemoryAllocation ? ROOFS_NO_MEMORY : ROOFS_FAILED,
                "device cuda: %s (%s)", cudaGetErrorString(error), call);
}

roofs_status gpu_take(void **out, int64_t bytes, const char *what, roofs_error *err)
{
    *out = nullptr;
    cudaError_t error = cudaMalloc(out, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return fail(err, ROOFS_NO_MEMORY, "device cuda: no room for %lld bytes of %s",
                    (long long)bytes, what);
    }
    CUDA_TRY(error);
    CUDA_TRY(cudaMemset(*out, 0, (size_t)bytes));
    return ROOFS_OK;
}

static int64_t value_bytes(const device_shape *shape)
{
    return shape->dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
}

static int64_t lead_of(const device_shape *shape)
{
    return ceil_div(shape->n, LINE) * LINE;
}

/* INT64_MAX where that is no number of bytes. */
static int64_t column_bytes(const device_shape *shape, int64_t columns)
{
    int64_t bytes = 0;
    if (__builtin_mul_overflow(columns, lead_of(shape) * value_bytes(shape), &bytes))
        return INT64_MAX;
    return bytes;
}

/* On the GPU besides the columns, at most: vectors and partial sums of samples, lists and Gram
 * matrices of features, and what allocations are rounded up to. */
static int64_t besides_there(const device_shape *shape)
{
    const int64_t processors = 160; /* none has more yet */
    const int64_t most = shape->slots + shape->batch, cells = GPU_BLOCK * GPU_BLOCK * 8;
    const int64_t fixed = 64 << 20;
    if (most > INT64_MAX / 8192)
        return INT64_MAX / 4;
    return (processors + 48) * lead_of(shape) * 8 + most * 512 +
           (2 * ceil_div(most, GPU_BLOCK) + processors) * cells + fixed;
}

static int64_t cuda_bytes_there(const device_shape *shape)
{
    const int64_t columns = column_bytes(shape, shape->slots + 2 * shape->batch);
    return columns > INT64_MAX / 4 ? INT64_MAX : columns + besides_there(shape);
}

static int64_t cuda_bytes(const device_shape *shape)
{
    const int64_t there = cuda_bytes_there(shape);
    const int64_t pinned = column_bytes(shape, shape->batch + 16); /* of the team, and lists */
    if (there > INT64_MAX / 4 || pinned > INT64_MAX / 4)
        return INT64_MAX;
    return there + pinned;
}

static int64_t cuda_free_there(void)
{
    size_t free_bytes = 0, all_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess)
        return (int64_t)free_bytes;
    cudaGetLastError(); /* there is no GPU */
    return -1;
}

static int64_t cuda_taken(const device *d)
{
    return cuda_bytes(&d->shape);
}

/* ---- life -------------------------------------------------------------- */

static roofs_status make_lists(device *d, roofs_error *err)
{
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    for (int k = 0; k < 3; k++)
        TRY(gpu_get(&d->vector[k], n, "vectors", err));
    TRY(gpu_get(&d->weight, most, "lists", err));
    TRY(gpu_get(&d->numbers, most, "lists", err));
    TRY(gpu_get(&d->list, most, "lists", err));
    TRY(host_get(&d->facts, d->shape.batch, err));
    TRY(host_get(&d->pending_from, 2 * d->shape.batch, err));
    d->pending_to = d->pending_from + d->shape.batch;
    TRY(host_get(&d->stage, 4 * n, err));
    TRY(host_get(&d->stage_list, most, err));
    d->clusters_most = d->processors;
    TRY(gpu_get(&d->images, d->clusters_most * n, "partial sums", err));
    TRY(gpu_get(&d->levels, d->clusters_most, "partial sums", err));
    return gpu_get(&d->squares, d->clusters_most, "partial sums", err);
}

/* Refused with the numbers rather than by a failure on the way. */
static roofs_status check_room(const device *d, roofs_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    const int64_t needed = cuda_bytes_there(&d->shape);
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (needed <= (int64_t)free_bytes)
        return ROOFS_OK;
    return fail(err, ROOFS_NO_MEMORY,
                "device cuda: %lld features of %lld samples, and two batches, take %lld bytes on "
                "the GPU, which has %lld of %lld left; lower mu or batch, store features as f32, "
                "or use the device cpu",
                (long long)d->shape.slots, (long long)d->shape.n, (long long)needed,
                (long long)free_bytes, (long long)all_bytes);
}

static roofs_status fill(device *d, roofs_error *err)
{
    int gpu = 0, shared = 0;
    CUDA_TRY(cudaGetDevice(&gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
    d->shared_most = shared;
    TRY(check_room(d, err));
    CUDA_TRY(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaStreamCreateWithFlags(&d->copies, cudaStreamNonBlocking));
    TRY(gpu_get(&d->columns, d->bytes, "features", err));
    char *batches = d->columns + column_bytes(&d->shape, d->shape.slots);
    for (int k = 0; k < 2; k++)
        d->batches[k] = batches + k * column_bytes(&d->shape, d->shape.batch);
    CUDA_TRY(cudaEventCreateWithFlags(&d->arrived, cudaEventDisableTiming));
    CUDA_TRY(cudaEventCreateWithFlags(&d->kept, cudaEventDisableTiming));
    TRY(gpu_team_create(&d->team, &d->shape, d->size, d->copies, err));
    TRY(make_lists(d, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* rooms are zero before other streams use them */
    return ROOFS_OK;
}

static void cuda_destroy(device *d)
{
    if (!d)
        return;
    gpu_team_destroy(d->team);
    cudaDeviceSynchronize();
    roofs_gpu_destroy(d->roofs);
    bayes_gpu_destroy(d->bayes);
    for (cudaEvent_t event : {d->arrived, d->kept})
        if (event)
            cudaEventDestroy(event);
    void *there[] = {d->columns, d->vector[0], d->vector[1], d->vector[2], d->weight,
                     d->numbers, d->list,      d->images,    d->levels,    d->squares};
    for (void *block : there)
        cudaFree(block);
    void *here[] = {d->facts, d->pending_from, d->stage, d->stage_list};
    for (void *block : here)
        cudaFreeHost(block);
    if (d->stream)
        cudaStreamDestroy(d->stream);
    if (d->copies)
        cudaStreamDestroy(d->copies);
    cudaGetLastError();
    delete d;
}

static roofs_status cuda_create(device **out, const device_shape *shape, roofs_error *err)
{
    *out = nullptr;
    device *d = new (std::nothrow) device();
    if (!d)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the device");
    d->shape = *shape;
    d->size = value_bytes(shape);
    d->lead = lead_of(shape);
    d->bytes = column_bytes(shape, shape->slots + 2 * shape->batch);
    roofs_status status = fill(d, err);
    if (status != ROOFS_OK) {
        cuda_destroy(d);
        return status;
    }
    *out = d;
    return ROOFS_OK;
}

static int cuda_holds(const void *values)
{
    cudaPointerAttributes where = {};
    if (cudaPointerGetAttributes(&where, values) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return where.type == cudaMemoryTypeDevice || where.type == cudaMemoryTypeManaged;
}

/* ---- a batch on its way ------------------------------------------------- */

/* Columns of the batch that was there before are kept before it is written over. */
static roofs_status ship(device *d, int turn, const roofs_block *block, roofs_error *err)
{
    d->expected = *block;
    d->expects = 1;
    CUDA_TRY(cudaStreamWaitEvent(d->copies, d->kept, 0));
    const gpu_shipment what = {*block, d->shape.dtype, d->lead, d->batches[turn]};
    gpu_team_ship(d->team, &what);
    return ROOFS_OK;
}

static int is_same(const roofs_block *a, const roofs_block *b)
{
    return a->values == b->values && a->starts == b->starts && a->count == b->count;
}

static roofs_status receive(device *d, roofs_error *err)
{
    d->expects = 0;
    TRY(gpu_team_wait(d->team, err));
    CUDA_TRY(cudaEventRecord(d->arrived, d->copies));
    CUDA_TRY(cudaStreamWaitEvent(d->stream, d->arrived, 0));
    d->borrowed = d->batches[d->turn];
    d->borrowed_stride = d->lead * d->size;
    d->borrowed_is_ours = 1;
    return ROOFS_OK;
}

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
    char *room = d->batches[d->turn];
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
    d->expects = 0;
    TRY(gpu_team_wait(d->team, err));
    CUDA_TRY(cudaStreamSynchronize(d->copies));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

static void cuda_expect(device *d, const roofs_block *block)
{
    if (d->trouble.status != ROOFS_OK)
        return;
    if (d->expects || !block)
        (void)wait_for_all(d, &d->trouble);
    if (!block || block->count == 0 || (!block_is_sparse(block) && cuda_holds(block->values)))
        return;
    (void)ship(d, 1 - d->turn, block, &d->trouble);
}

static roofs_status cuda_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    TRY(gpu_flush(d, err));
    d->turn = 1 - d->turn;
    d->borrowed_count = block->count;
    if (d->expects && is_same(&d->expected, block))
        return receive(d, err);
    TRY(wait_for_all(d, err));
    if (block->count == 0)
        return ROOFS_OK;
    if (!block_is_sparse(block) && cuda_holds(block->values))
        return borrow_there(d, block, err);
    TRY(ship(d, d->turn, block, err));
    return receive(d, err);
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

static const double WEIGHTLESS = 1e-6; /* as on the CPU */

/* One block of threads for one feature. */
template <typename T>
__global__ void survey_kernel(view<T> batch, look_there look, double weightless,
                              device_facts *facts)
{
    __shared__ double room[33 * 2];
    __shared__ unsigned long long bad;
    const T *x = batch.column(blockIdx.x);
    const int64_t n = batch.n;
    if (threadIdx.x == 0)
        bad = ~0ull;
    __syncthreads();
    const double origin = look.weight ? (double)x[look.first] : 0;
    double largest = 0, sums[2] = {0, 0}; /* of weights times values; of values that differ */
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
        double value = (double)x[i], size = fabs(value);
        if (!(size <= 1.7976931348623157e308))
            atomicMin(&bad, (unsigned long long)i);
        largest = size > largest ? size : largest;
        if (look.weight) {
            sums[0] += (value - origin) * look.weight[i];
            sums[1] += look.weight[i] > weightless && value != origin;
        }
    }
    largest = block_max(largest, room);
    block_sum(sums, room);
    device_facts out = {};
    out.not_finite = bad == ~0ull ? -1 : (int64_t)bad;
    out.largest = largest;
    if (look.weight && out.not_finite < 0) {
        out.mean = origin + sums[0] / look.total;
        out.constant = sums[1] == 0;
        const double about = look.centred ? out.mean : 0;
        double squares[1] = {0}, fourths[1] = {0};
        for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
            double off = (double)x[i] - about;
            squares[0] += off * off * look.weight[i];
        }
        block_sum(squares, room);
        out.scale = sqrt(squares[0] / look.total);
        if (look.flatness && out.scale > 0) {
            const double factor = 1 / out.scale;
            for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
                double off = ((double)x[i] - about) * factor;
                fourths[0] += off * off * (off * off) * look.weight[i];
            }
            block_sum(fourths, room);
            out.flatness = look.total / fourths[0];
        }
    }
    if (threadIdx.x == 0)
        facts[blockIdx.x] = out;
}

static roofs_status survey(device *d, const device_look *look, roofs_error *err)
{
    const int64_t n = d->shape.n;
    look_there how = {nullptr, look->total, 0, look->centred, look->flatness};
    if (look->weight) {
        while (how.first < n - 1 && look->weight[how.first] <= WEIGHTLESS)
            how.first++;
        memcpy(d->stage, look->weight, (size_t)n * sizeof(double));
        CUDA_TRY(cudaMemcpyAsync(d->vector[0], d->stage, (size_t)n * sizeof(double),
                                 cudaMemcpyHostToDevice, d->stream));
        how.weight = d->vector[0];
    }
    const unsigned blocks = (unsigned)d->borrowed_count;
    if (d->size == sizeof(float))
        survey_kernel<float><<<blocks, 512, 0, d->stream>>>(
            {d->borrowed, d->borrowed_stride, n}, how, WEIGHTLESS, d->facts);
    else
        survey_kernel<double><<<blocks, 512, 0, d->stream>>>(
            {d->borrowed, d->borrowed_stride, n}, how, WEIGHTLESS, d->facts);
    LAUNCHED();
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

static void cuda_survey(device *d, const device_look *look, device_facts *facts)
{
    for (int64_t k = 0; k < d->borrowed_count; k++)
        facts[k] = device_facts{-1, 0, 0, 0, 0, 0};
    if (d->borrowed_count > 0 && survey(d, look, &d->trouble) == ROOFS_OK)
        memcpy(facts, d->facts, (size_t)d->borrowed_count * sizeof *facts);
}

static roofs_status cuda_check(device *d, roofs_error *err)
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
static roofs_status cuda_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    const int64_t stride = d->lead * d->size;
    char *room = d->batches[d->turn];
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

/* ---- kept columns -------------------------------------------------------- */

/* Columns begin at multiples of 16 bytes; the last few bytes are copied one value at a time. */
__global__ void keep_kernel(char *slots, int64_t slot_bytes, const char *batch, int64_t stride,
                            int64_t bytes, const int64_t *from, const int64_t *to)
{
    const char *x = batch + from[blockIdx.x] * stride;
    char *out = slots + to[blockIdx.x] * slot_bytes;
    const int64_t whole = bytes / 16, me = blockIdx.y * (int64_t)blockDim.x + threadIdx.x;
    for (int64_t i = me; i < whole; i += (int64_t)gridDim.y * blockDim.x)
        ((float4 *)out)[i] = ((const float4 *)x)[i];
    if (me < (bytes - whole * 16) / 4)
        ((float *)(out + whole * 16))[me] = ((const float *)(x + whole * 16))[me];
}

roofs_status gpu_flush(device *d, roofs_error *err)
{
    if (d->pending == 0)
        return ROOFS_OK;
    keep_kernel<<<dim3((unsigned)d->pending, 8), 256, 0, d->stream>>>(
        d->columns, d->lead * d->size, d->borrowed, d->borrowed_stride, d->shape.n * d->size,
        d->pending_from, d->pending_to);
    LAUNCHED();
    d->pending = 0;
    CUDA_TRY(cudaEventRecord(d->kept, d->stream));
    if (!d->borrowed_is_ours) /* the caller's block may go */
        CUDA_TRY(cudaEventSynchronize(d->kept));
    return ROOFS_OK;
}

/* Copied together with others; a block of the caller's must be done before the call returns. */
static roofs_status cuda_keep(device *d, int64_t k, int64_t slot, roofs_error *err)
{
    if (d->pending == d->shape.batch)
        TRY(gpu_flush(d, err));
    if (d->pending == 0) /* the lists have been read */
        CUDA_TRY(cudaEventSynchronize(d->kept));
    d->pending_from[d->pending] = k;
    d->pending_to[d->pending++] = slot;
    return d->borrowed_is_ours ? ROOFS_OK : gpu_flush(d, err);
}

static void cuda_release(device *d, int64_t slot)
{
    (void)d;
    (void)slot; /* it is written over */
}

/* A slot is read into page-locked memory, and written from it. */
static roofs_status cuda_fetch(device *d, int64_t slot, device_values *out, roofs_error *err)
{
    TRY(gpu_flush(d, err));
    CUDA_TRY(cudaMemcpyAsync(d->stage, d->columns + slot * d->lead * d->size,
                             (size_t)(d->shape.n * d->size), cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    *out = {d->shape.dtype, d->shape.n, d->stage, nullptr};
    return ROOFS_OK;
}

template <typename T> static void spread_out(T *to, int64_t n, const device_values *column)
{
    const T *values = (const T *)column->values;
    memset(to, 0, (size_t)n * sizeof *to);
    for (int64_t k = 0; k < column->count; k++)
        to[column->samples ? column->samples[k] : k] = values[k];
}

static roofs_status cuda_put(device *d, int64_t slot, const device_values *column, roofs_error *err)
{
    TRY(gpu_flush(d, err));
    if (d->size == sizeof(float))
        spread_out((float *)d->stage, d->shape.n, column);
    else
        spread_out(d->stage, d->shape.n, column);
    CUDA_TRY(cudaMemcpyAsync(d->columns + slot * d->lead * d->size, d->stage,
                             (size_t)(d->shape.n * d->size), cudaMemcpyHostToDevice, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

void gpu_list(const device *d, const device_column *columns, int64_t count, gpu_column *out)
{
    for (int64_t j = 0; j < count; j++) {
        const device_column *c = &columns[j];
        const char *x = c->place >= 0 ? d->columns + c->place * d->lead * d->size
                                      : d->borrowed + (-1 - c->place) * d->borrowed_stride;
        out[j] = {x, c->center, c->factor, c->unit};
    }
}

roofs_status gpu_send_list(device *d, const device_column *columns, int64_t count,
                           gpu_column *there, roofs_error *err)
{
    TRY(gpu_flush(d, err));
    gpu_list(d, columns, count, d->stage_list);
    CUDA_TRY(cudaMemcpyAsync(there, d->stage_list, (size_t)count * sizeof *there,
                             cudaMemcpyHostToDevice, d->stream));
    return ROOFS_OK;
}

/* ---- the table ------------------------------------------------------------ */

/* Defined in products.cu. */
void cuda_descend(device *d, const device_column *columns, int64_t count, const double *r,
                  double *gradient, double *image);
void cuda_products(device *d, const device_column *columns, int64_t count, const double *r,
                   double *out);
void cuda_gram(device *d, const device_column *columns, int64_t count, const double *weight,
               double *gram);
void cuda_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                 double *out);
void cuda_add(device *d, const device_column *columns, int64_t count, const double *weight,
              double *out);
void cuda_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                      double *out);
void cuda_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how);

static roofs_status cuda_ready(roofs_error *err)
{
    int count = 0, gpu = 0, major = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        return fail(err, ROOFS_BAD_SETTING, "device cuda: there is no GPU here that CUDA can use (%s)",
                    error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    }
    CUDA_TRY(cudaGetDevice(&gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu));
    if (major < 9)
        return fail(err, ROOFS_BAD_SETTING,
                    "device cuda: this GPU has compute capability %d.x; 9.0 (Hopper) or later is "
                    "needed",
                    major);
    return ROOFS_OK;
}

static const device_ops cuda_ops = {
    "cuda",       cuda_bytes,  cuda_taken, cuda_bytes_there, cuda_free_there, cuda_create,   cuda_destroy, cuda_borrow,
    cuda_expect,  cuda_check,  cuda_holds,  cuda_survey,   cuda_rescale, cuda_keep,
    cuda_release, cuda_fetch,   cuda_put,   cuda_descend, cuda_products, cuda_gram,  cuda_sample,  cuda_add,
    cuda_add_squares, cuda_sweep, &cuda_rounds,
};

extern "C" __attribute__((visibility("default"))) const device_part roofs_cuda_part = {
    DEVICE_PART_VERSION, &cuda_ops, cuda_ready};
