#include "linalg/cuda/upload.cuh"

#include "linalg/cuda/gather.cuh"
#include "linalg/cuda/staging.cuh"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

enum { WORKERS = 10, BUFFERS = 2 /* of a worker, at most */, PIECE_BYTES = 1 << 20 };
enum { SPINS = 256, WINDOW = 64 };
static_assert(WINDOW >= WORKERS * (BUFFERS + 1), "pieces in flight");

/* A worker's own buffers in page-locked memory, which stay in its caches. One piece is copied to
 * the GPU while the next is gathered. */
struct worker_buffers {
    char *at[BUFFERS];
    int64_t last[BUFFERS]; /* number of the last piece in the buffer */
};

/* A piece that is gathered and can be copied. */
struct upload_piece {
    std::atomic<int64_t> number; /* from 1 on: 0 is none */
    char *at;
};

/* Pieces are numbered and copied in the order of the stream. A piece belongs to one batch. The
 * numbers continue from one upload to the next. */
struct upload_team {
    upload_target to;
    int gpu;
    int64_t piece;     /* columns of a piece */
    int64_t per_batch; /* pieces of a batch */
    int64_t buffers;   /* of a worker */
    gpu_staging staging;
    std::atomic<int> touched, staging_is_ready;
    cudaEvent_t batch_done[RING];   /* all copies to a batch of the ring */
    cudaEvent_t piece_done[WINDOW]; /* the copy of a piece */
    std::thread workers[WORKERS], sender;
    worker_buffers own[WORKERS];
    upload_piece window[WINDOW];

    std::mutex lock; /* for waits for work and for take_piece */
    std::condition_variable changed;
    std::atomic<int> ending;
    std::atomic<cudaError_t> deferred;
    gpu_upload what;                        /* changes only when no piece is in flight */
    int64_t first;                          /* number of its first piece */
    std::atomic<int64_t> pieces, allowed;   /* its pieces; its batches that may start */
    std::atomic<int64_t> taken, sent, done; /* number of the next piece to take, send, finish */
};

/* ---- waiting ------------------------------------------------------------------------ */

/* Spins briefly: most waits are short. */
template <typename Ready> static void spin_until(Ready ready)
{
    for (int k = 0; !ready(); k++)
        if (k < SPINS)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
}

static void wake_all(upload_team *t)
{
    std::lock_guard<std::mutex> hold(t->lock);
    t->changed.notify_all();
}

/* ---- pieces ---------------------------------------------------------------------- */

struct column_range {
    int64_t first, last; /* columns of the upload */
};

/* piece: index in the upload, from 0. */
static column_range columns_of(const upload_team *t, int64_t piece)
{
    const int64_t batch = piece / t->per_batch, end = (batch + 1) * t->to.shape.batch;
    column_range s = {batch * t->to.shape.batch + piece % t->per_batch * t->piece, 0};
    s.last = s.first + t->piece < end ? s.first + t->piece : end;
    s.last = s.last < t->what.block.count ? s.last : t->what.block.count;
    return s;
}

static int64_t pieces_of(const upload_team *t, int64_t columns)
{
    const int64_t whole = columns / t->to.shape.batch, rest = columns % t->to.shape.batch;
    return whole * t->per_batch + ceil_div(rest, t->piece);
}

static int64_t pitch_of(const upload_team *t)
{
    return t->to.lead * t->to.size;
}

static int ring_index(const upload_team *t, int64_t batch)
{
    return (int)((t->what.first + batch) % RING);
}

/* ---- workers: gather pieces in page-locked memory --------------------------------- */

static int has_work(const upload_team *t)
{
    const int64_t piece = t->taken - t->first;
    return t->staging_is_ready && piece < t->pieces && piece / t->per_batch < t->allowed;
}

/* Waits for a piece and returns its number, or 0 when the team ends. */
static int64_t take_piece(upload_team *t)
{
    std::unique_lock<std::mutex> hold(t->lock);
    t->changed.wait(hold, [t] { return t->ending || has_work(t); });
    if (t->ending)
        return 0;
    if (t->taken == t->done) /* the sender may be asleep */
        t->changed.notify_all();
    return t->taken++;
}

template <typename T> static void gather_piece(const upload_team *t, int64_t piece, T *to)
{
    const int64_t n = t->to.shape.n, lead = t->to.lead;
    const column_range mine = columns_of(t, piece);
    gather_columns(to, lead, &t->what.block, mine.first, mine.last);
    for (int64_t k = 0; k < mine.last - mine.first; k++)
        memset(to + k * lead + n, 0, (size_t)(lead - n) * sizeof(T));
}

/* The first touch creates the pages; all workers together do this faster than the driver. */
static void touch_pages(upload_team *t, worker_buffers *own)
{
    for (int64_t k = 0; k < t->buffers; k++)
        memset(own->at[k], 0, (size_t)(t->piece * pitch_of(t)));
    t->touched++;
}

static void run_worker(upload_team *t, worker_buffers *own)
{
    if (!t->staging_is_ready)
        touch_pages(t, own);
    for (int64_t buffer = 0;; buffer = (buffer + 1) % t->buffers) {
        const int64_t number = take_piece(t);
        if (number == 0)
            return;
        spin_until([=] { return t->ending || own->last[buffer] < t->done; });
        if (t->ending)
            return;
        if (t->to.size == sizeof(float))
            gather_piece(t, number - t->first, (float *)own->at[buffer]);
        else
            gather_piece(t, number - t->first, (double *)own->at[buffer]);
        own->last[buffer] = number;
        upload_piece *out = &t->window[number % WINDOW];
        out->at = own->at[buffer];
        out->number = number;
    }
}

/* ---- the sender: the only thread that calls the driver -------------------------------- */

static void defer_error(upload_team *t, cudaError_t error)
{
    if (error != cudaSuccess)
        t->deferred = error;
}

/* Starts the copy of piece `number`. */
static void send_piece(upload_team *t, int64_t number)
{
    const int64_t piece = number - t->first, batch = piece / t->per_batch, pitch = pitch_of(t);
    const int is_last =
        piece % t->per_batch == t->per_batch - 1 || piece == pieces_of(t, t->what.block.count) - 1;
    const column_range s = columns_of(t, piece);
    const int at = ring_index(t, batch);
    char *to = t->to.batches[at] + (s.first - batch * t->to.shape.batch) * pitch;
    defer_error(t, cudaMemcpyAsync(to, t->window[number % WINDOW].at,
                                   (size_t)((s.last - s.first) * pitch), cudaMemcpyHostToDevice,
                                   t->to.stream));
    defer_error(t, cudaEventRecord(t->piece_done[number % WINDOW], t->to.stream));
    if (is_last)
        defer_error(t, cudaEventRecord(t->batch_done[at], t->to.stream));
    t->sent++;
}

/* Frees the buffer of the oldest piece once it is copied, also after an error. Yields between calls
 * of the driver, whose lock delays other threads. */
static void finish_piece(upload_team *t)
{
    const cudaError_t error = cudaEventQuery(t->piece_done[t->done % WINDOW]);
    if (error == cudaErrorNotReady) {
        for (int k = 0; k < 8; k++)
            std::this_thread::yield();
        return;
    }
    defer_error(t, error);
    t->done++;
}

/* Returns when all taken pieces are copied. */
static void send_pieces(upload_team *t)
{
    while (!t->ending && t->done < t->taken) {
        const int64_t next = t->sent;
        if (t->window[next % WINDOW].number == next)
            send_piece(t, next);
        else if (t->done < next)
            finish_piece(t);
        else
            spin_until([=] { return t->ending || t->window[next % WINDOW].number == next; });
    }
}

static void lock_staging(upload_team *t)
{
    const cudaError_t error = staging_lock(&t->staging);
    defer_error(t, error);
    t->staging_is_ready = error == cudaSuccess;
    wake_all(t);
}

static void run_sender(upload_team *t)
{
    defer_error(t, cudaSetDevice(t->gpu));
    spin_until([t] { return t->ending || t->staging_is_ready || t->touched == WORKERS; });
    if (!t->ending && !t->staging_is_ready)
        lock_staging(t);
    for (;;) {
        {
            std::unique_lock<std::mutex> hold(t->lock);
            t->changed.wait(hold, [t] { return t->ending || t->done < t->taken; });
        }
        if (t->ending)
            return;
        send_pieces(t);
    }
}

/* ---- uploads ---------------------------------------------------------------------- */

/* True if no copy can start, because locking memory failed. */
static int is_stuck(const upload_team *t)
{
    return !t->staging_is_ready && t->deferred != cudaSuccess;
}

static void wait_until_idle(const upload_team *t)
{
    spin_until(
        [t] { return is_stuck(t) || (t->done == t->taken && t->taken - t->first >= t->pieces); });
}

void upload_team_start(upload_team *t, const gpu_upload *what, int64_t batches)
{
    wait_until_idle(t);
    std::lock_guard<std::mutex> hold(t->lock);
    t->what = *what;
    t->first = t->taken;
    t->pieces = pieces_of(t, what->block.count);
    t->allowed = batches;
    t->changed.notify_all();
}

void upload_team_allow(upload_team *t, int64_t batches)
{
    t->allowed = batches;
    wake_all(t);
}

/* Returns and clears the deferred error; keeps it if locking the staging memory failed. */
static roofs_status deferred_error(upload_team *t, roofs_error *err)
{
    const cudaError_t error =
        t->staging_is_ready ? t->deferred.exchange(cudaSuccess) : t->deferred.load();
    CUDA_TRY(error);
    return ROOFS_OK;
}

int upload_team_has_sent(const upload_team *t, int64_t k)
{
    const int64_t end = (k + 1) * t->per_batch;
    return t->sent - t->first >= (end < t->pieces ? end : t->pieces.load());
}

roofs_status upload_team_wait(upload_team *t, int64_t k, cudaStream_t on, roofs_error *err)
{
    spin_until([=] { return is_stuck(t) || upload_team_has_sent(t, k); });
    TRY(deferred_error(t, err));
    CUDA_TRY(cudaStreamWaitEvent(on, t->batch_done[ring_index(t, k)], 0));
    return ROOFS_OK;
}

roofs_status upload_team_stop(upload_team *t, roofs_error *err)
{
    {
        std::lock_guard<std::mutex> hold(t->lock);
        t->pieces = t->taken - t->first;
    }
    wait_until_idle(t);
    return deferred_error(t, err);
}

/* ---- create and destroy --------------------------------------------------------------- */

static int64_t piece_columns(const device_shape *shape, int64_t column_bytes)
{
    const int64_t columns = column_bytes > 0 ? PIECE_BYTES / column_bytes : 1;
    const int64_t most = columns < shape->batch ? columns : shape->batch;
    return most < 1 ? 1 : most;
}

/* If a column is longer than a piece, one buffer is enough: its copy takes longer than the gather.
 */
static int64_t buffers_for(int64_t column_bytes)
{
    return column_bytes <= PIECE_BYTES ? BUFFERS : 1;
}

int64_t upload_team_bytes(const device_shape *shape, int64_t column_bytes)
{
    const int64_t buffers = WORKERS * buffers_for(column_bytes);
    if (column_bytes > INT64_MAX / (2 * buffers))
        return INT64_MAX;
    return buffers * piece_columns(shape, column_bytes) * column_bytes;
}

static roofs_status take_staging(upload_team *t, roofs_error *err)
{
    TRY(staging_take(&t->staging, (size_t)upload_team_bytes(&t->to.shape, pitch_of(t)), err));
    t->staging_is_ready = t->staging.is_locked;
    for (int64_t w = 0; w < WORKERS; w++)
        for (int64_t k = 0; k < t->buffers; k++)
            t->own[w].at[k] = t->staging.bytes + (w * t->buffers + k) * t->piece * pitch_of(t);
    return ROOFS_OK;
}

static roofs_status start_threads(upload_team *t, roofs_error *err)
{
    try {
        t->sender = std::thread(run_sender, t);
        for (int w = 0; w < WORKERS; w++)
            t->workers[w] = std::thread(run_worker, t, &t->own[w]);
    } catch (const std::system_error &) {
        return fail(
            err, ROOFS_NO_MEMORY,
            "device cuda: the system gives no threads for uploads; raise its limit of threads");
    }
    return ROOFS_OK;
}

roofs_status upload_team_create(upload_team **out, const upload_target *to, roofs_error *err)
{
    TRY(host_create(out, "uploads", err));
    upload_team *t = *out;
    t->to = *to;
    t->to.shape.batch = to->shape.batch > 0 ? to->shape.batch : 1;
    t->piece = piece_columns(&to->shape, pitch_of(t));
    t->per_batch = ceil_div(to->shape.batch, t->piece);
    t->buffers = buffers_for(pitch_of(t));
    t->first = t->taken = t->sent = t->done = 1;
    CUDA_TRY(cudaGetDevice(&t->gpu));
    for (cudaEvent_t &event : t->piece_done)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (cudaEvent_t &event : t->batch_done)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(take_staging(t, err));
    return start_threads(t, err);
}

void upload_team_destroy(upload_team *t)
{
    if (!t)
        return;
    t->ending = 1;
    wake_all(t);
    for (std::thread &worker : t->workers)
        if (worker.joinable())
            worker.join();
    if (t->sender.joinable())
        t->sender.join();
    cudaStreamSynchronize(t->to.stream); /* its copies read the staging memory */
    for (cudaEvent_t event : t->piece_done)
        if (event)
            cudaEventDestroy(event);
    for (cudaEvent_t event : t->batch_done)
        if (event)
            cudaEventDestroy(event);
    staging_give_back(&t->staging);
    host_destroy(t);
}
