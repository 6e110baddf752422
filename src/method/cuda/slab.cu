#include "method/cuda/slab.cuh"

enum { CLUSTER = 8, THREADS = 512, STEPS = 3 };

static __device__ const double PI_STRENGTH = 100, VARIANCE_STRENGTH = 20;
static __device__ const double PI_LOW = 1e-4, PI_HIGH = 0.9, MEAN_DOUBT = 4;

/* Every second place stays. */
__global__ void thin_kernel(const double *from, double *to)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < SLAB_MOST)
        for (int a = 0; a < 3; a++)
            to[a * SLAB_MOST + at] = at < SLAB_MOST / 2 ? from[a * SLAB_MOST + 2 * at] : 0;
}

__global__ void set_used_kernel(slab_numbers *numbers)
{
    numbers->used = SLAB_MOST / 2;
}

roofs_status slab_gpu_make_room(slab_gpu *s, int64_t last, cudaStream_t stream, roofs_error *err)
{
    while (last / s->every >= SLAB_MOST) {
        thin_kernel<<<SLAB_MOST / 256, 256, 0, stream>>>(s->R, s->spare);
        LAUNCHED();
        CUDA_TRY(cudaMemcpyAsync(s->R, s->spare, 3 * SLAB_MOST * sizeof(double),
                                 cudaMemcpyDeviceToDevice, stream));
        set_used_kernel<<<1, 1, 0, stream>>>(s->numbers);
        LAUNCHED();
        s->every *= 2;
    }
    return ROOFS_OK;
}

/* count, p0, p1, pp, p2 */
__device__ static void add_up(const slab_gpu &s, const slab_numbers &now, double (&g)[5],
                              cluster_room<5> &room, int &turn)
{
    const double odds = now.pi / (1 - now.pi), m0 = now.mean, sb2 = now.variance;
    for (double &sum : g)
        sum = 0;
    for (int64_t i = blockIdx.x * THREADS + threadIdx.x; i < (int64_t)now.used;
         i += (int64_t)gridDim.x * THREADS) {
        const double R = s.R[i], S = s.S[i], k = s.k[i];
        if (!(S > 0))
            continue;
        const double root = sqrt(k), s1 = sb2 * k, t = R - m0 * root;
        const double inverse = 1 / S, both = 1 / (s1 + S), unit = 1 / root;
        const double evidence = 0.5 * (R * R * inverse - t * t * both);
        const double ratio = odds * sqrt(S * both) * exp(fmin(fmax(evidence, -700.0), 700.0));
        const double p = 1 - 1 / (1 + ratio);
        const double v = s1 * S * both, u = v * unit * (R * inverse + m0 / sb2 * unit);
        g[0] += 1;
        g[1] += p;
        g[2] += p * u;
        g[3] += p * p * (u * u);
        g[4] += p * (u * u + v * (unit * unit));
    }
    cluster_sum(g, room, turn);
}

__global__ void __launch_bounds__(THREADS)
    learn_kernel(slab_gpu s, double total, double mu, double seen)
{
    __shared__ cluster_room<5> room;
    int turn = 0;
    wait_for_last();
    slab_numbers now = *s.numbers;
    const double usual = total / mu, pi0 = fmin(mu / fmax(seen, mu), PI_HIGH);
    if (!now.started) {
        now.pi = pi0;
        now.variance = usual;
        now.mean = 0;
        now.started = 1;
    }
    for (int step = 0; step < STEPS; step++) {
        double g[5];
        add_up(s, now, g, room, turn);
        const double count = g[0], p0 = g[1], p1 = g[2], pp = g[3], p2 = g[4];
        now.pi = fmax(PI_LOW, fmin(PI_HIGH, (p0 + PI_STRENGTH * pi0) / (count + PI_STRENGTH)));
        now.mean = p1 * p1 > 0 ? p1 / (p0 + 1) * fmax(0.0, 1 - MEAN_DOUBT * pp / (p1 * p1)) : 0;
        const double held = VARIANCE_STRENGTH * pi0;
        now.variance =
            (p2 - 2 * now.mean * p1 + now.mean * now.mean * p0 + held * usual) / (p0 + held);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *s.numbers = now;
    cooperative_groups::this_cluster().sync(); /* others may still read this block's sums */
}

roofs_status slab_gpu_learn(const slab_gpu *s, double total, int64_t mu, int64_t seen,
                            cudaStream_t stream, roofs_error *err)
{
    CUDA_TRY(launch_cluster(learn_kernel, CLUSTER, CLUSTER, THREADS, 0, stream, *s, total,
                            (double)mu, (double)seen));
    return ROOFS_OK;
}
