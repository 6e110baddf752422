/* The length of a gradient step (see robust/step.h). */
#ifndef ROBUST_STEP_FORMULA_H
#define ROBUST_STEP_FORMULA_H

#include "linalg/formula.h"

/* |q_S|^2 / |g|^2 from the norms; squares the ratio, so that no intermediate result overflows. */
FORMULA double step_curvature(double gradient_norm, double image_norm)
{
    if (!(gradient_norm > 0))
        return 0;
    const double ratio = image_norm / gradient_norm;
    return ratio * ratio;
}

/* The same from the squares, which must not have overflowed. */
FORMULA double step_curvature_of_squares(double gradient_square, double image_square)
{
    return image_square / gradient_square;
}

/* The largest curvature so far. */
FORMULA double step_largest_curvature(double before, double curvature)
{
    return curvature > before ? curvature : before;
}

/* The published step h if h |q_S|^2 <= 2 |g|^2, otherwise 1 / curvature. */
FORMULA double step_length(double published, double curvature)
{
    return published * curvature > 2 ? 1 / curvature : published;
}

#endif
