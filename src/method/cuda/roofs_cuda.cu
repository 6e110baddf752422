/* The engine of method roofs on the GPU. Names and line numbers are those of method/roofs_cpu.c. */
#include "method/cuda/engines.cuh"
#include "method/cuda/roofs_gpu.cuh"

#include <cstring>

enum { THREADS = 128 };

/* The order is the same on the host and on the device, so that one copy transfers all lists. */
static void roofs_request_columns(gpu_buffers *buffers, roofs_columns *c, int64_t most)
{
    buffers_want(buffers, &c->list, most);
    buffers_want(buffers, &c->coef, most);
    buffers_want(buffers, &c->exponent, most);
    buffers_want(buffers, &c->origin, most);
}

static int64_t columns_bytes(const roofs_columns *c, int64_t most)
{
    return (char *)(c->origin + most) - (char *)c->list;
}

static roofs_status roofs_allocate(roofs_gpu *s, roofs_error *err)
{
    const device *d = s->d;
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    double **vectors[] = {&s->r,      &s->mask, &s->masked, &s->before, /* r, mask: adjacent */
                          &s->change, &s->image};
    for (double **v : vectors)
        buffers_want(&s->on_device, v, n);
    for (roofs_columns &c : s->columns)
        roofs_request_columns(&s->on_device, &c, most);
    buffers_want(&s->on_device, &s->dropped, most);
    buffers_want(&s->on_device, &s->dropped_coef, most);
    buffers_want(&s->on_device, &s->gradient, most);
    buffers_want(&s->on_device, &s->partial, ceil_div(n, JOIN_ROWS));
    buffers_want(&s->on_device, &s->numbers, 1);
    buffers_want(&s->on_device, &s->reports, ROUNDS_AT_ONCE);
    s->on_host.is_host = 1;
    roofs_request_columns(&s->on_host, &s->host, most);
    buffers_want(&s->on_host, &s->host_reports, ROUNDS_AT_ONCE);
    TRY(buffers_allocate(&s->on_device, "method roofs", err));
    TRY(buffers_allocate(&s->on_host, "method roofs", err));
    TRY(gpu_order_create(&s->order, n > most ? n : most, d->has_clusters, err));
    TRY(roofs_configure(s, err));
    TRY(gpu_plan_descend(d, &s->plan, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* buffers are zero before the stream uses them */
    return ROOFS_OK;
}

static roofs_status roofs_cuda_create(void **own, const fit *f, roofs_error *err)
{
    roofs_gpu *s = nullptr;
    TRY(host_create(&s, "method roofs", err));
    s->d = f->cols.dev;
    *own = s;
    return roofs_allocate(s, err);
}

/* ---- line 6 -------------------------------------------------------------------- */

/* Sums the partial images, and the squares of the image of trusted samples. A block has 32 samples,
 * with 16 threads for each. */
__global__ void __launch_bounds__(JOIN_ROWS *JOIN_GROUPS)
    join_images_kernel(const double *images, const double *levels, int64_t count, int64_t n,
                       const double *mask, const int *stop, double *image, double *partial)
{
    wait_for_last();
    if (*stop)
        return;
    __shared__ double sums[JOIN_GROUPS][JOIN_ROWS];
    const int row = threadIdx.x % JOIN_ROWS, group = threadIdx.x / JOIN_ROWS;
    const int64_t i = blockIdx.x * (int64_t)JOIN_ROWS + row;
    double sum = 0;
#pragma unroll 4
    for (int64_t k = group; k < count; k += JOIN_GROUPS)
        sum += levels[k] + (i < n ? images[k * n + i] : 0);
    sums[group][row] = sum;
    __syncthreads();
    if (group > 0)
        return;
    for (int k = 1; k < JOIN_GROUPS; k++)
        sum += sums[k][row];
    double square = 0;
    if (i < n) {
        image[i] = sum;
        square = sum * mask[i] * (sum * mask[i]);
    }
    square = warp_sum(square);
    if (row == 0)
        partial[blockIdx.x] = square;
}

/* The gradient in the units of the columns, and the weights of its image. */
__global__ void weigh_kernel(const gpu_column *list, int64_t count, double *gradient,
                             double *weight, double *level, double *square)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j < count) {
        gradient[j] *= list[j].unit;
        weight[j] = gradient[j] * list[j].unit;
    }
    if (j == 0) {
        *level = 0;
        *square = nan(""); /* out of range: find_step then uses the gradient itself */
    }
}

/* Reads the columns twice: for more samples than the fused product can take. */
static roofs_status descend_in_two(roofs_gpu *s, const gpu_column *list, roofs_error *err)
{
    device *d = s->d;
    TRY(gpu_products(d, list, s->count, s->masked, s->gradient, err));
    weigh_kernel<<<(unsigned)ceil_div(s->count, THREADS), THREADS, 0, d->stream>>>(
        list, s->count, s->gradient, s->dropped_coef, d->levels, d->squares);
    LAUNCHED();
    CUDA_TRY(cudaMemsetAsync(d->images, 0, (size_t)d->shape.n * sizeof(double), d->stream));
    return gpu_add(d, list, s->count, s->dropped_coef, 0, d->images, err);
}

/* The gradient and its image, the sum of `*images` partial images. */
static roofs_status launch_descend(roofs_gpu *s, int64_t *images, roofs_error *err)
{
    device *d = s->d;
    const int64_t n = d->shape.n;
    const gpu_column *list = s->columns[s->side].list;
    *images = s->plan.clusters > 0 ? s->plan.clusters : 1;
    const int *stop = &s->numbers->settled;
    const descend_job job = {.list = list,
                             .count = s->count,
                             .r = s->masked,
                             .gradient = s->gradient,
                             .stop = stop,
                             .backwards = (int)(s->launched % 2),
                             .prefetch = s->launched > 0};
    if (s->plan.clusters > 0)
        TRY(gpu_descend(d, &s->plan, &job, err));
    else
        TRY(descend_in_two(s, list, err));
    CUDA_TRY(launch_next(d->has_clusters, join_images_kernel, (unsigned)ceil_div(n, JOIN_ROWS),
                         JOIN_ROWS * JOIN_GROUPS, 0, d->stream, d->images, d->levels, *images, n,
                         s->mask, stop, s->image, s->partial));
    return ROOFS_OK;
}

/* ---- lines 7 to 14 ---------------------------------------------------------------- */

static roofs_status launch_keep_largest(roofs_gpu *s, const roofs_job *job, int64_t images,
                                        roofs_error *err)
{
    device *d = s->d;
    const roofs_columns *from = &s->columns[s->side];
    const int64_t mu = job->f->set.mu, leaving = s->count - mu;
    const int many = order_hold(&s->order, s->count) == HOLD_NONE;
    TRY(roofs_launch_steps(s, job, images, many ? ROUND_MOVE : ROUND_MOVE | ROUND_DROP, err));
    if (many) {
        TRY(gpu_order_sort_many(&s->order, from->coef, from->exponent, s->count, 1, d->stream,
                                err));
        TRY(roofs_launch_steps(s, job, images, ROUND_DROP, err));
    }
    s->side = 1 - s->side;
    s->count = mu;
    return gpu_add(d, s->dropped, leaving, s->dropped_coef, 0, s->r, err);
}

/* For samples that the threads cannot hold: a separate sort, after the intercept. */
static roofs_status launch_trust_many(roofs_gpu *s, const roofs_job *job, int64_t images,
                                      int before, int report, roofs_error *err)
{
    const int recentred = job->f->set.intercept ? ROUND_RECENTRE : 0;
    if (before | recentred)
        TRY(roofs_launch_steps(s, job, images, before | recentred, err));
    TRY(gpu_order_sort_many(&s->order, s->r, nullptr, s->d->shape.n, 0, s->d->stream, err));
    return roofs_launch_steps(s, job, images, ROUND_TRUST | report, err);
}

/* Launches one round. report: ROUND_REPORT or 0. */
static roofs_status launch_round(roofs_gpu *s, const roofs_job *job, int report, roofs_error *err)
{
    const int recentred = job->f->set.intercept ? ROUND_RECENTRE : 0;
    int64_t images;
    int left = ROUND_MOVE;
    TRY(launch_descend(s, &images, err));
    if (s->count > job->f->set.mu) {
        TRY(launch_keep_largest(s, job, images, err));
        left = 0;
    }
    if (order_hold(&s->order, s->d->shape.n) == HOLD_NONE)
        TRY(launch_trust_many(s, job, images, left, report, err));
    else
        TRY(roofs_launch_steps(s, job, images, left | ROUND_TRUST | report | recentred, err));
    s->launched++;
    return ROOFS_OK;
}

/* Launches as many rounds as the batch before needed, so that the GPU need not wait for the host
 * between rounds. After the batch has settled, the kernels of later rounds return at once. */
static roofs_status launch_rounds(roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    const int64_t usual = s->usual - s->launched, limit = job->round_limit;
    int64_t count = usual < ROUNDS_AT_ONCE ? usual : ROUNDS_AT_ONCE;
    count = count < limit ? count : limit;
    s->first = s->launched;
    do
        TRY(launch_round(s, job, s->launched - s->first + 1 >= count ? ROUND_REPORT : 0, err));
    while (s->launched - s->first < count);
    return gpu_wait(s->d, err);
}

static roofs_status roofs_cuda_round(void *own, roofs_job *job, roofs_error *err)
{
    roofs_gpu *s = (roofs_gpu *)own;
    if (s->reported == s->launched)
        TRY(launch_rounds(s, job, err));
    const roofs_report *now = &s->host_reports[s->reported++ - s->first];
    job->step = now->numbers.step;
    job->movement = now->movement;
    job->f->trusted.count = now->tau;
    job->f->trusted.cut = now->cut;
    return ROOFS_OK;
}

/* ---- the batch ------------------------------------------------------------------------ */

struct begin_task {
    const uint4 *from; /* columns, page-locked: `pieces` of 16 bytes */
    uint4 *to;
    int64_t pieces;
    roofs_numbers numbers, *to_numbers;
    const double *r, *mask;
    double *masked, *before;
    int64_t n;
};

__global__ void begin_kernel(begin_task t)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < t.pieces)
        t.to[i] = t.from[i];
    if (i < t.n) {
        t.masked[i] = t.r[i] * t.mask[i];
        t.before[i] = 0;
    }
    if (i == 0)
        *t.to_numbers = t.numbers;
}

static roofs_status upload_samples(roofs_gpu *s, const fit *f, roofs_error *err)
{
    device *d = s->d;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->pinned + d->lead, *mask = r + d->lead;
    memcpy(r, f->residual, bytes);
    memcpy(mask, f->trusted.mask, bytes);
    return gpu_copy(d, s->r, r, 2 * d->lead * (int64_t)sizeof(double), err);
}

static void roofs_write_columns(roofs_gpu *s, const columns *c)
{
    roofs_columns *host = &s->host;
    gpu_list(s->d, c->places, c->count, host->list);
    for (int64_t j = 0; j < c->count; j++) {
        host->coef[j] = c->items[j].coef;
        host->exponent[j] = c->scaled ? 0 : c->items[j].exponent;
        host->origin[j] = (int32_t)j;
    }
}

/* Uploads the columns, and resets the numbers of the rounds. */
static roofs_status launch_begin(roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    device *d = s->d;
    const int64_t n = d->shape.n, most = d->shape.slots + d->shape.batch;
    begin_task t = {.from = (const uint4 *)s->host.list,
                    .to = (uint4 *)s->columns[0].list,
                    .pieces = ceil_div(columns_bytes(&s->host, most), (int64_t)sizeof(uint4)),
                    .numbers = {},
                    .to_numbers = s->numbers,
                    .r = s->r,
                    .mask = s->mask,
                    .masked = s->masked,
                    .before = s->before,
                    .n = n};
    t.numbers.curvature = job->guard.curvature;
    t.numbers.trusted = (double)job->f->trusted.count;
    begin_kernel<<<(unsigned)ceil_div(n > t.pieces ? n : t.pieces, THREADS), THREADS, 0,
                   d->stream>>>(t);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status roofs_cuda_begin(void *own, const roofs_job *job, roofs_error *err)
{
    roofs_gpu *s = (roofs_gpu *)own;
    const columns *c = &job->f->cols;
    TRY(gpu_write_slots(s->d, err));
    s->side = 0;
    s->usual = s->reported;
    s->launched = s->first = s->reported = 0;
    s->total = s->count = c->count;
    roofs_write_columns(s, c);
    if (job->host_changed)
        TRY(upload_samples(s, job->f, err));
    return launch_begin(s, job, err);
}

/* The last round has reported coefficients and origins. */
static roofs_status roofs_cuda_end(void *own, roofs_job *job, roofs_error *err)
{
    const roofs_gpu *s = (const roofs_gpu *)own;
    const roofs_columns *host = &s->host;
    const roofs_numbers *last = &s->host_reports[s->reported - 1 - s->first].numbers;
    (void)err;
    job->guard.curvature = last->curvature;
    job->f->intercept += last->shift;
    memset(job->selection.keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < s->count; k++) {
        job->selection.keep[host->origin[k]] = 1;
        job->f->cols.items[host->origin[k]].coef = host->coef[k];
    }
    return ROOFS_OK;
}

static roofs_status roofs_cuda_fetch(void *own, const roofs_job *job, roofs_error *err)
{
    const roofs_gpu *s = (const roofs_gpu *)own;
    device *d = s->d;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->pinned + d->lead, *mask = r + d->lead;
    CUDA_TRY(cudaMemcpyAsync(r, s->r, 2 * (size_t)d->lead * sizeof(double), cudaMemcpyDeviceToHost,
                             d->stream));
    TRY(gpu_wait(d, err));
    memcpy(job->f->residual, r, bytes);
    memcpy(job->f->trusted.mask, mask, bytes);
    return ROOFS_OK;
}

extern const roofs_engine roofs_cuda = {
    .create = roofs_cuda_create,
    .destroy = engine_destroy<roofs_gpu>,
    .begin = roofs_cuda_begin,
    .round = roofs_cuda_round,
    .end = roofs_cuda_end,
    .fetch = roofs_cuda_fetch,
};
