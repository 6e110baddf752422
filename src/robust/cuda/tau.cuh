/* Eq. (5) on the GPU: the same as robust/tau.c, all tau at once. */
#pragma once

#include "robust/cuda/order.cuh"

/* A unit in which the smaller half of the squares is at most 1 (see robust/tau.c). */
struct tau_unit_there {
    double once, again;
};

/* 2^k, for k that make a normal number. */
__device__ inline double power_of_two(int k)
{
    return __hiloint2double((1023 + k) << 20, 0);
}

__device__ inline tau_unit_there tau_unit_of(double middle)
{
    const int exponent = middle > 0 ? (__double2hiint(middle) >> 20) - 1022 : 0;
    return {power_of_two(-exponent / 2), power_of_two(exponent / 2 - exponent)};
}

__device__ inline double tau_square(tau_unit_there unit, double residual)
{
    const double scaled = residual * unit.once * unit.again;
    return scaled * scaled;
}

/* Squares that ascend: as many as there is room for in shared memory, the others from residuals. */
struct tau_ascending {
    const double *near;
    const uint64_t *sorted;
    int count;
    tau_unit_there unit;

    __device__ double residual(int k) const
    {
        return order_value(__ldcg(&sorted[k]));
    }

    __device__ double square(int k) const
    {
        return k < NEAR_MOST ? near[k] : tau_square(unit, residual(k));
    }

    /* The first of the first `n` whose square is at least `wanted`. */
    __device__ int first_at_least(int n, double wanted) const
    {
        int low = 0, high = n;
        const uint64_t key = order_key(wanted); /* whole numbers are compared faster */
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (order_key(square(middle)) < key)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* The lowest rank, from 1, whose square is closest to `mean`. */
    __device__ int closest_rank(double mean) const
    {
        const int above = first_at_least(count, mean);
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
    const int other = smallest == 2 ? 1 : all.closest_rank(sum / (double)smallest);
    return largest <= 2.0 * (double)tau * all.residual(other - 1) / (double)other;
}

/* From o.sorted. All threads get it. A mean is not above the largest of its squares, but by
 * rounding: those beyond the half that is averaged over are not needed. */
__device__ inline int64_t order_tau(const gpu_order &o, int64_t n, order_room &room, int &turn)
{
    const int64_t half = (n + 1) / 2, most = n - half, known = most + 2 < n ? most + 2 : n;
    const stretch own = order_stretch(most), block = order_share(most);
    auto largest_of = [&](int64_t k) {
        return k < own.end ? order_value(__ldcg(&o.sorted[half + k])) : 0.0;
    };
    double largest = largest_of(own.begin), sum = 0; /* it comes meanwhile */
    const tau_unit_there unit = tau_unit_of(order_value(__ldcg(&o.sorted[n / 2])));
    const tau_ascending all = {room.near, o.sorted, (int)known, unit};
    if (block.begin < block.end)
#pragma unroll
        for (int k = 2 * threadIdx.x; k < NEAR_MOST; k += 2 * ORDER_THREADS) {
            ulonglong2 two = {0, 0};
            if (k < known) /* there is room for one more */
                two = __ldcg((const ulonglong2 *)(o.sorted + k));
            room.near[k] = tau_square(unit, order_value(two.x));
            room.near[k + 1] = k + 1 < known ? tau_square(unit, order_value(two.y)) : 0;
        }
    __syncthreads();
    for (int64_t k = own.begin; k < own.end; k++)
        sum += all.square((int)k);
    if (known <= NEAR_MOST) { /* every block adds up those before its own */
        double earlier = 0;
        for (int64_t k = threadIdx.x; k < block.begin; k += ORDER_THREADS)
            earlier += room.near[k];
        sum = block_before(sum, earlier, room.own);
    } else {
        sum = order_before(sum, room, turn);
    }
    int64_t best = half + 1 < n ? half + 1 : n;
    for (int64_t k = own.begin; k < own.end; k++) {
        sum += all.square((int)k);
        if (tau_fits(all, half + k + 1, k + 1, sum, largest))
            best = half + k + 1;
        largest = largest_of(k + 1);
    }
    return order_max((unsigned)best, room, turn);
}
