#include "linalg/rows.h"

#include "base/threads.h"
#include "linalg/lanes.h"

LANES_INLINE lanes_f32 load_f32(const float *x)
{
    lanes_f32 v;
    memcpy(&v, x, sizeof v);
    return v;
}

EVERY_WIDTH static void four_products(const float *row, const float *others, int64_t length,
                                      double out[4])
{
    lanes_f32 sum[4] = {{0}};
    for (int64_t k = 0; k < length; k += LANES) {
        const lanes_f32 v = load_f32(row + k);
        for (int q = 0; q < 4; q++)
            sum[q] += v * load_f32(others + q * length + k);
    }
    for (int q = 0; q < 4; q++) {
        const lanes_f32 s = sum[q];
        out[q] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    }
}

static void row_products(const float *row, const float *other, int64_t others, int64_t length,
                         double *out)
{
    for (int64_t k = 0; k < others; k += 4) {
        double four[4];
        four_products(row, other + k * length, length, four);
        for (int64_t q = 0; q < 4 && k + q < others; q++)
            out[k + q] = four[q];
    }
}

static int team_of(int64_t count, int64_t others, int64_t length, int64_t threads)
{
    const double work = (double)count * (double)others * (double)length;
    const int64_t most = threads_count(threads);
    return count > 1 && work > 1e6 ? (int)(most < count ? most : count) : 1;
}

void rows_products(const float *rows, int64_t count, const float *other, int64_t others,
                   int64_t length, int64_t threads, double *out)
{
#pragma omp parallel for schedule(static) num_threads(team_of(count, others, length, threads))
    for (int64_t k = 0; k < count; k++)
        row_products(rows + k * length, other, others, length, out + k * others);
}
