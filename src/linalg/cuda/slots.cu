/* Stored columns, and lists of columns for kernels. */
#include "linalg/cuda/device_cuda.cuh"

#include <cstring>

/* Columns begin at multiples of 16 bytes; the last bytes are copied four at a time. */
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

roofs_status gpu_write_slots(device *d, roofs_error *err)
{
    if (d->pending == 0)
        return ROOFS_OK;
    keep_kernel<<<dim3((unsigned)d->pending, 8), 256, 0, d->stream>>>(
        d->columns, d->lead * d->size, d->borrowed, d->borrowed_stride, d->shape.n * d->size,
        d->pending_from, d->pending_to);
    LAUNCHED();
    d->pending = 0;
    CUDA_TRY(cudaEventRecord(d->slots_written, d->stream));
    if (!d->borrowed_is_ours) /* the caller may free its block */
        CUDA_TRY(cudaEventSynchronize(d->slots_written));
    return ROOFS_OK;
}

/* Collects copies and starts them together. Copies from a caller's block end before the return. */
roofs_status cuda_keep(device *d, int64_t k, int64_t slot, roofs_error *err)
{
    if (d->pending == d->shape.batch)
        TRY(gpu_write_slots(d, err));
    if (d->pending == 0) /* the last kernel has read the lists */
        CUDA_TRY(cudaEventSynchronize(d->slots_written));
    d->pending_from[d->pending] = k;
    d->pending_to[d->pending++] = slot;
    return d->borrowed_is_ours ? ROOFS_OK : gpu_write_slots(d, err);
}

void cuda_release(device *d, int64_t slot)
{
    (void)d;
    (void)slot; /* the next column overwrites it */
}

/* Slots are read and written through page-locked memory. */
roofs_status cuda_fetch(device *d, int64_t slot, device_values *out, roofs_error *err)
{
    TRY(gpu_write_slots(d, err));
    CUDA_TRY(cudaMemcpyAsync(d->pinned, d->columns + slot * d->lead * d->size,
                             (size_t)(d->shape.n * d->size), cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    *out = {d->shape.dtype, d->shape.n, d->pinned, nullptr, nullptr};
    return ROOFS_OK;
}

template <typename T> static void make_dense(T *to, int64_t n, const device_values *column)
{
    memset(to, 0, (size_t)n * sizeof *to);
    for (int64_t k = 0; k < column->count; k++)
        to[column->samples ? column->samples[k] : k] = (T)device_value(column, k);
}

roofs_status cuda_put(device *d, int64_t slot, const device_values *column, roofs_error *err)
{
    TRY(gpu_write_slots(d, err));
    if (d->size == sizeof(float))
        make_dense((float *)d->pinned, d->shape.n, column);
    else
        make_dense((double *)d->pinned, d->shape.n, column);
    CUDA_TRY(cudaMemcpyAsync(d->columns + slot * d->lead * d->size, d->pinned,
                             (size_t)(d->shape.n * d->size), cudaMemcpyHostToDevice, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

__global__ void copy_kernel(uint4 *to, const uint4 *from, int64_t count)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

roofs_status gpu_copy(device *d, void *to, const void *from, int64_t bytes, roofs_error *err)
{
    const int64_t count = ceil_div(bytes, (int64_t)sizeof(uint4));
    copy_kernel<<<(unsigned)ceil_div(count, 256), 256, 0, d->stream>>>((uint4 *)to,
                                                                       (const uint4 *)from, count);
    LAUNCHED();
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
