#include "robust/cuda/mixture.cuh"

enum { BLOCKS = 8, THREADS = 512, TEAM_SUMS = 4 };
enum { SHARED_MOST = 200 << 10, SHARED_OTHER = 4 << 10 };

mixture_numbers mixture_numbers_of(const mixture *m)
{
    return {m->now, m->intercept, m->total, 0, 0};
}

void mixture_set_numbers(mixture *m, const mixture_numbers *from)
{
    m->now = *from;
    m->intercept = from->intercept;
}

/* One team of blocks divides the samples into a range per block. Every thread computes all
 * parameters. Temporary values are in shared memory if they fit. */
struct judge_state {
    mixture_gpu m;
    mixture_numbers now;
    int64_t base, end;         /* the samples of this block */
    double *z, *f, *clean, *h; /* sample i is at i - base */
    team_scratch<TEAM_SUMS> &scratch;
    int side;
};

#define EACH_SAMPLE(i, s) for (int64_t i = (s).base + threadIdx.x; i < (s).end; i += THREADS)

__device__ static void clamp_variances(judge_state &s)
{
    EACH_SAMPLE(i, s)
    s.m.V[i] = s.m.V[i] > 0 ? s.m.V[i] : 0;
}

__device__ static void learn_variances(judge_state &s)
{
    double sums[3] = {0, 0, 0};
    EACH_SAMPLE(i, s)
    {
        const double w = s.m.w[i], r = s.m.r[i];
        sums[0] += w;
        sums[1] += w * r * r;
        sums[2] += w * s.m.V[i];
    }
    team_sum(sums, s.scratch, s.side);
    mixture_learn_variances(&s.now, sums[1], sums[2], sums[0], s.now.total);
}

__device__ static void recentre(judge_state &s)
{
    double sums[2] = {0, 0};
    EACH_SAMPLE(i, s)
    {
        sums[0] += s.m.W[i] * s.m.r[i];
        sums[1] += s.m.W[i];
    }
    team_sum(sums, s.scratch, s.side);
    const double shift = sums[0] / sums[1];
    s.now.intercept += shift;
    EACH_SAMPLE(i, s)
    s.m.r[i] -= shift;
}

__device__ static double range_of(judge_state &s)
{
    double high = -INFINITY, low = -INFINITY; /* low: the maximum of -r */
    EACH_SAMPLE(i, s)
    {
        high = fmax(high, s.m.r[i]);
        low = fmax(low, -s.m.r[i]);
    }
    high = team_max(high, s.scratch, s.side);
    low = team_max(low, s.scratch, s.side);
    return mixture_range(&s.now, mixture_spread(-low, high, s.m.has_intercept));
}

__device__ static void leave_one_out(judge_state &s)
{
    EACH_SAMPLE(i, s)
    {
        const mixture_left_out out =
            mixture_leave_one_out(&s.now, s.m.r[i], s.m.W[i], s.m.V[i], s.m.y[i] - s.now.intercept);
        s.z[i - s.base] = out.z;
        s.f[i - s.base] = out.f;
        s.clean[i - s.base] = out.clean;
    }
}

__device__ static background_sums weigh_samples(judge_state &s, double range)
{
    const mixture_scales scales = mixture_scales_of(&s.now, range);
    double sums[4] = {0, 0, 0, 0};
    EACH_SAMPLE(i, s)
    {
        const double z = s.z[i - s.base], f = s.f[i - s.base];
        const mixture_weights out = mixture_weigh(&scales, z, f, s.clean[i - s.base]);
        s.m.w[i] = out.w;
        s.h[i - s.base] = out.h;
        sums[0] += out.w;
        sums[1] += out.h;
        sums[2] += out.h * z;
        sums[3] += out.h * f;
    }
    team_sum(sums, s.scratch, s.side);
    return {sums[0], sums[1], sums[2], sums[3]};
}

__device__ static background_products multiply_background(judge_state &s, background_means mean)
{
    double sums[3] = {0, 0, 0};
    EACH_SAMPLE(i, s)
    {
        const double h = s.h[i - s.base];
        const double z = s.z[i - s.base] - mean.z, f = s.f[i - s.base] - mean.f;
        sums[0] += h * z * z;
        sums[1] += h * f * z;
        sums[2] += h * f * f;
    }
    team_sum(sums, s.scratch, s.side);
    return {sums[0], sums[1], sums[2]};
}

/* Returns M2. */
__device__ static double learn_background(judge_state &s, background_sums sums)
{
    if (!mixture_has_background(sums))
        return mixture_clear_background(&s.now);
    return mixture_learn_background(&s.now, sums, multiply_background(s, mixture_means(sums)));
}

__device__ static void judge(judge_state &s, int at_end)
{
    double M2 = 0;
    learn_variances(s);
    const double range = range_of(s);
    leave_one_out(s);
    for (int round = 0; round < JUDGE_ROUNDS; round++) {
        const mixture_parameters before = s.now;
        const background_sums sums = weigh_samples(s, range);
        mixture_learn_shares(&s.now, sums, (double)s.m.n, s.m.ratio);
        M2 = learn_background(s, sums);
        if (mixture_has_settled(&s.now, &before))
            break;
    }
    const double each = mixture_unexplained(&s.now, M2, at_end);
    EACH_SAMPLE(i, s)
    s.m.W[i] = s.m.w[i] + each * s.h[i - s.base];
}

__device__ static void count_trusted(judge_state &s)
{
    double trusted[1] = {0}, cut = 0;
    EACH_SAMPLE(i, s)
    {
        const int is_trusted = s.m.w[i] > TRUSTED;
        trusted[0] += is_trusted;
        cut = is_trusted ? fmax(cut, fabs(s.m.r[i] + s.m.offset[i])) : cut;
    }
    team_sum(trusted, s.scratch, s.side);
    s.now.trusted = trusted[0];
    s.now.cut = team_max(cut, s.scratch, s.side);
}

__global__ void __launch_bounds__(THREADS)
    judge_kernel(mixture_gpu m, int whole, int at_end, int fits)
{
    extern __shared__ double memory[];
    __shared__ team_scratch<TEAM_SUMS> scratch;
    scratch.exchange = m.exchange;
    wait_for_last();
    const int64_t each = (m.n + BLOCKS - 1) / BLOCKS, base = blockIdx.x * each;
    const int64_t end = base + each < m.n ? base + each : m.n;
    judge_state s = {m,          *m.numbers,     base,       end,     m.z + base,
                     m.f + base, m.clean + base, m.h + base, scratch, 0};
    if (fits) {
        s.z = memory;
        s.f = memory + each;
        s.clean = memory + 2 * each;
        s.h = memory + 3 * each;
    }
    clamp_variances(s);
    if (whole && m.has_intercept)
        recentre(s);
    if (whole)
        judge(s, at_end);
    else
        learn_variances(s);
    count_trusted(s);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *m.numbers = s.now;
    cluster_barrier(); /* other blocks may still read these sums */
}

int64_t mixture_gpu_exchange(void)
{
    return team_exchange(TEAM_SUMS);
}

roofs_status mixture_gpu_configure(mixture_gpu *m, int64_t shared_most, roofs_error *err)
{
    const int64_t free = shared_most - SHARED_OTHER;
    m->shared_most = free < SHARED_MOST ? free : SHARED_MOST;
    CUDA_TRY(cudaFuncSetAttribute(judge_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  (int)m->shared_most));
    return ROOFS_OK;
}

static roofs_status launch_judge(const mixture_gpu *m, int whole, int at_end, cudaStream_t stream,
                                 roofs_error *err)
{
    const int64_t shared = 4 * ceil_div(m->n, BLOCKS) * (int64_t)sizeof(double);
    const int fits = shared <= m->shared_most;
    CUDA_TRY(launch_team(m->exchange, judge_kernel, BLOCKS, THREADS, fits ? (size_t)shared : 0,
                         stream, *m, whole, at_end, fits));
    return ROOFS_OK;
}

roofs_status mixture_gpu_judge(const mixture_gpu *m, int at_end, cudaStream_t stream,
                               roofs_error *err)
{
    return launch_judge(m, 1, at_end, stream, err);
}

roofs_status mixture_gpu_variances(const mixture_gpu *m, cudaStream_t stream, roofs_error *err)
{
    return launch_judge(m, 0, 0, stream, err);
}
