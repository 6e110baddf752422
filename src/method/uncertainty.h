/* What is uncertain at the end of a fit by roofs-bayes (docs/uncertainty.md): credible groups of
 * features, the error of each coefficient, and the noise of new responses. */
#ifndef METHOD_UNCERTAINTY_H
#define METHOD_UNCERTAINTY_H

#include "method/pool.h"
#include "robust/noise.h"

/* The joint solution that the fit ends with; normal noise if there is none. */
typedef struct uncertainty_end {
    int is_rare; /* see joint_kind */
    noise shape; /* of the clean residuals */
} uncertainty_end;

int64_t uncertainty_bytes(const roofs_settings *set, int64_t n);

/* Fills f->found, f->noise and f->coef_error. Nothing else of the fit changes. */
roofs_status uncertainty_find(fit *f, const pool *p, const mixture *samples,
                              const uncertainty_end *end, roofs_error *err);

/* Empties them. */
void uncertainty_clear(fit *f);

#endif
