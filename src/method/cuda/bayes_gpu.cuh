/* What method roofs-bayes has on the GPU, shared by its files. */
#pragma once

#include "method/coordinate_formula.h"
#include "method/cuda/rounds_cuda.cuh"
#include "method/cuda/slab.cuh"
#include "robust/cuda/mixture.cuh"

/* What is known of each column. */
struct bayes_columns {
    double *coef, *variance, *probability;
    int32_t *origin;
    double *k;
    int64_t *feature;
    gpu_column *list;
};

/* Where the two sides of a sweep meet: blocks of columns whose slopes all strips have summed up
 * (times the strips), and blocks that have been decided on. */
struct sweep_meeting {
    unsigned summed, decided;
    double largest_move;
};

/* The numbers, together: the host is told them after the rounds. */
struct bayes_report {
    mixture_numbers samples;
    slab_numbers prior;
    sweep_meeting meeting;
};

struct bayes_gpu {
    gpu_rooms there, here;
    mixture_gpu samples;
    slab_gpu prior;
    gpu_order order;
    bayes_columns columns[2]; /* those of the fit, and room to part them */
    int side;
    int64_t total, count;
    int64_t last_feature; /* the place in the stream of the last one */
    gram_room gram;
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
 * and V is made anew. */
roofs_status bayes_sweep(device *d, bayes_gpu *s, const gpu_column *list, int64_t count,
                         const int32_t *which, roofs_error *err);

/* To be called once, before sweeps. */
roofs_status bayes_admit(const device *d, roofs_error *err);

/* Doubles of s->slopes. */
int64_t bayes_slopes(const device *d);
