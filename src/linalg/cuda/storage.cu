/* Where columns live on the GPU: the kept ones and a ring of batches in one allocation. */
#include "linalg/cuda/device_cuda.cuh"

#include <new>

enum { LINE = 32 /* values; columns begin at whole lines */ };

roofs_status gpu_fail(cudaError_t error, const char *call, roofs_error *err)
{
    cudaGetLastError(); /* it has been told */
    return fail(err, error == cudaErrorMemoryAllocation ? ROOFS_NO_MEMORY : ROOFS_FAILED,
                "device cuda: %s (%s)", cudaGetErrorString(error), call);
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
    const int64_t columns = column_bytes(shape, shape->slots + RING * shape->batch);
    return columns > INT64_MAX / 4 ? INT64_MAX : columns + besides_there(shape);
}

static int64_t cuda_bytes(const device_shape *shape)
{
    const int64_t there = cuda_bytes_there(shape);
    const int64_t pinned = gpu_team_bytes(shape, column_bytes(shape, 1));
    if (there > INT64_MAX / 4 || pinned > INT64_MAX / 4)
        return INT64_MAX;
    return there + pinned + 10 * lead_of(shape) * (int64_t)sizeof(double); /* vectors and lists */
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

static roofs_status take_rooms(device *d, roofs_error *err)
{
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    gpu_rooms *there = &d->there, *here = &d->here;
    for (double *&vector : d->vector)
        rooms_want(there, &vector, n);
    rooms_want(there, &d->weight, most);
    rooms_want(there, &d->numbers, most);
    rooms_want(there, &d->list, most);
    d->clusters_most = d->processors;
    rooms_want(there, &d->images, d->clusters_most * n);
    rooms_want(there, &d->levels, d->clusters_most);
    rooms_want(there, &d->squares, d->clusters_most);
    here->is_here = 1;
    rooms_want(here, &d->facts, d->shape.batch);
    rooms_want(here, &d->early_facts, d->shape.batch);
    rooms_want(here, &d->pending_from, d->shape.batch);
    rooms_want(here, &d->pending_to, d->shape.batch);
    rooms_want(here, &d->stage, 4 * n + STAGE_MORE);
    rooms_want(here, &d->stage_list, most);
    TRY(rooms_take(there, "vectors and lists", err));
    return rooms_take(here, "vectors and lists", err);
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
                "device cuda: %lld features of %lld samples, and %d batches, take %lld bytes on "
                "the GPU, which has %lld of %lld left; lower mu or batch, store features as f32, "
                "or use the device cpu",
                (long long)d->shape.slots, (long long)d->shape.n, RING, (long long)needed,
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
    CUDA_TRY(cudaStreamCreateWithFlags(&d->looks, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&d->looked, cudaEventDisableTiming));
    d->early = -1;
    gpu_route route = {d->shape, d->lead, d->size, {}, d->copies};
    TRY(gpu_get(&d->columns, d->bytes, "features", err));
    for (int k = 0; k < RING; k++)
        d->rooms[k] = route.rooms[k] =
            d->columns + column_bytes(&d->shape, d->shape.slots + k * d->shape.batch);
    TRY(gpu_team_create(&d->team, &route, err)); /* its threads set up while we go on */
    CUDA_TRY(cudaEventCreateWithFlags(&d->kept, cudaEventDisableTiming));
    TRY(take_rooms(d, err));
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
    for (cudaEvent_t event : {d->kept, d->looked})
        if (event)
            cudaEventDestroy(event);
    cudaFree(d->columns);
    rooms_give_back(&d->there);
    rooms_give_back(&d->here);
    for (cudaStream_t stream : {d->stream, d->copies, d->looks})
        if (stream)
            cudaStreamDestroy(stream);
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
    d->bytes = column_bytes(shape, shape->slots + RING * shape->batch);
    roofs_status status = fill(d, err);
    if (status != ROOFS_OK) {
        cuda_destroy(d);
        return status;
    }
    *out = d;
    return ROOFS_OK;
}

/* ---- the table ------------------------------------------------------------ */

static roofs_status cuda_ready(roofs_error *err)
{
    int count = 0, gpu = 0, major = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        cudaGetLastError();
        return fail(err, ROOFS_BAD_SETTING,
                    "device cuda: there is no GPU here that CUDA can use (%s)",
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
    "cuda",      cuda_bytes,   cuda_taken,       cuda_bytes_there, cuda_free_there,
    cuda_create, cuda_destroy, cuda_borrow,      cuda_expect,      cuda_check,
    cuda_holds,  cuda_survey,  cuda_rescale,     cuda_keep,        cuda_release,
    cuda_fetch,  cuda_put,     cuda_descend,     cuda_products,    cuda_gram,
    cuda_sample, cuda_add,     cuda_add_squares, cuda_sweep,       &cuda_rounds,
};

extern "C" __attribute__((visibility("default")))
const device_part roofs_cuda_part = {DEVICE_PART_VERSION, &cuda_ops, cuda_ready};
