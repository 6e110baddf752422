#include "cli/growth.h"

#include "base/portable_math.h"

#include <math.h>

double growth_exponent(const double *size, const double *value, int64_t count)
{
    double n = (double)count, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int64_t k = 0; k < count; k++) {
        double x = math_log(size[k]), y = math_log(value[k]);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}
