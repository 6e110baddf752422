/* Creates and destroys the device. One allocation has the stored columns and a ring of batches. */
#include "linalg/cuda/device_cuda.cuh"

enum { LINE = 32 /* values; columns begin at multiples of it */ };

roofs_status gpu_fail(cudaError_t error, const char *call, roofs_error *err)
{
    cudaGetLastError(); /* clears the error for the next call */
    return fail(err, error == cudaErrorMemoryAllocation ? ROOFS_NO_MEMORY : ROOFS_FAILED,
                "device cuda: %s (%s)", cudaGetErrorString(error), call);
}

static int64_t lead_of(const device_shape *shape)
{
    return ceil_div(shape->n, LINE) * LINE;
}

/* INT64_MAX where the product overflows. */
static int64_t column_bytes(const device_shape *shape, int64_t columns)
{
    int64_t bytes = 0;
    if (__builtin_mul_overflow(columns, lead_of(shape) * dtype_size(shape->dtype), &bytes))
        return INT64_MAX;
    return bytes;
}

/* Upper bound of the GPU's memory besides the columns: vectors and partial sums of samples, lists
 * and Gram matrices of features, and the rounding of allocations. */
static int64_t bytes_besides_columns(const device_shape *shape)
{
    const int64_t processors = 160; /* more than any GPU has */
    const int64_t most = shape->slots + shape->batch, cells = GPU_BLOCK * GPU_BLOCK * 8;
    const int64_t fixed = 64 << 20;
    if (most > INT64_MAX / 8192)
        return INT64_MAX / 4;
    return (processors + 48) * lead_of(shape) * 8 + most * 512 +
           (2 * ceil_div(most, GPU_BLOCK) + processors) * cells + fixed;
}

int64_t cuda_bytes_on_device(const device_shape *shape)
{
    const int64_t columns = column_bytes(shape, shape->slots + RING * shape->batch);
    return columns > INT64_MAX / 4 ? INT64_MAX : columns + bytes_besides_columns(shape);
}

int64_t cuda_bytes(const device_shape *shape)
{
    const int64_t on_device = cuda_bytes_on_device(shape);
    const int64_t pinned = upload_team_bytes(shape, column_bytes(shape, 1));
    if (on_device > INT64_MAX / 4 || pinned > INT64_MAX / 4)
        return INT64_MAX;
    return on_device + pinned + 10 * lead_of(shape) * (int64_t)sizeof(double); /* vectors, lists */
}

int64_t cuda_free_on_device(void)
{
    size_t free_bytes = 0, all_bytes = 0;
    if (cudaMemGetInfo(&free_bytes, &all_bytes) == cudaSuccess)
        return (int64_t)free_bytes;
    cudaGetLastError(); /* no GPU */
    return -1;
}

int64_t cuda_taken(const device *d)
{
    return cuda_bytes(&d->shape);
}

/* ---- create and destroy ------------------------------------------------ */

static roofs_status allocate_buffers(device *d, roofs_error *err)
{
    const int64_t n = d->lead;
    gpu_buffers *on_device = &d->on_device, *on_host = &d->on_host;
    buffers_want(on_device, &d->survey_weight, n);
    d->clusters_most = d->processors;
    buffers_want(on_device, &d->images, d->clusters_most * n);
    buffers_want(on_device, &d->levels, d->clusters_most);
    buffers_want(on_device, &d->squares, d->clusters_most);
    on_host->is_host = 1;
    buffers_want(on_host, &d->facts, d->shape.batch);
    buffers_want(on_host, &d->facts_ahead, d->shape.batch);
    buffers_want(on_host, &d->pending_from, d->shape.batch);
    buffers_want(on_host, &d->pending_to, d->shape.batch);
    buffers_want(on_host, &d->pinned, 4 * n + PINNED_NUMBERS);
    TRY(buffers_allocate(on_device, "vectors", err));
    return buffers_allocate(on_host, "vectors", err);
}

/* Refuses a fit that is too large for the GPU before any allocation. */
static roofs_status check_memory(const device *d, roofs_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    const int64_t needed = cuda_bytes_on_device(&d->shape);
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (needed <= (int64_t)free_bytes)
        return ROOFS_OK;
    return fail(err, ROOFS_NO_MEMORY,
                "device cuda: %lld features of %lld samples and %d batches need %lld bytes on the "
                "GPU, which has %lld of %lld bytes free; lower mu or batch, store features as f32, "
                "or use device cpu",
                (long long)d->shape.slots, (long long)d->shape.n, RING, (long long)needed,
                (long long)free_bytes, (long long)all_bytes);
}

static roofs_status create_streams(device *d, roofs_error *err)
{
    for (cudaStream_t *stream : {&d->stream, &d->uploads, &d->surveys})
        CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t *event : {&d->survey_done, &d->slots_written})
        CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    return ROOFS_OK;
}

/* A driver takes code for 9.0 on a GPU that has it, if the plug-in was built with it. */
__global__ void capability_kernel()
{
}

static roofs_status ask_capability(device *d, roofs_error *err)
{
    cudaFuncAttributes attributes = {};
    CUDA_TRY(cudaFuncGetAttributes(&attributes, capability_kernel));
    d->has_clusters = attributes.ptxVersion >= 90;
    return ROOFS_OK;
}

static roofs_status device_allocate(device *d, roofs_error *err)
{
    int gpu = 0, shared = 0;
    void *columns = nullptr;
    CUDA_TRY(cudaGetDevice(&gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&d->processors, cudaDevAttrMultiProcessorCount, gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
    d->shared_most = shared;
    TRY(ask_capability(d, err));
    d->surveyed_ahead = -1;
    TRY(check_memory(d, err));
    TRY(create_streams(d, err));
    TRY(gpu_allocate(&columns, d->bytes, "features", err));
    d->columns = (char *)columns;
    upload_target to = {d->shape, d->lead, d->size, {}, d->uploads};
    for (int k = 0; k < RING; k++)
        d->batches[k] = to.batches[k] =
            d->columns + column_bytes(&d->shape, d->shape.slots + k * d->shape.batch);
    TRY(upload_team_create(&d->team, &to, err)); /* its threads start in the meantime */
    TRY(allocate_buffers(d, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* other streams use the buffers after they are zeroed */
    return ROOFS_OK;
}

void cuda_destroy(device *d)
{
    if (!d)
        return;
    upload_team_destroy(d->team);
    cudaDeviceSynchronize();
    for (cudaEvent_t event : {d->slots_written, d->survey_done})
        if (event)
            cudaEventDestroy(event);
    gpu_free(d->columns);
    buffers_free(&d->on_device);
    buffers_free(&d->on_host);
    for (cudaStream_t stream : {d->stream, d->uploads, d->surveys})
        if (stream)
            cudaStreamDestroy(stream);
    cudaGetLastError();
    host_destroy(d);
}

roofs_status cuda_create(device **out, const device_shape *shape, roofs_error *err)
{
    device *d = nullptr;
    *out = nullptr;
    TRY(host_create(&d, "the device", err));
    d->shape = *shape;
    d->size = dtype_size(shape->dtype);
    d->lead = lead_of(shape);
    d->bytes = column_bytes(shape, shape->slots + RING * shape->batch);
    roofs_status status = device_allocate(d, err);
    if (status != ROOFS_OK) {
        cuda_destroy(d);
        return status;
    }
    *out = d;
    return ROOFS_OK;
}

roofs_status cuda_ready(roofs_error *err)
{
    const int least = 16; /* processors, for kernels whose blocks wait for each other */
    int count = 0, gpu = 0, major = 0, minor = 0, processors = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        return fail(err, ROOFS_BAD_SETTING,
                    "device cuda: CUDA finds no GPU in this machine (%s); use device cpu",
                    error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    }
    CUDA_TRY(cudaGetDevice(&gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu));
    CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, gpu));
    if (major < 8)
        return fail(err, ROOFS_BAD_SETTING,
                    "device cuda: this GPU has compute capability %d.%d, but 8.0 (Ampere) or later "
                    "is required: double precision on tensor cores, copies to shared memory; use "
                    "device cpu",
                    major, minor);
    if (processors < least)
        return fail(err, ROOFS_BAD_SETTING,
                    "device cuda: this GPU has %d multiprocessors, but %d are required; use device "
                    "cpu",
                    processors, least);
    return ROOFS_OK;
}
