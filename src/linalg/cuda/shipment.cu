#include "linalg/cuda/shipment.cuh"

#include "linalg/cuda/gather.cuh"
#include "linalg/cuda/stage.cuh"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

enum { WORKERS = 10, PLACES = 2 /* of a worker, at most */, PIECE_BYTES = 1 << 20 };
enum { PATIENCE = 256, WINDOW = 64 };
static_assert(WINDOW >= WORKERS * (PLACES + 1), "pieces that are under way");

/* A worker's part of the page-locked memory, which stays with it: its caches know it. One piece
 * travels while the next is brought together. */
struct gpu_places {
    char *at[PLACES];
    int64_t last[PLACES]; /* number of the piece that was there, or is */
};

/* A piece that is ready to go. */
struct gpu_parcel {
    std::atomic<int64_t> number; /* from 1 on: 0 is none */
    char *place;
};

/* Pieces are numbered in the order of the stream, which they also depart and arrive in, and do not
 * reach across batches. Numbers go on from one shipment to the next. */
struct gpu_team {
    gpu_route to;
    int gpu;
    int64_t piece;     /* columns of one */
    int64_t per_batch; /* pieces of a batch */
    int64_t places;    /* of a worker */
    gpu_stage stage;
    std::atomic<int> touched, stage_is_ready;
    cudaEvent_t arrived[RING]; /* the batch in a room */
    cudaEvent_t gone[WINDOW];  /* a parcel */
    std::thread workers[WORKERS], sender;
    gpu_places own[WORKERS];
    gpu_parcel parcels[WINDOW];

    std::mutex lock; /* of who waits for work, and of who takes a piece */
    std::condition_variable news;
    std::atomic<int> ending;
    std::atomic<cudaError_t> trouble;
    gpu_shipment what;                          /* it changes when no piece is under way */
    int64_t first;                              /* number of its first piece */
    std::atomic<int64_t> pieces, allowed;       /* of the shipment; batches that may travel */
    std::atomic<int64_t> taken, sent, received; /* numbers of the next piece */
};

/* ---- waiting ------------------------------------------------------------------------ */

/* For what comes soon, mostly: to sleep at once would make everyone late. */
template <typename Ready> static void watch_until(Ready ready)
{
    for (int k = 0; !ready(); k++)
        if (k < PATIENCE)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
}

static void tell(gpu_team *t)
{
    std::lock_guard<std::mutex> hold(t->lock);
    t->news.notify_all();
}

/* ---- pieces ---------------------------------------------------------------------- */

struct span {
    int64_t first, last; /* columns of the shipment */
};

/* piece: of the shipment, from 0 on. */
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
    const int64_t piece = t->taken - t->first;
    return t->stage_is_ready && piece < t->pieces && piece / t->per_batch < t->allowed;
}

/* The number of a piece, or 0 where it is all over. */
static int64_t take(gpu_team *t)
{
    std::unique_lock<std::mutex> hold(t->lock);
    t->news.wait(hold, [t] { return t->ending || has_work(t); });
    if (t->ending)
        return 0;
    if (t->taken == t->received) /* the sender may be asleep */
        t->news.notify_all();
    return t->taken++;
}

template <typename T> static void fill(const gpu_team *t, int64_t piece, T *to)
{
    const int64_t n = t->to.shape.n, lead = t->to.lead;
    const span mine = columns_of(t, piece);
    bring_together(to, lead, &t->what.block, mine.first, mine.last);
    for (int64_t k = 0; k < mine.last - mine.first; k++)
        memset(to + k * lead + n, 0, (size_t)(lead - n) * sizeof(T));
}

/* The first touch makes the pages: all workers at once are faster than one, or than the driver. */
static void touch(gpu_team *t, gpu_places *own)
{
    for (int64_t k = 0; k < t->places; k++)
        memset(own->at[k], 0, (size_t)(t->piece * pitch_of(t)));
    t->touched++;
}

static void work(gpu_team *t, gpu_places *own)
{
    if (!t->stage_is_ready)
        touch(t, own);
    for (int64_t turn = 0;; turn = (turn + 1) % t->places) {
        const int64_t number = take(t);
        if (number == 0)
            return;
        watch_until([=] { return t->ending || own->last[turn] < t->received; });
        if (t->ending)
            return;
        if (t->to.size == sizeof(float))
            fill(t, number - t->first, (float *)own->at[turn]);
        else
            fill(t, number - t->first, (double *)own->at[turn]);
        own->last[turn] = number;
        gpu_parcel *out = &t->parcels[number % WINDOW];
        out->place = own->at[turn];
        out->number = number;
    }
}

/* ---- the sender: the only one that calls the driver -------------------------------- */

static void note(gpu_team *t, cudaError_t error)
{
    if (error != cudaSuccess)
        t->trouble = error;
}

/* Piece `number` departs. */
static void send_piece(gpu_team *t, int64_t number)
{
    const int64_t piece = number - t->first, batch = piece / t->per_batch, pitch = pitch_of(t);
    const int is_last =
        piece % t->per_batch == t->per_batch - 1 || piece == pieces_of(t, t->what.block.count) - 1;
    const span s = columns_of(t, piece);
    const int room = room_of(t, batch);
    char *to = t->to.rooms[room] + (s.first - batch * t->to.shape.batch) * pitch;
    note(t, cudaMemcpyAsync(to, t->parcels[number % WINDOW].place,
                            (size_t)((s.last - s.first) * pitch), cudaMemcpyHostToDevice,
                            t->to.stream));
    note(t, cudaEventRecord(t->gone[number % WINDOW], t->to.stream));
    if (is_last)
        note(t, cudaEventRecord(t->arrived[room], t->to.stream));
    t->sent++;
}

/* Has the oldest piece arrived? Its place is free then; also where something went wrong. The driver
 * is not asked all the time: others have something to tell it. */
static void receive_piece(gpu_team *t)
{
    const cudaError_t error = cudaEventQuery(t->gone[t->received % WINDOW]);
    if (error == cudaErrorNotReady) {
        for (int k = 0; k < 8; k++)
            std::this_thread::yield();
        return;
    }
    note(t, error);
    t->received++;
}

/* Until all that has been taken has arrived. */
static void send_some(gpu_team *t)
{
    while (!t->ending && t->received < t->taken) {
        const int64_t next = t->sent;
        if (t->parcels[next % WINDOW].number == next)
            send_piece(t, next);
        else if (t->received < next)
            receive_piece(t);
        else
            watch_until([=] { return t->ending || t->parcels[next % WINDOW].number == next; });
    }
}

static void lock_stage(gpu_team *t)
{
    const cudaError_t error = stage_lock(&t->stage);
    note(t, error);
    t->stage_is_ready = error == cudaSuccess;
    tell(t);
}

static void send(gpu_team *t)
{
    note(t, cudaSetDevice(t->gpu));
    watch_until([t] { return t->ending || t->stage_is_ready || t->touched == WORKERS; });
    if (!t->ending && !t->stage_is_ready)
        lock_stage(t);
    for (;;) {
        {
            std::unique_lock<std::mutex> hold(t->lock);
            t->news.wait(hold, [t] { return t->ending || t->received < t->taken; });
        }
        if (t->ending)
            return;
        send_some(t);
    }
}

/* ---- shipments -------------------------------------------------------------------- */

/* Without page-locked memory nothing will ever move. */
static int is_stuck(const gpu_team *t)
{
    return !t->stage_is_ready && t->trouble != cudaSuccess;
}

static void wait_until_idle(const gpu_team *t)
{
    watch_until([t] {
        return is_stuck(t) || (t->received == t->taken && t->taken - t->first >= t->pieces);
    });
}

void gpu_team_ship(gpu_team *t, const gpu_shipment *what, int64_t batches)
{
    wait_until_idle(t);
    std::lock_guard<std::mutex> hold(t->lock);
    t->what = *what;
    t->first = t->taken;
    t->pieces = pieces_of(t, what->block.count);
    t->allowed = batches;
    t->news.notify_all();
}

void gpu_team_allow(gpu_team *t, int64_t batches)
{
    t->allowed = batches;
    tell(t);
}

/* Trouble that stays, stays known. */
static roofs_status say(gpu_team *t, roofs_error *err)
{
    const cudaError_t error =
        t->stage_is_ready ? t->trouble.exchange(cudaSuccess) : t->trouble.load();
    CUDA_TRY(error);
    return ROOFS_OK;
}

int gpu_team_has_sent(const gpu_team *t, int64_t k)
{
    const int64_t end = (k + 1) * t->per_batch;
    return t->sent - t->first >= (end < t->pieces ? end : t->pieces.load());
}

roofs_status gpu_team_wait(gpu_team *t, int64_t k, cudaStream_t on, roofs_error *err)
{
    watch_until([=] { return is_stuck(t) || gpu_team_has_sent(t, k); });
    TRY(say(t, err));
    CUDA_TRY(cudaStreamWaitEvent(on, t->arrived[room_of(t, k)], 0));
    return ROOFS_OK;
}

roofs_status gpu_team_stop(gpu_team *t, roofs_error *err)
{
    {
        std::lock_guard<std::mutex> hold(t->lock);
        t->pieces = t->taken - t->first;
    }
    wait_until_idle(t);
    return say(t, err);
}

/* ---- life ---------------------------------------------------------------------------- */

static int64_t piece_columns(const device_shape *shape, int64_t column_bytes)
{
    const int64_t columns = column_bytes > 0 ? PIECE_BYTES / column_bytes : 1;
    const int64_t most = columns < shape->batch ? columns : shape->batch;
    return most < 1 ? 1 : most;
}

/* A long column is a piece of its own, and long on its way. */
static int64_t places_for(int64_t column_bytes)
{
    return column_bytes <= PIECE_BYTES ? PLACES : 1;
}

int64_t gpu_team_bytes(const device_shape *shape, int64_t column_bytes)
{
    const int64_t places = WORKERS * places_for(column_bytes);
    if (column_bytes > INT64_MAX / (2 * places))
        return INT64_MAX;
    return places * piece_columns(shape, column_bytes) * column_bytes;
}

static roofs_status take_stage(gpu_team *t, roofs_error *err)
{
    TRY(stage_take(&t->stage, (size_t)gpu_team_bytes(&t->to.shape, pitch_of(t)), err));
    t->stage_is_ready = t->stage.is_locked;
    for (int64_t w = 0; w < WORKERS; w++)
        for (int64_t k = 0; k < t->places; k++)
            t->own[w].at[k] = t->stage.bytes + (w * t->places + k) * t->piece * pitch_of(t);
    return ROOFS_OK;
}

static roofs_status start_threads(gpu_team *t, roofs_error *err)
{
    try {
        t->sender = std::thread(send, t);
        for (int w = 0; w < WORKERS; w++)
            t->workers[w] = std::thread(work, t, &t->own[w]);
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
    t->places = places_for(pitch_of(t));
    t->first = t->taken = t->sent = t->received = 1;
    CUDA_TRY(cudaGetDevice(&t->gpu));
    for (cudaEvent_t &event : t->gone)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    for (cudaEvent_t &event : t->arrived)
        CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    TRY(take_stage(t, err));
    return start_threads(t, err);
}

void gpu_team_destroy(gpu_team *t)
{
    if (!t)
        return;
    t->ending = 1;
    tell(t);
    for (std::thread &worker : t->workers)
        if (worker.joinable())
            worker.join();
    if (t->sender.joinable())
        t->sender.join();
    cudaStreamSynchronize(t->to.stream); /* what has departed is still being read */
    for (cudaEvent_t event : t->gone)
        if (event)
            cudaEventDestroy(event);
    for (cudaEvent_t event : t->arrived)
        if (event)
            cudaEventDestroy(event);
    stage_give_back(&t->stage);
    delete t;
}
