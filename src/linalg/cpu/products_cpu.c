/* Products of columns with a vector and with each other, and single samples. Every
 * sum is made by one thread in one order; threads share out columns. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

void cpu_products(device *d, const device_column *columns, int64_t count, const double *r,
                  double *out)
{
    const double r_sum = vector_sum(r, d->shape.n);
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, count))
    for (int64_t first = 0; first < count; first += GROUP) {
        sweep_block b = cpu_block_at(d, columns, count, first);
        double dot[GROUP];
        d->k->dots(b.x, r, d->shape.n, dot);
        for (int64_t q = 0; q < b.count; q++)
            out[first + q] = b.factor[q] * (dot[q] - b.center[q] * r_sum);
    }
}

/* The rows of four columns against all columns up to them, and their mirror image. */
static void gram_rows(const device *d, const device_column *columns, int64_t count, int64_t first,
                      const double *weight, double *gram)
{
    sweep_block left = cpu_block_at(d, columns, count, first);
    for (int64_t other = 0; other <= first; other += DEVICE_BLOCK) {
        sweep_block right = cpu_block_at(d, columns, count, other);
        double sums[DEVICE_BLOCK][DEVICE_BLOCK];
        d->k->cross(&left, &right, d->shape.n, weight, sums);
        for (int64_t q = 0; q < left.count; q++)
            for (int64_t p = 0; p < right.count && other + p <= first + q; p++) {
                gram[(first + q) * count + other + p] = sums[q][p];
                gram[(other + p) * count + first + q] = sums[q][p];
            }
    }
}

/* Long rows first, so that the threads end together. */
void cpu_gram(device *d, const device_column *columns, int64_t count, const double *weight,
              double *gram)
{
    const int64_t blocks = (count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, count *blocks))
    for (int64_t k = 0; k < blocks; k++)
        gram_rows(d, columns, count, (blocks - 1 - k) * DEVICE_BLOCK, weight, gram);
}

void cpu_sample(device *d, const device_column *columns, int64_t count, int64_t sample, double *out)
{
    for (int64_t j = 0; j < count; j++) {
        const device_column *c = &columns[j];
        out[j] = (d->k->value(cpu_values(d, c->place), sample) - c->center) * c->factor;
    }
}
