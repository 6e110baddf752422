/* What homotopy and dalm share: create, destroy and consume, with no state between batches, and the
 * rule for the trust set. */
#ifndef BASELINE_LEAST_ABSOLUTE_H
#define BASELINE_LEAST_ABSOLUTE_H

#include "method/baseline/batchwise.h"

/* Trusts the samples whose e_i is zero up to noise: |r_i| within 2.5 robust standard deviations of
 * the residuals or 1e-9 of the largest |y|. Where clean_ratio is given, the clean_ratio n samples
 * of smallest |r_i|. */
void least_absolute_threshold(fit *f);

roofs_status least_absolute_create(void **own, const batch_solver *solver, roofs_error *err);
void least_absolute_destroy(void *own);
roofs_status least_absolute_consume(void *own, fit *f, roofs_error *err);

#endif
