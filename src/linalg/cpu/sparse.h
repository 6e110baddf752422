/* The inner loops on sparse columns, one set per storage type. They touch the samples that
 * have a value and no others; what the others contribute is the same for all of them, and
 * the callers add it as one number. */
#ifndef LINALG_CPU_SPARSE_H
#define LINALG_CPU_SPARSE_H

#include "linalg/device.h"

/* A column as it lies in memory. */
typedef struct cpu_column {
    const void *values;     /* of the storage type */
    const int32_t *samples; /* of each value, ascending; NULL = dense */
    int64_t count;          /* values */
    char *copy;             /* the values, where they are the device's own */
} cpu_column;

/* Sums over the samples that have a value; off = x - center, r = stored + level. */
typedef struct sparse_sums {
    double weight, slope; /* w, w r */
    double off;           /* w off */
    double off_slope;     /* w off r */
    double off_square;    /* w off^2 */
} sparse_sums;

/* What one coordinate does to r and to the variance of the samples. */
typedef struct sparse_change {
    double center;
    double move;   /* r -= move x */
    double spread; /* variance += spread x (x - 2 center) */
} sparse_change;

typedef struct sparse_kernels {
    /* x'r */
    double (*dot)(const cpu_column *c, const double *r);

    /* out += weight x, or weight x (x - 2 center), for the values from..to - 1. */
    void (*add)(const cpu_column *c, int64_t from, int64_t to, double weight, double *out);
    void (*add_squares)(const cpu_column *c, int64_t from, int64_t to, double weight, double center,
                        double *out);

    /* `heavy`: the number of samples with a weight that counts. */
    void (*survey)(const cpu_column *c, const survey_options *look, int64_t heavy,
                   device_facts *facts);

    void (*sum)(const cpu_column *c, double center, const double *w, const double *stored,
                double level, sparse_sums *out);
    void (*apply)(const cpu_column *c, const sparse_change *change, double *stored,
                  double *variance);

    /* out[i] = w[i] x[i]; and zero again. sum of out[i] (y[i] - center) for a dense y. */
    void (*lay_out)(const cpu_column *c, const double *w, double *out);
    double (*dot_dense)(const cpu_column *c, const double *w, const void *y, double center);

    /* Values of a sparse block from place `from` on. */
    void (*copy)(void *to, const roofs_block *block, int64_t from, int64_t count);
} sparse_kernels;

extern const sparse_kernels sparse_f64;
extern const sparse_kernels sparse_f32;

/* The first value of a sample that is not before this one. */
int64_t cpu_sparse_find(const cpu_column *c, int64_t sample);

#endif
