/* The table that libroofs_cuda.so exports: the device, and the engines of methods on it. */
#include "linalg/cuda/device_cuda.cuh"
#include "method/cuda/engines.cuh"

#include <cstring>

static const void *cuda_engine(const char *method)
{
    return strcmp(method, "roofs") == 0         ? (const void *)&roofs_cuda
           : strcmp(method, "roofs-bayes") == 0 ? (const void *)&bayes_cuda
                                                : nullptr;
}

static const device_ops cuda_ops = {
    .name = "cuda",
    .bytes = cuda_bytes,
    .taken = cuda_taken,
    .bytes_on_device = cuda_bytes_on_device,
    .free_on_device = cuda_free_on_device,
    .create = cuda_create,
    .destroy = cuda_destroy,
    .borrow = cuda_borrow,
    .prefetch = cuda_prefetch,
    .deferred = cuda_deferred,
    .holds = cuda_holds,
    .survey = cuda_survey,
    .rescale = cuda_rescale,
    .keep = cuda_keep,
    .release = cuda_release,
    .fetch = cuda_fetch,
    .put = cuda_put,
    .products = nullptr,
    .engine = cuda_engine,
};

extern "C" __attribute__((visibility("default"))) const device_plugin roofs_cuda_plugin = {
    .version = DEVICE_PLUGIN_VERSION,
    .library = ROOFS_VERSION,
    .ops = &cuda_ops,
    .ready = cuda_ready,
};
