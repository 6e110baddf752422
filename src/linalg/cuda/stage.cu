#include "linalg/cuda/stage.cuh"

#include <cstdlib>
#include <mutex>

#include <sys/mman.h>

enum { LARGE_PAGE = 2 << 20, KEPT_MOST = 32 << 20 };

static std::mutex lock;
static gpu_stage spare; /* at most one */

static gpu_stage exchange_spare(gpu_stage by)
{
    std::lock_guard<std::mutex> hold(lock);
    const gpu_stage was = spare;
    spare = by;
    return was;
}

static void let_go(const gpu_stage *s)
{
    if (s->is_locked)
        cudaHostUnregister(s->bytes);
    cudaGetLastError(); /* a device that was reset has forgotten it */
    free(s->bytes);
}

/* Large pages are locked faster than small ones. */
roofs_status stage_take(gpu_stage *s, size_t size, roofs_error *err)
{
    *s = exchange_spare({});
    if (s->size >= size)
        return ROOFS_OK;
    let_go(s);
    *s = {};
    void *bytes = nullptr;
    if (posix_memalign(&bytes, size >= LARGE_PAGE ? LARGE_PAGE : 4096, size) != 0)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a batch: %lld bytes", (long long)size);
    (void)madvise(bytes, size, MADV_HUGEPAGE); /* where there are none, small ones do */
    *s = {(char *)bytes, size, 0};
    return ROOFS_OK;
}

/* For all GPUs: nobody knows which one the next fit is on. */
cudaError_t stage_lock(gpu_stage *s)
{
    const cudaError_t error = cudaHostRegister(s->bytes, s->size, cudaHostRegisterPortable);
    s->is_locked = error == cudaSuccess;
    return error;
}

void stage_give_back(gpu_stage *s)
{
    gpu_stage other = *s;
    if (s->is_locked && s->size <= KEPT_MOST)
        other = exchange_spare(*s);
    let_go(&other);
    *s = {};
}
