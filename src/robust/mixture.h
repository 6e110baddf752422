/* The mixture of clean and corrupt samples of docs/roofs-bayes.md: every sample has a probability
 * of being clean. The names are those of that page (start, variances, judge, calibrate). */
#ifndef ROBUST_MIXTURE_H
#define ROBUST_MIXTURE_H

#include "base/archive.h"
#include "base/comm.h"
#include "linalg/workers.h"
#include "robust/mixture_formula.h"

typedef struct mixture {
    int64_t n;        /* samples of this rank */
    double all;       /* samples of all ranks, by their case weights; sums run over these */
    comm *comm;       /* NULL = one rank has all samples */
    workers *workers; /* borrowed; NULL = one thread */
    int has_intercept;
    double *y; /* the responses; gross outliers are clamped */
    double *r; /* residuals y - intercept - fit */
    double *w; /* probability of being clean */
    double *W; /* weight of the sample: w, and more if it may be not explained yet */
    const double *case_weight; /* how many samples each one stands for; NULL = one */
    double *weight;            /* of the sample in sums: W times its case weight */
    double *V;                 /* posterior variance of the fit */
    mixture_parameters now;
    double intercept;
    double ratio;              /* the share of clean samples if the user gives it, else 0 */
    double total;              /* variance of the clean responses at the start */
    int is_rare;               /* corrupt samples are few and anywhere: no normal part (q = 0) */
    double *z, *f, *clean, *h; /* scratch: leave-one-out residual and fit, densities */
} mixture;

/* The samples of a mixture. */
typedef struct mixture_samples {
    const double *y;
    const double *case_weight; /* borrowed for the life of the mixture; may be NULL */
    int64_t n;
    workers *workers; /* borrowed, too; NULL = one thread */
} mixture_samples;

roofs_status mixture_create(mixture *m, comm *c, mixture_samples of, int has_intercept,
                            double ratio, roofs_error *err);
void mixture_destroy(mixture *m);

/* m->weight, after W has changed. */
void mixture_weigh_samples(mixture *m);

/* How many samples sample i stands for. */
static inline double mixture_cases(const mixture *m, int64_t i)
{
    return m->case_weight ? m->case_weight[i] : 1;
}

/* A mixture of the same samples, without a start: only y is set. */
roofs_status mixture_create_like(mixture *m, const mixture *of, roofs_error *err);

/* Starts again, with all samples clean. */
void mixture_start_with_all(mixture *m);

/* (1 - pc) times the density of corrupt samples, for a leave-one-out residual z and a fit f. */
double mixture_corrupt_density(const mixture_scales *s, double z, double f);

/* The mean log density of the leave-one-out residuals, less the price of condemned samples. */
double mixture_score(mixture *m);

int64_t mixture_bytes(int64_t n); /* with case weights */

void mixture_variances(mixture *m);
void mixture_judge(mixture *m, int at_end); /* at_end: of the stream */

/* The rounds of judge, for given z, f and clean density: w and h, pc and the background. Returns
 * M2. */
double mixture_classify(mixture *m, double range);

/* The span of x: of the residuals, for the uniform background. */
double mixture_span(const mixture *m, const double *x);

/* bc and S2 from the residuals z of the samples with w < 1/2; m->f is scratch. */
roofs_status mixture_start_background(mixture *m, const double *z, roofs_error *err);

void mixture_recentre(mixture *m); /* moves the mean residual into the intercept */

void mixture_transfer(mixture *m, archive *a);
int64_t mixture_transfer_bytes(int64_t n);

/* Returns the factor of the fit, and updates r accordingly. */
double mixture_calibrate(mixture *m);

#endif
