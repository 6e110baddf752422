#include "robust/noise.h"

#include "base/portable_math.h"
#include "linalg/lanes_math.h"

#include <string.h>

static const double NU[NOISE_TAILS] = {1, 2, 3, 5, 9, 19, INFINITY};

/* The density of Student's t at 0: Gamma((nu+1)/2) / (Gamma(nu/2) sqrt(nu pi)). */
static const double HEIGHT[NOISE_TAILS] = {
    0.31830988618379067, 0.35355339059327376, 0.36755259694786136, 0.37960668982249438,
    0.38803490887166866, 0.39372980729260356, 0.39894228040143268,
};

static const double SKEW_STEP = 0.3;

double noise_nu(noise shape)
{
    return NU[shape.tail];
}

/* (1 + x / nu)^(-(nu + 1) / 2), x = z^2 / variance; for normal noise e^(-x / 2). */
LANES_INLINE lanes kernel(int tail, lanes x)
{
    if (tail == NOISE_NORMAL)
        return lanes_exp(-0.5 * x);
    const lanes p = 1 / (1 + x / NU[tail]), p2 = p * p;
    switch (tail) {
    case 0:
        return p;
    case 1:
        return p * lanes_sqrt(p);
    case 2:
        return p2;
    case 3:
        return p2 * p;
    case 4:
        return p2 * p2 * p;
    default:
        return p2 * p2 * p * (p2 * p2 * p);
    }
}

/* What the density needs of a shape. */
typedef struct noise_scales {
    int tail;
    double height;      /* of the density, times the square root of the variance */
    double left, right; /* one over the squared scale of each side */
} noise_scales;

static noise_scales scales_of(noise shape)
{
    const double g = SKEW_STEP * shape.skew, cosh = (math_exp(g) + math_exp(-g)) / 2;
    return (noise_scales){shape.tail, HEIGHT[shape.tail] / cosh, math_exp(2 * g), math_exp(-2 * g)};
}

LANES_INLINE lanes density(const noise_scales *s, lanes z, lanes variance)
{
    const lanes zero = {0};
    const lanes side = lanes_choose(z > zero, zero + s->right, zero + s->left);
    return s->height / lanes_sqrt(variance) * kernel(s->tail, z * z / variance * side);
}

EVERY_WIDTH static void fill_density(noise_scales s, const double *z, const double *variance,
                                     int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i += LANES) {
        lanes d = density(&s, lanes_load_f64(z + i), lanes_load_f64(variance + i));
        memcpy(out + i, &d, sizeof d);
    }
}

void noise_density(noise shape, const double *z, const double *variance, int64_t n, double *out)
{
    fill_density(scales_of(shape), z, variance, n, out);
}

EVERY_WIDTH static double sum_logs(noise_scales s, const double *z, const double *variance,
                                   double pc, const double *background, const double *case_weight,
                                   int64_t n)
{
    const double least = 1e-300;
    lanes sum = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes d = density(&s, lanes_load_f64(z + i), lanes_load_f64(variance + i));
        lanes l = lanes_log(pc * d + lanes_load_f64(background + i) + least);
        for (int64_t k = 0; k < LANES; k++)
            l[k] = k >= n - i ? 0 : case_weight ? case_weight[i + k] * l[k] : l[k];
        sum += l;
    }
    return lanes_total(sum);
}

double noise_likelihood(noise shape, const double *z, const double *variance, double pc,
                        const double *background, const double *case_weight, int64_t n)
{
    return sum_logs(scales_of(shape), z, variance, pc, background, case_weight, n);
}

EVERY_WIDTH static void fill_weight(double nu, const double *z, const double *variance, int64_t n,
                                    double *out)
{
    for (int64_t i = 0; i < n; i += LANES) {
        lanes x = lanes_load_f64(z + i) * lanes_load_f64(z + i) / lanes_load_f64(variance + i);
        lanes u = (nu + 1) / (nu + x);
        memcpy(out + i, &u, sizeof u);
    }
}

void noise_weight(noise shape, const double *z, const double *variance, int64_t n, double *out)
{
    if (shape.tail < NOISE_NORMAL) {
        fill_weight(NU[shape.tail], z, variance, n, out);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = 1;
}
