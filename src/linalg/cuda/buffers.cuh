/* Memory of the CUDA device, on the GPU and on the host. No other file of the plug-in allocates. */
#pragma once

#include "linalg/cuda/gpu.cuh"

extern "C" {
#include "base/memory.h"
}

#include <new>

/* ---- one allocation ------------------------------------------------------ */

/* Zeroed memory on the GPU; the error names `what`. */
roofs_status gpu_allocate(void **out, int64_t bytes, const char *what, roofs_error *err);
void gpu_free(void *memory);

/* An object on the host. */
template <typename T> roofs_status host_create(T **out, const char *what, roofs_error *err)
{
    void *memory = memory_zeroed(1, sizeof(T), what, err);
    *out = memory ? new (memory) T() : nullptr;
    return memory ? ROOFS_OK : ROOFS_NO_MEMORY;
}

template <typename T> void host_destroy(T *object)
{
    object->~T();
    memory_free(object);
}

/* ---- many buffers in one allocation -------------------------------------- */

/* Buffers that are allocated and freed together, which is faster than one by one. */
struct gpu_buffers {
    enum { MOST = 48, ALIGN = 256 };
    struct {
        void **out;
        int64_t at;
    } wanted[MOST];
    int count;
    int64_t bytes;
    void *block;
    int is_host; /* page-locked memory on the host; otherwise memory on the GPU */
};

/* Requests a buffer of `count` values; buffers_allocate sets *out. */
template <typename T> void buffers_want(gpu_buffers *b, T **out, int64_t count)
{
    if (b->count < gpu_buffers::MOST)
        b->wanted[b->count] = {(void **)out, b->bytes};
    b->count++;
    b->bytes += ceil_div((count > 0 ? count : 1) * (int64_t)sizeof(T), gpu_buffers::ALIGN) *
                gpu_buffers::ALIGN;
}

/* Allocates all requested buffers, zeroed; the error names `what`. */
roofs_status buffers_allocate(gpu_buffers *b, const char *what, roofs_error *err);
void buffers_free(gpu_buffers *b);
