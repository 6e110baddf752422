#include "linalg/cuda/shipment.cuh"

#include "linalg/cuda/gather.cuh"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include <sys/mman.h>

enum { WORKERS = 10, PIECE_BYTES = 1 << 20, LARGE_PAGE = 2 << 20, PATIENCE = 64 };

/* What a worker has in its part of the page-locked memory. */
enum piece_state { NOTHING, FILLING, FULL, DEPARTED };

struct gpu_piece {
    piece_state state;
    int64_t number;
    char *place; /* it stays with the worker, whose caches know it */
    cudaEvent_t arrived;
};

/* Pieces are numbered in the order of the stream, and do not reach across batches. */
struct gpu_team {
    gpu_route to;
    int gpu;
    int64_t piece, per_batch; /* columns of a piece, pieces of a batch */
    char *stage;              /* page-locked, once it is ready */
    int touched, stage_is_ready;
    cudaEvent_t arrived[RING]; /* the batch in a room */
    std::thread workers[WORKERS], sender;

    std::mutex lock;
    std::condition_variable news;
    std::atomic<uint64_t> version; /* of the news */
    int ending;
    cudaError_t trouble;
    gpu_shipment what;
    int64_t pieces, allowed; /* of the shipment; batches that may travel */
    int64_t next;            /* piece that nobody has taken */
    int64_t left[RING];      /* pieces of the batch for a room that have not departed */
    gpu_piece held[WORKERS];
};

/* ---- news ------------------------------------------------------------------------ */

static void tell(gpu_team *t)
{
    t->version++;
    t->news.notify_all();
}

/* News mostly come soon: sleeping at once would make everyone late. */
static void watch_for_news(gpu_team *t, uint64_t seen)
{
    for (int k = 0; k < PATIENCE && t->version == seen; k++)
        std::this_thread::yield();
}

template <typename Ready>
static void wait_until(gpu_team *t, std::unique_lock<std::mutex> &hold, Ready ready)
{
    while (!ready()) {
        const uint64_t seen = t->version;
        hold.unlock();
        watch_for_news(t, seen);
        hold.lock();
        t->news.wait(hold, [t, seen] { return t->version != seen; });
    }
}

/* ---- pieces ---------------------------------------------------------------------- */

struct span {
    int64_t first, last; /* columns of the shipment */
};

static span columns_of(const gpu_team *t, int64_t piece)
{
    const int64_t batch = piece / t->per_batch, end = (batch + 1) * t->to.shape.batch;
    span s = {batch * t->to.shape.batch + piece % t->per_batch * t->piece, 0};
    s.last = s.first + t->piece < end ? s.first + t->piece : end;
    s.last = s.last < t->what.block.count ? s.last : t->what.block.count;
    return s;
}

static int64_t pieces_of(const gpu_team *t, int64_t columns)
{
    const int64_t whole = columns / t->to.shape.batch, rest = columns % t->to.shape.batch;
    return whole * t->per_batch + ceil_div(rest, t->piece);
}

static int64_t pitch_of(const gpu_team *t)
{
    return t->to.lead * t->to.size;
}

static int room_of(const gpu_team *t, int64_t batch)
{
    return (int)((t->what.first_room + batch) % RING);
}

/* ---- workers: into page-locked memory -------------------------------------------- */

static int has_work(const gpu_team *t)
{
    return t->stage_is_ready && t->next < t->pieces && t->next / t->per_batch < t->allowed;
}

static void take(gpu_team *t, gpu_piece *p)
{
    const int64_t batch = t->next / t->per_batch, left = t->pieces - t->next;
    if (t->next % t->per_batch == 0)
        t->left[room_of(t, batch)] = left < t->per_batch ? left : t->per_batch;
    p->number = t->next++;
    p->state = FILLING;
}

template <typename T> static void fill(const gpu_team *t, const gpu_piece *p)
{
    const int64_t n = t->to.shape.n, lead = t->to.lead;
    const span mine = columns_of(t, p->number);
    T *to = (T *)p->place;
    bring_together(to, lead, &t->what.block, mine.first, mine.last);
    for (int64_t k = 0; k < mine.last - mine.first; k++)
        memset(to + k * lead + n, 0, (size_t)(lead - n) * sizeof(T));
}

/* The first touch makes the pages: all workers at once are faster than one, or than the driver. */
static void touch(gpu_team *t, gpu_piece *p)
{
    memset(p->place, 0, (size_t)(t->piece * pitch_of(t)));
    std::lock_guard<std::mutex> hold(t->lock);
    t->touched++;
    tell(t);
}

static void work(gpu_team *t, gpu_piece *p)
{
    touch(t, p);
    std::unique_lock<std::mutex> hold(t->lock);
    for (;;) {
        wait_until(t, hold, [t, p] { return t->ending || (p->state == NOTHING && has_work(t)); });
        if (t->ending)
            return;
        take(t, p);
        hold.unlock();
        if (t->to.size == sizeof(float))
            fill<float>(t, p);
        else
            fill<double>(t, p);
        hold.lock();
        p->state = FULL;
        tell(t);
    }
}

/* ---- the sender: the only one that calls the driver -------------------------------- */

static gpu_piece *find_piece(gpu_team *t, piece_state state)
{
    gpu_piece *first = nullptr;
    for (gpu_piece &p : t->held)
        if (p.state == state && (!first || p.number < first->number))
            first = &p;
    return first;
}

static cudaError_t copy_piece(const gpu_team *t, const gpu_piece *p)
{
    const int64_t batch = p->number / t->per_batch, pitch = pitch_of(t);
    const span s = columns_of(t, p->number);
    char *to = t->to.rooms[room_of(t, batch)] + (s.first - batch * t->to.shape.batch) * pitch;
    const cudaError_t error = cudaMemcpyAsync(to, p->place, (size_t)((s.last - s.first) * pitch),
                                              cudaMemcpyHostToDevice, t->to.stream);
    return error == cudaSuccess ? cudaEventRecord(p->arrived, t->to.stream) : error;
}

static void send_piece(gpu_team *t, gpu_piece *p, std::unique_lock<std::mutex> &hold)
{
    const int room = room_of(t, p->number / t->per_batch), is_last = t->left[room] == 1;
    hold.unlock();
    cudaError_t error = copy_piece(t, p);
    if (error == cudaSuccess && is_last)
        error = cudaEventRecord(t->arrived[room], t->to.stream);
    hold.lock();
    if (error != cudaSuccess)
        t->trouble = error;
    p->state = DEPARTED;
    t->left[room]--;
    tell(t);
}

/* Has the oldest piece arrived? Its place is free then; also where something went wrong. The driver
 * is not asked all the time: others have something to tell it. */
static void release_piece(gpu_team *t, gpu_piece *p, std::unique_lock<std::mutex> &hold)
{
    const uint64_t seen = t->version;
    hold.unlock();
    const cudaError_t error = cudaEventQuery(p->arrived);
    if (error == cudaErrorNotReady)
        watch_for_news(t, seen);
    hold.lock();
    if (error == cudaErrorNotReady)
        return;
    if (error != cudaSuccess)
        t->trouble = error;
    p->state = NOTHING;
    tell(t);
}

static void send(gpu_team *t)
{
    const size_t bytes = (size_t)gpu_team_bytes(&t->to.shape, pitch_of(t));
    std::unique_lock<std::mutex> hold(t->lock);
    wait_until(t, hold, [t] { return t->ending || t->touched == WORKERS; });
    if (t->ending)
        return;
    hold.unlock();
    cudaError_t error = cudaSetDevice(t->gpu);
    if (error == cudaSuccess)
        error = cudaHostRegister(t->stage, bytes, cudaHostRegisterDefault);
    hold.lock();
    t->trouble = error;
    t->stage_is_ready = error == cudaSuccess;
    tell(t);
    for (;;) {
        wait_until(t, hold,
                   [t] { return t->ending || find_piece(t, FULL) || find_piece(t, DEPARTED); });
        if (t->ending)
            return;
        if (gpu_piece *full = find_piece(t, FULL))
            send_piece(t, full, hold);
        else
            release_piece(t, find_piece(t, DEPARTED), hold);
    }
}

/* ---- shipments -------------------------------------------------------------------- */

/* Without page-locked memory nothing will ever move. */
static int is_stuck(const gpu_team *t)
{
    return !t->stage_is_ready && t->trouble != cudaSuccess;
}

static int is_idle(const gpu_team *t)
{
    if (is_stuck(t))
        return 1;
    for (const gpu_piece &p : t->held)
        if (p.state != NOTHING)
            return 0;
    return t->next >= t->pieces;
}

void gpu_team_ship(gpu_team *t, const gpu_shipment *what, int64_t batches)
{
    std::unique_lock<std::mutex> hold(t->lock);
    wait_until(t, hold, [t] { return is_idle(t); });
    t->what = *what;
    t->next = 0;
    t->pieces = pieces_of(t, what->block.count);
    t->allowed = batches;
    tell(t);
}

void gpu_team_allow(gpu_team *t, int64_t batches)
{
    std::lock_guard<std::mutex> hold(t->lock);
    t->allowed = batches;
    tell(t);
}

/* Trouble that stays, stays known. */
static roofs_status say(gpu_team *t, roofs_error *err)
{
    const cudaError_t error = t->trouble;
    if (t->stage_is_ready)
        t->trouble = cudaSuccess;
    CUDA_TRY(error);
    return ROOFS_OK;
}

roofs_status gpu_team_wait(gpu_team *t, int64_t k, cudaStream_t on, roofs_error *err)
{
    std::unique_lock<std::mutex> hold(t->lock);
    const int room = room_of(t, k);
    wait_until(t, hold, [t, k, room] {
        return is_stuck(t) || (t->next > k * t->per_batch && t->left[room] == 0);
    });
    TRY(say(t, err));
    CUDA_TRY(cudaStreamWaitEvent(on, t->arrived[room], 0));
    return ROOFS_OK;
}

int gpu_team_has_sent(gpu_team *t, int64_t k)
{
    std::lock_guard<std::mutex> hold(t->lock);
    return t->next > k * t->per_batch && t->left[room_of(t, k)] == 0;
}

roofs_status gpu_team_stop(gpu_team *t, roofs_error *err)
{
    std::unique_lock<std::mutex> hold(t->lock);
    t->pieces = t->next;
    wait_until(t, hold, [t] { return is_idle(t); });
    return say(t, err);
}

/* ---- life ---------------------------------------------------------------------------- */

static int64_t piece_columns(const device_shape *shape, int64_t column_bytes)
{
    const int64_t columns = column_bytes > 0 ? PIECE_BYTES / column_bytes : 1;
    const int64_t most = columns < shape->batch ? columns : shape->batch;
    return most < 1 ? 1 : most;
}

int64_t gpu_team_bytes(const device_shape *shape, int64_t column_bytes)
{
    if (column_bytes > INT64_MAX / (2 * WORKERS))
        return INT64_MAX;
    return WORKERS * piece_columns(shape, column_bytes) * column_bytes;
}

/* Large pages are locked faster than small ones. */
static roofs_status take_stage(gpu_team *t, roofs_error *err)
{
    const size_t bytes = (size_t)gpu_team_bytes(&t->to.shape, pitch_of(t));
    const size_t align = bytes >= LARGE_PAGE ? LARGE_PAGE : 4096;
    void *stage = nullptr;
    if (posix_memalign(&stage, align, bytes) != 0)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a batch: %lld bytes", (long long)bytes);
    (void)madvise(stage, bytes, MADV_HUGEPAGE); /* where there are none, small ones do */
    t->stage = (char *)stage;
    for (int w = 0; w < WORKERS; w++)
        t->held[w].place = t->stage + w * t->piece * pitch_of(t);
    return ROOFS_OK;
}

static roofs_status start_threads(gpu_team *t, roofs_error *err)
{
    try {
        t->sender = std::thread(send, t);
        for (int w = 0; w < WORKERS; w++)
            t->workers[w] = std::thread(work, t, &t->held[w]);
    } catch (const std::system_error &) {
        return fail(err, ROOFS_NO_MEMORY, "device cuda: no threads to bring batches together");
    }
    return ROOFS_OK;
}

roofs_status gpu_team_create(gpu_team **out, const gpu_route *route, roofs_error *err)
{
    gpu_team *t = new (std::nothrow) gpu_team();
    *out = t;
    if (!t)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a batch");
    t->to = *route;
    t->to.shape.batch = route->shape.batch > 0 ? route->shape.batch : 1;
    t->piece = piece_columns(&route->shape, pitch_of(t));
    t->per_batch = ceil_div(route->shape.batch, t->piece);
    CUDA_TRY(cudaGetDevice(&t->gpu));
    for (gpu_piece &p : t->held)
        CUDA_TRY(cudaEventCreateWithFlags(&p.arrived, cudaEventDisableTiming));
    for (cudaEvent_t &event : t->arrived)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(take_stage(t, err));
    return start_threads(t, err);
}

void gpu_team_destroy(gpu_team *t)
{
    if (!t)
        return;
    {
        std::lock_guard<std::mutex> hold(t->lock);
        t->ending = 1;
        tell(t);
    }
    for (std::thread &worker : t->workers)
        if (worker.joinable())
            worker.join();
    if (t->sender.joinable())
        t->sender.join();
    cudaStreamSynchronize(t->to.stream); /* what has departed is still being read */
    for (const gpu_piece &p : t->held)
        if (p.arrived)
            cudaEventDestroy(p.arrived);
    for (cudaEvent_t event : t->arrived)
        if (event)
            cudaEventDestroy(event);
    if (t->stage_is_ready)
        cudaHostUnregister(t->stage);
    free(t->stage);
    delete t;
}
