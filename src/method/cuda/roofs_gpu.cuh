/* The state of method roofs on the GPU, shared by the files of its engine. Names and line numbers
 * are those of method/roofs_cpu.c. */
#pragma once

#include "linalg/cuda/device_cuda.cuh"
#include "robust/cuda/order.cuh"

extern "C" {
#include "method/roofs_engine.h"
}

/* Carried from one round to the next. */
struct roofs_numbers {
    double curvature; /* of the step guard */
    double step, shift;
    double trusted;
    int settled; /* later rounds return at once */
};

/* The results of a round. */
struct roofs_report {
    roofs_numbers numbers;
    double movement, cut;
    int64_t tau;
};

/* Lists with an entry per column. */
struct roofs_columns {
    gpu_column *list;
    double *coef;
    int *exponent;
    int32_t *origin;
};

struct roofs_gpu {
    device *d;
    gpu_buffers on_device, on_host;
    gpu_order order;
    descend_plan plan;
    double *r, *mask, *masked, *before, *change, *image; /* n */
    roofs_columns columns[2]; /* those of the batch, and the target when columns leave */
    int side;
    gpu_column *dropped;
    double *dropped_coef, *gradient;
    double *partial;
    roofs_numbers *numbers;
    roofs_report *reports;      /* of the rounds that were launched together last */
    roofs_columns host;         /* page-locked; coefficients and origins after these rounds */
    roofs_report *host_reports; /* page-locked copy of the reports */
    int64_t total, count;       /* columns of the batch at its begin, and now */
    int64_t launched, first;    /* rounds launched in the batch; the first of the last launch */
    int64_t reported, usual;    /* rounds reported in the batch, and in the batch before */
};

/* Upper bound of the rounds launched together. */
enum { ROUNDS_AT_ONCE = 4 };

/* Steps of a round after the read of the columns, in this order: line 6, lines 7 to 10, the
 * intercept, lines 12 to 14. ROUND_REPORT: copies the reports of the rounds since `first` to the
 * host. */
enum { ROUND_MOVE = 1, ROUND_DROP = 2, ROUND_RECENTRE = 4, ROUND_TRUST = 8, ROUND_REPORT = 16 };

/* Sets the attributes of the kernels; call it once, before roofs_launch_steps. */
roofs_status roofs_configure(roofs_gpu *s, roofs_error *err);

/* Launches `steps` of a round. images: the number of partial sums of the squared gradient. */
roofs_status roofs_launch_steps(roofs_gpu *s, const roofs_job *job, int64_t images, int steps,
                                roofs_error *err);

enum { JOIN_ROWS = 32, JOIN_GROUPS = 16 };
