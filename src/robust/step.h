/* How far to go along the gradient. */
#ifndef ROBUST_STEP_H
#define ROBUST_STEP_H

#include "base/archive.h"

/* Moving by h g changes the trusted squared residual by -2 h |g|^2 + h^2 |q_S|^2,
 * so a step is too long where h |q_S|^2 > 2 |g|^2. The curvature |q_S|^2 / |g|^2
 * is remembered at its largest: the best step for one gradient alone would swing
 * from round to round and amplify rounding. */
typedef struct step_guard {
    double curvature; /* largest so far; 0 to begin with */
    int unit;         /* steps and curvatures are in units of 2^(2 unit) and its inverse */
} step_guard;

/* Steps come in another unit from now on (see columns.unit_exponent). */
void step_guard_set_unit(step_guard *guard, int unit);

/* For a new batch, whose columns may bend less: half the curvature is forgotten.
 * Where they bend as before, a step made with the other half just does not grow. */
void step_guard_relax(step_guard *guard);

/* The published step where it is safe, otherwise 1 / curvature. */
double safe_step(step_guard *guard, double published, double gradient_norm, double image_norm);

void step_guard_transfer(step_guard *guard, archive *a);

#endif
