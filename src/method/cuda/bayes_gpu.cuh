/* The state of method roofs-bayes on the GPU, shared by the files of its engine. */
#pragma once

#include "linalg/cuda/device_cuda.cuh"
#include "method/coordinate_formula.h"
#include "method/cuda/slab.cuh"
#include "robust/cuda/mixture.cuh"
#include "robust/cuda/order.cuh"

extern "C" {
#include "method/bayes_engine.h"
}

/* The lists of columns. */
struct bayes_columns {
    double *coef, *variance, *probability;
    int32_t *origin;
    double *k;
    int64_t *feature;
    gpu_column *list;
};

/* Counters that the two sides of a sweep wait for: blocks of columns whose slopes the strips have
 * summed up (times the strips), and blocks whose moves are decided. */
struct sweep_barrier {
    unsigned summed, decided;
    double largest_move;
};

/* All numbers, which the host gets after the rounds. */
struct bayes_report {
    mixture_numbers samples;
    slab_numbers prior;
    sweep_barrier barrier;
};

struct bayes_gpu {
    device *d;
    gpu_buffers on_device, on_host;
    mixture_gpu samples;
    slab_gpu prior;
    gpu_order order;
    bayes_columns columns[2]; /* those of the fit, and the target when columns leave */
    int side;
    int64_t total, count;
    int64_t last_feature; /* the place in the stream of the last one */
    gram_buffers gram;
    coordinate *prepared; /* of a sweep's columns */
    int32_t *stay, *leave;
    gpu_column *some; /* of a sweep over some columns, or of columns that leave */
    double *some_coef, *some_variance;
    double *slopes;         /* strips x GPU_BLOCK */
    double *delta, *spread; /* of the block decided on last */
    bayes_report *numbers;
    bayes_report *report; /* page-locked, as the columns */
    bayes_columns host;
};

/* Coordinate updates over `count` columns of `list`; which: their places, NULL where they are all,
 * and V is summed up anew. */
roofs_status bayes_sweep(bayes_gpu *s, const gpu_column *list, int64_t count, const int32_t *which,
                         roofs_error *err);

/* Sets the attributes of the kernels; once, before sweeps. */
roofs_status bayes_configure(const device *d, roofs_error *err);

/* Doubles of s->slopes. */
int64_t bayes_slopes(const device *d);
