/* The engines of the plug-in. */
#pragma once

#include "linalg/cuda/device_cuda.cuh"
#include "robust/cuda/order.cuh"

extern "C" {
#include "method/bayes_engine.h"
#include "method/roofs_engine.h"
}

extern const roofs_engine roofs_cuda;
extern const bayes_engine bayes_cuda;

/* Frees the state of an engine, after the work on its stream. */
template <typename State> void engine_destroy(void *own)
{
    State *s = (State *)own;
    cudaStreamSynchronize(s->d->stream);
    gpu_order_destroy(&s->order);
    buffers_free(&s->on_device);
    buffers_free(&s->on_host);
    cudaGetLastError();
    host_destroy(s);
}
