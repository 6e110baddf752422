/* The inner loops on dense columns, one set per storage type. Columns have that type; all sums are
 * in double precision.
 *
 * Kernels take DEVICE_BLOCK columns at a time, so that r is read once for four columns. At n = 10^4
 * the four columns (320 kB) are still in the second-level cache when they are used again. */
#ifndef LINALG_CPU_KERNELS_H
#define LINALG_CPU_KERNELS_H

#include "linalg/device.h"

/* A block of columns z = (x - center) factor. Past the end of a list the block repeats its first
 * column with factor 0. */
typedef struct sweep_block {
    int64_t count; /* columns of the list in this block; 0 = no block */
    const void *x[DEVICE_BLOCK];
    double center[DEVICE_BLOCK], factor[DEVICE_BLOCK];
    double delta[DEVICE_BLOCK], spread[DEVICE_BLOCK];
} sweep_block;

/* The sums of a block: slope[q] = z_q'Wr, gram[q][p] = z_q'W z_p for p <= q. */
typedef struct sweep_sums {
    double slope[DEVICE_BLOCK];
    double gram[DEVICE_BLOCK][DEVICE_BLOCK];
} sweep_sums;

typedef struct kernels {
    int64_t size; /* bytes of a value */

    /* out[k] = x[k]'r */
    void (*dots)(const void *const x[DEVICE_BLOCK], const double *r, int64_t n,
                 double out[DEVICE_BLOCK]);

    /* out += sum_k weight[k] x[k] */
    void (*accumulate)(const void *const x[DEVICE_BLOCK], const double weight[DEVICE_BLOCK],
                       int64_t n, double *out);

    void (*survey)(const void *x, const survey_options *look, int64_t n, device_facts *facts);

    /* The sums over samples begin..begin + rows - 1; w and r point at sample `begin`. */
    void (*sum_block)(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                      const double *r, sweep_sums *sums);

    /* r -= sum_q delta[q] z_q and variance += sum_q spread[q] z_q^2, over `rows`
     * samples. */
    void (*apply_block)(const sweep_block *b, int64_t begin, int64_t rows, double *r,
                        double *variance);

    /* out[q][p] = z_q'W z_p for column q of the left block and column p of the right one. */
    void (*cross)(const sweep_block *left, const sweep_block *right, int64_t n, const double *w,
                  double out[DEVICE_BLOCK][DEVICE_BLOCK]);

    /* Value i as a double. */
    double (*value)(const void *x, int64_t i);

    /* Copies strided values of type `type` to contiguous values of the storage type. */
    void (*gather)(void *to, const void *from, roofs_dtype type, int64_t stride, int64_t n);

    /* to = from * 2^-exponent */
    void (*rescale)(void *to, const void *from, int exponent, int64_t n);
} kernels;

extern const kernels kernels_f64;
extern const kernels kernels_f32;

#endif
