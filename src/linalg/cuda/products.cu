/* Products of columns with a vector on the GPU, and sums of columns. */
#include "linalg/cuda/device_cuda.cuh"

/* ---- products, one block of threads per column ------------------------------ */

template <typename T>
__global__ void products_kernel(const gpu_column *list, int64_t n, const double *r, double *out)
{
    __shared__ double scratch[33];
    const gpu_column c = list[blockIdx.x];
    const T *x = (const T *)c.x;
    double sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum[0] += ((double)x[i] - c.center) * c.factor * r[i];
    block_sum(sum, scratch);
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

enum { ADD_ROWS = 32, ADD_GROUPS = 16, ADD_COLUMNS = 256 };

/* 32 samples per block; 16 groups of threads share the columns and are added in order. */
template <typename T>
__global__ void __launch_bounds__(ADD_ROWS *ADD_GROUPS)
    add_kernel(const gpu_column *list, int64_t count, const double *weight, int squares, int64_t n,
               double *out)
{
    __shared__ gpu_column columns[ADD_COLUMNS];
    __shared__ double weights[ADD_COLUMNS], partial[ADD_GROUPS][ADD_ROWS];
    wait_for_last();
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
            for (int j = threadIdx.y; j < width; j += ADD_GROUPS) {
                const gpu_column c = columns[j];
                const double z = ((double)((const T *)c.x)[i] - c.center) * c.factor;
                sum += weights[j] * (squares ? z * z : z);
            }
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || i >= n)
        return;
    for (int k = 1; k < ADD_GROUPS; k++)
        sum += partial[k][threadIdx.x];
    out[i] += sum;
}

roofs_status gpu_add(device *d, const gpu_column *list, int64_t count, const double *weight,
                     int squares, double *out, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(d->shape.n, ADD_ROWS);
    const dim3 threads(ADD_ROWS, ADD_GROUPS);
    CUDA_TRY(launch_next(d->has_clusters,
                         d->size == sizeof(float) ? add_kernel<float> : add_kernel<double>, blocks,
                         threads, 0, d->stream, list, count, weight, squares, d->shape.n, out));
    return ROOFS_OK;
}
