/* The inner loops on sparse columns, one set per storage type. A kernel touches only the samples
 * that have a stored value. All other samples contribute the same amount, which the caller adds as
 * one number. */
#ifndef LINALG_CPU_SPARSE_H
#define LINALG_CPU_SPARSE_H

#include "linalg/device.h"

/* A column in memory. */
typedef struct cpu_column {
    const void *values;     /* of the storage type */
    const int32_t *samples; /* sample of each value, ascending; NULL = dense */
    int64_t count;          /* number of values */
    char *copy;             /* the values where the device owns them, else NULL */
} cpu_column;

/* Sums over the samples that have a value, with off = x - center and r = stored + level. */
typedef struct sparse_sums {
    double weight, slope; /* w, w r */
    double off;           /* w off */
    double off_slope;     /* w off r */
    double off_square;    /* w off^2 */
} sparse_sums;

/* The effect of one coordinate update on r and on the variance of the samples. */
typedef struct sparse_change {
    double center;
    double move;   /* r -= move x */
    double spread; /* variance += spread x (x - 2 center) */
} sparse_change;

typedef struct sparse_kernels {
    /* x'r */
    double (*dot)(const cpu_column *c, const double *r);

    /* out += weight x, and out += weight x (x - 2 center), for the values from..to - 1. */
    void (*add)(const cpu_column *c, int64_t from, int64_t to, double weight, double *out);
    void (*add_squares)(const cpu_column *c, int64_t from, int64_t to, double weight, double center,
                        double *out);

    /* `heavy`: the number of samples with a weight above WEIGHTLESS. */
    void (*survey)(const cpu_column *c, const survey_options *look, int64_t heavy,
                   device_facts *facts);

    /* The sums of one coordinate, and the effect of its update. */
    void (*sum)(const cpu_column *c, double center, const double *w, const double *stored,
                double level, sparse_sums *out);
    void (*apply)(const cpu_column *c, const sparse_change *change, double *stored,
                  double *variance);

    /* scatter: out[i] = w[i] x[i], or 0 where w is NULL, at the samples that have a value.
     * dot_dense: the sum of w[i] x[i] (y[i] - center) for a dense column y. */
    void (*scatter)(const cpu_column *c, const double *w, double *out);
    double (*dot_dense)(const cpu_column *c, const double *w, const void *y, double center);

    /* Copies `count` values of a sparse block, from place `from` on, to the storage type. */
    void (*copy)(void *to, const roofs_block *block, int64_t from, int64_t count);
} sparse_kernels;

extern const sparse_kernels sparse_f64;
extern const sparse_kernels sparse_f32;

/* The place of the first value whose sample is not below `sample`. */
int64_t cpu_sparse_find(const cpu_column *c, int64_t sample);

#endif
