/* The noise of clean samples: Student's t distribution, whose tails run from normal to very long,
 * with a wider scale on one side where the residuals are skewed. Honest samples in a long tail then
 * keep their place among the clean ones. */
#ifndef ROBUST_NOISE_H
#define ROBUST_NOISE_H

#include <stdint.h>

/* The degrees of freedom nu that are considered: 1, 2, 3, 5, 9, 19 and infinitely many. Powers of
 * (nu + 1) / 2 are then products and a square root. */
enum { NOISE_TAILS = 7, NOISE_NORMAL = NOISE_TAILS - 1 };

/* Skewness -4..4: the scale is times e^(0.3 skew) on the right and divided by it on the left. */
enum { NOISE_SKEWEST = 4, NOISE_SKEWS = 2 * NOISE_SKEWEST + 1 };

typedef struct noise {
    int tail; /* which nu: 0 for the longest tails, to NOISE_NORMAL */
    int skew;
} noise;

double noise_nu(noise shape); /* infinite for normal noise */

/* Arrays have n numbers and are padded to whole lanes. */

/* out = the density at z of noise with these variances (squared scales, for long tails). */
void noise_density(noise shape, const double *z, const double *variance, int64_t n, double *out);

/* sum_i log(pc density_i + background_i), n numbers without their padding. The logarithm of sample
 * i counts case_weight[i] times; NULL = once. */
double noise_likelihood(noise shape, const double *z, const double *variance, double pc,
                        const double *background, const double *case_weight, int64_t n);

/* out = (nu + 1) / (nu + z^2 / variance): by how much a clean sample counts in the fit. */
void noise_weight(noise shape, const double *z, const double *variance, int64_t n, double *out);

#endif
