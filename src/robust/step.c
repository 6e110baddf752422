#include "robust/step.h"

double safe_step(double published, double gradient_norm, double image_norm)
{
    if (!(image_norm > 0))
        return gradient_norm > 0 ? published : 0;
    double ratio = gradient_norm / image_norm; /* squared only now: no overflow on the way */
    double best = ratio * ratio;
    return published > 2 * best ? best : published;
}
