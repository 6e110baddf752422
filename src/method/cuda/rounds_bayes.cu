/* Rounds of method roofs-bayes on the GPU, in blocks of 128 columns. The small Gram matrices do not
 * depend on the residual: all are made first, on the tensor cores. Then, block by block, r
 * follows the last block and gives the slopes of the next (all processors), and one block of
 * threads decides on the coefficients. */
#include "method/cuda/rounds_cuda.cuh"
#include "method/cuda/slab.cuh"
#include "robust/cuda/mixture.cuh"

#include <cuda_pipeline.h>

#include <cstring>
#include <new>

/* What is known of each column, on the GPU. */
struct bayes_columns {
    gpu_column *list;
    double *coef, *variance, *probability, *k;
    int64_t *feature;
    int32_t *origin;
};

struct bayes_report {
    mixture_numbers samples;
    slab_numbers prior;
    double largest_move;
};

struct bayes_gpu {
    mixture_gpu samples;
    slab_gpu prior;
    gpu_order order;
    bayes_columns columns[2]; /* those of the fit, and room to part them */
    int side;
    int64_t total, count;
    int64_t last_feature; /* the place in the stream of the last one */
    gram_room gram;
    int32_t *stay, *leave;
    gpu_column *some; /* of a sweep over some columns, or of columns that leave */
    double *some_coef, *some_variance;
    double *slopes;         /* strips x GPU_BLOCK */
    double *delta, *spread; /* of the block decided on last */
    double *largest_move;
    bayes_report *report; /* page-locked, as those below */
    double *host;         /* 4 numbers per column */
    int64_t *host_feature;
    int32_t *host_origin;
};

enum { STRIP_LEAST = 32, STRIP_MOST = 80, STRIP_GROUPS = 8 };
enum { STRIP_THREADS = 256, STRIP_WARPS = STRIP_THREADS / 32, THREADS = 128 };

/* ---- life ------------------------------------------------------------------------ */

void bayes_gpu_destroy(bayes_gpu *s)
{
    if (!s)
        return;
    gpu_order_destroy(&s->order);
    mixture_gpu *m = &s->samples;
    void *there[] = {m->y, m->r, m->w, m->W, m->V,
                     m->z,          m->f,         m->clean,      m->h,
                     m->numbers,    s->prior.R,   s->prior.spare, s->prior.numbers,
                     s->gram.partial, s->gram.gram, s->stay,      s->leave,
                     s->some,       s->some_coef, s->some_variance, s->slopes,
                     s->delta,      s->largest_move};
    for (void *block : there)
        cudaFree(block);
    for (bayes_columns &c : s->columns) {
        void *lists[] = {c.list, c.coef, c.variance, c.probability, c.k, c.feature, c.origin};
        for (void *block : lists)
            cudaFree(block);
    }
    void *here[] = {s->report, s->host, s->host_feature, s->host_origin};
    for (void *block : here)
        cudaFreeHost(block);
    delete s;
}

static roofs_status get_columns(bayes_columns *c, int64_t most, roofs_error *err)
{
    const char *what = "the list of features";
    double **numbers[] = {&c->coef, &c->variance, &c->probability, &c->k};
    for (double **v : numbers)
        TRY(gpu_get(v, most, what, err));
    TRY(gpu_get(&c->list, most, what, err));
    TRY(gpu_get(&c->feature, most, what, err));
    return gpu_get(&c->origin, most, what, err);
}

static roofs_status get_samples(device *d, mixture_gpu *m, roofs_error *err)
{
    double **vectors[] = {&m->y, &m->r, &m->w, &m->W, &m->V, &m->z, &m->f, &m->clean, &m->h};
    for (double **v : vectors)
        TRY(gpu_get(v, d->lead, "the samples", err));
    return gpu_get(&m->numbers, 1, "the samples", err);
}

static roofs_status get_gram(device *d, bayes_gpu *s, int64_t most, roofs_error *err)
{
    const int64_t blocks = ceil_div(most, GPU_BLOCK), cells = GPU_BLOCK * GPU_BLOCK;
    int64_t parts = 0; /* of as many blocks as make the most of them */
    for (int64_t b = 1; b <= blocks; b++)
        parts = b * gram_splits(d, b) > parts ? b * gram_splits(d, b) : parts;
    TRY(gpu_get(&s->gram.gram, blocks * cells, "Gram matrices", err));
    return gpu_get(&s->gram.partial, parts * cells, "Gram matrices", err);
}

static roofs_status get_state(device *d, bayes_gpu *s, roofs_error *err)
{
    const int64_t n = d->lead, most = d->shape.slots + d->shape.batch;
    const char *what = "the list of features";
    TRY(get_samples(d, &s->samples, err));
    for (bayes_columns &c : s->columns)
        TRY(get_columns(&c, most, err));
    TRY(get_gram(d, s, most, err));
    TRY(gpu_order_create(&s->order, most, err));
    TRY(gpu_get(&s->prior.R, 3 * SLAB_MOST, "the prior", err));
    s->prior.S = s->prior.R + SLAB_MOST;
    s->prior.k = s->prior.R + 2 * SLAB_MOST;
    TRY(gpu_get(&s->prior.spare, 3 * SLAB_MOST, "the prior", err));
    TRY(gpu_get(&s->prior.numbers, 1, "the prior", err));
    TRY(gpu_get(&s->stay, most, what, err));
    TRY(gpu_get(&s->leave, most, what, err));
    TRY(gpu_get(&s->some, most, what, err));
    TRY(gpu_get(&s->some_coef, most, what, err));
    TRY(gpu_get(&s->some_variance, most, what, err));
    TRY(gpu_get(&s->slopes, ceil_div(n, STRIP_LEAST) * GPU_BLOCK, "partial sums", err));
    TRY(gpu_get(&s->delta, 2 * GPU_BLOCK, "partial sums", err));
    s->spread = s->delta + GPU_BLOCK;
    TRY(gpu_get(&s->largest_move, 1, "partial sums", err));
    TRY(host_get(&s->report, 1, err));
    TRY(host_get(&s->host, 4 * most, err));
    TRY(host_get(&s->host_feature, most, err));
    return host_get(&s->host_origin, most, err);
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
    const slab_numbers prior = {p->pi, p->mean, p->variance, p->started,
                                (unsigned long long)p->used};
    CUDA_TRY(cudaMemcpy(to->y, m->y, bytes, cudaMemcpyHostToDevice));
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

/* ---- sweep: the samples' side ---------------------------------------------------------- */

struct strip_task {
    const gpu_column *last, *next; /* columns of the two blocks */
    int last_count, next_count;
    const double *delta, *spread; /* of the last */
    const double *w;
    double *r, *V;
    int64_t n;
    int rows; /* samples of a strip, a multiple of 16 */
    double *slopes;
};

/* Values of a strip begin to arrive in `tile`, column by column; what is not there is zero. */
template <typename T>
__device__ void bring(const gpu_column *columns, int count, int64_t begin, int mine, int rows,
                      T *tile)
{
    const int width = 16 / sizeof(T), each = rows / width;
    for (int at = threadIdx.x; at < count * each; at += STRIP_THREADS) {
        const int q = at / each, i = at % each * width, left = mine - i;
        T *to = tile + q * rows + i;
        if (left > 0)
            __pipeline_memcpy_async(to, (const T *)columns[q].x + begin + i, 16,
                                    left < width ? (width - left) * sizeof(T) : 0);
        else
            for (int k = 0; k < width; k++)
                to[k] = 0;
    }
}

/* A strip of samples. First r and V follow the last block, then the slopes of the next one are summed
 * up. Columns do not change: they are brought in while the last block is still being decided on. */
template <typename T> __global__ void __launch_bounds__(STRIP_THREADS) strip_kernel(strip_task t)
{
    extern __shared__ __align__(16) char memory[];
    __shared__ gpu_column last[GPU_BLOCK], next[GPU_BLOCK];
    __shared__ double delta[GPU_BLOCK], spread[GPU_BLOCK], wr[STRIP_MOST];
    __shared__ double change[STRIP_GROUPS][STRIP_MOST], more[STRIP_GROUPS][STRIP_MOST];
    T *last_tile = (T *)memory, *next_tile = last_tile + GPU_BLOCK * t.rows;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t begin = blockIdx.x * (int64_t)t.rows;
    const int mine = t.n - begin < t.rows ? (int)(t.n - begin) : t.rows;
    let_next_begin();
    for (int q = threadIdx.x; q < GPU_BLOCK; q += STRIP_THREADS) {
        if (q < t.last_count)
            last[q] = t.last[q];
        if (q < t.next_count)
            next[q] = t.next[q];
    }
    __syncthreads();
    bring(last, t.last_count, begin, mine, t.rows, last_tile);
    bring(next, t.next_count, begin, mine, t.rows, next_tile);
    __pipeline_commit();
    wait_for_last();
    for (int q = threadIdx.x; q < t.last_count; q += STRIP_THREADS) {
        delta[q] = t.delta[q];
        spread[q] = t.spread[q];
    }
    __pipeline_wait_prior(0);
    __syncthreads();

    const int row = threadIdx.x % t.rows, group = threadIdx.x / t.rows;
    const int groups = STRIP_THREADS / t.rows;
    if (group < groups) {
        double c = 0, v = 0;
#pragma unroll 4
        for (int q = group; q < t.last_count; q += groups) {
            const double z =
                ((double)last_tile[q * t.rows + row] - last[q].center) * last[q].factor;
            c += delta[q] * z;
            v += spread[q] * (z * z);
        }
        change[group][row] = c;
        more[group][row] = v;
    }
    __syncthreads();
    if (threadIdx.x < t.rows) {
        double r = 0, w = 0;
        if ((int)threadIdx.x < mine) {
            double sum = 0, squares = 0;
            for (int k = 0; k < groups; k++) {
                sum += change[k][threadIdx.x];
                squares += more[k][threadIdx.x];
            }
            const int64_t i = begin + threadIdx.x;
            r = t.r[i] - sum;
            w = t.w[i];
            if (t.last_count > 0) {
                t.r[i] = r;
                t.V[i] += squares;
            }
        }
        wr[threadIdx.x] = w * r;
    }
    __syncthreads();
#pragma unroll 4
    for (int q = warp; q < t.next_count; q += STRIP_WARPS) {
        double slope = 0;
        for (int i = lane; i < t.rows; i += 32)
            slope += ((double)next_tile[q * t.rows + i] - next[q].center) * next[q].factor * wr[i];
        slope = warp_sum(slope);
        if (lane == 0)
            t.slopes[blockIdx.x * (int64_t)GPU_BLOCK + q] = slope;
    }
}

/* ---- sweep: the columns' side ------------------------------------------------------------- */

enum { DECIDE_THREADS = 1024, SHARE = DECIDE_THREADS / GPU_BLOCK, TERMS = GPU_BLOCK / SHARE };
enum { TERMS_APART = TERMS + 2 }; /* so that the shares lie in different banks */

__device__ static int delta_at(int p)
{
    return p / TERMS * TERMS_APART + p % TERMS;
}

/* Of a move: what is left to rounding. */
static __device__ const double SETTLED = 0x1p-45;

struct decide_task {
    bayes_columns columns;
    const int32_t *which; /* NULL: all */
    int64_t first;
    int count;
    const double *slopes;
    int64_t strips;
    const double *gram; /* of this block */
    const mixture_numbers *samples;
    slab_gpu prior;
    double *delta, *spread, *largest_move;
};

/* What the update of one coordinate needs besides its slope (update_one in roofs_bayes.c). */
struct coordinate {
    int64_t j; /* its column */
    int exists, dead;
    double before, k, S;
    double kd, vP, vm, half, base, v, kP; /* kap/d, v P, v mj/sb, 1/(2v), ..., (kap - 1) P */
    double R, variance, probability;      /* answers */
};

__device__ static coordinate prepare(const decide_task &t, int q)
{
    coordinate c = {};
    c.exists = q < t.count;
    if (!c.exists)
        return c;
    const mixture_numbers m = *t.samples;
    const slab_numbers prior = *t.prior.numbers;
    const double d = t.gram[q * GPU_BLOCK + q];
    c.j = t.which ? t.which[t.first + q] : t.first + q;
    c.before = t.columns.coef[c.j];
    c.k = t.columns.k[c.j];
    c.dead = !(d > 0) || !(c.k > 0);
    if (c.dead)
        return c;
    const double P = d / m.tau2, sb = prior.variance * c.k, mj = prior.mean * sqrt(c.k);
    c.S = 1 / P;
    c.v = 1 / (P + 1 / sb);
    c.kd = m.kap / d;
    c.vP = c.v * P;
    c.vm = c.v * mj / sb;
    c.half = 0.5 / c.v;
    c.kP = (m.kap - 1) * P;
    c.base = log(prior.pi / (1 - prior.pi)) + 0.5 * log(c.v / sb) - mj * mj / (2 * sb);
    return c;
}

/* 1 / x to the last bit or two, in fewer steps than a division. */
__device__ static double inverse(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    y = fma(fma(-x, y, 1.0), y, y);
    y = fma(fma(-x, y, 1.0), y, y);
    return fma(fma(-x, y, 1.0), y, y);
}

__device__ static double update_one(coordinate &c, double slope)
{
    if (!c.exists)
        return 0;
    if (c.dead)
        return -c.before;
    c.R = c.before + c.kd * slope;
    const double mean = c.vP * c.R + c.vm;
    const double odds = exp(fmin(-(c.base + mean * mean * c.half), 600.0)), a = inverse(1 + odds);
    c.variance = a * (c.v + mean * mean) - a * mean * (a * mean);
    c.probability = a;
    return (a * mean - c.before) * inverse(1 + c.kP * c.variance);
}

__device__ static void write_one(const decide_task &t, int q, const coordinate &c, double delta)
{
    const double old = t.which ? t.columns.variance[c.j] : 0;
    t.delta[q] = delta;
    t.spread[q] = c.variance - old;
    t.columns.coef[c.j] = c.dead ? 0 : c.before + delta;
    t.columns.variance[c.j] = c.variance;
    t.columns.probability[c.j] = c.probability;
    if (!c.dead)
        slab_record(t.prior, t.columns.feature[c.j], c.R, c.S, c.k);
}

/* Coordinate q needs the moves of those before it: delta_q = F_q(slope_q - sum_{p<q} G_qp delta_p).
 * All are found at once, again and again, until none changes but by rounding. After k rounds the
 * first k are final, so this ends, and where it ends is what one after the other would have given;
 * where columns hardly overlap it takes far fewer than 128. Eight threads share the sum of a
 * coordinate, whose part of the Gram matrix they hold; the first 128 threads make the moves. */
__global__ void __launch_bounds__(DECIDE_THREADS) decide_kernel(decide_task t)
{
    __shared__ __align__(16) double delta[SHARE * TERMS_APART]; /* of p at delta_at(p) */
    __shared__ double others[GPU_BLOCK], parts[SHARE][GPU_BLOCK], room[33];
    const int q = threadIdx.x / SHARE, share = threadIdx.x % SHARE, me = threadIdx.x;
    double gram[TERMS];
    for (int k = 0; k < TERMS; k++) {
        const int p = share * TERMS + k;
        gram[k] = p < q ? t.gram[q * GPU_BLOCK + p] : 0;
    }
    coordinate c = {};
    double slope = 0, mine = 0, sum = 0;
    if (me < GPU_BLOCK) {
        c = prepare(t, me);
        delta[delta_at(me)] = others[me] = 0;
    }
    wait_for_last(); /* all the above holds during a sweep; the slopes are new */
#pragma unroll 8
    for (int64_t s = me / GPU_BLOCK; s < t.strips; s += SHARE)
        sum += t.slopes[s * GPU_BLOCK + me % GPU_BLOCK];
    parts[me / GPU_BLOCK][me % GPU_BLOCK] = sum;
    __syncthreads();
    if (me < GPU_BLOCK)
        for (int k = 0; k < SHARE; k++)
            slope += parts[k][me];
    for (int round = 0; round <= GPU_BLOCK + 1; round++) {
        int changed = 0;
        if (me < GPU_BLOCK) {
            const double now = update_one(c, slope - others[me]);
            changed = fabs(now - mine) > SETTLED * fabs(now);
            delta[delta_at(me)] = mine = now;
        }
        if (!__syncthreads_or(changed))
            break;
        const double2 *theirs = (const double2 *)(delta + share * TERMS_APART);
        double sums[4] = {0, 0, 0, 0};
        for (int k = 0; k < TERMS; k += 2) {
            const double2 two = theirs[k / 2];
            sums[k % 4] += gram[k] * two.x;
            sums[k % 4 + 1] += gram[k + 1] * two.y;
        }
        double before = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (int step = SHARE / 2; step > 0; step /= 2)
            before += __shfl_xor_sync(0xffffffffu, before, step);
        if (share == 0)
            others[q] = before;
        __syncthreads();
    }
    const double move = block_max(fabs(mine), room);
    if (me == 0)
        *t.largest_move = fmax(*t.largest_move, move);
    if (me < t.count)
        write_one(t, me, c, mine);
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* About one strip for each processor, and one processor for the decisions. */
static int strip_rows(const device *d)
{
    const int64_t rows = ceil_div(ceil_div(d->shape.n, d->processors - 6), 16) * 16;
    return (int)(rows < STRIP_LEAST ? STRIP_LEAST : rows > STRIP_MOST ? STRIP_MOST : rows);
}

static roofs_status run_strips(device *d, const strip_task &task, roofs_error *err)
{
    const unsigned blocks = (unsigned)ceil_div(d->shape.n, task.rows);
    const size_t shared = (size_t)(2 * GPU_BLOCK * task.rows * d->size);
    void (*kernel)(strip_task) = d->size == sizeof(float) ? strip_kernel<float> : strip_kernel<double>;
    /* The most for all fits: others may run beside this one, with other strips. */
    CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  2 * GPU_BLOCK * STRIP_MOST * (int)sizeof(double)));
    CUDA_TRY(launch_next(kernel, blocks, STRIP_THREADS, shared, d->stream, task));
    return ROOFS_OK;
}

/* Over `count` columns of `list`; which: their places, NULL where they are all. */
static roofs_status sweep(device *d, bayes_gpu *s, const gpu_column *list, int64_t count,
                          const int32_t *which, roofs_error *err)
{
    const int64_t n = d->shape.n;
    s->gram.splits = gram_splits(d, ceil_div(count, GPU_BLOCK));
    TRY(gpu_gram_blocks(d, list, count, s->samples.W, &s->gram, err));
    const int rows = strip_rows(d);
    strip_task strips = {nullptr,  nullptr,      0,            0,           s->delta, s->spread,
                         s->samples.W, s->samples.r, s->samples.V, n, rows, s->slopes};
    decide_task decide = {s->columns[s->side], which, 0, 0, s->slopes, ceil_div(n, rows), nullptr,
                          s->samples.numbers,  s->prior, s->delta, s->spread, s->largest_move};
    for (int64_t first = 0; first < count; first += GPU_BLOCK) {
        const int width = (int)(count - first < GPU_BLOCK ? count - first : GPU_BLOCK);
        strips.last = strips.next;
        strips.last_count = strips.next_count;
        strips.next = list + first;
        strips.next_count = width;
        TRY(run_strips(d, strips, err));
        decide.first = first;
        decide.count = width;
        decide.gram = s->gram.gram + first / GPU_BLOCK * GPU_BLOCK * GPU_BLOCK;
        CUDA_TRY(launch_next(decide_kernel, 1, DECIDE_THREADS, 0, d->stream, decide));
    }
    strips.last = strips.next;
    strips.last_count = strips.next_count;
    strips.next_count = 0;
    return run_strips(d, strips, err);
}

/* ---- who stays --------------------------------------------------------------------------------- */

struct part_task {
    bayes_columns from, to;
    const int32_t *stay, *leave;
    int64_t staying, leaving;
    gpu_column *gone;
    double *gone_coef, *gone_variance;
};

__global__ void part_columns_kernel(part_task t)
{
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
    const int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k < count)
        out[k] = list[which[k]];
}

static roofs_status part(device *d, bayes_gpu *s, int64_t most, roofs_error *err)
{
    TRY(gpu_order_sort(&s->order, s->columns[s->side].coef, nullptr, s->count, 1, d->stream, err));
    return gpu_order_part(&s->order, s->count, most, s->stay, s->leave, d->stream, err);
}

roofs_status bayes_keep(device *d, bayes_job *job, int64_t most, roofs_error *err)
{
    bayes_gpu *s = d->bayes;
    (void)job;
    if (s->count <= most)
        return ROOFS_OK;
    const int64_t leaving = s->count - most;
    TRY(part(d, s, most, err));
    const part_task task = {s->columns[s->side], s->columns[1 - s->side], s->stay, s->leave, most,
                            leaving, s->some, s->some_coef, s->some_variance};
    part_columns_kernel<<<(unsigned)ceil_div(s->count, THREADS), THREADS, 0, d->stream>>>(task);
    LAUNCHED();
    s->side = 1 - s->side;
    s->count = most;
    TRY(gpu_add(d, s->some, leaving, s->some_coef, 0, s->samples.r, err));
    TRY(gpu_add(d, s->some, leaving, s->some_variance, 1, s->samples.V, err));
    return mixture_gpu_variances(&s->samples, d->stream, err);
}

/* ---- rounds -------------------------------------------------------------------------------------- */

static roofs_status sweep_some(device *d, bayes_gpu *s, int64_t spared, roofs_error *err)
{
    const int64_t count = s->count - spared;
    TRY(part(d, s, spared, err));
    pick_kernel<<<(unsigned)ceil_div(count, THREADS), THREADS, 0, d->stream>>>(
        s->columns[s->side].list, s->leave, count, s->some);
    LAUNCHED();
    return sweep(d, s, s->some, count, s->leave, err);
}

static roofs_status sweep_all(device *d, bayes_gpu *s, roofs_error *err)
{
    CUDA_TRY(cudaMemsetAsync(s->samples.V, 0, (size_t)d->shape.n * sizeof(double), d->stream));
    return sweep(d, s, s->columns[s->side].list, s->count, nullptr, err);
}

static roofs_status fetch(device *d, void *to, const void *from, size_t bytes, roofs_error *err)
{
    CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, d->stream));
    return ROOFS_OK;
}

static roofs_status fetch_report(device *d, bayes_gpu *s, roofs_error *err)
{
    TRY(fetch(d, &s->report->samples, s->samples.numbers, sizeof s->report->samples, err));
    TRY(fetch(d, &s->report->prior, s->prior.numbers, sizeof s->report->prior, err));
    return fetch(d, &s->report->largest_move, s->largest_move, sizeof(double), err);
}

/* With none spared the variances are made anew, as a sweep over all columns does. */
roofs_status bayes_round(device *d, bayes_job *job, int64_t spared, roofs_error *err)
{
    bayes_gpu *s = d->bayes;
    TRY(slab_gpu_learn(&s->prior, job->samples->total, job->mu, job->seen, d->stream, err));
    TRY(slab_gpu_make_room(&s->prior, s->last_feature, d->stream, err));
    CUDA_TRY(cudaMemsetAsync(s->largest_move, 0, sizeof(double), d->stream));
    TRY(spared > 0 ? sweep_some(d, s, spared, err) : sweep_all(d, s, err));
    TRY(mixture_gpu_judge(&s->samples, job->at_end, d->stream, err));
    TRY(fetch_report(d, s, err));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    job->trusted = (int64_t)s->report->samples.trusted;
    job->largest_move = s->report->largest_move;
    job->slab_variance = s->report->prior.variance;
    return ROOFS_OK;
}

__global__ void count_kernel(int32_t *origin, int64_t count)
{
    const int64_t j = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (j < count)
        origin[j] = (int32_t)j;
}

roofs_status bayes_begin(columns *c, const bayes_job *job, roofs_error *err)
{
    device *d = c->dev;
    const int64_t count = c->count;
    int64_t last = 0;
    TRY(need_state(d, job, err));
    bayes_gpu *s = d->bayes;
    s->side = 0;
    s->total = s->count = count;
    double *host[4] = {s->host, s->host + count, s->host + 2 * count, s->host + 3 * count};
    for (int64_t j = 0; j < count; j++) {
        const column *item = &c->items[j];
        host[0][j] = item->coef;
        host[1][j] = item->variance;
        host[2][j] = item->probability;
        host[3][j] = 3 * item->flatness < 1 ? 3 * item->flatness : 1; /* slab_scale */
        s->host_feature[j] = item->feature;
        last = item->feature > last ? item->feature : last;
    }
    bayes_columns *to = &s->columns[0];
    double *there[4] = {to->coef, to->variance, to->probability, to->k};
    for (int k = 0; k < 4; k++)
        CUDA_TRY(cudaMemcpyAsync(there[k], host[k], (size_t)count * sizeof(double),
                                 cudaMemcpyHostToDevice, d->stream));
    CUDA_TRY(cudaMemcpyAsync(to->feature, s->host_feature, (size_t)count * sizeof(int64_t),
                             cudaMemcpyHostToDevice, d->stream));
    TRY(gpu_send_list(d, c->places, count, to->list, err));
    count_kernel<<<(unsigned)ceil_div(count, THREADS), THREADS, 0, d->stream>>>(to->origin, count);
    LAUNCHED();
    s->last_feature = last;
    return ROOFS_OK;
}

static void take_columns(columns *c, const bayes_gpu *s, unsigned char *keep)
{
    const int64_t count = s->count;
    memset(keep, 0, (size_t)s->total);
    for (int64_t k = 0; k < count; k++) {
        column *item = &c->items[s->host_origin[k]];
        keep[s->host_origin[k]] = 1;
        item->coef = s->host[k];
        item->variance = s->host[count + k];
        item->probability = s->host[2 * count + k];
    }
}

roofs_status bayes_end(columns *c, bayes_job *job, unsigned char *keep, roofs_error *err)
{
    device *d = c->dev;
    bayes_gpu *s = d->bayes;
    const size_t bytes = (size_t)d->shape.n * sizeof(double), each = (size_t)s->count * sizeof(double);
    const bayes_columns *from = &s->columns[s->side];
    const double *there[3] = {from->coef, from->variance, from->probability};
    const double *samples[4] = {s->samples.r, s->samples.w, s->samples.W, s->samples.V};
    double *here[4] = {job->samples->r, job->samples->w, job->samples->W, job->samples->V};
    for (int k = 0; k < 3; k++)
        TRY(fetch(d, s->host + k * s->count, there[k], each, err));
    for (int k = 0; k < 4; k++)
        TRY(fetch(d, d->stage + k * d->lead, samples[k], bytes, err));
    TRY(fetch(d, s->host_origin, from->origin, (size_t)s->count * sizeof(int32_t), err));
    TRY(fetch_report(d, s, err));
    CUDA_TRY(cudaMemcpyAsync(job->prior->R, s->prior.R, 3 * SLAB_MOST * sizeof(double),
                             cudaMemcpyDeviceToHost, d->stream));
    CUDA_TRY(cudaStreamSynchronize(d->stream));
    for (int k = 0; k < 4; k++)
        memcpy(here[k], d->stage + k * d->lead, bytes);
    mixture_set_numbers(job->samples, &s->report->samples);
    const slab_numbers *prior = &s->report->prior;
    job->prior->pi = prior->pi;
    job->prior->mean = prior->mean;
    job->prior->variance = prior->variance;
    job->prior->started = prior->started;
    job->prior->used = (int64_t)prior->used;
    job->prior->every = s->prior.every;
    take_columns(c, s, keep);
    return ROOFS_OK;
}
