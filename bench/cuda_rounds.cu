/* Compares the time of a round with the time to read the kept columns once:
 *     cuda_rounds FOLDER [BATCHES]   FOLDER holds libroofs_cuda.so
 * limit = bytes of the kept columns / bandwidth. The bandwidth is that of a copy on the GPU; it
 * counts bytes read and bytes written. Two rounds per batch, as in the fits of docs/gpu.md. */
extern "C" {
#include "method/roofs_engine.h"
}

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

enum { ROUNDS = 2 };

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, err.text);                                     \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static double copy_bandwidth()
{
    const size_t bytes = (size_t)4 << 30;
    char *a, *b;
    roofs_error err = {};
    MUST(cudaMalloc(&a, bytes));
    MUST(cudaMalloc(&b, bytes));
    std::vector<double> rates;
    for (int k = 0; k < 9; k++) {
        cudaDeviceSynchronize();
        double begin = now();
        cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice);
        cudaDeviceSynchronize();
        rates.push_back(2.0 * (double)bytes / (now() - begin));
    }
    cudaFree(a);
    cudaFree(b);
    std::sort(rates.begin(), rates.end());
    return rates[4];
}

static void fill(std::vector<double> &x)
{
    static uint64_t s = 88172645463325252ull;
    for (double &v : x) {
        v = -6;
        for (int k = 0; k < 3; k++) { /* roughly normal: a sum of twelve uniform numbers */
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            for (int q = 0; q < 4; q++)
                v += (double)((s >> (16 * q)) & 0xffff) / 65536;
        }
    }
}

static void measure(const device_ops *ops, double bandwidth, int64_t n, int64_t mu, int batches)
{
    roofs_error err = {};
    const int64_t batch = 100;
    device_shape shape = {};
    shape.n = n;
    shape.slots = mu;
    shape.batch = batch;
    const roofs_engine *engine = (const roofs_engine *)ops->engine("roofs");
    fit f = {};
    columns &c = f.cols;
    f.n = c.n = n;
    c.ops = ops;
    MUST(ops->create(&c.dev, &shape, &err));
    std::vector<double> x((size_t)(n * batch)), y((size_t)n), mask((size_t)n, 1.0);
    fill(y);
    roofs_block block = {};
    block.count = batch;
    block.n = n;
    block.values = x.data();
    block.feature_stride = n;
    block.sample_stride = 1;
    for (int64_t first = 0; first < mu; first += batch) {
        fill(x);
        MUST(ops->borrow(c.dev, &block, &err));
        for (int64_t k = 0; k < batch && first + k < mu; k++)
            MUST(ops->keep(c.dev, k, first + k, &err));
    }
    std::vector<column> items((size_t)mu);
    std::vector<device_column> places((size_t)mu);
    for (int64_t j = 0; j < mu; j++) {
        items[j] = {};
        places[j] = {j, 0, 1, 1};
    }
    c.items = items.data();
    c.places = places.data();
    c.count = mu;
    std::vector<double> r = y;
    std::vector<unsigned char> keep((size_t)mu);
    f.set.mu = mu;
    f.residual = r.data();
    f.trusted.mask = mask.data();
    f.trusted.count = n;
    roofs_job job = {};
    job.f = &f;
    job.host_changed = 1;
    job.selection.keep = keep.data();
    job.published_step = 0.1;
    job.tolerance = -1; /* no round settles */
    void *state = nullptr;
    MUST(engine->create(&state, &f, &err));
    std::vector<double> each;
    for (int k = 0; k < batches; k++) {
        MUST(engine->begin(state, &job, &err));
        job.host_changed = 0;
        const double begin = now();
        for (job.round_limit = ROUNDS; job.round_limit > 0; job.round_limit--)
            MUST(engine->round(state, &job, &err));
        if (k >= 10)
            each.push_back((now() - begin) / (double)ROUNDS);
        MUST(engine->end(state, &job, &err));
    }
    std::sort(each.begin(), each.end());
    double sum = 0;
    for (double t : each)
        sum += t;
    const double limit = (double)(mu * n) * 8 / bandwidth;
    std::printf(
        "{\"n\": %lld, \"mu\": %lld, \"round_us\": %.1f, \"mean_us\": %.1f, \"limit_us\": %.1f, "
        "\"times_limit\": %.2f, \"mean_times_limit\": %.2f}\n",
        (long long)n, (long long)mu, 1e6 * each[each.size() / 2], 1e6 * sum / (double)each.size(),
        1e6 * limit, each[each.size() / 2] / limit, sum / (double)each.size() / limit);
    engine->destroy(state);
    ops->destroy(c.dev);
}

int main(int argc, char **argv)
{
    roofs_error err = {};
    const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/libroofs_cuda.so";
    void *library = dlopen(path.c_str(), RTLD_NOW);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const device_plugin *plugin = (const device_plugin *)dlsym(library, "roofs_cuda_plugin");
    MUST(plugin->ready(&err));
    const double bandwidth = copy_bandwidth();
    std::printf("{\"copy_tb_per_s\": %.3f}\n", bandwidth / 1e12);
    const int batches = argc > 2 ? std::atoi(argv[2]) : 110;
    measure(plugin->ops, bandwidth, 10000, 1000, batches);
    measure(plugin->ops, bandwidth, 10000, 12000, batches);
    return 0;
}
