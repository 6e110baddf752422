/* Shared by the kernels of a round of method roofs that follow the gradient and its image.
 * Names and line numbers are those of method/roofs_cpu.c. */
#pragma once

#include "method/cuda/roofs_gpu.cuh"
#include "robust/step_formula.h"

#include <cmath>

struct round_task {
    int steps; /* of the round: ROUND_... */
    int n, count, mu;
    double published, clean_ratio, tolerance;
    int at; /* among the rounds launched at once */
    const double *gradient, *image;
    const double *gradient_squares, *image_squares; /* partial sums */
    int gradient_partials, image_partials;
    double *r, *mask, *masked, *before, *change;
    roofs_columns from, to, host;
    gpu_column *dropped;
    double *dropped_coef;
    gpu_order order;
    roofs_numbers *numbers;
    roofs_report *reports, *host_reports; /* the second: page-locked */
};

/* The kernels of leave.cu and of step_trust.cu. */
extern const order_kernels<round_task> leave_kernels, trust_kernels;

__device__ inline bool in_range(double squares)
{
    return squares > 0x1p-900 && squares < 0x1p900;
}

/* |mask x|, without overflow or underflow of the squares. mask may be NULL. */
__device__ __noinline__ inline double scaled_norm(const double *x, const double *mask, int n,
                                                  double *shared)
{
    double largest = 0, sum[1] = {0};
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        largest = fmax(largest, fabs(x[i] * (mask ? mask[i] : 1.0)));
    largest = block_max(largest, shared);
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double scaled = ldexp(x[i] * (mask ? mask[i] : 1.0), -exponent);
        sum[0] += scaled * scaled;
    }
    block_sum(sum, shared);
    return ldexp(sqrt(sum[0]), exponent);
}

/* ---- loads of a thread -------------------------------------------------------------------- */

/* Values that a thread loads together, before it needs the first. EACH: samples that it holds. */
template <int EACH> struct fetched {
    double r[EACH > 0 ? EACH : 1], image[EACH > 0 ? EACH : 1];
    double gradient_squares, image_squares; /* partial sums */
    int settled;
};

/* Calls act(j) for the columns of this thread. The last threads get the first columns, because the
 * first threads hold the samples. */
template <typename Act> __device__ inline void own_columns(int count, Act act)
{
    const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int j = threads - 1 - me; j < count; j += threads)
        act(j);
}

template <int EACH> __device__ inline void load_for_move(const round_task &t, fetched<EACH> &own)
{
    order_held<EACH>(t.n, [&](int e, int i) { own.image[e] = t.image[i]; });
    own.gradient_squares = own.image_squares = 0;
#pragma unroll 1
    for (int k = threadIdx.x; k < t.gradient_partials; k += blockDim.x)
        own.gradient_squares += t.gradient_squares[k];
#pragma unroll 1
    for (int k = threadIdx.x; k < t.image_partials; k += blockDim.x)
        own.image_squares += t.image_squares[k];
    own_columns(t.count, [&](int j) {
        prefetch(t.from.coef + j);
        prefetch(t.from.list + j);
        prefetch(t.gradient + j);
    });
}

/* `now` is valid after the next barrier of the block. */
template <int EACH>
__device__ inline void load_state(const round_task &t, fetched<EACH> &own, roofs_numbers &now)
{
    own.settled = t.numbers->settled;
    order_held<EACH>(t.n, [&](int e, int i) { own.r[e] = t.r[i]; });
    if (t.steps & ROUND_MOVE)
        load_for_move(t, own);
    if (threadIdx.x == 0)
        now = *t.numbers;
}

/* ---- line 6 ----------------------------------------------------------------------------- */

/* The curvature |image|^2 / (size |gradient|^2), without overflow or underflow of the squares. */
__device__ inline double scaled_curvature(const round_task &t, double size, double *shared)
{
    const double gradient = scaled_norm(t.gradient, nullptr, t.count, shared);
    const double image = scaled_norm(t.image, t.mask, t.n, shared) / sqrt(size);
    return step_curvature(gradient, image);
}

/* Returns the step, the same in every thread. */
template <int EACH>
__device__ inline double find_step(const round_task &t, const fetched<EACH> &own,
                                   roofs_numbers &now, order_shared &shared)
{
    double sums[2] = {own.gradient_squares, own.image_squares};
    block_sum(sums, shared.own);
    const double found = in_range(sums[0]) && in_range(sums[1])
                             ? step_curvature_of_squares(now.trusted * sums[0], sums[1])
                             : scaled_curvature(t, now.trusted, shared.own);
    const double curvature = step_largest_curvature(now.curvature, found);
    const double step = step_length(t.published, curvature);
    __syncthreads();
    if (threadIdx.x == 0) {
        now.curvature = curvature;
        now.step = step;
    }
    return step;
}

template <int EACH>
__device__ inline void move(const round_task &t, fetched<EACH> &own, roofs_numbers &now,
                            order_shared &shared)
{
    const double by = find_step(t, own, now, shared) / now.trusted;
    order_held<EACH>(t.n, [&](int e, int i) { t.r[i] = own.r[e] -= by * own.image[e]; });
    if (EACH == 0)
        order_own(t.n, [&](int i) { t.r[i] -= by * t.image[i]; });
    own_columns(t.count,
                [&](int j) { t.from.coef[j] += by * t.from.list[j].unit * t.gradient[j]; });
}

/* Stores the numbers for the later kernels of the round, after all threads have read the old ones.
 */
__device__ inline void store_numbers(const round_task &t, const roofs_numbers &now)
{
    order_barrier();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *t.numbers = now;
}
