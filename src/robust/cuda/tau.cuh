/* Eq. (5) on the GPU: all tau at once. */
#pragma once

#include "robust/cuda/order.cuh"
#include "robust/tau_formula.h"

/* Squares that ascend: as many as fit into shared memory, the others from residuals. */
struct tau_ascending {
    const double *near, *sorted;
    int count;
    tau_unit unit;

    __device__ double residual(int k) const
    {
        return __ldcg(&sorted[k]);
    }

    __device__ double square(int k) const
    {
        return k < NEAR_MOST ? near[k] : tau_square(unit, residual(k));
    }

    /* The first of the first `n` whose square is at least `wanted`. */
    __device__ int first_at_least(int n, double wanted) const
    {
        int low = 0, high = n;
        const long long key = __double_as_longlong(wanted); /* whole numbers are compared faster */
#pragma unroll 1
        while (low < high) {
            const int middle = (low + high) / 2;
            if (__double_as_longlong(square(middle)) < key)
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
        if (above < count && tau_takes_upper(below, mean, square(above)))
            return above + 1;
        if (above == 1 || square(above - 2) < below)
            return above;
        return first_at_least(above, below) + 1; /* hardly ever */
    }
};

/* sum: of the `smallest` smallest squares. largest: the residual of rank tau. */
__device__ inline int tau_fits(const tau_ascending &all, int tau, int smallest, double sum,
                               double largest)
{
    const int other = tau_is_tie(smallest) ? 1 : all.closest_rank(sum / (double)smallest);
    return largest <= tau_bound(tau, all.residual(other - 1), other);
}

/* The first squares go to shared memory; the sum of those before `first`, over a warp. */
__device__ inline double bring_near(const tau_ascending &all, int first, double *near)
{
    enum { EACH = NEAR_MOST / (2 * ORDER_THREADS_LEAST) };
    double2 two[EACH];
    double earlier = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int k = 2 * (threadIdx.x + e * blockDim.x);
        two[e] = k < all.count && k < NEAR_MOST ? __ldcg((const double2 *)(all.sorted + k))
                                                : double2{0, 0}; /* the buffer has one place more */
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int k = 2 * (threadIdx.x + e * blockDim.x);
        if (k >= NEAR_MOST)
            break;
        near[k] = tau_square(all.unit, two[e].x);
        near[k + 1] = tau_square(all.unit, two[e].y);
        earlier += (k < first ? near[k] : 0) + (k + 1 < first ? near[k + 1] : 0);
    }
    return warp_sum(earlier);
}

/* From o.sorted. All threads get it. A mean is not above the largest of its squares, but by
 * rounding: those beyond the half that is averaged over are not needed. */
__device__ inline int order_tau(const gpu_order &o, int n, order_shared &shared, int &turn)
{
    const int half = (n + 1) / 2, most = n - half;
    const stretch block = order_share(most), own = order_stretch(block);
    auto largest_of = [&](int k) { return k < own.end ? __ldcg(&o.sorted[half + k]) : 0.0; };
    double largest = largest_of(own.begin), sum = 0; /* it comes meanwhile */
    const tau_unit unit = tau_unit_of(__ldcg(&o.sorted[n / 2]));
    const tau_ascending all = {shared.near, o.sorted, min(most + 2, n), unit};
    const double earlier = bring_near(all, block.begin, shared.near);
    __syncthreads();
#pragma unroll 1
    for (int k = own.begin; k < own.end; k++)
        sum += all.square(k);
    sum = all.count <= NEAR_MOST ? block_before(sum, earlier, shared.own)
                                 : order_before(sum, shared, turn);
    int best = min(half + 1, n);
#pragma unroll 1
    for (int k = own.begin; k < own.end; k++) {
        sum += all.square(k);
        if (tau_fits(all, half + k + 1, k + 1, sum, largest))
            best = half + k + 1;
        largest = largest_of(k + 1);
    }
    return (int)order_max((unsigned)best, shared, turn);
}
