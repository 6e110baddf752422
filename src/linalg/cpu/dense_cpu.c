/* Products and sums of dense columns. No result depends on the number of threads: one thread
 * computes each sum, in a fixed order. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

#include <string.h>

/* ---- gradient steps ---------------------------------------------------- */

/* Memory bandwidth limits a gradient step, so it reads every column once: the slope needs only the
 * old residual, and the column is still in cache when its summand of the image is added. Columns
 * are split into partitions, by their number alone. Each partition has its own partial image. */

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
            gradient[cpu_list_position(p, j + k)] = slope;
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

/* ---- sums, products and Gram matrices ---------------------------------- */

/* Threads divide the samples. */
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
                scaled[k] = weight[cpu_list_position(p, j + k)] * columns[j + k].factor;
                level -= scaled[k] * columns[j + k].center;
            }
            d->k->accumulate(b.x, scaled, rows, out + begin);
        }
        for (int64_t i = begin; i < begin + rows; i++)
            out[i] += level;
    }
}

/* Threads divide the columns. */
void cpu_dense_products(device *d, const cpu_subset *p, const double *r, double r_sum, double *out)
{
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, p->count))
    for (int64_t first = 0; first < p->count; first += DEVICE_BLOCK) {
        sweep_block b = cpu_block_at(d, p->columns, p->count, first);
        double dot[DEVICE_BLOCK];
        d->k->dots(b.x, r, d->shape.n, dot);
        for (int64_t q = 0; q < b.count; q++)
            out[cpu_list_position(p, first + q)] = b.factor[q] * (dot[q] - b.center[q] * r_sum);
    }
}

/* The Gram entries of one block with all columns up to it, and their mirror images. */
static void gram_rows(const device *d, const cpu_subset *p, int64_t first, int64_t count,
                      const double *weight, double *gram)
{
    sweep_block left = cpu_block_at(d, p->columns, p->count, first);
    for (int64_t other = 0; other <= first; other += DEVICE_BLOCK) {
        sweep_block right = cpu_block_at(d, p->columns, p->count, other);
        double sums[DEVICE_BLOCK][DEVICE_BLOCK];
        d->k->cross(&left, &right, d->shape.n, weight, sums);
        for (int64_t q = 0; q < left.count; q++)
            for (int64_t l = 0; l < right.count && other + l <= first + q; l++) {
                int64_t row = cpu_list_position(p, first + q), at = cpu_list_position(p, other + l);
                gram[row * count + at] = sums[q][l];
                gram[at * count + row] = sums[q][l];
            }
    }
}

/* Threads divide the blocks, longest rows first, so that all threads end at about the same time. */
void cpu_dense_gram(device *d, const cpu_subset *p, int64_t count, const double *weight,
                    double *gram)
{
    const int64_t blocks = (p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, p->count *blocks))
    for (int64_t k = 0; k < blocks; k++)
        gram_rows(d, p, (blocks - 1 - k) * DEVICE_BLOCK, count, weight, gram);
}
