/* The inner loops on dense columns, one set per storage type: data of that type,
 * sums in double precision. */
#ifndef LINALG_CPU_KERNELS_H
#define LINALG_CPU_KERNELS_H

#include "linalg/device.h"

/* Columns handled together: r is then read once for four of them, and at n = 10^4
 * the four (320 kB) are still in the second-level cache when they are used again. */
enum { GROUP = 4 };

typedef struct kernels {
    int64_t size; /* bytes of a value */

    /* out[k] = x[k]'r */
    void (*dots)(const void *const x[GROUP], const double *r, int64_t n, double out[GROUP]);

    /* out += sum_k weight[k] x[k] */
    void (*accumulate)(const void *const x[GROUP], const double weight[GROUP], int64_t n,
                       double *out);

    void (*survey)(const void *x, const device_look *look, int64_t n, device_facts *facts);

    /* out[i] = (x[i] - center) * factor */
    void (*standardise)(const void *x, double center, double factor, int64_t n, double *out);

    /* Strided values of either type, made contiguous values of this one. */
    void (*gather)(void *to, const void *from, roofs_dtype type, int64_t stride, int64_t n);

    void (*rescale)(void *to, const void *from, int exponent, int64_t n);
} kernels;

extern const kernels kernels_f64;
extern const kernels kernels_f32;

#endif
