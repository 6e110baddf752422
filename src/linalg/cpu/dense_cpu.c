/* Gradient steps and weighted sums of dense columns. Memory bandwidth limits both, so a gradient
 * step reads every column once: the column's slope needs only the old residual, and its summand of
 * the image is added while the column is still in cache.
 *
 * Threads: the columns are split into partitions. Each partition has its own partial image, and the
 * partial images are added in order. The split depends on the number of columns alone, so the bits
 * do not depend on the number of threads. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

#include <string.h>

/* Slopes and partial image of columns begin..end - 1. Returns the summand of the image that is the
 * same for all samples: -sum_j weight_j center_j. */
static double descend_partition(const device *d, const cpu_subset *p, int64_t begin, int64_t end,
                                const double *r, double r_sum, double *gradient, double *image)
{
    const device_column *columns = p->columns;
    double level = 0;
    memset(image, 0, (size_t)d->shape.n * sizeof *image);
    for (int64_t j = begin; j < end; j += DEVICE_BLOCK) {
        const sweep_block b = cpu_block_at(d, columns, end, j);
        double dot[DEVICE_BLOCK], weight[DEVICE_BLOCK] = {0};
        d->k->dots(b.x, r, d->shape.n, dot);
        for (int64_t k = 0; k < b.count; k++) {
            const device_column *c = &columns[j + k];
            double slope = c->factor * (dot[k] - c->center * r_sum) * c->unit;
            gradient[cpu_place_in_list(p, j + k)] = slope;
            weight[k] = slope * c->unit * c->factor;
            level -= weight[k] * c->center;
        }
        d->k->accumulate(b.x, weight, d->shape.n, image);
    }
    return level;
}

/* image[i] = level + images[0][i] + images[1][i] + ..., in this order. */
static void sum_images(const device *d, int64_t partitions, double level, double *image)
{
    const int64_t n = d->shape.n;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, partitions))
    for (int64_t begin = 0; begin < n; begin += ROWS_AT_A_TIME) {
        int64_t end = begin + ROWS_AT_A_TIME < n ? begin + ROWS_AT_A_TIME : n;
        for (int64_t i = begin; i < end; i++)
            image[i] = level;
        for (int64_t s = 0; s < partitions; s++)
            for (int64_t i = begin; i < end; i++)
                image[i] += d->images[s * n + i];
    }
}

void cpu_dense_descend(device *d, const cpu_subset *p, const double *r, double *gradient,
                       double *image)
{
    const int64_t n = d->shape.n, count = p->count;
    const int64_t blocks = (count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
    const int64_t partitions = blocks < PARTITIONS ? blocks : PARTITIONS;
    const double r_sum = vector_sum(r, n);
    double level[PARTITIONS] = {0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, count))
    for (int64_t s = 0; s < partitions; s++) {
        int64_t begin = blocks * s / partitions * DEVICE_BLOCK;
        int64_t end = blocks * (s + 1) / partitions * DEVICE_BLOCK;
        level[s] = descend_partition(d, p, begin, end < count ? end : count, r, r_sum, gradient,
                                     d->images + s * n);
    }
    double all_levels = 0;
    for (int64_t s = 0; s < partitions; s++)
        all_levels += level[s];
    sum_images(d, partitions, all_levels, image);
}

/* Each thread takes a range of samples and all columns, so every out[i] is summed in the same
 * order. */
void cpu_dense_add(device *d, const cpu_subset *p, const double *weight, double *out)
{
    const int64_t n = d->shape.n, count = p->count;
    const device_column *columns = p->columns;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, count))
    for (int64_t begin = 0; begin < n; begin += ROWS_AT_A_TIME) {
        int64_t rows = begin + ROWS_AT_A_TIME < n ? ROWS_AT_A_TIME : n - begin;
        double level = 0;
        for (int64_t j = 0; j < count; j += DEVICE_BLOCK) {
            sweep_block b = cpu_block_at(d, columns, count, j);
            double scaled[DEVICE_BLOCK] = {0};
            for (int64_t k = 0; k < DEVICE_BLOCK; k++)
                b.x[k] = (const char *)b.x[k] + begin * d->k->size;
            for (int64_t k = 0; k < b.count; k++) {
                scaled[k] = weight[cpu_place_in_list(p, j + k)] * columns[j + k].factor;
                level -= scaled[k] * columns[j + k].center;
            }
            d->k->accumulate(b.x, scaled, rows, out + begin);
        }
        for (int64_t i = begin; i < begin + rows; i++)
            out[i] += level;
    }
}
