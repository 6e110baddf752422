/* A header NAME_formula.h defines each formula once, as inline functions that compile for the CPU
 * and for a GPU. A `real` is eight numbers side by side on the CPU, and one number on a GPU or if
 * FORMULA_SCALAR is defined before this header is included. */
#ifndef LINALG_FORMULA_H
#define LINALG_FORMULA_H

#include <math.h>

#ifdef __CUDACC__
#define FORMULA static __host__ __device__ __forceinline__
#else
#include "base/portable_math.h"
#define FORMULA static inline __attribute__((always_inline))
#endif

/* ---- many numbers ------------------------------------------------------ */

#if defined(__CUDACC__) || defined(FORMULA_SCALAR)

typedef double real;
typedef int real_mask;

FORMULA real real_choose(real_mask mask, real yes, real no)
{
    return mask ? yes : no;
}

/* e^x; x is clamped to [-700, 700]. */
FORMULA real real_exp(real x)
{
    x = fmin(fmax(x, -700.0), 700.0);
#ifdef __CUDACC__
    return exp(x);
#else
    return math_exp(x);
#endif
}

FORMULA real real_sqrt(real x)
{
    return sqrt(x);
}

#else

#include "linalg/lanes_math.h"

typedef lanes real;
typedef lanes_int real_mask;

#define real_choose lanes_choose
#define real_exp lanes_exp
#define real_sqrt lanes_sqrt

#endif

/* ---- maps of x, created once and applied many times ---------------------- */

/* formula_ratio: above x / below; formula_product: left x right; formula_line: scale (slope x +
 * shift). The CPU evaluates them as written; a GPU multiplies the factors when a map is created. */
#ifdef __CUDACC__

typedef struct formula_ratio {
    double value;
} formula_ratio;

typedef struct formula_product {
    double value;
} formula_product;

typedef struct formula_line {
    double slope, shift;
} formula_line;

FORMULA formula_ratio formula_ratio_of(double above, double below)
{
    const formula_ratio map = {above / below};
    return map;
}

FORMULA formula_product formula_product_of(double left, double right)
{
    const formula_product map = {left * right};
    return map;
}

FORMULA formula_line formula_line_of(double scale, double slope, double shift)
{
    const formula_line map = {scale * slope, scale * shift};
    return map;
}

FORMULA double formula_ratio_at(const formula_ratio *map, double x)
{
    return map->value * x;
}

FORMULA double formula_product_at(const formula_product *map, double x)
{
    return map->value * x;
}

FORMULA double formula_line_at(const formula_line *map, double x)
{
    return map->slope * x + map->shift;
}

#else

typedef struct formula_ratio {
    double above, below;
} formula_ratio;

typedef struct formula_product {
    double left, right;
} formula_product;

typedef struct formula_line {
    double scale, slope, shift;
} formula_line;

FORMULA formula_ratio formula_ratio_of(double above, double below)
{
    return (formula_ratio){above, below};
}

FORMULA formula_product formula_product_of(double left, double right)
{
    return (formula_product){left, right};
}

FORMULA formula_line formula_line_of(double scale, double slope, double shift)
{
    return (formula_line){scale, slope, shift};
}

FORMULA double formula_ratio_at(const formula_ratio *map, double x)
{
    return map->above * x / map->below;
}

FORMULA double formula_product_at(const formula_product *map, double x)
{
    return map->left * x * map->right;
}

FORMULA double formula_line_at(const formula_line *map, double x)
{
    return map->scale * (map->slope * x + map->shift);
}

#endif

/* ---- one number -------------------------------------------------------- */

/* x / y. On a GPU the error is at most the last two bits, y is finite, and it is faster than a
 * division. */
FORMULA double formula_divide(double x, double y)
{
#ifdef __CUDA_ARCH__
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(y));
    inverse = fma(fma(-y, inverse, 1.0), inverse, inverse);
    return x * fma(fma(-y, inverse, 1.0), inverse, inverse);
#else
    return x / y;
#endif
}

/* e^x. On a GPU x is clamped so that formula_divide gets a finite number. */
FORMULA double formula_exp(double x)
{
#ifdef __CUDACC__
    return exp(fmin(x, 600.0));
#else
    return math_exp(x);
#endif
}

FORMULA double formula_log(double x)
{
#ifdef __CUDACC__
    return log(x);
#else
    return math_log(x);
#endif
}

/* The exponent of a normal number, as frexp defines it. */
FORMULA int formula_exponent(double x)
{
#ifdef __CUDA_ARCH__
    return (__double2hiint(x) >> 20) - 1022;
#else
    int exponent;
    frexp(x, &exponent);
    return exponent;
#endif
}

/* 2^k, which must be a normal number. */
FORMULA double formula_power_of_two(int k)
{
#ifdef __CUDA_ARCH__
    return __hiloint2double((1023 + k) << 20, 0);
#else
    return ldexp(1.0, k);
#endif
}

#endif
