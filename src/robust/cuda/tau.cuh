/* Eq. (5) on the GPU: the same as robust/tau.c, all tau at once. */
#pragma once

#include "robust/cuda/order.cuh"

/* A unit in which the smaller half of the squares is at most 1 (see robust/tau.c). */
struct tau_unit_there {
    double once, again;
};

__device__ inline tau_unit_there tau_unit_of(double middle)
{
    int exponent = 0;
    if (middle > 0)
        frexp(middle, &exponent);
    return {ldexp(1.0, -exponent / 2), ldexp(1.0, exponent / 2 - exponent)};
}

__device__ inline double tau_square(const gpu_order &o, tau_unit_there unit, int64_t k)
{
    const double scaled = order_value(__ldcg(&o.sorted[k])) * unit.once * unit.again;
    return scaled * scaled;
}

__device__ inline int64_t first_at_least(const double *squares, int64_t n, double wanted)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (squares[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same for all squares, of which every 8th stands in `coarse`. */
__device__ inline int64_t first_of_all(const double *squares, int64_t n, const double *coarse,
                                       double wanted)
{
    const int64_t all = (n + COARSE - 1) / COARSE, known = all < COARSE_MOST ? all : COARSE_MOST;
    const int64_t at = first_at_least(coarse, known, wanted);
    const int64_t from = at > 0 ? (at - 1) * COARSE : 0;
    const int64_t to = at < known ? (at * COARSE < n ? at * COARSE : n) : n;
    return from + first_at_least(squares + from, to - from, wanted);
}

/* The lowest rank, from 1, whose square is closest to `mean`. */
__device__ inline int64_t closest_rank(const double *squares, int64_t n, const double *coarse,
                                       double mean)
{
    const int64_t above = first_of_all(squares, n, coarse, mean);
    if (above == 0)
        return 1;
    const double below = squares[above - 1];
    if (above < n && squares[above] - mean < mean - below)
        return above + 1;
    if (above == 1 || squares[above - 2] < below)
        return above;
    return first_at_least(squares, above, below) + 1;
}

/* sum: of the `smallest` smallest squares. */
__device__ inline int tau_fits(const gpu_order &o, int64_t n, const double *squares, int64_t known,
                               const double *coarse, int64_t smallest, double sum)
{
    const int64_t tau = smallest + (n + 1) / 2;
    const double mean = sum / (double)smallest;
    const int64_t other = smallest == 2 ? 1 : closest_rank(squares, known, coarse, mean);
    return order_value(__ldcg(&o.sorted[tau - 1])) <=
           2.0 * (double)tau * order_value(__ldcg(&o.sorted[other - 1])) / (double)other;
}

/* From o.sorted; squares: n. All threads get it. A mean is not above the largest of its squares,
 * but by rounding: those beyond the half that is averaged over are not needed. */
__device__ inline int64_t order_tau(const gpu_order &o, int64_t n, double *squares,
                                    order_room &room, int &turn)
{
    const int64_t half = (n + 1) / 2, most = n - half, known = most + 2 < n ? most + 2 : n;
    const tau_unit_there unit = tau_unit_of(order_value(__ldcg(&o.sorted[n / 2])));
    const stretch own = order_stretch(known);
    double total = 0;
    for (int64_t k = own.begin; k < own.end; k++) {
        squares[k] = tau_square(o, unit, k);
        total += squares[k];
    }
    double sum = sum_before(o, total, room, turn);
    for (int64_t k = threadIdx.x; k < COARSE_MOST && k * COARSE < known; k += ORDER_THREADS)
        room.coarse[k] = __ldcg(&squares[k * COARSE]);
    __syncthreads();
    int64_t best = half + 1 < n ? half + 1 : n;
    for (int64_t k = own.begin; k < own.end && k < most; k++) {
        sum += squares[k];
        if (tau_fits(o, n, squares, known, room.coarse, k + 1, sum))
            best = half + k + 1;
    }
    return (int64_t)order_max(o, (double)best, room, turn);
}
