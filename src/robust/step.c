#include "robust/step.h"

#include "robust/step_formula.h"

#include <math.h>

void step_guard_set_unit(step_guard *guard, int unit)
{
    guard->curvature = ldexp(guard->curvature, 2 * (guard->unit - unit));
    if (!isfinite(guard->curvature))
        guard->curvature = 0; /* out of range in the new unit: measured again */
    guard->unit = unit;
}

void step_guard_relax(step_guard *guard)
{
    guard->curvature /= 2;
}

double safe_step(step_guard *guard, double published, double gradient_norm, double image_norm)
{
    const double curvature = step_curvature(gradient_norm, image_norm);
    guard->curvature = step_largest_curvature(guard->curvature, curvature);
    return step_length(published, guard->curvature);
}

void step_guard_transfer(step_guard *guard, archive *a)
{
    archive_f64(a, &guard->curvature);
    archive_int(a, &guard->unit, -4096, 4096);
}
