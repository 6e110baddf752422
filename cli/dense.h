/* Small dense matrices, m by m, stored by rows. */
#ifndef CLI_DENSE_H
#define CLI_DENSE_H

#include <stdint.h>

/* a = L L' with L lower triangular, in place; the upper triangle stays. Returns 0 if a is not
 * positive definite. */
int dense_factor(double *a, int64_t m);

/* x = inverse of L times x, for `count` vectors side by side: entry j of vector i is at x[j *
 * stride + i]. */
void dense_forward(const double *l, int64_t m, double *x, int64_t stride, int64_t count);

/* The inverse of L L', both triangles. */
void dense_inverse(const double *l, int64_t m, double *out);

typedef struct extremes {
    double smallest, largest;
} extremes;

/* The extreme eigenvalues of a symmetric matrix, which is overwritten. `scratch` has 4 m values. */
extremes dense_eigenvalues(double *a, int64_t m, double *scratch);

#endif
