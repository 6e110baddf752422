/* Elementary functions from sums, products, quotients and square roots alone, which IEEE 754
 * defines to the last bit. They give the same bits on every processor, compiler and system; those
 * of the C library do not. The error is below two units in the last place. Infinities and NaN
 * follow the C standard. */
#ifndef BASE_PORTABLE_MATH_H
#define BASE_PORTABLE_MATH_H

static inline double math_square(double x)
{
    return x * x;
}

double math_exp(double x);

double math_log(double x);

/* log(1 + x) */
double math_log1p(double x);

double math_tanh(double x);

/* For x > 0 and a finite y. */
double math_pow(double x, double y);

double math_erfc(double x);

double math_atan(double x);

/* For |angle| < 2^20. */
void math_sin_cos(double angle, double *sine, double *cosine);

#endif
