#include "base/portable_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------- */

static const double ROUNDER = 0x1.8p52; /* adding it rounds to an integer, in the low bits */

/* ln 2 in two pieces. A product of the first and an exponent is exact. */
static const double LN2_HIGH = 0x1.62e42fefa3800p-1, LN2_LOW = 0x1.ef35793c76730p-45;

static int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A number as the sum of two, of which the second is below the rounding error of the first. */
typedef struct twofold {
    double high, low;
} twofold;

static twofold sum_of(double a, double b)
{
    const double sum = a + b, b_used = sum - a, a_used = sum - b_used;
    return (twofold){sum, (a - a_used) + (b - b_used)};
}

/* For |a| >= |b|. */
static twofold sum_in_order(double a, double b)
{
    const double sum = a + b;
    return (twofold){sum, b - (sum - a)};
}

/* The first 26 bits of x, so that a product of two is exact. */
static double first_half(double x)
{
    const double scaled = 0x1.0000002p27 * x;
    return scaled - (scaled - x);
}

static twofold product_of(double a, double b)
{
    const double product = a * b, a1 = first_half(a), a2 = a - a1, b1 = first_half(b), b2 = b - b1;
    return (twofold){product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)};
}

static twofold product_of_twofold(twofold a, twofold b)
{
    const twofold main = product_of(a.high, b.high);
    return sum_in_order(main.high, main.low + (a.high * b.low + a.low * b.high));
}

static double quotient_of(twofold a, twofold b)
{
    const double quotient = a.high / b.high;
    const twofold back = product_of(quotient, b.high);
    return quotient + (((a.high - back.high) - back.low) + (a.low - quotient * b.low)) / b.high;
}

/* ---- exp, tanh ------------------------------------------------------------------- */

/* e^x = 2^k (1 + high + low) */
typedef struct power_of_e {
    int64_t k;
    twofold part;
} power_of_e;

/* e^t - 1 - t by its Taylor series; |t| < 0.35. */
static double exp_remainder(double t)
{
    const double t2 = t * t, t4 = t2 * t2;
    const double a = (1.0 / 2 + t * (1.0 / 6)) + t2 * (1.0 / 24 + t * (1.0 / 120));
    const double b = (1.0 / 720 + t * (1.0 / 5040)) + t2 * (1.0 / 40320 + t * (1.0 / 362880));
    const double c =
        (1.0 / 3628800 + t * (1.0 / 39916800)) + t2 * (1.0 / 479001600 + t * (1.0 / 6227020800));
    return t2 * (a + t4 * (b + t4 * c));
}

/* e^(x + small); |x| < 1100 */
static power_of_e power_of(double x, double small)
{
    const double shifted = x * 0x1.71547652b82fep+0 + ROUNDER, k = shifted - ROUNDER;
    const double high = x - k * LN2_HIGH, low = k * LN2_LOW - small, t = high - low;
    const double rest = exp_remainder(t) + ((high - t) - low);
    return (power_of_e){(int64_t)k, sum_in_order(t, rest)};
}

/* x 2^k; k from -1100 to 1100, x near 1 */
static double scaled(double x, int64_t k)
{
    if (k > -1000 && k < 1000)
        return x * of_bits((1023 + k) << 52);
    const int64_t half = k / 2;
    return x * of_bits((1023 + half) << 52) * of_bits((1023 + k - half) << 52);
}

/* e^(x + small) */
static double exp_of_sum(double x, double small)
{
    if (!(x > -746))
        return isnan(x) ? x : 0;
    if (x > 710)
        return INFINITY;
    const power_of_e p = power_of(x, small);
    return scaled(1 + (p.part.high + p.part.low), p.k);
}

double math_exp(double x)
{
    return exp_of_sum(x, 0);
}

/* (e^2x - 1) / (e^2x + 1) */
double math_tanh(double x)
{
    const double size = fabs(x);
    if (!(size >= 0x1p-28))
        return x;
    if (size > 8) {
        const double inverse = exp_of_sum(-2 * size, 0);
        return copysign(1 - 2 * inverse / (1 + inverse), x);
    }
    const power_of_e p = power_of(2 * size, 0);
    const double unit = scaled(1, p.k);
    twofold above = sum_of(unit - 1, unit * p.part.high),
            below = sum_of(unit + 1, unit * p.part.high);
    above.low += unit * p.part.low;
    below.low += unit * p.part.low;
    return copysign(quotient_of(above, below), x);
}

/* ---- log, pow -------------------------------------------------------------------- */

/* x = 2^k (1 + f) with 1 + f from 2^-1/2 to 2^1/2 */
typedef struct factors {
    double k, f;
} factors;

/* For a finite x > 0. */
static factors factors_of(double x)
{
    const int64_t root_half = 0x3fe6a09e667f3bcd; /* the bits of 2^-1/2 */
    const int is_subnormal = x < 0x1p-1022;
    const int64_t bits = bits_of(is_subnormal ? x * 0x1p54 : x), k = (bits - root_half) >> 52;
    return (factors){(double)(k - (is_subnormal ? 54 : 0)), of_bits(bits - k * (1LL << 52)) - 1};
}

/* 2/5 s^4 + 2/7 s^6 + ..., of the series 2 atanh(s) / s; s2 = s^2 < 0.03 */
static double atanh_remainder(double s2)
{
    const double s4 = s2 * s2, s8 = s4 * s4;
    const double a = (2.0 / 5 + s2 * (2.0 / 7)) + s4 * (2.0 / 9 + s2 * (2.0 / 11));
    const double b = (2.0 / 13 + s2 * (2.0 / 15)) + s4 * (2.0 / 17 + s2 * (2.0 / 19));
    return s4 * (a + s8 * (b + s8 * (2.0 / 21 + s2 * (2.0 / 23))));
}

/* log(x) + small, for a finite x > 0. With s = f / (2 + f), log(1 + f) = 2 atanh(s), and
 * 2 s = f - f^2/2 + s f^2/2: the large term f has no error. */
static double log_and(double x, double small)
{
    const factors x_is = factors_of(x);
    const double f = x_is.f, s = f / (2 + f), s2 = s * s, half = 0.5 * (f * f);
    const double series = s * (half + (2.0 / 3 * s2 + atanh_remainder(s2)));
    return x_is.k * LN2_HIGH + (f - (half - (series + (x_is.k * LN2_LOW + small))));
}

double math_log(double x)
{
    if (!(x > 0))
        return x == 0 ? -INFINITY : NAN;
    return isinf(x) ? x : log_and(x, 0);
}

double math_log1p(double x)
{
    if (!(x > -1))
        return x == -1 ? -INFINITY : NAN;
    if (isinf(x) || fabs(x) < 0x1p-54)
        return x;
    const twofold sum = sum_of(1, x);
    return log_and(sum.high, sum.low / sum.high);
}

/* log(x) with a relative error below 2^-62 */
static twofold twofold_log(double x)
{
    const twofold third = {0x1.5555555555555p-1, 0x1.5555555555555p-55}; /* of 2 */
    const factors x_is = factors_of(x);
    const twofold below = sum_of(2, x_is.f);
    const double s1 = x_is.f / below.high;
    const twofold back = product_of(s1, below.high);
    const twofold s = {s1, (((x_is.f - back.high) - back.low) - s1 * below.low) / below.high};
    const twofold s2 = product_of_twofold(s, s);
    const twofold cube = product_of_twofold(s, product_of_twofold(s2, third));
    const twofold main = sum_of(2 * s.high, cube.high);
    const twofold ln = sum_of(x_is.k * LN2_HIGH, main.high);
    const double low = s.high * atanh_remainder(s2.high) + (2 * s.low + cube.low);
    return sum_in_order(ln.high, ln.low + (main.low + (low + x_is.k * LN2_LOW)));
}

double math_pow(double x, double y)
{
    if (x == 1 || y == 0)
        return 1;
    if (isnan(x))
        return x;
    const twofold ln = twofold_log(x);
    const double size = y * ln.high;
    if (!(fabs(size) < 800))
        return exp_of_sum(size, 0);
    const twofold power = product_of(y, ln.high);
    return exp_of_sum(power.high, power.low + y * ln.low);
}

/* ---- erfc ------------------------------------------------------------------------ */

/* e^(x^2) erfc(x) as a polynomial of u = (centre - x) / (4 + x), by Chebyshev interpolation on the
 * piece where 64 / (4 + x) is from 2 to 3, from 3 to 4, ... */
enum { PIECES = 14, TERMS = 11 };

typedef struct erfc_piece {
    double centre, factor[TERMS];
} erfc_piece;

static const erfc_piece ERFC_PIECE[PIECES] = {
    {21.59375,
     {0x1.ab9d53d03b8b1p-6, 0x1.f9be84a7a8be7p-6, 0x1.6f13f1fdafa40p-8, 0x1.fcf25dd3dd58bp-11,
      0x1.4f661cc1f1741p-13, 0x1.a1b2e163d7addp-16, 0x1.e79b3b461367bp-19, 0x1.07d23b48998d0p-21,
      0x1.04475dad1b018p-24, 0x1.c7f0ee54552e8p-28, 0x1.4fb0cd421b349p-31}},
    {14.28125,
     {0x1.42d7a68433d0ep-5, 0x1.9b43bf19c0b7dp-5, 0x1.bd884ffc41e04p-7, 0x1.c9579a46c5deap-9,
      0x1.ba6bf97b9f783p-11, 0x1.907c4ab9dd0ccp-13, 0x1.4ffdff0fa7e89p-15, 0x1.01b2ef410520ap-17,
      0x1.61cdaca464542p-20, 0x1.a3294ff3fbf45p-23, 0x1.8b14cce3b4fedp-26}},
    {10.21875,
     {0x1.c227acae80f0dp-5, 0x1.36405d2d0fa7ep-4, 0x1.cdc3fcc768f99p-6, 0x1.4276798d48999p-7,
      0x1.a400d507e84f3p-9, 0x1.f9fc4609fba0fp-11, 0x1.16b5e3f308e56p-12, 0x1.1416bbf4a562ep-14,
      0x1.de9cf34a92533p-17, 0x1.58ed38c949154p-19, 0x1.6b72f794196dcp-22}},
    {7.640625,
     {0x1.2becdb8adb676p-4, 0x1.c16dffd99fb90p-4, 0x1.b554908800f40p-5, 0x1.8aa32bba9928bp-6,
      0x1.47fa1d4c571acp-7, 0x1.f1646eeae9c11p-9, 0x1.53860101b1749p-10, 0x1.98bfbbe212a88p-12,
      0x1.a2e2043956eaep-14, 0x1.53b2dc5627a02p-16, 0x1.5cbe5608c738dp-19}},
    {5.84375,
     {0x1.85e6260e72b77p-4, 0x1.3f69545b367bfp-3, 0x1.8a4052d728aa2p-4, 0x1.bcc96ad35855cp-5,
      0x1.c75117e3555efp-6, 0x1.a2838665be832p-7, 0x1.540a6d11cc5a8p-8, 0x1.dc3d07df14b2cp-10,
      0x1.126b80ffce468p-11, 0x1.d32da947d3eb5p-14, 0x1.7452e382c471fp-17}},
    {4.53125,
     {0x1.f263a4e32256dp-4, 0x1.c0b1fb86bec9cp-3, 0x1.56ee1db7ca627p-3, 0x1.d6e290c6254a1p-4,
      0x1.204ea6ef67568p-4, 0x1.37491c1aa6ce4p-5, 0x1.2308202a22e3fp-6, 0x1.c8d6c0a82cd01p-8,
      0x1.1b06917ffe8d8p-9, 0x1.d42f670655a51p-12, 0x1.d17cea70bab43p-17}},
    {3.53125,
     {0x1.3b6af87dabd6ap-3, 0x1.399bca113764ap-2, 0x1.2343d5ad70225p-2, 0x1.dc2ee4ee4a735p-3,
      0x1.545d89f29b913p-3, 0x1.a470191a0d054p-4, 0x1.b793be2ae6d53p-5, 0x1.766fbec60fa61p-6,
      0x1.de2387d53dd17p-8, 0x1.5a03b67290c65p-10, -0x1.3a3414ac91ee1p-13}},
    {2.734375,
     {0x1.8ea74c008d12dp-3, 0x1.b85ff8293de74p-2, 0x1.ea415dd2b0991p-2, 0x1.d509e0ebaa96ep-2,
      0x1.7fcd86ac51b47p-2, 0x1.09683a6d1c604p-2, 0x1.2efb367db3bdbp-3, 0x1.1044a09162028p-4,
      0x1.56f116efa905ap-6, 0x1.624ab75c1f580p-9, -0x1.50f9a04b48172p-10}},
    {2.09375,
     {0x1.f745ca538915bp-3, 0x1.35f7e9ca947f8p-1, 0x1.975098a99da75p-1, 0x1.bfd3717762d6dp-1,
      0x1.9b37e49cc5287p-1, 0x1.37b50a7eaa5d8p-1, 0x1.7bb9a1c89cb4ap-2, 0x1.5e3868988dbddp-3,
      0x1.9dc6995d1663ap-5, 0x1.17d195676a22ep-9, -0x1.875adbd5da3d3p-8}},
    {1.5625,
     {0x1.3f20d017f3530p-2, 0x1.b7f3852e263d6p-1, 0x1.50b20ad323a69p+0, 0x1.a2b34e2030a24p+0,
      0x1.a81392bf21912p+0, 0x1.59fba0658a2cdp+0, 0x1.b8d3f24378d23p-1, 0x1.96789e4ef5d12p-2,
      0x1.a55b9058e8308p-4, -0x1.5a0cace176bedp-7, -0x1.4a805860c83e0p-6}},
    {1.125,
     {0x1.9531e09b149b5p-2, 0x1.38552e3644613p+0, 0x1.11c61b9995d70p+1, 0x1.7a3dc8b8d81d1p+1,
      0x1.9f09ab745153ep+1, 0x1.65f6aaac84371p+1, 0x1.d40ce5efce7a1p+0, 0x1.a47b8c7721e9fp-1,
      0x1.5a1c7812d02f6p-3, -0x1.f45e28682f645p-5, -0x1.ac3b94f551a3dp-5}},
    {0.734375,
     {0x1.068665581c141p-1, 0x1.c6d8d1450e5e0p+0, 0x1.c4f2adcdb3662p+1, 0x1.58037295a980ap+2,
      0x1.9438df50cc455p+2, 0x1.6bcb497027d9ap+2, 0x1.e03452f8ee191p+1, 0x1.97b47c5637aaep+0,
      0x1.9f6a37e9a0770p-3, -0x1.b333e0e8033e4p-3, -0x1.c9e77c0d10236p-4}},
    {0.40625,
     {0x1.558ef312ebe87p-1, 0x1.4ab4547edc826p+1, 0x1.6f950379ca37cp+2, 0x1.2ddb75c83afccp+3,
      0x1.75f4baa0033f0p+3, 0x1.59fb4888f01b5p+3, 0x1.c58366d013881p+2, 0x1.6080455a5af25p+1,
      0x1.f09d0ef55609cp-5, -0x1.19321b9a8b476p-1, -0x1.7216bf133f0aep-3}},
    {0.125,
     {0x1.bf16ef058facfp-1, 0x1.e084d7b926fe8p+1, 0x1.2565cdf482453p+3, 0x1.00d2c04ce813ep+4,
      0x1.4b22ea1a908b0p+4, 0x1.370c3fb7e89ebp+4, 0x1.8ef831ebf8bc1p+3, 0x1.1111c104683cfp+2,
      -0x1.0bedb4adac704p-1, -0x1.2aaf16ea1955dp+0, -0x1.8070e68215eddp-3}},
};

/* 2 / sqrt(pi) times (-1)^k / (k! (2k + 1)): the Taylor series of erf */
static const double ERF_TERM[] = {
    0x1.20dd750429b6dp+0,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b51p-6,
    0x1.565bcd0e6a53fp-8,  -0x1.c02db40040b86p-11, 0x1.f9a326f9b89b7p-14, -0x1.f4d25c3e0c2ebp-17,
    0x1.b9e6c9dc651a3p-20, -0x1.5f742ec43e71ap-23};

static double polynomial(const double *factor, int terms, double x)
{
    double sum = factor[terms - 1];
    for (int k = terms - 2; k >= 0; k--)
        sum = sum * x + factor[k];
    return sum;
}

/* For x >= 1/4. */
static double erfc_of_large(double x)
{
    if (x > 27.3)
        return 0;
    const int k = (int)(64 / (4 + x)) - 2;
    const erfc_piece *piece = &ERFC_PIECE[k];
    const double u = (piece->centre - x) / (4 + x);
    const twofold tail =
        sum_in_order(piece->factor[0], u * polynomial(piece->factor + 1, TERMS - 1, u));
    const twofold square = product_of(x, x);
    const power_of_e p = power_of(-square.high, -square.low);
    twofold power = sum_in_order(1, p.part.high);
    power.low += p.part.low;
    const twofold product = product_of_twofold(power, tail);
    return scaled(product.high + product.low, p.k);
}

double math_erfc(double x)
{
    if (isnan(x))
        return x;
    if (fabs(x) < 0.25)
        return 1 - x * polynomial(ERF_TERM, sizeof ERF_TERM / sizeof *ERF_TERM, x * x);
    return x > 0 ? erfc_of_large(x) : 2 - erfc_of_large(-x);
}

/* ---- angles ---------------------------------------------------------------------- */

/* atan(k / 8) and its rounding error */
static const twofold ATAN_OF_EIGHTHS[] = {
    {0, 0},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};

/* For x from 0 to 1: atan(x) = atan(c) + atan((x - c) / (1 + x c)), c = k / 8 */
static twofold atan_of_small(double x)
{
    const int k = (int)(8 * x + 0.5);
    const double c = k / 8.0, t = k ? (x - c) / (1 + x * c) : x, t2 = t * t;
    const double rest =
        1.0 / 3 -
        t2 *
            (1.0 / 5 -
             t2 * (1.0 / 7 - t2 * (1.0 / 9 - t2 * (1.0 / 11 - t2 * (1.0 / 13 - t2 * (1.0 / 15))))));
    const twofold main = sum_of(ATAN_OF_EIGHTHS[k].high, t);
    return (twofold){main.high, main.low + (ATAN_OF_EIGHTHS[k].low - t * t2 * rest)};
}

double math_atan(double x)
{
    const twofold quarter = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}; /* of a turn: pi / 2 */
    const double size = fabs(x);
    if (!(size > 1)) {
        const twofold angle = atan_of_small(isnan(x) ? 0 : size);
        return isnan(x) ? x : copysign(angle.high + angle.low, x);
    }
    const twofold angle = atan_of_small(1 / size), rest = sum_of(quarter.high, -angle.high);
    return copysign(rest.high + (rest.low + (quarter.low - angle.low)), x);
}

/* sin and cos of r + small, |r| <= pi / 4, by their Taylor series */
static void sin_cos_of_small(double r, double small, double *sine, double *cosine)
{
    static const double sin_term[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
    static const double cos_term[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
    const double r2 = r * r, half = 0.5 * r2, first = 1 - half;
    *sine = r + (r * r2 * polynomial(sin_term, 8, r2) + small * first);
    *cosine = first + (((1 - first) - half) + (r2 * r2 * polynomial(cos_term, 8, r2) - r * small));
}

void math_sin_cos(double angle, double *sine, double *cosine)
{
    /* pi / 2 in three pieces; products of the first two and a small integer are exact */
    const double p1 = 0x1.921fb54400000p+0, p2 = 0x1.0b4611a600000p-34, p3 = 0x1.3198a2e037073p-69;
    const double shifted = angle * 0x1.45f306dc9c883p-1 + ROUNDER, k = shifted - ROUNDER;
    const twofold r = sum_of(angle - k * p1, -k * p2), main = sum_of(r.high, r.low - k * p3);
    double s, c;
    sin_cos_of_small(main.high, main.low, &s, &c);
    const int64_t quadrant = (int64_t)k & 3;
    *sine = quadrant % 2 ? c : s;
    *cosine = quadrant % 2 ? s : c;
    if (quadrant == 2 || quadrant == 3)
        *sine = -*sine;
    if (quadrant == 1 || quadrant == 2)
        *cosine = -*cosine;
}
