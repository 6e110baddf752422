/* Rounds on dense columns. They are bound by memory, so every kept column is
 * read once: its gradient needs only the old residual, and while the column is
 * still in cache its part of the image is added up too.
 *
 * Threads: columns are split into a fixed number of sheaves, each with its own
 * partial image, and the partial images are added in order. The split depends on
 * the number of columns alone, so the bits do not depend on the threads. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

#include <string.h>

/* The group that starts at column j. Past the last column its first one stands
 * in, with weight 0, so that the kernels have one width. */
static int64_t group_at(const device *d, const device_column *columns, int64_t j, int64_t end,
                        const void *x[GROUP])
{
    int64_t width = end - j < GROUP ? end - j : GROUP;
    for (int64_t k = 0; k < GROUP; k++)
        x[k] = cpu_at(d, columns[k < width ? j + k : j].place)->values;
    return width;
}

/* Columns begin..end of one sheaf; returns the part of the image that is the
 * same for all samples, -sum_j weight_j center_j. */
static double descend_sheaf(const device *d, const cpu_part *p, int64_t begin, int64_t end,
                            const double *r, double r_sum, double *gradient, double *image)
{
    const device_column *columns = p->columns;
    double level = 0;
    memset(image, 0, (size_t)d->shape.n * sizeof *image);
    for (int64_t j = begin; j < end; j += GROUP) {
        const void *x[GROUP];
        double dot[GROUP], weight[GROUP] = {0};
        int64_t width = group_at(d, columns, j, end, x);
        d->k->dots(x, r, d->shape.n, dot);
        for (int64_t k = 0; k < width; k++) {
            const device_column *c = &columns[j + k];
            double slope = c->factor * (dot[k] - c->center * r_sum) * c->unit;
            gradient[cpu_place_in_list(p, j + k)] = slope;
            weight[k] = slope * c->unit * c->factor;
            level -= weight[k] * c->center;
        }
        d->k->accumulate(x, weight, d->shape.n, image);
    }
    return level;
}

/* image[i] = level + images[0][i] + images[1][i] + ..., always in this order. */
static void join_images(const device *d, int64_t sheaves, double level, double *image)
{
    const int64_t n = d->shape.n;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, sheaves))
    for (int64_t begin = 0; begin < n; begin += ROWS_AT_A_TIME) {
        int64_t end = begin + ROWS_AT_A_TIME < n ? begin + ROWS_AT_A_TIME : n;
        for (int64_t i = begin; i < end; i++)
            image[i] = level;
        for (int64_t s = 0; s < sheaves; s++)
            for (int64_t i = begin; i < end; i++)
                image[i] += d->images[s * n + i];
    }
}

void cpu_dense_descend(device *d, const cpu_part *p, const double *r, double *gradient,
                       double *image)
{
    const int64_t n = d->shape.n, count = p->count;
    const int64_t groups = (count + GROUP - 1) / GROUP;
    const int64_t sheaves = groups < SHEAVES ? groups : SHEAVES;
    const double r_sum = vector_sum(r, n);
    double level[SHEAVES] = {0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, count))
    for (int64_t s = 0; s < sheaves; s++) {
        int64_t begin = groups * s / sheaves * GROUP;
        int64_t end = groups * (s + 1) / sheaves * GROUP;
        level[s] = descend_sheaf(d, p, begin, end < count ? end : count, r, r_sum, gradient,
                                 d->images + s * n);
    }
    double all_levels = 0;
    for (int64_t s = 0; s < sheaves; s++)
        all_levels += level[s];
    join_images(d, sheaves, all_levels, image);
}

/* Each thread takes a range of samples and all columns: every out[i] adds them in
 * the same order. */
void cpu_dense_add(device *d, const cpu_part *p, const double *weight, double *out)
{
    const int64_t n = d->shape.n, count = p->count;
    const device_column *columns = p->columns;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, count))
    for (int64_t begin = 0; begin < n; begin += ROWS_AT_A_TIME) {
        int64_t rows = begin + ROWS_AT_A_TIME < n ? ROWS_AT_A_TIME : n - begin;
        double level = 0;
        for (int64_t j = 0; j < count; j += GROUP) {
            const void *x[GROUP];
            double scaled[GROUP] = {0};
            int64_t width = group_at(d, columns, j, count, x);
            for (int64_t k = 0; k < GROUP; k++)
                x[k] = (const char *)x[k] + begin * d->k->size;
            for (int64_t k = 0; k < width; k++) {
                scaled[k] = weight[cpu_place_in_list(p, j + k)] * columns[j + k].factor;
                level -= scaled[k] * columns[j + k].center;
            }
            d->k->accumulate(x, scaled, rows, out + begin);
        }
        for (int64_t i = begin; i < begin + rows; i++)
            out[i] += level;
    }
}
