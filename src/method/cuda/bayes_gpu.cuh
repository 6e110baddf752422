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

/* Lists with an entry per column. */
struct bayes_columns {
    double *coef, *variance, *probability;
    int32_t *origin;
    double *k;
    int64_t *feature;
    gpu_column *list;
};

/* Counters that the two sides of a sweep wait for. summed: blocks of columns whose slopes are
 * summed, counted once per strip. decided: blocks whose moves are decided. */
struct sweep_barrier {
    unsigned summed, decided;
    double largest_move;
};

/* All scalars of the method; the host downloads them after the rounds. */
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
    int64_t last_feature; /* the largest place of a column in the stream */
    gram_buffers gram;
    coordinate *prepared; /* per column of a sweep */
    int32_t *stay, *leave;
    gpu_column *subset; /* the columns of a sweep that is not over all, or those that leave */
    double *subset_coef, *subset_variance;
    double *slopes;         /* strips x GPU_BLOCK */
    double *delta, *spread; /* of the block decided last */
    bayes_report *numbers;
    bayes_report *report; /* page-locked */
    bayes_columns host;   /* page-locked */
};

/* Updates the coefficients of `count` columns of `list`. which: their positions among all columns;
 * NULL for a sweep over all, in which V is summed anew. */
roofs_status bayes_sweep(bayes_gpu *s, const gpu_column *list, int64_t count, const int32_t *which,
                         roofs_error *err);

/* Sets the attributes of the kernels; call it once, before sweeps. */
roofs_status bayes_configure(const device *d, roofs_error *err);

/* Size of s->slopes in numbers. */
int64_t bayes_slopes(const device *d);
