/* The mixture of clean and corrupt samples on the GPU. */
#pragma once

#include "linalg/cuda/gpu.cuh"

extern "C" {
#include "robust/mixture.h"
}

/* Parameters and results of a mixture on the GPU. */
struct mixture_numbers : mixture_parameters {
    double intercept, total;
    double trusted; /* samples with w > TRUSTED */
    double cut;     /* their largest absolute residual, with the offset */
};

struct mixture_gpu {
    int64_t n;
    int has_intercept;
    double ratio;
    double *y, *offset, *r, *w, *W, *V, *z, *f, *clean, *h;
    mixture_numbers *numbers;
    double
        *exchange; /* mixture_gpu_exchange() numbers if the GPU has no clusters; otherwise NULL */
    int64_t shared_most; /* bytes of shared memory for temporary values */
};

mixture_numbers mixture_numbers_of(const mixture *m);
void mixture_set_numbers(mixture *m, const mixture_numbers *numbers);

int64_t mixture_gpu_exchange(void);

/* Must be called once before the calls below. shared_most: bytes that a block may take. */
roofs_status mixture_gpu_configure(mixture_gpu *m, int64_t shared_most, roofs_error *err);

/* After a sweep: sets negative V to 0, recentres and judges. */
roofs_status mixture_gpu_judge(const mixture_gpu *m, int at_end, cudaStream_t stream,
                               roofs_error *err);

/* After columns have been dropped: sets negative V to 0 and updates the variances. */
roofs_status mixture_gpu_variances(const mixture_gpu *m, cudaStream_t stream, roofs_error *err);
