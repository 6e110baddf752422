/* What method roofs has on the GPU, shared by its files. Names and line numbers are those of
 * method/roofs.c. */
#pragma once

#include "method/cuda/rounds_cuda.cuh"

/* What the rounds have found out so far. */
struct roofs_numbers {
    double curvature; /* of the step guard */
    double step, shift;
    double trusted;
    int settled; /* rounds that follow do nothing */
};

/* What the host is told. */
struct roofs_report {
    roofs_numbers numbers;
    double movement, cut;
    int64_t tau;
};

/* What is known of each column. */
struct roofs_columns {
    gpu_column *list;
    double *coef;
    int *exponent;
    int32_t *origin;
};

struct roofs_gpu {
    gpu_rooms there, here;
    gpu_order order;
    descend_plan plan;
    double *r, *mask, *masked, *before, *change, *image; /* n */
    roofs_columns columns[2]; /* those of the batch, and room to part them */
    int side;
    gpu_column *gone;
    double *gone_coef, *gradient;
    double *partial;
    roofs_numbers *numbers;
    roofs_report *reports; /* of the rounds the GPU was last given */
    roofs_columns host;    /* page-locked; after these rounds, coefficients and origins */
    roofs_report *told;    /* page-locked: the reports, after these rounds */
    int64_t total, count;  /* columns of the batch, and those that are left */
    int64_t given, first;  /* rounds of the batch the GPU was given, and before the last time */
    int64_t done, usual;   /* rounds the host knows of, and those of the batch before */
};

/* Rounds given to the GPU at once, at most. */
enum { ROUNDS_AT_ONCE = 4 };

/* Parts of a round after the one read of the columns: lines 6, 7-10, the intercept, 11-14. Those
 * that are asked for are done in this order; TELL: the host learns of this round and those before
 * it. `images`: parts of the image. */
enum { ROUND_MOVE = 1, ROUND_PART = 2, ROUND_RECENTRE = 4, ROUND_TRUST = 8, ROUND_TELL = 16 };
roofs_status roofs_admit(roofs_gpu *s, roofs_error *err);
roofs_status roofs_go_on(device *d, roofs_gpu *s, const roofs_job *job, int64_t images, int parts,
                         roofs_error *err);

enum { JOIN_ROWS = 32 };
