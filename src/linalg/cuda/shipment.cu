#include "linalg/cuda/shipment.cuh"

extern "C" {
#include "linalg/block.h"
}

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

enum { WORKERS = 8 };

struct gpu_team {
    int gpu;
    int64_t n, size, piece; /* piece: columns */
    cudaStream_t stream;
    char *buffers; /* page-locked: one for each worker */
    cudaEvent_t sent[WORKERS];
    std::thread workers[WORKERS];
    std::mutex lock;
    std::condition_variable wake, done;
    int ending;
    gpu_shipment what;
    int64_t next;   /* column that nobody has taken yet */
    int at_work;    /* workers */
    cudaError_t trouble;
};

/* ---- columns as they are stored ------------------------------------------------- */

template <typename To, typename From>
static void gather(To *to, const From *from, const roofs_block *b, int64_t first, int64_t last)
{
    enum { TILE = 256 }; /* samples; a row-major block is read by whole lines */
    for (int64_t begin = 0; begin < b->n; begin += TILE) {
        int64_t end = begin + TILE < b->n ? begin + TILE : b->n;
        for (int64_t k = first; k < last; k++)
            for (int64_t i = begin; i < end; i++)
                to[(k - first) * b->n + i] =
                    (To)from[k * b->feature_stride + i * b->sample_stride];
    }
}

template <typename To>
static void lay_out(To *to, const roofs_block *b, int64_t first, int64_t last)
{
    memset(to, 0, (size_t)((last - first) * b->n) * sizeof(To));
    for (int64_t k = first; k < last; k++)
        for (int64_t at = block_start(b, k); at < block_start(b, k + 1); at++)
            to[(k - first) * b->n + block_sample(b, at)] = (To)block_value(b, at);
}

template <typename To>
static void bring_together(To *to, const roofs_block *b, int64_t first, int64_t last)
{
    const int same = b->dtype == (sizeof(To) == sizeof(float) ? ROOFS_F32 : ROOFS_F64);
    if (block_is_sparse(b)) {
        lay_out(to, b, first, last);
    } else if (same && b->sample_stride == 1) {
        for (int64_t k = first; k < last; k++)
            memcpy(to + (k - first) * b->n, (const To *)b->values + k * b->feature_stride,
                   (size_t)b->n * sizeof(To));
    } else if (b->dtype == ROOFS_F32) {
        gather(to, (const float *)b->values, b, first, last);
    } else {
        gather(to, (const double *)b->values, b, first, last);
    }
}

/* ---- workers ---------------------------------------------------------------------- */

static cudaError_t send_piece(gpu_team *t, int worker, int64_t first)
{
    const gpu_shipment *s = &t->what;
    const int64_t last = first + t->piece < s->block.count ? first + t->piece : s->block.count;
    const size_t row = (size_t)(t->n * t->size), pitch = (size_t)(s->lead * t->size);
    char *room = t->buffers + worker * t->piece * (int64_t)row;
    cudaError_t error = cudaEventSynchronize(t->sent[worker]);
    if (error != cudaSuccess)
        return error;
    if (s->dtype == ROOFS_F32)
        bring_together((float *)room, &s->block, first, last);
    else
        bring_together((double *)room, &s->block, first, last);
    error = cudaMemcpy2DAsync(s->there + first * (int64_t)pitch, pitch, room, row, row,
                              (size_t)(last - first), cudaMemcpyHostToDevice, t->stream);
    return error == cudaSuccess ? cudaEventRecord(t->sent[worker], t->stream) : error;
}

static void work(gpu_team *t, int worker)
{
    std::unique_lock<std::mutex> hold(t->lock);
    const cudaError_t ready = cudaSetDevice(t->gpu);
    for (;;) {
        t->wake.wait(hold, [t] { return t->ending || t->next < t->what.block.count; });
        if (t->ending)
            return;
        const int64_t first = t->next;
        t->next += t->piece;
        t->at_work++;
        hold.unlock();
        const cudaError_t error =
            ready == cudaSuccess ? send_piece(t, worker, first) : ready;
        hold.lock();
        if (error != cudaSuccess)
            t->trouble = error;
        if (--t->at_work == 0 && t->next >= t->what.block.count)
            t->done.notify_all();
    }
}

void gpu_team_ship(gpu_team *t, const gpu_shipment *what)
{
    std::lock_guard<std::mutex> hold(t->lock);
    t->what = *what;
    t->next = 0;
    t->wake.notify_all();
}

roofs_status gpu_team_wait(gpu_team *t, roofs_error *err)
{
    std::unique_lock<std::mutex> hold(t->lock);
    t->done.wait(hold, [t] { return t->at_work == 0 && t->next >= t->what.block.count; });
    const cudaError_t error = t->trouble;
    t->trouble = cudaSuccess;
    CUDA_TRY(error);
    return ROOFS_OK;
}

static roofs_status fill(gpu_team *t, roofs_error *err)
{
    const int64_t row = t->n * t->size;
    CUDA_TRY(cudaGetDevice(&t->gpu));
    CUDA_TRY(cudaHostAlloc((void **)&t->buffers, (size_t)(WORKERS * t->piece * row),
                           cudaHostAllocDefault));
    for (int w = 0; w < WORKERS; w++)
        CUDA_TRY(cudaEventCreateWithFlags(&t->sent[w], cudaEventDisableTiming));
    for (int w = 0; w < WORKERS; w++)
        t->workers[w] = std::thread(work, t, w);
    return ROOFS_OK;
}

roofs_status gpu_team_create(gpu_team **out, const device_shape *shape, int64_t size,
                             cudaStream_t stream, roofs_error *err)
{
    gpu_team *t = new (std::nothrow) gpu_team();
    *out = t;
    if (!t)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a batch");
    t->n = shape->n;
    t->piece = ceil_div(shape->batch, WORKERS); /* few pieces: each costs the driver its time */
    t->size = size;
    t->stream = stream;
    return fill(t, err);
}

void gpu_team_destroy(gpu_team *t)
{
    if (!t)
        return;
    {
        std::lock_guard<std::mutex> hold(t->lock);
        t->ending = 1;
        t->wake.notify_all();
    }
    for (std::thread &worker : t->workers)
        if (worker.joinable())
            worker.join();
    for (cudaEvent_t event : t->sent)
        if (event)
            cudaEventDestroy(event);
    cudaFreeHost(t->buffers);
    delete t;
}
