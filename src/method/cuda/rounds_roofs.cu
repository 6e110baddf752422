/* Rounds of method roofs on the GPU. Names and line numbers are those of method/roofs.c. */
#include "method/cuda/rounds_cuda.cuh"

#include <cmath>
#include <cstring>
#include <new>

/* What the rounds have found out so far, on the GPU. */
struct roofs_numbers {
    double curvature[2]; /* by turns: of the round before, of this one */
    double step, shift;
    double trusted;
};

/* What the host is told. */
struct roofs_report {
    roofs_numbers numbers;
    double movement, cut;
    unsigned long long tau;
};

struct roofs_gpu {
    gpu_order order;
    descend_plan plan;
    double *r, *mask, *masked, *before, *change, *image, *squares, *sums; /* n */
    gpu_column *list[2], *gone;
    double *coef[2], *gone_coef, *gradient;
    int *exponent[2];
    int32_t *origin[2], *stay, *leave;
    int side; /* which of the two lists is in use */
    double *partial;
    unsigned *finished;
    unsigned long long *tau;
    roofs_numbers *numbers;
    roofs_report *report; /* page-locked, as the three below */
    double *host_coef;
    int *host_exponent;
    int32_t *host_origin;
    int64_t total, count; /* columns of the batch, and those that are left */
    int64_t round;
};

enum { THREADS = 128, JOIN_ROWS = 32, JOIN_PARTS = 16, PARTS = 64 };

void roofs_gpu_destroy(roofs_gpu *s)
{
    if (!s)
        return;
    gpu_order_destroy(&s->order);
    void *there[] = {s->r,         s->masked,    s->before,  s->change,
                     s->image,     s->squares,     s->sums,      s->list[0], s->list[1],
                     s->gone,      s->coef[0],     s->coef[1],   s->gone_coef,
                     s->gradient,  s->exponent[0], s->exponent[1], s->origin[0],
                     s->origin[1], s->stay,        s->leave,     s->partial, s->finished,
                     s->tau,       s->numbers};
    for (void *block : there)
        cudaFree(block);
    void *here[] = {s->report, s->host_coef, s->host_exponent, s->host_origin};
    for (void *block : here)
        cudaFreeHost(block);
    delete s;
}

static roofs_status get_lists(roofs_gpu *s, int64_t most, roofs_error *err)
{
    const char *what = "the list of features";
    for (int k = 0; k < 2; k++) {
        TRY(gpu_get(&s->list[k], most, what, err));
        TRY(gpu_get(&s->coef[k], most, what, err));
        TRY(gpu_get(&s->exponent[k], most, what, err));
        TRY(gpu_get(&s->origin[k], most, what, err));
    }
    TRY(gpu_get(&s->gone, most, what, err));
    TRY(gpu_get(&s->gone_coef, most, what, err));
    TRY(gpu_get(&s->gradient, most, what, err));
    TRY(gpu_get(&s->stay, most, what, err));
    TRY(gpu_get(&s->leave, most, what, err));
    TRY(host_get(&s->host_coef, most, err));
    TRY(host_get(&s->host_exponent, most, err));
    return host_get(&s->host_origin, most, err);
}

static roofs_status get_state(device *d, roofs_gpu *s, roofs_error *err)
{
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    double **vectors[] = {&s->masked, &s->before,  &s->change,
                          &s->image,  &s->squares, &s->sums};
    TRY(gpu_get(&s->r, 2 * n, "the samples", err)); /* one after the other: they travel together */
    s->mask = s->r + n;
    for (double **v : vectors)
        TRY(gpu_get(v, n, "the samples", err));
    TRY(get_lists(s, most, err));
    TRY(gpu_order_create(&s->order, n > most ? n : most, err));
    TRY(gpu_get(&s->partial, ceil_div(n, JOIN_ROWS) + PARTS, "partial sums", err));
    TRY(gpu_get(&s->finished, 1, "a counter", err));
    TRY(gpu_get(&s->tau, 1, "a counter", err));
    TRY(gpu_get(&s->numbers, 1, "numbers", err));
    TRY(host_get(&s->report, 1, err));
    return gpu_plan_descend(d, &s->plan, err);
}

static roofs_status need_state(device *d, roofs_error *err)
{
    if (d->roofs)
        return ROOFS_OK;
    d->roofs = new (std::nothrow) roofs_gpu();
    if (!d->roofs)
        return fail(err, ROOFS_NO_MEMORY, "no memory for method roofs");
    TRY(get_state(d, d->roofs, err));
    CUDA_TRY(cudaDeviceSynchronize()); /* zeroed before the stream uses it */
    return ROOFS_OK;
}

/* ---- line 6 -------------------------------------------------------------------- */

/* image, and the squares of its trusted part: 32 samples, and 16 threads for each. */
__global__ void __launch_bounds__(JOIN_ROWS *JOIN_PARTS)
    join_kernel(const double *images, const double *levels, int64_t parts, int64_t n,
                const double *mask, double *image, double *partial)
{
    wait_for_last();
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

/* |x| from its squares, or, where they left the range of numbers, from x itself. */
__device__ static double norm(double squares, const double *x, const double *mask, int64_t n,
                              double *room)
{
    if (squares > 0x1p-900 && squares < 0x1p1000)
        return sqrt(squares);
    double largest = 0, sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        largest = fmax(largest, fabs(x[i] * (mask ? mask[i] : 1.0)));
    largest = block_max(largest, room);
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
        const double scaled = ldexp(x[i] * (mask ? mask[i] : 1.0), -exponent);
        sum[0] += scaled * scaled;
    }
    block_sum(sum, room);
    return ldexp(sqrt(sum[0]), exponent);
}

struct move_task {
    const double *squares, *partial; /* of the gradient and of the image: parts of their sums */
    int64_t square_parts, partials;
    const double *gradient, *image, *mask;
    const gpu_column *list;
    int64_t count, n;
    double published;
    int turn;
    roofs_numbers *numbers;
    double *coef, *r;
    int is_last;     /* to change r in this round: it goes to be sorted */
    order_keys keys;
};

/* Every block finds the same step (robust/step.c) and moves its share. */
__global__ void __launch_bounds__(THREADS) move_kernel(move_task t)
{
    wait_for_last();
    __shared__ double room[33 * 2];
    double sums[2] = {0, 0};
    for (int64_t k = threadIdx.x; k < t.square_parts; k += blockDim.x)
        sums[0] += t.squares[k];
    for (int64_t k = threadIdx.x; k < t.partials; k += blockDim.x)
        sums[1] += t.partial[k];
    block_sum(sums, room);
    const double size = t.numbers->trusted;
    const double gradient = norm(sums[0], t.gradient, nullptr, t.count, room);
    const double image = norm(sums[1], t.image, t.mask, t.n, room) / sqrt(size);
    double curvature = t.numbers->curvature[t.turn];
    if (gradient > 0) {
        const double ratio = image / gradient;
        curvature = ratio * ratio > curvature ? ratio * ratio : curvature;
    }
    const double step = t.published * curvature > 2 ? 1 / curvature : t.published;
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < t.count)
        t.coef[i] += step / size * t.list[i].unit * t.gradient[i];
    if (i < t.n) {
        const double r = t.r[i] - step / size * t.image[i];
        t.r[i] = r;
        if (t.is_last)
            order_put(t.keys, i, fabs(r));
    }
    if (i == 0) {
        t.numbers->curvature[1 - t.turn] = curvature;
        t.numbers->step = step;
    }
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
static roofs_status descend_in_two(device *d, roofs_gpu *s, roofs_error *err)
{
    TRY(gpu_products(d, s->list[s->side], s->count, s->masked, s->gradient, err));
    weigh_kernel<<<(unsigned)ceil_div(s->count, THREADS), THREADS, 0, d->stream>>>(
        s->list[s->side], s->count, s->gradient, s->gone_coef, d->levels, d->squares);
    LAUNCHED();
    CUDA_TRY(cudaMemsetAsync(d->images, 0, (size_t)d->shape.n * sizeof(double), d->stream));
    return gpu_add(d, s->list[s->side], s->count, s->gone_coef, 0, d->images, err);
}

/* Nothing but the step changes the residual in this round. */
static int changes_once(const roofs_gpu *s, const roofs_job *job)
{
    return !job->intercept && s->count <= job->mu;
}

static roofs_status gradient_step(device *d, roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    const int64_t n = d->shape.n, parts = s->plan.clusters > 0 ? s->plan.clusters : 1;
    if (s->plan.clusters > 0)
        TRY(gpu_descend(d, &s->plan, s->list[s->side], s->count, s->masked, s->gradient, err));
    else
        TRY(descend_in_two(d, s, err));
    const int64_t blocks = ceil_div(n, JOIN_ROWS);
    CUDA_TRY(launch_next(join_kernel, (unsigned)blocks, JOIN_ROWS * JOIN_PARTS, 0, d->stream,
                         d->images, d->levels, parts, n, s->mask, s->image, s->partial));
    const move_task task = {d->squares,  s->partial,  parts,
                            blocks,      s->gradient, s->image,
                            s->mask,     s->list[s->side], s->count,
                            n,           job->published, (int)(s->round % 2),
                            s->numbers,  s->coef[s->side], s->r,
                            changes_once(s, job), gpu_order_keys(&s->order, n)};
    CUDA_TRY(launch_next(move_kernel, (unsigned)ceil_div(n > s->count ? n : s->count, THREADS),
                         THREADS, 0, d->stream, task));
    return ROOFS_OK;
}

/* ---- lines 7-10 ------------------------------------------------------------------ */

struct part_task {
    const gpu_column *list;
    const double *coef;
    const int *exponent;
    const int32_t *origin, *stay, *leave;
    gpu_column *list_out, *gone;
    double *coef_out, *gone_coef;
    int *exponent_out;
    int32_t *origin_out;
    int64_t staying, leaving;
};

__global__ void part_lists_kernel(part_task t)
{
    wait_for_last();
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < t.staying) {
        const int32_t j = t.stay[k];
        t.list_out[k] = t.list[j];
        t.coef_out[k] = t.coef[j];
        t.exponent_out[k] = t.exponent[j];
        t.origin_out[k] = t.origin[j];
    }
    if (k < t.leaving) {
        t.gone[k] = t.list[t.leave[k]];
        t.gone_coef[k] = t.coef[t.leave[k]];
    }
}

static roofs_status keep_largest(device *d, roofs_gpu *s, int64_t mu, roofs_error *err)
{
    if (s->count <= mu)
        return ROOFS_OK;
    const int from = s->side, to = 1 - s->side;
    const int64_t leaving = s->count - mu;
    TRY(gpu_order_sort(&s->order, s->coef[from], s->exponent[from], s->count, 1, d->stream, err));
    TRY(gpu_order_part(&s->order, s->count, mu, s->stay, s->leave, d->stream, err));
    const part_task task = {s->list[from],   s->coef[from], s->exponent[from], s->origin[from],
                            s->stay,         s->leave,      s->list[to],       s->gone,
                            s->coef[to],     s->gone_coef,  s->exponent[to],   s->origin[to],
                            mu,              leaving};
    CUDA_TRY(launch_next(part_lists_kernel, (unsigned)ceil_div(s->count, THREADS), THREADS, 0,
                         d->stream, task));
    s->side = to;
    s->count = mu;
    return gpu_add(d, s->gone, leaving, s->gone_coef, 0, s->r, err);
}

/* ---- intercept -------------------------------------------------------------------- */

__global__ void shift_kernel(const double *mask, const double *r, int64_t n, double *partial)
{
    wait_for_last();
    __shared__ double room[33];
    double sum[1] = {0};
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        sum[0] += mask[i] * r[i];
    block_sum(sum, room);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum[0];
}

__global__ void recentre_kernel(const double *partial, int64_t n, double *r,
                                roofs_numbers *numbers)
{
    wait_for_last();
    double shift = 0;
    for (int k = 0; k < PARTS; k++)
        shift += partial[k];
    shift /= numbers->trusted;
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n)
        r[i] -= shift;
    if (i == 0)
        numbers->shift += shift;
}

static roofs_status recentre(device *d, roofs_gpu *s, roofs_error *err)
{
    CUDA_TRY(launch_next(shift_kernel, PARTS, THREADS, 0, d->stream, s->mask, s->r, d->shape.n,
                         s->partial));
    CUDA_TRY(launch_next(recentre_kernel, (unsigned)ceil_div(d->shape.n, THREADS), THREADS, 0,
                         d->stream, s->partial, d->shape.n, s->r, s->numbers));
    return ROOFS_OK;
}

/* ---- lines 11-14 -------------------------------------------------------------------- */

struct trust_task {
    const uint64_t *sorted;
    const int32_t *place;
    const unsigned long long *tau;
    int64_t n;
    const double *r;
    double *mask, *masked, *before, *change, *partial;
    unsigned *finished;
    roofs_numbers *numbers;
    roofs_report *report;
};

/* The tau smallest are trusted; how far they moved. The last block adds up and reports. */
__global__ void __launch_bounds__(THREADS) trust_kernel(trust_task t)
{
    wait_for_last();
    __shared__ double room[33];
    __shared__ bool last;
    const int64_t k = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    const int64_t tau = (int64_t)*t.tau;
    double square[1] = {0};
    if (k < t.n) {
        const int32_t i = t.place[k];
        const double trusted = k < tau, r = t.r[i], size = fabs(r);
        const double change = (size - t.before[i]) * trusted;
        t.mask[i] = trusted;
        t.masked[i] = r * trusted;
        t.before[i] = size;
        t.change[i] = change;
        square[0] = change * change;
    }
    block_sum(square, room);
    if (threadIdx.x == 0) {
        t.partial[blockIdx.x] = square[0];
        __threadfence();
        last = atomicAdd(t.finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    square[0] = 0;
    for (int64_t b = threadIdx.x; b < gridDim.x; b += THREADS)
        square[0] += ((volatile double *)t.partial)[b];
    block_sum(square, room);
    const double moved = norm(square[0], t.change, nullptr, t.n, room);
    if (threadIdx.x == 0) {
        t.numbers->trusted = (double)tau;
        t.report->numbers = *t.numbers;
        t.report->movement = moved / (double)tau;
        t.report->cut = __longlong_as_double((long long)t.sorted[tau - 1]);
        t.report->tau = (unsigned long long)tau;
        *t.finished = 0;
    }
}

static roofs_status update_trust(device *d, roofs_gpu *s, const roofs_job *job, int sorted,
                                 roofs_error *err)
{
    const int64_t n = d->shape.n;
    if (sorted)
        TRY(gpu_order_sort_keys(&s->order, n, d->stream, err));
    else
        TRY(gpu_order_sort(&s->order, s->r, nullptr, n, 0, d->stream, err));
    if (job->clean_ratio <= 0)
        TRY(gpu_tau(&s->order, n, s->squares, s->sums, s->tau, d->stream, err));
    const trust_task task = {s->order.sorted, s->order.place, s->tau,     n,
                             s->r,            s->mask,        s->masked,  s->before,
                             s->change,       s->partial,     s->finished, s->numbers,
                             s->report};
    CUDA_TRY(launch_next(trust_kernel, (unsigned)ceil_div(n, THREADS), THREADS, 0, d->stream, task));
    return ROOFS_OK;
}

/* ---- the batch ------------------------------------------------------------------------ */

__global__ void begin_kernel(const double *r, const double *mask, int64_t n, double *masked,
                             double *before, int32_t *origin, int64_t count)
{
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) {
        masked[i] = r[i] * mask[i];
        before[i] = 0;
    }
    if (i < count)
        origin[i] = (int32_t)i;
}

static roofs_status send(device *d, void *to, const void *from, size_t bytes, roofs_error *err)
{
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream));
    return ROOFS_OK;
}

static roofs_status send_samples(device *d, roofs_gpu *s, const roofs_job *job, roofs_error *err)
{
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->stage + d->lead, *mask = r + d->lead;
    memcpy(r, job->residual, bytes);
    memcpy(mask, job->mask, bytes);
    TRY(send(d, s->r, r, 2 * (size_t)d->lead * sizeof(double), err));
    s->report->numbers = {};
    s->report->numbers.curvature[0] = job->curvature;
    s->report->numbers.trusted = (double)job->trusted;
    TRY(send(d, s->numbers, &s->report->numbers, sizeof *s->numbers, err));
    if (job->clean_ratio <= 0)
        return ROOFS_OK;
    const int64_t wanted = llround(job->clean_ratio * (double)d->shape.n);
    s->report->tau = (unsigned long long)(wanted < 1            ? 1
                                          : wanted > d->shape.n ? d->shape.n
                                                                : wanted);
    return send(d, s->tau, &s->report->tau, sizeof *s->tau, err);
}

static roofs_status roofs_begin(columns *c, const roofs_job *job, roofs_error *err)
{
    device *d = c->dev;
    const int64_t n = d->shape.n, count = c->count;
    TRY(need_state(d, err));
    roofs_gpu *s = d->roofs;
    s->side = 0;
    s->round = 0;
    s->total = s->count = count;
    for (int64_t j = 0; j < count; j++) {
        s->host_coef[j] = c->items[j].coef;
        s->host_exponent[j] = c->scaled ? 0 : c->items[j].exponent;
    }
    TRY(gpu_send_list(d, c->places, count, s->list[0], err));
    TRY(send(d, s->coef[0], s->host_coef, (size_t)count * sizeof(double), err));
    TRY(send(d, s->exponent[0], s->host_exponent, (size_t)count * sizeof(int), err));
    TRY(send_samples(d, s, job, err));
    begin_kernel<<<(unsigned)ceil_div(n > count ? n : count, THREADS), THREADS, 0, d->stream>>>(
        s->r, s->mask, n, s->masked, s->before, s->origin[0], count);
    LAUNCHED();
    return ROOFS_OK;
}

static roofs_status roofs_round(device *d, roofs_job *job, roofs_error *err)
{
    roofs_gpu *s = d->roofs;
    const int ready = changes_once(s, job);
    TRY(gradient_step(d, s, job, err));
    TRY(keep_largest(d, s, job->mu, err));
    if (job->intercept)
        TRY(recentre(d, s, err));
    TRY(update_trust(d, s, job, ready, err));
    s->round++;
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    const roofs_report *now = s->report;
    job->trusted = (int64_t)now->tau;
    job->step = now->numbers.step;
    job->shift = now->numbers.shift;
    job->curvature = now->numbers.curvature[s->round % 2];
    job->movement = now->movement;
    job->cut = now->cut;
    return ROOFS_OK;
}

static roofs_status roofs_end(columns *c, roofs_job *job, unsigned char *keep, roofs_error *err)
{
    device *d = c->dev;
    roofs_gpu *s = d->roofs;
    const size_t bytes = (size_t)d->shape.n * sizeof(double);
    double *r = d->stage + d->lead, *mask = r + d->lead;
    CUDA_TRY(cudaMemcpyAsync(r, s->r, 2 * (size_t)d->lead * sizeof(double), cudaMemcpyDeviceToHost,
                             d->stream));
    CUDA_TRY(cudaMemcpyAsync(s->host_coef, s->coef[s->side], (size_t)s->count * sizeof(double),
                             cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaMemcpyAsync(s->host_origin, s->origin[s->side],
                             (size_t)s->count * sizeof(int32_t), cudaMemcpyDeviceToHost,
                             d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    memcpy(job->residual, r, bytes);
    memcpy(job->mask, mask, bytes);
    memset(keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < s->count; k++) {
        keep[s->host_origin[k]] = 1;
        c->items[s->host_origin[k]].coef = s->host_coef[k];
    }
    return ROOFS_OK;
}

/* In bayes: the rest of the table. */
extern "C" const rounds cuda_rounds = {
    roofs_begin, roofs_round, roofs_end, bayes_begin, bayes_round, bayes_keep, bayes_end,
};
