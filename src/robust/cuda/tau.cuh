/* Eq. (5) on the GPU, for all tau at the same time. */
#pragma once

#include "robust/cuda/order.cuh"
#include "robust/tau_formula.h"

/* Ascending squares: the first NEAR_MOST from shared memory, the others from the residuals. */
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

    /* The first index below `n` whose square is at least `wanted`, or n. */
    __device__ int first_at_least(int n, double wanted) const
    {
        int low = 0, high = n;
        const long long key = __double_as_longlong(wanted); /* comparing integers is faster */
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

    /* tau_o: the lowest position, from 1, whose square is closest to `mean`. */
    __device__ int closest_position(double mean) const
    {
        const int above = first_at_least(count, mean);
        if (above == 0)
            return 1;
        const double below = square(above - 1);
        if (above < count && tau_takes_upper(below, mean, square(above)))
            return above + 1;
        if (above == 1 || square(above - 2) < below)
            return above;
        return first_at_least(above, below) + 1; /* rare */
    }
};

/* True if tau satisfies eq. (5). sum: of the `smallest` smallest squares. largest: |r|_(tau). */
__device__ inline int satisfies_eq5(const tau_ascending &all, int tau, int smallest, double sum,
                                    double largest)
{
    const int other = tau_is_tie(smallest) ? 1 : all.closest_position(sum / (double)smallest);
    return largest <= tau_bound(tau, all.residual(other - 1), other);
}

/* Writes the first squares to shared memory. Returns, per warp, its sum of those before `first`. */
__device__ inline double load_near(const tau_ascending &all, int first, double *near)
{
    enum { EACH = NEAR_MOST / (2 * ORDER_THREADS_LEAST) };
    double2 two[EACH];
    double earlier = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int k = 2 * (threadIdx.x + e * blockDim.x);
        two[e] = k < all.count && k < NEAR_MOST ? __ldcg((const double2 *)(all.sorted + k))
                                                : double2{0, 0}; /* the buffer is one longer */
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

/* Returns tau from o.sorted, in all threads. Apart from rounding, a mean is at most the largest of
 * its squares, so squares above the averaged half are not needed. */
__device__ inline int order_tau(const gpu_order &o, int n, order_shared &shared, int &side)
{
    const int half = (n + 1) / 2, most = n - half;
    const index_range block = order_share(most), own = order_thread_range(block);
    auto largest_of = [&](int k) { return k < own.end ? __ldcg(&o.sorted[half + k]) : 0.0; };
    double largest = largest_of(own.begin), sum = 0; /* loaded early */
    const tau_unit unit = tau_unit_of(__ldcg(&o.sorted[n / 2]));
    const tau_ascending all = {shared.near, o.sorted, min(most + 2, n), unit};
    const double earlier = load_near(all, block.begin, shared.near);
    __syncthreads();
#pragma unroll 1
    for (int k = own.begin; k < own.end; k++)
        sum += all.square(k);
    sum = all.count <= NEAR_MOST ? block_before(sum, earlier, shared.own)
                                 : order_before(sum, shared, side);
    int best = min(half + 1, n);
#pragma unroll 1
    for (int k = own.begin; k < own.end; k++) {
        sum += all.square(k);
        if (satisfies_eq5(all, half + k + 1, k + 1, sum, largest))
            best = half + k + 1;
        largest = largest_of(k + 1);
    }
    return (int)order_max((unsigned)best, shared, side);
}
