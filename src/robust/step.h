/* How far to go along the gradient. */
#ifndef ROBUST_STEP_H
#define ROBUST_STEP_H

/* The published step, unless the trusted squared residual would grow with it:
 * moving by h g changes it by -2 h |g|^2 + h^2 |q_S|^2. Then the best step along
 * this direction, |g|^2 / |q_S|^2. */
double safe_step(double published, double gradient_norm, double image_norm);

#endif
