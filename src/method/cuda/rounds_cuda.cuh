/* The rounds of the methods on the GPU, see method/rounds.h. */
#pragma once

#include "linalg/cuda/device_cuda.cuh"
#include "robust/cuda/order.cuh"

extern "C" {
#include "method/rounds.h"
extern const rounds cuda_rounds;
}

roofs_status bayes_begin(columns *c, const bayes_job *job, roofs_error *err);
roofs_status bayes_round(device *d, bayes_job *job, int64_t spared, roofs_error *err);
roofs_status bayes_keep(device *d, bayes_job *job, int64_t most, roofs_error *err);
roofs_status bayes_end(columns *c, bayes_job *job, unsigned char *keep, roofs_error *err);
roofs_status bayes_prior(device *d, slab *prior, roofs_error *err);
