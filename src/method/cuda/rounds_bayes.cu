/* Rounds of method roofs-bayes on the GPU. */
#include "method/cuda/bayes_gpu.cuh"

#include <cstring>
#include <new>

enum { THREADS = 128 };

/* ---- life ------------------------------------------------------------------------ */

void bayes_gpu_destroy(bayes_gpu *s)
{
    if (!s)
        return;
    gpu_order_destroy(&s->order);
    rooms_give_back(&s->there);
    rooms_give_back(&s->here);
    delete s;
}

/* Here and there in the same order: they travel together, and what comes back comes first. */
static void want_columns(gpu_rooms *rooms, bayes_columns *c, int64_t most)
{
    rooms_want(rooms, &c->coef, most);
    rooms_want(rooms, &c->variance, most);
    rooms_want(rooms, &c->probability, most);
    rooms_want(rooms, &c->origin, most);
    rooms_want(rooms, &c->k, most);
    rooms_want(rooms, &c->feature, most);
    rooms_want(rooms, &c->list, most);
}

/* W, the numbers, r, w and V come back together, from W or from the numbers on: n is whole lines,
 * and the numbers have one for themselves. */
static void want_samples(gpu_rooms *there, bayes_gpu *s, int64_t n)
{
    mixture_gpu *m = &s->samples;
    rooms_want(there, &m->W, n);
    rooms_want(there, &s->numbers, 1);
    for (double **v : {&m->r, &m->w, &m->V, &m->y, &m->away, &m->z, &m->f, &m->clean, &m->h})
        rooms_want(there, v, n);
}

static void want_sweep(device *d, bayes_gpu *s, int64_t most)
{
    const int64_t blocks = ceil_div(most, GPU_BLOCK), cells = GPU_BLOCK * GPU_BLOCK;
    int64_t parts = 0; /* of as many blocks as make the most of them */
    for (int64_t b = 1; b <= blocks; b++)
        parts = b * gram_splits(d, b) > parts ? b * gram_splits(d, b) : parts;
    rooms_want(&s->there, &s->gram.gram, blocks * cells);
    rooms_want(&s->there, &s->gram.partial, parts * cells);
    rooms_want(&s->there, &s->prepared, most);
    rooms_want(&s->there, &s->slopes, bayes_slopes(d));
    rooms_want(&s->there, &s->delta, GPU_BLOCK);
    rooms_want(&s->there, &s->spread, GPU_BLOCK);
}

static void want_lists(bayes_gpu *s, int64_t most)
{
    rooms_want(&s->there, &s->stay, most);
    rooms_want(&s->there, &s->leave, most);
    rooms_want(&s->there, &s->some, most);
    rooms_want(&s->there, &s->some_coef, most);
    rooms_want(&s->there, &s->some_variance, most);
    s->here.is_here = 1;
    rooms_want(&s->here, &s->report, 1);
    want_columns(&s->here, &s->host, most);
}

static roofs_status get_state(device *d, bayes_gpu *s, roofs_error *err)
{
    const int64_t most = d->shape.slots + d->shape.batch;
    want_samples(&s->there, s, d->lead);
    for (bayes_columns &c : s->columns)
        want_columns(&s->there, &c, most);
    want_sweep(d, s, most);
    want_lists(s, most);
    rooms_want(&s->there, &s->prior.R, 3 * SLAB_MOST);
    rooms_want(&s->there, &s->prior.spare, 3 * SLAB_MOST);
    TRY(rooms_take(&s->there, "method roofs-bayes", err));
    TRY(rooms_take(&s->here, "method roofs-bayes", err));
    s->prior.S = s->prior.R + SLAB_MOST;
    s->prior.k = s->prior.R + 2 * SLAB_MOST;
    s->prior.numbers = &s->numbers->prior;
    s->samples.numbers = &s->numbers->samples;
    TRY(mixture_gpu_admit(err));
    TRY(bayes_admit(d, err));
    return gpu_order_create(&s->order, most, err);
}

/* Samples and prior as the host has them: at the beginning of a fit, or of its continuation. */
static roofs_status send_state(device *d, bayes_gpu *s, const bayes_job *job, roofs_error *err)
{
    const mixture *m = job->samples;
    const slab *p = job->prior;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    mixture_gpu *to = &s->samples;
    to->n = m->n;
    to->has_intercept = m->has_intercept;
    to->ratio = m->ratio;
    s->prior.every = p->every;
    const mixture_numbers samples = mixture_numbers_of(m);
    const slab_numbers prior = {p->now, p->started, (unsigned long long)p->used};
    CUDA_TRY(cudaMemcpy(to->y, m->y, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->away, job->away, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->r, m->r, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->w, m->w, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->W, m->W, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->V, m->V, bytes, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(to->numbers, &samples, sizeof samples, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(s->prior.R, p->R, 3 * SLAB_MOST * sizeof(double), cudaMemcpyHostToDevice));
    CUDA_TRY(cudaMemcpy(s->prior.numbers, &prior, sizeof prior, cudaMemcpyHostToDevice));
    CUDA_TRY(cudaDeviceSynchronize());
    return ROOFS_OK;
}

static roofs_status need_state(device *d, const bayes_job *job, roofs_error *err)
{
    if (d->bayes)
        return job->changed ? send_state(d, d->bayes, job, err) : ROOFS_OK;
    bayes_gpu *s = new (std::nothrow) bayes_gpu();
    if (!s)
        return fail(err, ROOFS_NO_MEMORY, "no memory for method roofs-bayes");
    roofs_status status = get_state(d, s, err);
    if (status == ROOFS_OK)
        status = send_state(d, s, job, err);
    if (status != ROOFS_OK)
        bayes_gpu_destroy(s);
    else
        d->bayes = s;
    return status;
}

/* ---- who stays ---------------------------------------------------------------------------------
 */

struct part_task {
    bayes_columns from, to;
    const int32_t *stay, *leave;
    int64_t staying, leaving;
    gpu_column *gone;
    double *gone_coef, *gone_variance;
};

__global__ void part_columns_kernel(part_task t)
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
        t.gone[k] = t.from.list[j];
        t.gone_coef[k] = t.from.coef[j];
        t.gone_variance[k] = -t.from.variance[j];
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

static roofs_status part(device *d, bayes_gpu *s, int64_t most, roofs_error *err)
{
    return gpu_order_part(&s->order, s->columns[s->side].coef, s->count, most, s->stay, s->leave,
                          d->stream, err);
}

roofs_status bayes_keep(device *d, bayes_job *job, int64_t most, roofs_error *err)
{
    bayes_gpu *s = d->bayes;
    (void)job;
    if (s->count <= most)
        return ROOFS_OK;
    const int64_t leaving = s->count - most;
    TRY(part(d, s, most, err));
    const part_task task = {
        s->columns[s->side], s->columns[1 - s->side], s->stay, s->leave, most, leaving, s->some,
        s->some_coef,        s->some_variance};
    CUDA_TRY(launch_next(part_columns_kernel, (unsigned)ceil_div(s->count, THREADS), THREADS, 0,
                         d->stream, task));
    s->side = 1 - s->side;
    s->count = most;
    TRY(gpu_add(d, s->some, leaving, s->some_coef, 0, s->samples.r, err));
    TRY(gpu_add(d, s->some, leaving, s->some_variance, 1, s->samples.V, err));
    return mixture_gpu_variances(&s->samples, d->stream, err);
}

/* ---- rounds
 * -------------------------------------------------------------------------------------- */

/* The columns of a sweep over all but the `spared` largest. */
static roofs_status pick_some(device *d, bayes_gpu *s, int64_t spared, roofs_error *err)
{
    const int64_t count = s->count - spared;
    TRY(part(d, s, spared, err));
    CUDA_TRY(launch_next(pick_kernel, (unsigned)ceil_div(count, THREADS), THREADS, 0, d->stream,
                         s->columns[s->side].list, s->leave, count, s->some));
    return ROOFS_OK;
}

static roofs_status fetch_report(device *d, bayes_gpu *s, roofs_error *err)
{
    CUDA_TRY(cudaMemcpyAsync(s->report, s->numbers, sizeof *s->report, cudaMemcpyDeviceToHost,
                             d->stream));
    return ROOFS_OK;
}

/* With none spared the variances are made anew, as a sweep over all columns does. Learning comes
 * last before it: the Gram matrices are made beside it. */
roofs_status bayes_round(device *d, bayes_job *job, int64_t spared, roofs_error *err)
{
    bayes_gpu *s = d->bayes;
    if (spared > 0)
        TRY(pick_some(d, s, spared, err));
    TRY(slab_gpu_learn(&s->prior, job->samples->total, job->mu, job->seen, d->stream, err));
    TRY(slab_gpu_make_room(&s->prior, s->last_feature, d->stream, err));
    if (spared > 0)
        TRY(bayes_sweep(d, s, s->some, s->count - spared, s->leave, err));
    else
        TRY(bayes_sweep(d, s, s->columns[s->side].list, s->count, nullptr, err));
    TRY(mixture_gpu_judge(&s->samples, job->at_end, d->stream, err));
    gpu_expect_now(d);
    if (job->unseen)
        return ROOFS_OK;
    TRY(fetch_report(d, s, err));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    job->trusted = (int64_t)s->report->samples.trusted;
    job->largest_move = s->report->meeting.largest_move;
    job->slab_variance = s->report->prior.variance;
    return ROOFS_OK;
}

/* ---- the batch ---------------------------------------------------------------------------------
 */

roofs_status bayes_begin(columns *c, const bayes_job *job, roofs_error *err)
{
    device *d = c->dev;
    const int64_t count = c->count, most = d->shape.slots + d->shape.batch;
    TRY(need_state(d, job, err));
    TRY(gpu_flush(d, err));
    d->weight_here = nullptr; /* they are about to change */
    bayes_gpu *s = d->bayes;
    bayes_columns *host = &s->host;
    s->side = 0;
    s->total = s->count = count;
    s->last_feature = 0;
    gpu_list(d, c->places, count, host->list);
    for (int64_t j = 0; j < count; j++) {
        const column *item = &c->items[j];
        host->coef[j] = item->coef;
        host->variance[j] = item->variance;
        host->probability[j] = item->probability;
        host->k[j] = slab_scale(item->flatness);
        host->feature[j] = item->feature;
        host->origin[j] = (int32_t)j;
        s->last_feature = item->feature > s->last_feature ? item->feature : s->last_feature;
    }
    const int64_t bytes = (char *)(host->list + most) - (char *)host->coef;
    return gpu_bring(d, s->columns[0].coef, host->coef, bytes, err);
}

static void take_columns(columns *c, const bayes_gpu *s, unsigned char *keep)
{
    const bayes_columns *host = &s->host;
    memset(keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < s->count; k++) {
        column *item = &c->items[host->origin[k]];
        keep[host->origin[k]] = 1;
        item->coef = host->coef[k];
        item->variance = host->variance[k];
        item->probability = host->probability[k];
    }
}

static void take_numbers(const bayes_gpu *s, const bayes_report *now, bayes_job *job)
{
    const slab_numbers *prior = &now->prior;
    mixture_set_numbers(job->samples, &now->samples);
    job->trusted = (int64_t)now->samples.trusted;
    job->cut = now->samples.cut;
    job->prior->now = *prior;
    job->prior->started = prior->started;
    job->prior->used = (int64_t)prior->used;
    job->prior->every = s->prior.every;
}

/* Two stretches, to page-locked memory; in pieces of 16 bytes. A kernel writes them: copies would
 * wait for those of the batches. */
struct tell_task {
    uint4 *to[2];
    const uint4 *from[2];
    int64_t pieces[2];
};

__global__ void tell_kernel(tell_task t)
{
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    wait_for_last();
    if (k < t.pieces[0])
        t.to[0][k] = t.from[0][k];
    else if (k - t.pieces[0] < t.pieces[1])
        t.to[1][k - t.pieces[0]] = t.from[1][k - t.pieces[0]];
}

static int64_t pieces_of(int64_t bytes)
{
    return ceil_div(bytes, (int64_t)sizeof(uint4));
}

/* From where it lies on the GPU to where it has been brought here. */
template <typename T> static const T *brought(const device *d, const bayes_gpu *s, const T *there)
{
    return (const T *)((const char *)d->stage + ((const char *)there - (const char *)s->samples.W));
}

roofs_status bayes_end(columns *c, bayes_job *job, unsigned char *keep, roofs_error *err)
{
    device *d = c->dev;
    bayes_gpu *s = d->bayes;
    const bayes_columns *from = &s->columns[s->side];
    const mixture_gpu *m = &s->samples;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    const char *end = job->wanted ? (const char *)(m->V + d->lead) : (const char *)(s->numbers + 1);
    const tell_task task = {
        {(uint4 *)s->host.coef, (uint4 *)d->stage},
        {(const uint4 *)from->coef, (const uint4 *)m->W},
        {pieces_of((const char *)(from->origin + s->count) - (const char *)from->coef),
         pieces_of(end - (const char *)m->W)}};
    CUDA_TRY(launch_next(tell_kernel, (unsigned)ceil_div(task.pieces[0] + task.pieces[1], THREADS),
                         THREADS, 0, d->stream, task));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    if (!job->wanted) { /* and so nobody changes them here */
        d->weight_here = job->samples->W;
        d->weight_there = m->W;
    }
    memcpy(job->samples->W, brought(d, s, m->W), bytes);
    if (job->wanted) {
        memcpy(job->samples->r, brought(d, s, m->r), bytes);
        memcpy(job->samples->w, brought(d, s, m->w), bytes);
        memcpy(job->samples->V, brought(d, s, m->V), bytes);
    }
    take_numbers(s, brought(d, s, s->numbers), job);
    take_columns(c, s, keep);
    return ROOFS_OK;
}

roofs_status bayes_prior(device *d, slab *prior, roofs_error *err)
{
    if (!d->bayes)
        return ROOFS_OK; /* no round has been made here */
    CUDA_TRY(cudaMemcpyAsync(prior->R, d->bayes->prior.R, 3 * SLAB_MOST * sizeof(double),
                             cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}
