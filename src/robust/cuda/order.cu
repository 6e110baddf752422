#include "robust/cuda/order.cuh"

#include <cub/device/device_radix_sort.cuh>

/* ---- the largest and the others -------------------------------------------------------- */

struct divide_task {
    gpu_order order;
    const double *values;
    int64_t count, most;
    int32_t *stay, *leave;
};

template <int EACH> __global__ void __launch_bounds__(ORDER_THREADS) divide_kernel(divide_task t)
{
    __shared__ order_shared shared;
    int side = 0;
    order_begin(t.order, shared);
    order_divide<EACH>(
        t.order, (int)t.count, (int)(t.count - t.most), shared, side,
        [&](int j) { return fabs(t.values[j]); },
        [&](int j, int stays, int at) { (stays ? t.stay : t.leave)[at] = j; });
}

static const order_kernels<divide_task> divide_kernels = {
    {divide_kernel<1>, divide_kernel<ORDER_EACH>, divide_kernel<0>}};

/* ---- create and destroy ---------------------------------------------------------------- */

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, int has_clusters, roofs_error *err)
{
    *o = {};
    o->blocks = ORDER_BLOCKS; /* cuda_ready has checked that so many run together */
    if (has_clusters)
        TRY(order_configure(o, divide_kernels, err));
    gpu_buffers *buffers = &o->buffers;
    if (!has_clusters)
        buffers_want(buffers, &o->exchange, 2 * ORDER_BLOCKS);
    buffers_want(buffers, &o->sorted, capacity);
    buffers_want(buffers, &o->position, capacity);
    buffers_want(buffers, &o->loose, capacity);
    buffers_want(buffers, &o->loose_place, capacity);
    buffers_want(buffers, &o->sizes, ORDER_BUCKETS);
    if (capacity <= ORDER_BLOCKS_LEAST * ORDER_THREADS * ORDER_EACH)
        return buffers_allocate(buffers, "sorting", err);
    buffers_want(buffers, &o->keys, capacity);
    buffers_want(buffers, &o->places, capacity);
    CUDA_TRY(cub::DeviceRadixSort::SortPairs(nullptr, o->temporary_bytes, o->keys, o->sorted,
                                             o->places, o->loose_place, (int)capacity));
    buffers_want(buffers, (char **)&o->temporary, (int64_t)o->temporary_bytes);
    return buffers_allocate(buffers, "sorting", err);
}

void gpu_order_destroy(gpu_order *o)
{
    buffers_free(&o->buffers);
}

/* ---- more keys than threads can hold ---------------------------------------------------- */

__device__ static double scaled_key(double value, const int *exponent, int64_t j)
{
    const int down = exponent ? exponent[j] : 0;
    return fabs(down != 0 ? ldexp(value, -down) : value);
}

__global__ void key_kernel(const double *values, const int *exponent, int64_t n, int reversed,
                           double *keys, int32_t *places)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int64_t j = reversed ? n - 1 - i : i;
    if (i >= n)
        return;
    keys[i] = scaled_key(values[j], exponent, j);
    places[i] = (int32_t)i;
}

__global__ void position_kernel(const int32_t *place, int64_t n, int32_t *position)
{
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < n)
        position[place[k]] = (int32_t)k;
}

roofs_status gpu_order_sort_many(const gpu_order *o, const double *values, const int *exponent,
                                 int64_t n, int reversed, cudaStream_t stream, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(n, 256);
    size_t bytes = o->temporary_bytes;
    if (order_hold(o, n) != HOLD_NONE)
        return ROOFS_OK;
    key_kernel<<<blocks, 256, 0, stream>>>(values, exponent, n, reversed, o->keys, o->places);
    LAUNCHED();
    CUDA_TRY(cub::DeviceRadixSort::SortPairs(o->temporary, bytes, o->keys, o->sorted, o->places,
                                             o->loose_place, (int)n, 0, 64, stream));
    position_kernel<<<blocks, 256, 0, stream>>>(o->loose_place, n, o->position);
    LAUNCHED();
    return ROOFS_OK;
}

roofs_status gpu_order_divide(const gpu_order *o, const double *values, int64_t count, int64_t most,
                              int32_t *stay, int32_t *leave, cudaStream_t stream, roofs_error *err)
{
    TRY(gpu_order_sort_many(o, values, nullptr, count, 1, stream, err));
    const divide_task task = {*o, values, count, most, stay, leave};
    CUDA_TRY(launch_order(o, divide_kernels, count, ORDER_THREADS, stream, task));
    return ROOFS_OK;
}
