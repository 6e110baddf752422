#include "method/cuda/slab.cuh"

enum { BLOCKS = 8, THREADS = 512, SLAB_SUMS = 5 };

/* Keeps every second place. */
__global__ void thin_kernel(const double *from, double *to)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < SLAB_CAPACITY)
        for (int a = 0; a < 3; a++)
            to[a * SLAB_CAPACITY + at] = slab_thinned(from + a * SLAB_CAPACITY, at);
}

__global__ void set_used_kernel(slab_numbers *numbers)
{
    numbers->used = SLAB_CAPACITY / 2;
}

int64_t slab_gpu_exchange(void)
{
    return team_exchange(SLAB_SUMS);
}

roofs_status slab_gpu_reserve(slab_gpu *s, int64_t last, cudaStream_t stream, roofs_error *err)
{
    while (last / s->every >= SLAB_CAPACITY) {
        thin_kernel<<<SLAB_CAPACITY / 256, 256, 0, stream>>>(s->R, s->spare);
        LAUNCHED();
        CUDA_TRY(cudaMemcpyAsync(s->R, s->spare, 3 * SLAB_CAPACITY * sizeof(double),
                                 cudaMemcpyDeviceToDevice, stream));
        set_used_kernel<<<1, 1, 0, stream>>>(s->numbers);
        LAUNCHED();
        s->every *= 2;
    }
    return ROOFS_OK;
}

__device__ static slab_sums slab_gpu_add_up(const slab_gpu &s, const slab_numbers &now,
                                            team_scratch<SLAB_SUMS> &scratch, int &turn)
{
    double g[5] = {0, 0, 0, 0, 0};
    for (int64_t i = blockIdx.x * THREADS + threadIdx.x; i < (int64_t)now.used;
         i += (int64_t)gridDim.x * THREADS) {
        const slab_terms own = slab_terms_of(now, s.R[i], s.S[i], s.k[i]);
        g[0] += own.count;
        g[1] += own.p0;
        g[2] += own.p1;
        g[3] += own.pp;
        g[4] += own.p2;
    }
    team_sum(g, scratch, turn);
    return {g[0], g[1], g[2], g[3], g[4]};
}

__global__ void __launch_bounds__(THREADS)
    learn_kernel(slab_gpu s, double total, double mu, double seen)
{
    __shared__ team_scratch<SLAB_SUMS> scratch;
    int turn = 0;
    scratch.exchange = s.exchange;
    wait_for_last();
    slab_numbers now = *s.numbers;
    const slab_parameters initial = slab_initial(total, mu, seen);
    if (!now.started)
        (slab_parameters &)now = initial;
    now.started = 1;
    for (int step = 0; step < SLAB_STEPS; step++)
        (slab_parameters &)now = slab_step(slab_gpu_add_up(s, now, scratch, turn), initial);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *s.numbers = now;
    cluster_barrier(); /* other blocks may still read this block's sums */
}

roofs_status slab_gpu_learn(const slab_gpu *s, double total, int64_t mu, int64_t seen,
                            cudaStream_t stream, roofs_error *err)
{
    CUDA_TRY(launch_team(s->exchange, learn_kernel, BLOCKS, THREADS, 0, stream, *s, total,
                         (double)mu, (double)seen));
    return ROOFS_OK;
}
