/* Which samples to trust and which features to keep, on the GPU: order statistics of magnitudes
 * and eq. (5). Equals keep the order of their places, as on the CPU. */
#pragma once

#include "linalg/cuda/gpu.cuh"

/* Up to 65536 keys are put into buckets by their leading bits, and the rank within a bucket is found
 * by comparing all in it: a few short launches instead of the many passes of a radix sort. Most
 * magnitudes are between 2^-44 and 2^20 in the units the fit is done in: 128 buckets for each
 * power of two there. Others share the first or the last one, which is slow, not wrong. */
enum { ORDER_BUCKETS = 8192, ORDER_LOWEST = (1023 - 44) * 128 };

__device__ inline int bucket_of(uint64_t key)
{
    const int64_t leading = (int64_t)(key >> 45) - ORDER_LOWEST; /* 11 bits of exponent, 7 more */
    return (int)(leading < 0 ? 0 : leading < ORDER_BUCKETS ? leading : ORDER_BUCKETS - 1);
}

/* Where the magnitude that stands at a place is put to be sorted. */
struct order_keys {
    uint64_t *keys;
    int32_t *places;
    uint32_t *sizes; /* of the buckets; NULL for radix sorts */
};

__device__ inline void order_put(const order_keys &out, int64_t at, double size)
{
    const uint64_t key = (uint64_t)__double_as_longlong(size);
    out.keys[at] = key;
    out.places[at] = (int32_t)at;
    if (out.sizes)
        atomicAdd(&out.sizes[bucket_of(key)], 1);
}

struct gpu_order {
    int64_t capacity;
    uint64_t *keys, *sorted; /* bits of magnitudes; sorted: ascending, after gpu_order_sort */
    int32_t *places, *place; /* place[k]: where the one of rank k stood */
    uint64_t *loose;                 /* in buckets, not yet in order */
    uint32_t *sizes, *starts, *used; /* of the buckets */
    uint32_t *stays;                 /* of gpu_order_part */
    double *totals; /* of stretches of a sum */
    void *temporary;
    size_t temporary_bytes;
};

roofs_status gpu_order_create(gpu_order *o, int64_t capacity, roofs_error *err);
void gpu_order_destroy(gpu_order *o);

/* Sorts |values[0..n)|, each times 2^-exponent[i] where exponents are given; with `reversed` the
 * later of two equals comes first, and places count from the end. */
roofs_status gpu_order_sort(gpu_order *o, const double *values, const int *exponent, int64_t n,
                            int reversed, cudaStream_t stream, roofs_error *err);

/* The same where a kernel has put the magnitudes into these already. */
order_keys gpu_order_keys(const gpu_order *o, int64_t n);
roofs_status gpu_order_sort_keys(gpu_order *o, int64_t n, cudaStream_t stream, roofs_error *err);

/* *tau of eq. (5) from o->sorted. squares, sums: n each. */
roofs_status gpu_tau(const gpu_order *o, int64_t n, double *squares, double *sums,
                     unsigned long long *tau, cudaStream_t stream, roofs_error *err);

/* After a reversed sort of count magnitudes: stay[] = places of the `most` largest, leave[] = those
 * of the others, both ascending. */
roofs_status gpu_order_part(gpu_order *o, int64_t count, int64_t most, int32_t *stay,
                            int32_t *leave, cudaStream_t stream, roofs_error *err);
