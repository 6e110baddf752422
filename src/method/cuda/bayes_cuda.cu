/* The engine of method roofs-bayes on the GPU. */
#include "method/cuda/bayes_gpu.cuh"
#include "method/cuda/engines.cuh"

#include <cstring>

enum { THREADS = 128 };

/* The order is the same on the host and on the device, so that one copy transfers all lists. The
 * lists that are downloaded come first. */
static void bayes_request_columns(gpu_buffers *buffers, bayes_columns *c, int64_t most)
{
    buffers_want(buffers, &c->coef, most);
    buffers_want(buffers, &c->variance, most);
    buffers_want(buffers, &c->probability, most);
    buffers_want(buffers, &c->origin, most);
    buffers_want(buffers, &c->k, most);
    buffers_want(buffers, &c->feature, most);
    buffers_want(buffers, &c->list, most);
}

/* W and the numbers are downloaded together, and so are r, w and V: these buffers are adjacent, and
 * n is a whole number of memory lines. */
static void bayes_request_samples(gpu_buffers *on_device, bayes_gpu *s, int64_t n)
{
    mixture_gpu *m = &s->samples;
    buffers_want(on_device, &m->W, n);
    buffers_want(on_device, &s->numbers, 1);
    for (double **v : {&m->r, &m->w, &m->V, &m->y, &m->offset, &m->z, &m->f, &m->clean, &m->h})
        buffers_want(on_device, v, n);
}

static void bayes_request_sweep(bayes_gpu *s, int64_t most)
{
    const int64_t blocks = ceil_div(most, GPU_BLOCK), cells = GPU_BLOCK * GPU_BLOCK;
    int64_t partials = 0; /* the most, over all numbers of blocks */
    for (int64_t b = 1; b <= blocks; b++)
        partials = b * gram_splits(s->d, b) > partials ? b * gram_splits(s->d, b) : partials;
    buffers_want(&s->on_device, &s->gram.gram, blocks * cells);
    buffers_want(&s->on_device, &s->gram.partial, partials * cells);
    buffers_want(&s->on_device, &s->prepared, most);
    buffers_want(&s->on_device, &s->slopes, bayes_slopes(s->d));
    buffers_want(&s->on_device, &s->delta, GPU_BLOCK);
    buffers_want(&s->on_device, &s->spread, GPU_BLOCK);
}

static void bayes_request_lists(bayes_gpu *s, int64_t most)
{
    buffers_want(&s->on_device, &s->stay, most);
    buffers_want(&s->on_device, &s->leave, most);
    buffers_want(&s->on_device, &s->subset, most);
    buffers_want(&s->on_device, &s->subset_coef, most);
    buffers_want(&s->on_device, &s->subset_variance, most);
    s->on_host.is_host = 1;
    buffers_want(&s->on_host, &s->report, 1);
    bayes_request_columns(&s->on_host, &s->host, most);
}

static roofs_status bayes_allocate(bayes_gpu *s, roofs_error *err)
{
    const device *d = s->d;
    const int64_t most = d->shape.slots + d->shape.batch;
    bayes_request_samples(&s->on_device, s, d->lead);
    for (bayes_columns &c : s->columns)
        bayes_request_columns(&s->on_device, &c, most);
    bayes_request_sweep(s, most);
    bayes_request_lists(s, most);
    buffers_want(&s->on_device, &s->prior.R, 3 * SLAB_CAPACITY);
    buffers_want(&s->on_device, &s->prior.spare, 3 * SLAB_CAPACITY);
    if (!d->has_clusters) {
        buffers_want(&s->on_device, &s->prior.exchange, slab_gpu_exchange());
        buffers_want(&s->on_device, &s->samples.exchange, mixture_gpu_exchange());
    }
    TRY(buffers_allocate(&s->on_device, "method roofs-bayes", err));
    TRY(buffers_allocate(&s->on_host, "method roofs-bayes", err));
    s->prior.S = s->prior.R + SLAB_CAPACITY;
    s->prior.k = s->prior.R + 2 * SLAB_CAPACITY;
    s->prior.numbers = &s->numbers->prior;
    s->samples.numbers = &s->numbers->samples;
    TRY(mixture_gpu_configure(&s->samples, d->shared_most, err));
    TRY(bayes_configure(d, err));
    TRY(gpu_order_create(&s->order, most, d->has_clusters, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* buffers are zero before the stream uses them */
    return ROOFS_OK;
}

static roofs_status bayes_cuda_create(void **own, const fit *f, roofs_error *err)
{
    bayes_gpu *s = nullptr;
    TRY(host_create(&s, "method roofs-bayes", err));
    s->d = f->cols.dev;
    *own = s;
    return bayes_allocate(s, err);
}

/* ---- columns that leave ---------------------------------------------------------------- */

struct leave_task {
    bayes_columns from, to;
    const int32_t *stay, *leave;
    int64_t staying, leaving;
    gpu_column *dropped;
    double *dropped_coef, *dropped_variance;
};

__global__ void leave_columns_kernel(leave_task t)
{
    wait_for_last();
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < t.staying) {
        const int32_t j = t.stay[k];
        t.to.list[k] = t.from.list[j];
        t.to.coef[k] = t.from.coef[j];
        t.to.variance[k] = t.from.variance[j];
        t.to.probability[k] = t.from.probability[j];
        t.to.k[k] = t.from.k[j];
        t.to.feature[k] = t.from.feature[j];
        t.to.origin[k] = t.from.origin[j];
    }
    if (k < t.leaving) {
        const int32_t j = t.leave[k];
        t.dropped[k] = t.from.list[j];
        t.dropped_coef[k] = t.from.coef[j];
        t.dropped_variance[k] = -t.from.variance[j];
    }
}

__global__ void pick_kernel(const gpu_column *list, const int32_t *which, int64_t count,
                            gpu_column *out)
{
    wait_for_last();
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < count)
        out[k] = list[which[k]];
}

static roofs_status launch_partition(bayes_gpu *s, int64_t most, roofs_error *err)
{
    return gpu_order_divide(&s->order, s->columns[s->side].coef, s->count, most, s->stay, s->leave,
                            s->d->stream, err);
}

static roofs_status bayes_cuda_keep(void *own, bayes_job *job, int64_t most, roofs_error *err)
{
    bayes_gpu *s = (bayes_gpu *)own;
    device *d = s->d;
    const int64_t leaving = s->count - most;
    (void)job;
    if (leaving <= 0)
        return ROOFS_OK;
    TRY(launch_partition(s, most, err));
    const leave_task task = {.from = s->columns[s->side],
                             .to = s->columns[1 - s->side],
                             .stay = s->stay,
                             .leave = s->leave,
                             .staying = most,
                             .leaving = leaving,
                             .dropped = s->subset,
                             .dropped_coef = s->subset_coef,
                             .dropped_variance = s->subset_variance};
    CUDA_TRY(launch_next(s->d->has_clusters, leave_columns_kernel,
                         (unsigned)ceil_div(s->count, THREADS), THREADS, 0, d->stream, task));
    s->side = 1 - s->side;
    s->count = most;
    TRY(gpu_add(d, s->subset, leaving, s->subset_coef, 0, s->samples.r, err));
    TRY(gpu_add(d, s->subset, leaving, s->subset_variance, 1, s->samples.V, err));
    return mixture_gpu_variances(&s->samples, d->stream, err);
}

/* ---- rounds -------------------------------------------------------------------------------- */

/* s->subset = all columns but the `spared` largest. */
static roofs_status launch_pick(bayes_gpu *s, int64_t spared, roofs_error *err)
{
    const int64_t count = s->count - spared;
    TRY(launch_partition(s, spared, err));
    CUDA_TRY(launch_next(s->d->has_clusters, pick_kernel, (unsigned)ceil_div(count, THREADS),
                         THREADS, 0, s->d->stream, s->columns[s->side].list, s->leave, count,
                         s->subset));
    return ROOFS_OK;
}

static roofs_status download_report(bayes_gpu *s, bayes_job *job, roofs_error *err)
{
    CUDA_TRY(cudaMemcpyAsync(s->report, s->numbers, sizeof *s->report, cudaMemcpyDeviceToHost,
                             s->d->stream));
    TRY(gpu_wait(s->d, err));
    job->f->trusted.count = (int64_t)s->report->samples.trusted;
    job->largest_move = s->report->barrier.largest_move;
    job->prior.now.variance = s->report->prior.variance;
    return ROOFS_OK;
}

/* With spared = 0 the sweep is over all columns, and V is summed anew. slab_gpu_learn comes last
 * before the sweep, because it overlaps with the Gram matrices. */
static roofs_status bayes_cuda_round(void *own, bayes_job *job, int64_t spared, roofs_error *err)
{
    bayes_gpu *s = (bayes_gpu *)own;
    const fit *f = job->f;
    cudaStream_t stream = s->d->stream;
    if (spared > 0)
        TRY(launch_pick(s, spared, err));
    TRY(slab_gpu_learn(&s->prior, job->samples.total, job->expected, f->features_seen, stream,
                       err));
    TRY(slab_gpu_reserve(&s->prior, s->last_feature, stream, err));
    if (spared > 0)
        TRY(bayes_sweep(s, s->subset, s->count - spared, s->leave, err));
    else
        TRY(bayes_sweep(s, s->columns[s->side].list, s->count, nullptr, err));
    TRY(mixture_gpu_judge(&s->samples, job->at_end, stream, err));
    return job->skip_report ? ROOFS_OK : download_report(s, job, err);
}

/* ---- begin ------------------------------------------------------------------ */

/* Uploads samples and prior: at the beginning of a fit, and after a checkpoint or undo. */
static roofs_status upload_state(bayes_gpu *s, const bayes_job *job, roofs_error *err)
{
    device *d = s->d;
    const mixture *m = &job->samples;
    const slab *p = &job->prior;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    mixture_gpu *to = &s->samples;
    to->n = m->n;
    to->has_intercept = m->has_intercept;
    to->ratio = m->ratio;
    s->prior.every = p->every;
    const mixture_numbers samples = mixture_numbers_of(m);
    const slab_numbers prior = {p->now, p->started, (unsigned long long)p->used};
    for (int64_t i = 0; i < m->n; i++)
        d->pinned[i] = job->f->y[i] - m->y[i];
    CUDA_TRY(cudaMemcpy(to->offset, d->pinned, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->y, m->y, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->r, m->r, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->w, m->w, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->W, m->W, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->V, m->V, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->numbers, &samples, sizeof samples, cudaMemcpyHostToDevice));
    CUDA_TRY(
        cudaMemcpy(s->prior.R, p->R, 3 * SLAB_CAPACITY * sizeof(double), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(s->prior.numbers, &prior, sizeof prior, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaDeviceSynchronize());
    return ROOFS_OK;
}

static void bayes_write_columns(bayes_gpu *s, const columns *c)
{
    bayes_columns *host = &s->host;
    s->last_feature = 0;
    gpu_list(s->d, c->places, c->count, host->list);
    for (int64_t j = 0; j < c->count; j++) {
        const column *item = &c->items[j];
        host->coef[j] = item->coef;
        host->variance[j] = item->variance;
        host->probability[j] = item->probability;
        host->k[j] = slab_scale(item->flatness);
        host->feature[j] = item->feature;
        host->origin[j] = (int32_t)j;
        s->last_feature = item->feature > s->last_feature ? item->feature : s->last_feature;
    }
}

static roofs_status bayes_cuda_begin(void *own, const bayes_job *job, roofs_error *err)
{
    bayes_gpu *s = (bayes_gpu *)own;
    device *d = s->d;
    const columns *c = &job->f->cols;
    const int64_t most = d->shape.slots + d->shape.batch;
    if (job->host_changed)
        TRY(upload_state(s, job, err));
    TRY(gpu_write_slots(d, err));
    s->side = 0;
    s->total = s->count = c->count;
    bayes_write_columns(s, c);
    const int64_t bytes = (char *)(s->host.list + most) - (char *)s->host.coef;
    return gpu_copy(d, s->columns[0].coef, s->host.coef, bytes, err);
}

/* ---- end and fetch ---------------------------------------------------------- */

/* Two ranges of memory in pieces of 16 bytes, copied to page-locked memory. A kernel copies them,
 * because cudaMemcpyAsync would wait for the uploads of batches. */
struct download_task {
    uint4 *to[2];
    const uint4 *from[2];
    int64_t pieces[2];
};

__global__ void download_kernel(download_task t)
{
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    wait_for_last();
    if (k < t.pieces[0])
        t.to[0][k] = t.from[0][k];
    else if (k - t.pieces[0] < t.pieces[1])
        t.to[1][k - t.pieces[0]] = t.from[1][k - t.pieces[0]];
}

static int64_t pieces_between(const void *begin, const void *end)
{
    return ceil_div((const char *)end - (const char *)begin, (int64_t)sizeof(uint4));
}

/* Downloads the remaining columns, W and the numbers. */
static roofs_status download_batch(bayes_gpu *s, roofs_error *err)
{
    device *d = s->d;
    const bayes_columns *from = &s->columns[s->side];
    const download_task task = {.to = {(uint4 *)s->host.coef, (uint4 *)d->pinned},
                                .from = {(const uint4 *)from->coef, (const uint4 *)s->samples.W},
                                .pieces = {pieces_between(from->coef, from->origin + s->count),
                                           pieces_between(s->samples.W, s->numbers + 1)}};
    CUDA_TRY(launch_next(s->d->has_clusters, download_kernel,
                         (unsigned)ceil_div(task.pieces[0] + task.pieces[1], THREADS), THREADS, 0,
                         d->stream, task));
    return gpu_wait(d, err);
}

static void copy_columns_to_fit(const bayes_gpu *s, bayes_job *job)
{
    const bayes_columns *host = &s->host;
    memset(job->selection.keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < s->count; k++) {
        column *item = &job->f->cols.items[host->origin[k]];
        job->selection.keep[host->origin[k]] = 1;
        item->coef = host->coef[k];
        item->variance = host->variance[k];
        item->probability = host->probability[k];
    }
}

static_assert(sizeof(bayes_report) <= PINNED_NUMBERS * sizeof(double), "see device.pinned");

static void copy_numbers_to_job(const bayes_gpu *s, const bayes_report *now, bayes_job *job)
{
    const slab_numbers *prior = &now->prior;
    mixture_set_numbers(&job->samples, &now->samples);
    job->f->intercept = job->samples.intercept;
    job->f->trusted.count = (int64_t)now->samples.trusted;
    job->f->trusted.cut = now->samples.cut;
    job->prior.now = *prior;
    job->prior.started = prior->started;
    job->prior.used = (int64_t)prior->used;
    job->prior.every = s->prior.every;
}

/* The downloaded copy of a value behind W: page-locked memory has the same layout. */
template <typename T> static const T *downloaded(const bayes_gpu *s, const T *on_device)
{
    const int64_t offset = (const char *)on_device - (const char *)s->samples.W;
    return (const T *)((const char *)s->d->pinned + offset);
}

/* Until the next round host and GPU have the same W, so surveys may use either. */
static roofs_status bayes_cuda_end(void *own, bayes_job *job, roofs_error *err)
{
    bayes_gpu *s = (bayes_gpu *)own;
    TRY(download_batch(s, err));
    memcpy(job->samples.W, downloaded(s, s->samples.W), (size_t)job->f->n * sizeof(double));
    job->f->sample_weight_on_device = s->samples.W;
    copy_numbers_to_job(s, downloaded(s, s->numbers), job);
    copy_columns_to_fit(s, job);
    return ROOFS_OK;
}

static roofs_status fetch_samples(bayes_gpu *s, bayes_job *job, roofs_error *err)
{
    device *d = s->d;
    const mixture_gpu *m = &s->samples;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    const int64_t all = (const char *)(m->V + d->lead) - (const char *)m->r;
    TRY(gpu_copy(d, (void *)downloaded(s, m->r), m->r, all, err));
    TRY(gpu_wait(d, err));
    memcpy(job->samples.r, downloaded(s, m->r), bytes);
    memcpy(job->samples.w, downloaded(s, m->w), bytes);
    memcpy(job->samples.V, downloaded(s, m->V), bytes);
    return ROOFS_OK;
}

static roofs_status fetch_prior(bayes_gpu *s, bayes_job *job, roofs_error *err)
{
    CUDA_TRY(cudaMemcpyAsync(job->prior.R, s->prior.R, 3 * SLAB_CAPACITY * sizeof(double),
                             cudaMemcpyDeviceToHost, s->d->stream));
    return gpu_wait(s->d, err);
}

static roofs_status bayes_cuda_fetch(void *own, bayes_job *job, int what, roofs_error *err)
{
    bayes_gpu *s = (bayes_gpu *)own;
    if (what & BAYES_SAMPLES)
        TRY(fetch_samples(s, job, err));
    return what & BAYES_PRIOR ? fetch_prior(s, job, err) : ROOFS_OK;
}

extern const bayes_engine bayes_cuda = {
    .create = bayes_cuda_create,
    .destroy = engine_destroy<bayes_gpu>,
    .begin = bayes_cuda_begin,
    .round = bayes_cuda_round,
    .keep = bayes_cuda_keep,
    .end = bayes_cuda_end,
    .fetch = bayes_cuda_fetch,
};
