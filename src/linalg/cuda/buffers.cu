#include "linalg/cuda/buffers.cuh"

#include <cstring>

roofs_status gpu_allocate(void **out, int64_t bytes, const char *what, roofs_error *err)
{
    *out = nullptr;
    cudaError_t error = cudaMalloc(out, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return fail(err, ROOFS_NO_MEMORY, "device cuda: no memory on the GPU for %s (%lld bytes)",
                    what, (long long)bytes);
    }
    CUDA_TRY(error);
    error = cudaMemset(*out, 0, (size_t)bytes);
    if (error != cudaSuccess) {
        cudaFree(*out);
        *out = nullptr;
    }
    CUDA_TRY(error);
    return ROOFS_OK;
}

void gpu_free(void *memory)
{
    cudaFree(memory);
}

roofs_status buffers_allocate(gpu_buffers *b, const char *what, roofs_error *err)
{
    if (b->count > gpu_buffers::MOST)
        return fail(err, ROOFS_FAILED, "device cuda: too many buffers for %s", what);
    if (b->is_host) {
        CUDA_TRY(cudaHostAlloc(&b->block, (size_t)b->bytes, cudaHostAllocDefault));
        memset(b->block, 0, (size_t)b->bytes);
    } else {
        TRY(gpu_allocate(&b->block, b->bytes, what, err));
    }
    for (int k = 0; k < b->count; k++)
        *b->wanted[k].out = (char *)b->block + b->wanted[k].at;
    return ROOFS_OK;
}

void buffers_free(gpu_buffers *b)
{
    if (b->is_host)
        cudaFreeHost(b->block);
    else
        cudaFree(b->block);
    b->block = nullptr;
}
