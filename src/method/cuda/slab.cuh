/* The prior of roofs-bayes on the GPU. */
#pragma once

#include "linalg/cuda/gpu.cuh"

extern "C" {
#include "method/slab.h"
}

struct slab_numbers : slab_parameters {
    int started;
    unsigned long long used;
};

struct slab_gpu {
    double *R, *S, *k; /* SLAB_CAPACITY each */
    double *spare;     /* scratch for all three */
    int64_t every;
    slab_numbers *numbers;
    double *exchange; /* slab_gpu_exchange() numbers if the GPU has no clusters; otherwise NULL */
};

int64_t slab_gpu_exchange(void);

__device__ inline void slab_record(const slab_gpu &s, int64_t feature, double R, double S, double k)
{
    const int64_t at = slab_place(feature, s.every);
    if (at < 0)
        return;
    s.R[at] = R;
    s.S[at] = S;
    s.k[at] = k;
    atomicMax(&s.numbers->used, (unsigned long long)at + 1);
}

/* Thins the lists until they can hold feature `last`. */
roofs_status slab_gpu_reserve(slab_gpu *s, int64_t last, cudaStream_t stream, roofs_error *err);
roofs_status slab_gpu_learn(const slab_gpu *s, double total, int64_t mu, int64_t seen,
                            cudaStream_t stream, roofs_error *err);
