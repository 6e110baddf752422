/* What homotopy and dalm share: their life, which knows nothing between batches, and the
 * samples they trust. */
#ifndef BASELINE_LEAST_ABSOLUTE_H
#define BASELINE_LEAST_ABSOLUTE_H

#include "method/baseline/batchwise.h"

/* |e_i| is zero up to noise: within 2.5 robust standard deviations of the residuals, or
 * 1e-9 of the largest |y|; the smallest clean_ratio n where that is given. */
void least_absolute_threshold(fit *f);

roofs_status least_absolute_create(void **own, const batch_solver *solver, roofs_error *err);
void least_absolute_destroy(void *own);
roofs_status least_absolute_consume(void *own, fit *f, roofs_error *err);

#endif
