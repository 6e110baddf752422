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

/* The lists of columns. */
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
    gpu_column *gone;
    double *gone_coef, *gradient;
    double *partial;
    roofs_numbers *numbers;
    roofs_report *reports;      /* of the rounds that were launched last */
    roofs_columns host;         /* page-locked; after these rounds, coefficients and origins */
    roofs_report *host_reports; /* page-locked: the reports, after these rounds */
    int64_t total, count;       /* columns of the batch, and those that are left */
    int64_t launched, first;    /* rounds of the batch, and the first that was launched last */
    int64_t reported, usual;    /* rounds of the batch, and of the batch before */
};

/* Rounds launched at once, at most. */
enum { ROUNDS_AT_ONCE = 4 };

/* Steps of a round after the one read of the columns: lines 6, 7-10, the intercept, 11-14, in this
 * order; ROUND_REPORT: the reports of the rounds launched so far go to the host. */
enum { ROUND_MOVE = 1, ROUND_PART = 2, ROUND_RECENTRE = 4, ROUND_TRUST = 8, ROUND_REPORT = 16 };

/* Sets the attributes of the kernels; once, before roofs_launch_steps. */
roofs_status roofs_configure(roofs_gpu *s, roofs_error *err);

/* images: partial images that the gradient's squares are in. */
roofs_status roofs_launch_steps(roofs_gpu *s, const roofs_job *job, int64_t images, int steps,
                                roofs_error *err);

enum { JOIN_ROWS = 32, JOIN_GROUPS = 16 };
