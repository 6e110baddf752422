/* The length of a gradient step. */
#ifndef ROBUST_STEP_H
#define ROBUST_STEP_H

#include "base/archive.h"

/* A step h g changes the trusted squared residual by -2 h |g|^2 + h^2 |q_S|^2, so it is too long if
 * h |q_S|^2 > 2 |g|^2. The guard uses the largest curvature |q_S|^2 / |g|^2 so far: the best step
 * for each gradient alone would oscillate and amplify rounding errors. */
typedef struct step_guard {
    double curvature; /* largest so far; 0 at first */
    int unit;         /* steps and curvatures are in units of 2^(2 unit) and its inverse */
} step_guard;

/* Changes the unit of steps (see columns.unit_exponent). */
void step_guard_set_unit(step_guard *guard, int unit);

/* For a new batch, whose curvature may be smaller: halves the recorded curvature. If the curvature
 * is as before, a step of twice the length does not increase the residual. */
void step_guard_relax(step_guard *guard);

/* The published step if it is safe, otherwise 1 / curvature. */
double safe_step(step_guard *guard, double published, double gradient_norm, double image_norm);

void step_guard_transfer(step_guard *guard, archive *a);

#endif
