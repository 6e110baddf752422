#include "robust/cuda/mixture.cuh"

enum { CLUSTER = 8, THREADS = 512, JUDGE_ROUNDS = 20, SUMS_MOST = 4 };
enum { SHARED_MOST = 200 << 10 };

static __device__ const double PC_LOW = 0.5, PC_HIGH = 1 - 1e-6;
static __device__ const double PC_SETTLED = 1e-4, S2_SETTLED = 1e-3;
static __device__ const double SLOPE_VARIANCE = 16, BACKGROUND_AT_LEAST = 2, RANGE_AT_LEAST = 6;
static __device__ const double TWO_PI = 6.283185307179586;

mixture_numbers mixture_numbers_of(const mixture *m)
{
    return {m->intercept, m->pc, m->s2, m->tau2, m->kap, m->total, m->bc, m->g, m->S2, m->q, 0, 0};
}

void mixture_set_numbers(mixture *m, const mixture_numbers *from)
{
    m->intercept = from->intercept;
    m->pc = from->pc;
    m->s2 = from->s2;
    m->tau2 = from->tau2;
    m->kap = from->kap;
    m->bc = from->bc;
    m->g = from->g;
    m->S2 = from->S2;
    m->q = from->q;
}

/* One cluster of blocks works on the samples; every block has a stretch of them, every thread its
 * own of these, and all know all numbers. What is only needed in between lies in shared memory,
 * where it fits. */
struct judge_state {
    mixture_gpu m;
    mixture_numbers now;
    int64_t base, end;         /* the samples of this block */
    double *z, *f, *clean, *h; /* that of sample i at i - base */
    cluster_room<SUMS_MOST> &room;
    int turn;
};

#define EACH_SAMPLE(i, s) for (int64_t i = (s).base + threadIdx.x; i < (s).end; i += THREADS)

__device__ static double held_exp(double x)
{
    return exp(fmin(fmax(x, -700.0), 700.0));
}

__device__ static void no_less_than_zero(judge_state &s)
{
    EACH_SAMPLE(i, s)
    s.m.V[i] = s.m.V[i] > 0 ? s.m.V[i] : 0;
}

__device__ static void variances(judge_state &s)
{
    double sums[3] = {0, 0, 0};
    EACH_SAMPLE(i, s)
    {
        const double w = s.m.w[i], r = s.m.r[i];
        sums[0] += w;
        sums[1] += w * r * r;
        sums[2] += w * s.m.V[i];
    }
    cluster_sum(sums, s.room, s.turn);
    const double r2 = sums[1] / sums[0], vb = sums[2] / sums[0];
    s.now.s2 = fmax(0.5 * (r2 + sqrt(r2 * r2 + 4 * r2 * vb)), 1e-10 * s.now.total);
    s.now.tau2 = s.now.s2 + vb;
    s.now.kap = s.now.tau2 / s.now.s2;
}

__device__ static void recentre(judge_state &s)
{
    double sums[2] = {0, 0};
    EACH_SAMPLE(i, s)
    {
        sums[0] += s.m.W[i] * s.m.r[i];
        sums[1] += s.m.W[i];
    }
    cluster_sum(sums, s.room, s.turn);
    const double shift = sums[0] / sums[1];
    s.now.intercept += shift;
    EACH_SAMPLE(i, s)
    s.m.r[i] -= shift;
}

__device__ static double range_of(judge_state &s)
{
    double high = -INFINITY, low = -INFINITY; /* low: the largest of -r */
    EACH_SAMPLE(i, s)
    {
        high = fmax(high, s.m.r[i]);
        low = fmax(low, -s.m.r[i]);
    }
    high = cluster_max(high, s.room, s.turn);
    low = cluster_max(low, s.room, s.turn);
    const double spread = s.m.has_intercept ? high + low : 2 * fmax(low, high);
    return fmax(spread, RANGE_AT_LEAST * sqrt(s.now.tau2));
}

__device__ static void leave_one_out(judge_state &s)
{
    const double root = sqrt(TWO_PI);
    EACH_SAMPLE(i, s)
    {
        const double V = s.m.V[i], variance = s.now.s2 + V;
        const double z = s.m.r[i] * (1 + s.m.W[i] * V / s.now.s2);
        s.z[i - s.base] = z;
        s.f[i - s.base] = s.m.y[i] - s.now.intercept - z;
        s.clean[i - s.base] = held_exp(-0.5 * (z * z) / variance) / (root * sqrt(variance));
    }
}

/* sums: of w, h, h z, h f */
__device__ static void weigh(judge_state &s, double range, double (&sums)[4])
{
    const mixture_numbers &m = s.now;
    const double floor = (1 - m.q) / range, pc = m.pc;
    const double height = m.q / sqrt(TWO_PI * m.S2), narrow = -0.5 / m.S2;
    for (double &sum : sums)
        sum = 0;
    EACH_SAMPLE(i, s)
    {
        const double z = s.z[i - s.base], f = s.f[i - s.base], off = z - m.bc - m.g * f;
        const double normal = height * held_exp(narrow * (off * off));
        const double clean = pc * s.clean[i - s.base];
        const double share = 1 / (clean + (1 - pc) * (floor + normal));
        const double w = clean * share, h = (1 - pc) * normal * share;
        s.m.w[i] = w;
        s.h[i - s.base] = h;
        sums[0] += w;
        sums[1] += h;
        sums[2] += h * z;
        sums[3] += h * f;
    }
    cluster_sum(sums, s.room, s.turn);
}

__device__ static double share_of(const judge_state &s, double estimate)
{
    const double share = s.m.ratio > 0 ? s.m.ratio : estimate;
    const double low = s.m.ratio > 0 ? 1e-6 : PC_LOW;
    return share < low ? low : share > PC_HIGH ? PC_HIGH : share;
}

/* Returns the mean square of the normal part around the fit. */
__device__ static double learn_background(judge_state &s, const double (&sums)[4])
{
    mixture_numbers &m = s.now;
    const double least = BACKGROUND_AT_LEAST * m.tau2, q0 = sums[1];
    m.q = (q0 + 0.5) / ((double)s.m.n - sums[0] + 1);
    if (!(q0 > 1e-6)) {
        m.bc = m.g = 0;
        return m.S2 = 2 * least;
    }
    const double mz = sums[2] / q0, mf = sums[3] / q0;
    double products[3] = {0, 0, 0};
    EACH_SAMPLE(i, s)
    {
        const double h = s.h[i - s.base], z = s.z[i - s.base] - mz, f = s.f[i - s.base] - mf;
        products[0] += h * z * z;
        products[1] += h * f * z;
        products[2] += h * f * f;
    }
    cluster_sum(products, s.room, s.turn);
    const double czz = products[0] / q0, cfz = products[1] / q0, cff = products[2] / q0;
    m.g = fmin(0.0, q0 * cfz / (q0 * cff + m.S2 / SLOPE_VARIANCE));
    m.bc = mz - m.g * mf;
    const double rest = czz - 2 * m.g * cfz + m.g * m.g * cff;
    const double explained = fmax(0.0, mz * mz + czz - rest);
    m.S2 = fmax(fmax((q0 * rest + least) / (q0 + 1), least - explained), m.tau2);
    return m.S2 + explained;
}

__device__ static void count_unexplained(judge_state &s, double square, int at_end)
{
    double each = fmax(0.0, 1 + s.now.g) * BACKGROUND_AT_LEAST * s.now.tau2 / square;
    each *= at_end ? s.now.S2 / square : 1;
    EACH_SAMPLE(i, s)
    s.m.W[i] = s.m.w[i] + each * s.h[i - s.base];
}

__device__ static void judge(judge_state &s, int at_end)
{
    double square = 0;
    variances(s);
    const double range = range_of(s);
    leave_one_out(s);
    for (int round = 0; round < JUDGE_ROUNDS; round++) {
        const double pc = s.now.pc, S2 = s.now.S2;
        double sums[4];
        weigh(s, range, sums);
        s.now.pc = share_of(s, (sums[0] + 1) / ((double)s.m.n + 1));
        square = learn_background(s, sums);
        if (fabs(s.now.pc - pc) < PC_SETTLED && fabs(s.now.S2 - S2) < S2_SETTLED * S2)
            break;
    }
    count_unexplained(s, square, at_end);
}

__device__ static void count_trusted(judge_state &s)
{
    double trusted[1] = {0}, cut = 0;
    EACH_SAMPLE(i, s)
    {
        const int is_trusted = s.m.w[i] > 0.5;
        trusted[0] += is_trusted;
        cut = is_trusted ? fmax(cut, fabs(s.m.r[i] + s.m.away[i])) : cut;
    }
    cluster_sum(trusted, s.room, s.turn);
    s.now.trusted = trusted[0];
    s.now.cut = cluster_max(cut, s.room, s.turn);
}

__global__ void __launch_bounds__(THREADS)
    judge_kernel(mixture_gpu m, int whole, int at_end, int fits)
{
    extern __shared__ double memory[];
    __shared__ cluster_room<SUMS_MOST> room;
    wait_for_last();
    const int64_t each = (m.n + CLUSTER - 1) / CLUSTER, base = blockIdx.x * each;
    const int64_t end = base + each < m.n ? base + each : m.n;
    judge_state s = {m,          *m.numbers,     base,       end,  m.z + base,
                     m.f + base, m.clean + base, m.h + base, room, 0};
    if (fits) {
        s.z = memory;
        s.f = memory + each;
        s.clean = memory + 2 * each;
        s.h = memory + 3 * each;
    }
    no_less_than_zero(s);
    if (whole && m.has_intercept)
        recentre(s);
    if (whole)
        judge(s, at_end);
    else
        variances(s);
    count_trusted(s);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *m.numbers = s.now;
    cooperative_groups::this_cluster().sync(); /* others may still read this block's sums */
}

roofs_status mixture_gpu_admit(roofs_error *err)
{
    CUDA_TRY(cudaFuncSetAttribute(judge_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  SHARED_MOST));
    return ROOFS_OK;
}

static roofs_status run(const mixture_gpu *m, int whole, int at_end, cudaStream_t stream,
                        roofs_error *err)
{
    const int64_t shared = 4 * ceil_div(m->n, CLUSTER) * (int64_t)sizeof(double);
    const int fits = shared <= SHARED_MOST;
    CUDA_TRY(launch_cluster(judge_kernel, CLUSTER, CLUSTER, THREADS, fits ? (size_t)shared : 0,
                            stream, *m, whole, at_end, fits));
    return ROOFS_OK;
}

roofs_status mixture_gpu_judge(const mixture_gpu *m, int at_end, cudaStream_t stream,
                               roofs_error *err)
{
    return run(m, 1, at_end, stream, err);
}

roofs_status mixture_gpu_variances(const mixture_gpu *m, cudaStream_t stream, roofs_error *err)
{
    return run(m, 0, 0, stream, err);
}
