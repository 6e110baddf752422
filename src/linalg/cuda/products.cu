/* Products on columns with host vectors, and the kernels they share with the methods' rounds. */
#include "linalg/cuda/device_cuda.cuh"

#include <cstring>

/* ---- products, one block of threads per column ------------------------------ */

template <typename T>
__global__ void products_kernel(const gpu_column *list, int64_t n, const double *r, double *out)
{
    __shared__ double room[33];
    const gpu_column c = list[blockIdx.x];
    const T *x = (const T *)c.x;
    double sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum[0] += ((double)x[i] - c.center) * c.factor * r[i];
    block_sum(sum, room);
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

enum { ADD_ROWS = 32, ADD_PARTS = 16, ADD_COLUMNS = 256 };

/* 32 samples per block; 16 groups of threads share the columns and are added in order. */
template <typename T>
__global__ void __launch_bounds__(ADD_ROWS *ADD_PARTS)
    add_kernel(const gpu_column *list, int64_t count, const double *weight, int squares, int64_t n,
               double *out)
{
    __shared__ gpu_column columns[ADD_COLUMNS];
    __shared__ double weights[ADD_COLUMNS], part[ADD_PARTS][ADD_ROWS];
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
            for (int j = threadIdx.y; j < width; j += ADD_PARTS) {
                const gpu_column c = columns[j];
                const double z = ((double)((const T *)c.x)[i] - c.center) * c.factor;
                sum += weights[j] * (squares ? z * z : z);
            }
    }
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || i >= n)
        return;
    for (int k = 1; k < ADD_PARTS; k++)
        sum += part[k][threadIdx.x];
    out[i] += sum;
}

roofs_status gpu_add(device *d, const gpu_column *list, int64_t count, const double *weight,
                     int squares, double *out, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(d->shape.n, ADD_ROWS);
    const dim3 threads(ADD_ROWS, ADD_PARTS);
    CUDA_TRY(launch_next(d->size == sizeof(float) ? add_kernel<float> : add_kernel<double>, blocks,
                         threads, 0, d->stream, list, count, weight, squares, d->shape.n, out));
    return ROOFS_OK;
}

/* ---- calls with host vectors -------------------------------------------------- */

static roofs_status send(device *d, const double *from, int64_t count, double *to, roofs_error *err)
{
    CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyHostToDevice, d->stream));
    return ROOFS_OK;
}

static roofs_status fetch_back(device *d, const double *from, int64_t count, double *to,
                               roofs_error *err)
{
    CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

/* image = levels + partial images, in order */
__global__ void join_kernel(const double *images, const double *levels, int64_t parts, int64_t n,
                            double *image)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double sum = 0;
    for (int64_t k = 0; k < parts; k++)
        sum += levels[k];
    for (int64_t k = 0; k < parts; k++)
        sum += images[k * n + i];
    image[i] = sum;
}

__global__ void unit_kernel(const gpu_column *list, int64_t count, double *gradient, double *weight)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j >= count)
        return;
    gradient[j] *= list[j].unit;
    weight[j] = gradient[j] * list[j].unit;
}

/* Samples too many for a cluster: the gradient, then its image. */
static roofs_status descend_in_two(device *d, int64_t count, roofs_error *err)
{
    const int64_t n = d->shape.n;
    TRY(gpu_products(d, d->list, count, d->vector[0], d->numbers, err));
    unit_kernel<<<(unsigned)ceil_div(count, 128), 128, 0, d->stream>>>(d->list, count, d->numbers,
                                                                       d->weight);
    LAUNCHED();
    CUDA_TRY(cudaMemsetAsync(d->vector[1], 0, (size_t)n * sizeof(double), d->stream));
    return gpu_add(d, d->list, count, d->weight, 0, d->vector[1], err);
}

static roofs_status descend(device *d, const device_column *columns, int64_t count, const double *r,
                            double *gradient, double *image, roofs_error *err)
{
    const int64_t n = d->shape.n;
    descend_plan plan;
    TRY(gpu_plan_descend(d, &plan, err));
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, r, n, d->vector[0], err));
    if (plan.clusters == 0) {
        TRY(descend_in_two(d, count, err));
    } else {
        const descend_job job = {d->list, count, d->vector[0], d->numbers, nullptr, 0, 0};
        TRY(gpu_descend(d, &plan, &job, err));
        join_kernel<<<(unsigned)ceil_div(n, 128), 128, 0, d->stream>>>(
            d->images, d->levels, plan.clusters, n, d->vector[1]);
        LAUNCHED();
    }
    TRY(fetch_back(d, d->numbers, count, gradient, err));
    return fetch_back(d, d->vector[1], n, image, err);
}

void cuda_descend(device *d, const device_column *columns, int64_t count, const double *r,
                  double *gradient, double *image)
{
    if (count == 0)
        memset(image, 0, (size_t)d->shape.n * sizeof *image);
    else if (d->trouble.status == ROOFS_OK)
        (void)descend(d, columns, count, r, gradient, image, &d->trouble);
}

static roofs_status products(device *d, const device_column *columns, int64_t count,
                             const double *r, double *out, roofs_error *err)
{
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, r, d->shape.n, d->vector[0], err));
    TRY(gpu_products(d, d->list, count, d->vector[0], d->numbers, err));
    return fetch_back(d, d->numbers, count, out, err);
}

void cuda_products(device *d, const device_column *columns, int64_t count, const double *r,
                   double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)products(d, columns, count, r, out, &d->trouble);
}

static roofs_status add(device *d, const device_column *columns, int64_t count,
                        const double *weight, int squares, double *out, roofs_error *err)
{
    const int64_t n = d->shape.n;
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, weight, count, d->weight, err));
    TRY(send(d, out, n, d->vector[0], err));
    TRY(gpu_add(d, d->list, count, d->weight, squares, d->vector[0], err));
    return fetch_back(d, d->vector[0], n, out, err);
}

void cuda_add(device *d, const device_column *columns, int64_t count, const double *weight,
              double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)add(d, columns, count, weight, 0, out, &d->trouble);
}

void cuda_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                      double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)add(d, columns, count, weight, 1, out, &d->trouble);
}

template <typename T>
__global__ void sample_kernel(const gpu_column *list, int64_t count, int64_t sample, double *out)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j < count)
        out[j] = ((double)((const T *)list[j].x)[sample] - list[j].center) * list[j].factor;
}

static roofs_status sample_of(device *d, const device_column *columns, int64_t count,
                              int64_t sample, double *out, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(count, 128);
    TRY(gpu_send_list(d, columns, count, d->list, err));
    if (d->size == sizeof(float))
        sample_kernel<float><<<blocks, 128, 0, d->stream>>>(d->list, count, sample, d->numbers);
    else
        sample_kernel<double><<<blocks, 128, 0, d->stream>>>(d->list, count, sample, d->numbers);
    LAUNCHED();
    return fetch_back(d, d->numbers, count, out, err);
}

void cuda_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                 double *out)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)sample_of(d, columns, count, sample, out, &d->trouble);
}

/* ---- Gram matrices and sweeps with a host's decisions: the plain way --------------- */

/* Column blockIdx.x against column blockIdx.y, its elder or itself. */
template <typename T>
__global__ void cross_kernel(const gpu_column *list, int64_t n, const double *weight, double *gram)
{
    __shared__ double room[33];
    if (blockIdx.y > blockIdx.x)
        return;
    const gpu_column a = list[blockIdx.x], b = list[blockIdx.y];
    double sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum[0] += ((double)((const T *)a.x)[i] - a.center) * a.factor * weight[i] *
                  (((double)((const T *)b.x)[i] - b.center) * b.factor);
    block_sum(sum, room);
    if (threadIdx.x == 0) {
        gram[blockIdx.x * (int64_t)gridDim.x + blockIdx.y] = sum[0];
        gram[blockIdx.y * (int64_t)gridDim.x + blockIdx.x] = sum[0];
    }
}

static roofs_status cross(device *d, int64_t count, const double *weight, double *gram,
                          roofs_error *err)
{
    const dim3 blocks((unsigned)count, (unsigned)count);
    if (d->size == sizeof(float))
        cross_kernel<float><<<blocks, 128, 0, d->stream>>>(d->list, d->shape.n, weight, gram);
    else
        cross_kernel<double><<<blocks, 128, 0, d->stream>>>(d->list, d->shape.n, weight, gram);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status gram_of(device *d, const device_column *columns, int64_t count,
                            const double *weight, double *gram, roofs_error *err)
{
    double *there = nullptr;
    TRY(gpu_send_list(d, columns, count, d->list, err));
    TRY(send(d, weight, d->shape.n, d->vector[0], err));
    TRY(gpu_get(&there, count * count, "a Gram matrix", err));
    roofs_status status = cross(d, count, d->vector[0], there, err);
    if (status == ROOFS_OK)
        status = fetch_back(d, there, count * count, gram, err);
    cudaFree(there);
    return status;
}

void cuda_gram(device *d, const device_column *columns, int64_t count, const double *weight,
               double *gram)
{
    if (count > 0 && d->trouble.status == ROOFS_OK)
        (void)gram_of(d, columns, count, weight, gram, &d->trouble);
}

/* For every few columns the host is asked, as the table says; methods have their own rounds. */
static roofs_status sweep(device *d, const device_column *columns, int64_t count,
                          const device_sweep *how, roofs_error *err)
{
    const int64_t n = d->shape.n;
    for (int64_t first = 0; first < count; first += DEVICE_BLOCK) {
        const int64_t width = count - first < DEVICE_BLOCK ? count - first : DEVICE_BLOCK;
        double slope[DEVICE_BLOCK] = {}, gram[DEVICE_BLOCK][DEVICE_BLOCK] = {};
        double delta[DEVICE_BLOCK] = {}, spread[DEVICE_BLOCK] = {};
        double small[DEVICE_BLOCK * DEVICE_BLOCK];
        for (int64_t i = 0; i < n; i++)
            d->stage[n + i] = how->weight[i] * how->r[i];
        TRY(products(d, columns + first, width, d->stage + n, slope, err));
        TRY(gram_of(d, columns + first, width, how->weight, small, err));
        for (int64_t q = 0; q < width; q++)
            for (int64_t p = 0; p < width; p++)
                gram[q][p] = small[q * width + p];
        how->update(how->user, first, width, slope, gram, delta, spread);
        for (int64_t q = 0; q < width; q++)
            delta[q] = -delta[q];
        TRY(add(d, columns + first, width, delta, 0, how->r, err));
        TRY(add(d, columns + first, width, spread, 1, how->variance, err));
    }
    return ROOFS_OK;
}

void cuda_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how)
{
    if (d->trouble.status == ROOFS_OK)
        (void)sweep(d, columns, count, how, &d->trouble);
}
