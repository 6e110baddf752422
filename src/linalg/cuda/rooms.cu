#include "linalg/cuda/rooms.cuh"

#include <cstring>

roofs_status gpu_take(void **out, int64_t bytes, const char *what, roofs_error *err)
{
    *out = nullptr;
    cudaError_t error = cudaMalloc(out, (size_t)bytes);
    if (error == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        return fail(err, ROOFS_NO_MEMORY, "device cuda: no room for %lld bytes of %s",
                    (long long)bytes, what);
    }
    CUDA_TRY(error);
    CUDA_TRY(cudaMemset(*out, 0, (size_t)bytes));
    return ROOFS_OK;
}

roofs_status rooms_take(gpu_rooms *r, const char *what, roofs_error *err)
{
    if (r->count > gpu_rooms::MOST)
        return fail(err, ROOFS_FAILED, "device cuda: too many rooms for %s", what);
    if (r->is_here) {
        CUDA_TRY(cudaHostAlloc(&r->block, (size_t)r->bytes, cudaHostAllocDefault));
        memset(r->block, 0, (size_t)r->bytes);
    } else {
        TRY(gpu_take(&r->block, r->bytes, what, err));
    }
    for (int k = 0; k < r->count; k++)
        *r->wanted[k].out = (char *)r->block + r->wanted[k].at;
    return ROOFS_OK;
}

void rooms_give_back(gpu_rooms *r)
{
    if (r->is_here)
        cudaFreeHost(r->block);
    else
        cudaFree(r->block);
    r->block = nullptr;
}
