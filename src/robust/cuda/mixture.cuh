/* The clean/corrupt mixture on the GPU. */
#pragma once

#include "linalg/cuda/gpu.cuh"

extern "C" {
#include "robust/mixture.h"
}

/* The numbers of a mixture, on the GPU. */
struct mixture_numbers : mixture_parameters {
    double intercept, total;
    double trusted; /* samples with w > TRUSTED */
    double cut;     /* the largest residual of these, from the responses that were given */
};

struct mixture_gpu {
    int64_t n;
    int has_intercept;
    double ratio;
    double *y, *offset, *r, *w, *W, *V, *z, *f, *clean, *h;
    mixture_numbers *numbers;
};

mixture_numbers mixture_numbers_of(const mixture *m);
void mixture_set_numbers(mixture *m, const mixture_numbers *numbers);

/* To be called once, before the kernels. */
roofs_status mixture_gpu_configure(roofs_error *err);

/* After a sweep: V is not negative, the mean of the residuals moves to the intercept, judge. */
roofs_status mixture_gpu_judge(const mixture_gpu *m, int at_end, cudaStream_t stream,
                               roofs_error *err);

/* After columns have left: V is not negative, variances. */
roofs_status mixture_gpu_variances(const mixture_gpu *m, cudaStream_t stream, roofs_error *err);
