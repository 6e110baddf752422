#include "linalg/vector.h"

#include "linalg/lanes_math.h"

#include <math.h>

/* EVERY_WIDTH needs static functions; the exported ones below call these. */

EVERY_WIDTH static double sum_lanes(const double *x, int64_t n)
{
    lanes_sum partial = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes_add(&partial, lanes_load_f64(x + i));
    double total = lanes_sum_total(partial);
    for (; i < n; i++)
        total += x[i];
    return total;
}

EVERY_WIDTH static double dot_lanes(const double *x, const double *y, int64_t n)
{
    lanes_sum partial = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        lanes_add(&partial, lanes_load_f64(x + i) * lanes_load_f64(y + i));
    double total = lanes_sum_total(partial);
    for (; i < n; i++)
        total += x[i] * y[i];
    return total;
}

EVERY_WIDTH static double squares_less_lanes(const double *x, const double *y, int64_t n)
{
    lanes_sum partial = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const lanes a = lanes_load_f64(x + i), b = lanes_load_f64(y + i);
        lanes_add(&partial, (a - b) * (a + b));
    }
    double total = lanes_sum_total(partial);
    for (; i < n; i++)
        total += (x[i] - y[i]) * (x[i] + y[i]);
    return total;
}

EVERY_WIDTH static void add_lanes(double *restrict y, double a, const double *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

EVERY_WIDTH static double largest_lanes(const double *x, int64_t n)
{
    lanes high = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const lanes v = lanes_load_f64(x + i), size = lanes_choose(v < 0, -v, v);
        high = lanes_choose(size > high, size, high);
    }
    double largest = 0;
    for (int l = 0; l < LANES; l++)
        largest = high[l] > largest ? high[l] : largest;
    for (; i < n; i++)
        largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
    return largest;
}

double vector_sum(const double *x, int64_t n)
{
    return sum_lanes(x, n);
}

double vector_dot(const double *x, const double *y, int64_t n)
{
    return dot_lanes(x, y, n);
}

double vector_squares_less(const double *x, const double *y, int64_t n)
{
    return squares_less_lanes(x, y, n);
}

void vector_add(double *y, double a, const double *x, int64_t n)
{
    add_lanes(y, a, x, n);
}

double vector_largest(const double *x, int64_t n)
{
    return largest_lanes(x, n);
}

double vector_norm(const double *x, int64_t n)
{
    return vector_norm_of(x, n, vector_dot(x, x, n));
}

double vector_norm_of(const double *x, int64_t n, double squares)
{
    if (squares > 0x1p-900 && squares < 0x1p1000)
        return sqrt(squares);
    double largest = vector_largest(x, n);
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double scaled = ldexp(x[i], -exponent);
        squares += scaled * scaled;
    }
    return ldexp(sqrt(squares), exponent);
}

double vector_weighted_sum(const double *weight, const double *x, int64_t n)
{
    return weight ? vector_dot(weight, x, n) : vector_sum(x, n);
}

double comm_weighted_sum(comm *c, const double *weight, const double *x, int64_t n)
{
    return comm_sum_of(c, vector_weighted_sum(weight, x, n));
}

double comm_total(comm *c, const double *x, int64_t n)
{
    return comm_sum_of(c, vector_sum(x, n));
}

double comm_dot(comm *c, const double *x, const double *y, int64_t n)
{
    return comm_sum_of(c, vector_dot(x, y, n));
}

double comm_weighted_dot(comm *c, const double *weight, const double *x, const double *y, int64_t n,
                         double *scratch)
{
    for (int64_t i = 0; i < n; i++)
        scratch[i] = weight[i] * x[i];
    return comm_dot(c, scratch, y, n);
}

double comm_cases(comm *c, const double *case_weight, int64_t n)
{
    return case_weight ? comm_total(c, case_weight, n) : (double)comm_count(c, n);
}

double comm_norm(comm *c, const double *x, int64_t n)
{
    return comm_norm_of(c, vector_norm(x, n));
}

double comm_norm_of(comm *c, double own)
{
    if (comm_is_alone(c))
        return own;
    comm_gather(c, &own, sizeof own, c->each);
    return vector_norm(c->each, c->with.size);
}
