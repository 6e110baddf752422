/* Shared by homotopy and dalm: the rule for the trust set. */
#ifndef BASELINE_LEAST_ABSOLUTE_H
#define BASELINE_LEAST_ABSOLUTE_H

#include "method/baseline/batchwise.h"
#include "method/baseline/design.h"

/* Trusts the samples whose e_i is zero up to noise: |r_i| within 2.5 robust standard deviations of
 * the residuals or 1e-9 of the largest |y|. Where clean_ratio is given, the clean_ratio n samples
 * of smallest |r_i|. */
void least_absolute_threshold(fit *f);

/* Stores the solution x of a problem, the intercept last; updates residual and trust set. scratch:
 * count numbers. */
void least_absolute_store(const batch_problem *p, const design *a, const double *x,
                          double *scratch);

#endif
