/* Clean and corrupt samples as a mixture: every sample has a probability of being
 * clean. docs/roofs-bayes.md has the model and the updates (start, variances,
 * judge, calibrate); names are those of that page. */
#ifndef ROBUST_MIXTURE_H
#define ROBUST_MIXTURE_H

#include "base/archive.h"
#include "linalg/comm.h"
#include "robust/mixture_formula.h"

typedef struct mixture {
    int64_t n;   /* samples of this rank */
    int64_t all; /* of all ranks; sums below run over these */
    comm *comm;  /* NULL = there is one rank */
    int has_intercept;
    double *y; /* the responses, those beyond doubt moved closer */
    double *r; /* residuals y - intercept - fit */
    double *w; /* probability of being clean */
    double *W; /* how much a sample counts: w, and more where it may be not explained yet */
    double *V; /* posterior variance of the fit */
    mixture_parameters now;
    double intercept;
    double ratio;              /* the share of clean samples where it is known, else 0 */
    double total;              /* variance of the clean responses at the start */
    double *z, *f, *clean, *h; /* scratch: leave-one-out residual and fit, densities */
} mixture;

roofs_status mixture_create(mixture *m, comm *c, const double *y, int64_t n, int has_intercept,
                            double ratio, roofs_error *err);
void mixture_destroy(mixture *m);
int64_t mixture_bytes(int64_t n);

void mixture_variances(mixture *m);
void mixture_judge(mixture *m, int at_end); /* of the stream */
void mixture_recentre(mixture *m);          /* moves the mean of the residuals into the intercept */

void mixture_transfer(mixture *m, archive *a);
int64_t mixture_transfer_bytes(int64_t n);

/* By what the fit is to be multiplied; r follows. */
double mixture_calibrate(mixture *m);

#endif
