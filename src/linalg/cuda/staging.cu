/* The cache is the only mutable global of the library. Locking memory takes milliseconds, which
 * counts in a small fit, so one block of at most CACHED_MOST bytes outlives a fit. A mutex guards
 * it. */
#include "linalg/cuda/staging.cuh"

#include <mutex>

enum { WITH_LARGE_PAGES = 8 << 20, CACHED_MOST = 32 << 20 };

static std::mutex cache_lock;
static gpu_staging cache; /* size 0: empty */

static gpu_staging exchange_cache(gpu_staging by)
{
    std::lock_guard<std::mutex> hold(cache_lock);
    const gpu_staging was = cache;
    cache = by;
    return was;
}

static void staging_free(const gpu_staging *s)
{
    if (s->is_locked)
        cudaHostUnregister(s->bytes);
    cudaGetLastError(); /* after a reset of the device the memory is no longer registered */
    memory_free(s->bytes);
}

/* memory_raw uses large pages, which lock faster, from WITH_LARGE_PAGES bytes on. Untouched pages
 * take no memory. */
roofs_status staging_take(gpu_staging *s, size_t size, roofs_error *err)
{
    *s = exchange_cache({});
    if (s->size >= size)
        return ROOFS_OK;
    staging_free(s);
    const size_t reserved = size > WITH_LARGE_PAGES ? size : WITH_LARGE_PAGES;
    *s = {(char *)memory_raw((int64_t)reserved, 1, "a batch", err), size, 0};
    if (s->bytes)
        return ROOFS_OK;
    *s = {};
    return ROOFS_NO_MEMORY;
}

/* Locks for all GPUs, because the next fit may use another one. */
cudaError_t staging_lock(gpu_staging *s)
{
    const cudaError_t error = cudaHostRegister(s->bytes, s->size, cudaHostRegisterPortable);
    s->is_locked = error == cudaSuccess;
    return error;
}

void staging_give_back(gpu_staging *s)
{
    gpu_staging other = *s;
    if (s->is_locked && s->size <= CACHED_MOST)
        other = exchange_cache(*s);
    staging_free(&other);
    *s = {};
}
