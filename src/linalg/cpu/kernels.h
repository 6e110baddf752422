/* The inner loops on dense columns, one set per storage type: data of that type,
 * sums in double precision. */
#ifndef LINALG_CPU_KERNELS_H
#define LINALG_CPU_KERNELS_H

#include "linalg/device.h"

/* Columns handled together: r is then read once for four of them, and at n = 10^4
 * the four (320 kB) are still in the second-level cache when they are used again. */
enum { GROUP = 4 };

/* The columns of a sweep's block. Missing ones are the first one times 0. */
typedef struct sweep_block {
    int64_t count; /* columns that are there; 0 = no block */
    const void *x[DEVICE_BLOCK];
    double center[DEVICE_BLOCK], factor[DEVICE_BLOCK];
    double delta[DEVICE_BLOCK], spread[DEVICE_BLOCK];
} sweep_block;

/* Its sums: slope[q] = z_q'Wr, gram[q][p] = z_q'W z_p for p <= q. */
typedef struct sweep_sums {
    double slope[DEVICE_BLOCK];
    double gram[DEVICE_BLOCK][DEVICE_BLOCK];
} sweep_sums;

typedef struct kernels {
    int64_t size; /* bytes of a value */

    /* out[k] = x[k]'r */
    void (*dots)(const void *const x[GROUP], const double *r, int64_t n, double out[GROUP]);

    /* out += sum_k weight[k] x[k] */
    void (*accumulate)(const void *const x[GROUP], const double weight[GROUP], int64_t n,
                       double *out);

    void (*survey)(const void *x, const survey_options *look, int64_t n, device_facts *facts);

    /* The sums over `rows` samples from `begin` on; w and r begin there. */
    void (*sum_block)(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                      const double *r, sweep_sums *sums);

    /* r -= sum_q delta[q] z_q and variance += sum_q spread[q] z_q^2, for `rows` rows. */
    void (*apply_block)(const sweep_block *b, int64_t begin, int64_t rows, double *r,
                        double *variance);

    /* out[q][p] = z_q'W z_p for a column q of one block and a column p of another. */
    void (*cross)(const sweep_block *left, const sweep_block *right, int64_t n, const double *w,
                  double out[DEVICE_BLOCK][DEVICE_BLOCK]);

    double (*value)(const void *x, int64_t i);

    /* Strided values of either type, made contiguous values of this one. */
    void (*gather)(void *to, const void *from, roofs_dtype type, int64_t stride, int64_t n);

    void (*rescale)(void *to, const void *from, int exponent, int64_t n);
} kernels;

extern const kernels kernels_f64;
extern const kernels kernels_f32;

#endif
