/* Rounds of method roofs on the GPU. Names and line numbers are those of method/roofs.c. */
#include "method/cuda/roofs_gpu.cuh"

#include <cstring>
#include <new>

enum { THREADS = 128, JOIN_PARTS = 16 };

/* ---- life ---------------------------------------------------------------------- */

void roofs_gpu_destroy(roofs_gpu *s)
{
    if (!s)
        return;
    gpu_order_destroy(&s->order);
    rooms_give_back(&s->there);
    rooms_give_back(&s->here);
    delete s;
}

/* Here and there in the same order: they travel together. */
static void want_columns(gpu_rooms *rooms, roofs_columns *c, int64_t most)
{
    rooms_want(rooms, &c->list, most);
    rooms_want(rooms, &c->coef, most);
    rooms_want(rooms, &c->exponent, most);
    rooms_want(rooms, &c->origin, most);
}

static int64_t columns_bytes(const roofs_columns *c, int64_t most)
{
    return (char *)(c->origin + most) - (char *)c->list;
}

static roofs_status get_state(device *d, roofs_gpu *s, roofs_error *err)
{
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    double **vectors[] = {&s->r,      &s->mask, &s->masked, &s->before, /* r, mask: together */
                          &s->change, &s->image};
    for (double **v : vectors)
        rooms_want(&s->there, v, n);
    for (roofs_columns &c : s->columns)
        want_columns(&s->there, &c, most);
    rooms_want(&s->there, &s->gone, most);
    rooms_want(&s->there, &s->gone_coef, most);
    rooms_want(&s->there, &s->gradient, most);
    rooms_want(&s->there, &s->partial, ceil_div(n, JOIN_ROWS));
    rooms_want(&s->there, &s->numbers, 1);
    rooms_want(&s->there, &s->reports, ROUNDS_AT_ONCE);
    s->here.is_here = 1;
    want_columns(&s->here, &s->host, most);
    rooms_want(&s->here, &s->told, ROUNDS_AT_ONCE);
    TRY(rooms_take(&s->there, "method roofs", err));
    TRY(rooms_take(&s->here, "method roofs", err));
    TRY(gpu_order_create(&s->order, n > most ? n : most, err));
    TRY(roofs_admit(s, err));
    TRY(gpu_plan_descend(d, &s->plan, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* zeroed before the stream uses it */
    return ROOFS_OK;
}

static roofs_status need_state(device *d, roofs_error *err)
{
    if (d->roofs)
        return ROOFS_OK;
    roofs_gpu *s = new (std::nothrow) roofs_gpu();
    if (!s)
        return fail(err, ROOFS_NO_MEMORY, "no memory for method roofs");
    const roofs_status status = get_state(d, s, err);
    if (status != ROOFS_OK)
        roofs_gpu_destroy(s);
    else
        d->roofs = s;
    return status;
}

/* ---- line 6 -------------------------------------------------------------------- */

/* image, and the squares of its trusted part: 32 samples, and 16 threads for each. */
__global__ void __launch_bounds__(JOIN_ROWS *JOIN_PARTS)
    join_kernel(const double *images, const double *levels, int64_t parts, int64_t n,
                const double *mask, const int *stop, double *image, double *partial)
{
    wait_for_last();
    if (*stop)
        return;
    __shared__ double sums[JOIN_PARTS][JOIN_ROWS];
    const int row = threadIdx.x % JOIN_ROWS, part = threadIdx.x / JOIN_ROWS;
    const int64_t i = blockIdx.x * (int64_t)JOIN_ROWS + row;
    double sum = 0;
#pragma unroll 4
    for (int64_t k = part; k < parts; k += JOIN_PARTS)
        sum += levels[k] + (i < n ? images[k * n + i] : 0);
    sums[part][row] = sum;
    __syncthreads();
    if (part > 0)
        return;
    for (int k = 1; k < JOIN_PARTS; k++)
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
        *square = nan(""); /* the norm is made from the gradient itself */
    }
}

/* Too many samples for the fused product: two reads. */
static roofs_status descend_in_two(device *d, roofs_gpu *s, const gpu_column *list,
                                   roofs_error *err)
{
    TRY(gpu_products(d, list, s->count, s->masked, s->gradient, err));
    weigh_kernel<<<(unsigned)ceil_div(s->count, THREADS), THREADS, 0, d->stream>>>(
        list, s->count, s->gradient, s->gone_coef, d->levels, d->squares);
    LAUNCHED();
    CUDA_TRY(cudaMemsetAsync(d->images, 0, (size_t)d->shape.n * sizeof(double), d->stream));
    return gpu_add(d, list, s->count, s->gone_coef, 0, d->images, err);
}

/* The gradient and its image, which is in `*images` parts. */
static roofs_status descend(device *d, roofs_gpu *s, int64_t *images, roofs_error *err)
{
    const int64_t n = d->shape.n;
    const gpu_column *list = s->columns[s->side].list;
    *images = s->plan.clusters > 0 ? s->plan.clusters : 1;
    const int *stop = &s->numbers->settled;
    const descend_job job = {
        list, s->count, s->masked, s->gradient, stop, (int)(s->given % 2), s->given > 0};
    if (s->plan.clusters > 0)
        TRY(gpu_descend(d, &s->plan, &job, err));
    else
        TRY(descend_in_two(d, s, list, err));
    CUDA_TRY(launch_next(join_kernel, (unsigned)ceil_div(n, JOIN_ROWS), JOIN_ROWS * JOIN_PARTS, 0,
                         d->stream, d->images, d->levels, *images, n, s->mask, stop, s->image,
                         s->partial));
    return ROOFS_OK;
}

/* ---- lines 7 to 14 ---------------------------------------------------------------- */

static roofs_status keep_largest(device *d, roofs_gpu *s, const roofs_job *job, int64_t images,
                                 roofs_error *err)
{
    const roofs_columns *from = &s->columns[s->side];
    const int64_t leaving = s->count - job->mu;
    const int many = order_hold(&s->order, s->count) == HOLD_NONE;
    TRY(roofs_go_on(d, s, job, images, many ? ROUND_MOVE : ROUND_MOVE | ROUND_PART, err));
    if (many) {
        TRY(gpu_order_sort_many(&s->order, from->coef, from->exponent, s->count, 1, d->stream,
                                err));
        TRY(roofs_go_on(d, s, job, images, ROUND_PART, err));
    }
    s->side = 1 - s->side;
    s->count = job->mu;
    return gpu_add(d, s->gone, leaving, s->gone_coef, 0, s->r, err);
}

/* More samples than buckets are good for are sorted in between, after the intercept. */
static roofs_status trust_many(device *d, roofs_gpu *s, const roofs_job *job, int64_t images,
                               int before, int tell, roofs_error *err)
{
    const int recentred = job->intercept ? ROUND_RECENTRE : 0;
    if (before | recentred)
        TRY(roofs_go_on(d, s, job, images, before | recentred, err));
    TRY(gpu_order_sort_many(&s->order, s->r, nullptr, d->shape.n, 0, d->stream, err));
    return roofs_go_on(d, s, job, images, ROUND_TRUST | tell, err);
}

/* One more round. tell: ROUND_TELL, or 0. */
static roofs_status give_round(device *d, roofs_gpu *s, const roofs_job *job, int tell,
                               roofs_error *err)
{
    int64_t images;
    int left = ROUND_MOVE;
    TRY(descend(d, s, &images, err));
    if (s->count > job->mu) {
        TRY(keep_largest(d, s, job, images, err));
        left = 0;
    }
    if (order_hold(&s->order, d->shape.n) == HOLD_NONE)
        TRY(trust_many(d, s, job, images, left, tell, err));
    else
        TRY(roofs_go_on(d, s, job, images,
                        left | ROUND_TRUST | tell | (job->intercept ? ROUND_RECENTRE : 0), err));
    s->given++;
    return ROOFS_OK;
}

/* As many rounds as the batch before took are given at once: the GPU need not wait for the host in
 * between. Where fewer are enough the others do nothing. */
static roofs_status give_rounds(device *d, roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    const int64_t usual = s->usual - s->given, most = job->ahead;
    int64_t some = usual < ROUNDS_AT_ONCE ? usual : ROUNDS_AT_ONCE;
    some = some < most ? some : most;
    s->first = s->given;
    do
        TRY(give_round(d, s, job, s->given - s->first + 1 >= some ? ROUND_TELL : 0, err));
    while (s->given - s->first < some);
    gpu_expect_now(d);
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    return ROOFS_OK;
}

static roofs_status roofs_round(device *d, roofs_job *job, roofs_error *err)
{
    roofs_gpu *s = d->roofs;
    if (s->done == s->given)
        TRY(give_rounds(d, s, job, err));
    const roofs_report *now = &s->told[s->done++ - s->first];
    job->trusted = now->tau;
    job->step = now->numbers.step;
    job->shift = now->numbers.shift;
    job->curvature = now->numbers.curvature;
    job->movement = now->movement;
    job->cut = now->cut;
    return ROOFS_OK;
}

/* ---- the batch ------------------------------------------------------------------------ */

struct begin_task {
    const uint4 *from; /* columns, page-locked: `pieces` */
    uint4 *to;
    int64_t pieces;
    roofs_numbers numbers, *there;
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
        *t.there = t.numbers;
}

static roofs_status send_samples(device *d, roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->stage + d->lead, *mask = r + d->lead;
    memcpy(r, job->residual, bytes);
    memcpy(mask, job->mask, bytes);
    return gpu_bring(d, s->r, r, 2 * d->lead * (int64_t)sizeof(double), err);
}

static void write_columns(const device *d, roofs_gpu *s, const columns *c)
{
    roofs_columns *host = &s->host;
    gpu_list(d, c->places, c->count, host->list);
    for (int64_t j = 0; j < c->count; j++) {
        host->coef[j] = c->items[j].coef;
        host->exponent[j] = c->scaled ? 0 : c->items[j].exponent;
        host->origin[j] = (int32_t)j;
    }
}

static roofs_status roofs_begin(columns *c, const roofs_job *job, roofs_error *err)
{
    device *d = c->dev;
    const int64_t n = d->shape.n, most = d->shape.slots + d->shape.batch;
    const int is_first = !d->roofs;
    TRY(need_state(d, err));
    TRY(gpu_flush(d, err));
    roofs_gpu *s = d->roofs;
    s->side = 0;
    s->usual = s->done;
    s->given = s->first = s->done = 0;
    s->total = s->count = c->count;
    write_columns(d, s, c);
    if (is_first || job->changed)
        TRY(send_samples(d, s, job, err));
    begin_task t = {(const uint4 *)s->host.list,
                    (uint4 *)s->columns[0].list,
                    ceil_div(columns_bytes(&s->host, most), (int64_t)sizeof(uint4)),
                    {},
                    s->numbers,
                    s->r,
                    s->mask,
                    s->masked,
                    s->before,
                    n};
    t.numbers.curvature = job->curvature;
    t.numbers.trusted = (double)job->trusted;
    begin_kernel<<<(unsigned)ceil_div(n > t.pieces ? n : t.pieces, THREADS), THREADS, 0,
                   d->stream>>>(t);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status fetch_samples(device *d, const roofs_gpu *s, roofs_job *job, roofs_error *err)
{
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->stage + d->lead, *mask = r + d->lead;
    CUDA_TRY(cudaMemcpyAsync(r, s->r, 2 * (size_t)d->lead * sizeof(double), cudaMemcpyDeviceToHost,
                             d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    memcpy(job->residual, r, bytes);
    memcpy(job->mask, mask, bytes);
    return ROOFS_OK;
}

/* The last round has told the coefficients. */
static roofs_status roofs_end(columns *c, roofs_job *job, unsigned char *keep, roofs_error *err)
{
    const roofs_gpu *s = c->dev->roofs;
    const roofs_columns *host = &s->host;
    if (job->wanted)
        TRY(fetch_samples(c->dev, s, job, err));
    memset(keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < s->count; k++) {
        keep[host->origin[k]] = 1;
        c->items[host->origin[k]].coef = host->coef[k];
    }
    return ROOFS_OK;
}

/* In bayes: the rest of the table. */
extern "C" const rounds cuda_rounds = {
    roofs_begin, roofs_round, roofs_end, bayes_begin,
    bayes_round, bayes_keep,  bayes_end, bayes_prior,
};
