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

__device__ inline double tau_square(tau_unit_there unit, double residual)
{
    const double scaled = residual * unit.once * unit.again;
    return scaled * scaled;
}

/* Residuals that ascend: as many as there is room for in shared memory, the others where they are. */
struct tau_ascending {
    const double *near;
    const uint64_t *sorted;
    int64_t count;
    tau_unit_there unit;

    __device__ double residual(int64_t k) const
    {
        return k < NEAR_MOST ? near[k] : order_value(__ldcg(&sorted[k]));
    }

    __device__ double square(int64_t k) const
    {
        return tau_square(unit, residual(k));
    }

    /* The first of the first `n` whose square is at least `wanted`. */
    __device__ int64_t first_at_least(int64_t n, double wanted) const
    {
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (square(middle) < wanted)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The lowest rank, from 1, whose square is closest to `mean`. */
    __device__ int64_t closest_rank(double mean) const
    {
        const int64_t above = first_at_least(count, mean);
        if (above == 0)
            return 1;
        const double below = square(above - 1);
        if (above < count && square(above) - mean < mean - below)
            return above + 1;
        if (above == 1 || square(above - 2) < below)
            return above;
        return first_at_least(above, below) + 1;
    }
};

/* sum: of the `smallest` smallest squares. largest: the residual of rank tau. */
__device__ inline int tau_fits(const tau_ascending &all, int64_t tau, int64_t smallest, double sum,
                               double largest)
{
    const int64_t other = smallest == 2 ? 1 : all.closest_rank(sum / (double)smallest);
    return largest <= 2.0 * (double)tau * all.residual(other - 1) / (double)other;
}

/* From o.sorted. All threads get it. A mean is not above the largest of its squares, but by
 * rounding: those beyond the half that is averaged over are not needed. */
__device__ inline int64_t order_tau(const gpu_order &o, int64_t n, order_room &room, int &turn)
{
    const int64_t half = (n + 1) / 2, most = n - half, known = most + 2 < n ? most + 2 : n;
    const tau_unit_there unit = tau_unit_of(order_value(__ldcg(&o.sorted[n / 2])));
    const stretch own = order_stretch(most);
    const tau_ascending all = {room.near, o.sorted, known, unit};
#pragma unroll
    for (int k = threadIdx.x; k < NEAR_MOST; k += ORDER_THREADS)
        room.near[k] = k < known ? order_value(__ldcg(&o.sorted[k])) : 0;
    __syncthreads();
    double total = 0;
    for (int64_t k = own.begin; k < own.end; k++)
        total += all.square(k);
    double sum = sum_before(o, total, room, turn);
    int64_t best = half + 1 < n ? half + 1 : n;
    for (int64_t k = own.begin; k < own.end; k++) {
        const double largest = order_value(__ldcg(&o.sorted[half + k]));
        sum += all.square(k);
        if (tau_fits(all, half + k + 1, k + 1, sum, largest))
            best = half + k + 1;
    }
    return (int64_t)order_max(o, (double)best, room, turn);
}
