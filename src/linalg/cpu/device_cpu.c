/* Columns in main memory. A round is bound by memory, so every kept column is
 * read once: its gradient needs only the old residual, and while the column is
 * still in cache its part of the image is added up too.
 *
 * Threads: columns are split into a fixed number of sheaves, each with its own
 * partial image, and the partial images are added in order. The split depends on
 * the number of columns alone, so the bits do not depend on the threads. */
#include "linalg/cpu/device_cpu.h"
#include "base/memory.h"
#include "linalg/vector.h"

#include <omp.h>
#include <string.h>

enum { SHEAVES = 16, ROWS_AT_A_TIME = 2048 };

static const kernels *kernels_for(roofs_dtype dtype)
{
    return dtype == ROOFS_F32 ? &kernels_f32 : &kernels_f64;
}

static int64_t column_bytes(const device_shape *shape)
{
    return memory_bytes(shape->n, kernels_for(shape->dtype)->size);
}

static int64_t cpu_bytes(const device_shape *shape)
{
    int64_t columns = memory_bytes(shape->slots + shape->batch, column_bytes(shape));
    int64_t images = memory_bytes(SHEAVES * (int64_t)sizeof(double), shape->n);
    return memory_sum(columns, images);
}

static void cpu_destroy(device *d)
{
    if (!d)
        return;
    memory_free(d->slots);
    memory_free(d->scratch);
    memory_free(d->borrowed);
    memory_free(d->images);
    memory_free(d->partial);
    memory_free(d);
}

static roofs_status allocate(device *d, roofs_error *err)
{
    const device_shape *shape = &d->shape;
    TRY(memory_reserve(&d->slots, shape->slots, (size_t)column_bytes(shape), "the kept features",
                       err));
    TRY(memory_reserve(&d->borrowed, shape->batch, sizeof *d->borrowed, "a batch", err));
    TRY(memory_get(&d->images, SHEAVES * shape->n, sizeof *d->images, "partial sums", err));
    return memory_get(&d->partial, cpu_strips(shape->n), sizeof *d->partial, "partial sums", err);
}

static roofs_status cpu_create(device **out, const device_shape *shape, roofs_error *err)
{
    device *d = NULL;
    *out = NULL;
    TRY(memory_get(&d, 1, sizeof *d, "the device", err));
    d->shape = *shape;
    d->k = kernels_for(shape->dtype);
    d->threads = shape->threads > 0 ? (int)shape->threads : omp_get_max_threads();
    roofs_status status = allocate(d, err);
    if (status != ROOFS_OK) {
        cpu_destroy(d);
        return status;
    }
    *out = d;
    return ROOFS_OK;
}

static char *scratch_column(const device *d, int64_t k)
{
    return d->scratch + k * column_bytes(&d->shape);
}

static char *slot_column(const device *d, int64_t slot)
{
    return d->slots + slot * column_bytes(&d->shape);
}

static roofs_status need_scratch(device *d, roofs_error *err)
{
    if (d->scratch)
        return ROOFS_OK;
    return memory_reserve(&d->scratch, d->shape.batch, (size_t)column_bytes(&d->shape),
                          "a copy of a batch", err);
}

static roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    const int64_t size = kernels_for(block->dtype)->size;
    const int in_place = block->sample_stride == 1 && block->dtype == d->shape.dtype;
    if (!in_place)
        TRY(need_scratch(d, err));
    d->borrowed_count = block->count;
#pragma omp parallel for schedule(static) num_threads(in_place ? 1 : cpu_team(d, block->count))
    for (int64_t k = 0; k < block->count; k++) {
        const char *values = (const char *)block->values + k * block->feature_stride * size;
        d->borrowed[k] = in_place ? (const void *)values : scratch_column(d, k);
        if (!in_place)
            d->k->gather(scratch_column(d, k), values, block->dtype, block->sample_stride,
                         block->n);
    }
    return ROOFS_OK;
}

static void cpu_survey(device *d, const device_look *look, device_facts *facts)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, d->borrowed_count))
    for (int64_t k = 0; k < d->borrowed_count; k++)
        d->k->survey(d->borrowed[k], look, d->shape.n, &facts[k]);
}

static roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    TRY(need_scratch(d, err));
    d->k->rescale(scratch_column(d, k), d->borrowed[k], exponent, d->shape.n);
    d->borrowed[k] = scratch_column(d, k);
    return ROOFS_OK;
}

static void cpu_keep(device *d, int64_t k, int64_t slot)
{
    memcpy(slot_column(d, slot), d->borrowed[k], (size_t)column_bytes(&d->shape));
}

const void *cpu_values(const device *d, device_place place)
{
    return place >= 0 ? slot_column(d, place) : d->borrowed[-1 - place];
}

int cpu_team(const device *d, int64_t columns)
{
    return columns * d->shape.n < WORTH_THREADS ? 1 : d->threads;
}

/* The group that starts at column j. Past the last column its first one stands
 * in, with weight 0, so that the kernels have one width. */
static int64_t group_at(const device *d, const device_column *columns, int64_t j, int64_t end,
                        const void *x[GROUP])
{
    int64_t width = end - j < GROUP ? end - j : GROUP;
    for (int64_t k = 0; k < GROUP; k++)
        x[k] = cpu_values(d, columns[k < width ? j + k : j].place);
    return width;
}

/* Columns begin..end of one sheaf; returns the part of the image that is the
 * same for all samples, -sum_j weight_j center_j. */
static double descend_sheaf(const device *d, const device_column *columns, int64_t begin,
                            int64_t end, const double *r, double r_sum, double *gradient,
                            double *image)
{
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
            gradient[j + k] = slope;
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

static void cpu_descend(device *d, const device_column *columns, int64_t count, const double *r,
                        double *gradient, double *image)
{
    const int64_t n = d->shape.n;
    const int64_t groups = (count + GROUP - 1) / GROUP;
    const int64_t sheaves = groups < SHEAVES ? groups : SHEAVES;
    const double r_sum = vector_sum(r, n);
    double level[SHEAVES] = {0};
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, count))
    for (int64_t s = 0; s < sheaves; s++) {
        int64_t begin = groups * s / sheaves * GROUP;
        int64_t end = groups * (s + 1) / sheaves * GROUP;
        level[s] = descend_sheaf(d, columns, begin, end < count ? end : count, r, r_sum, gradient,
                                 d->images + s * n);
    }
    double all_levels = 0;
    for (int64_t s = 0; s < sheaves; s++)
        all_levels += level[s];
    join_images(d, sheaves, all_levels, image);
}

/* Each thread takes a range of samples and all columns: every out[i] adds them in
 * the same order. */
static void cpu_add(device *d, const device_column *columns, int64_t count, const double *weight,
                    double *out)
{
    const int64_t n = d->shape.n;
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
                scaled[k] = weight[j + k] * columns[j + k].factor;
                level -= scaled[k] * columns[j + k].center;
            }
            d->k->accumulate(x, scaled, rows, out + begin);
        }
        for (int64_t i = begin; i < begin + rows; i++)
            out[i] += level;
    }
}

const device_ops device_cpu = {
    .name = "cpu",
    .bytes = cpu_bytes,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .borrow = cpu_borrow,
    .survey = cpu_survey,
    .rescale = cpu_rescale,
    .keep = cpu_keep,
    .descend = cpu_descend,
    .products = cpu_products,
    .gram = cpu_gram,
    .sample = cpu_sample,
    .add = cpu_add,
    .add_squares = cpu_add_squares,
    .sweep = cpu_sweep,
};
