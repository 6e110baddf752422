#include "method/baseline/cholesky.h"

#include "linalg/lanes.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static double *factor_row(const cholesky *f, int64_t i)
{
    return f->r + i * f->stride;
}

/* Copies column i of R from row i of the lower triangle to its place. */
static void store_column(cholesky *f, int64_t i)
{
    for (int64_t j = 0; j < i; j++)
        factor_row(f, j)[i] = factor_row(f, i)[j];
}

/* ---- factoring ------------------------------------------------------------- */

/* Row i of R' from row i of G, in place, by forward substitution. */
static int factor_one_row(cholesky *f, int64_t i, double least)
{
    double *row = factor_row(f, i), own = row[i];
    for (int64_t j = 0; j < i; j++)
        row[j] = (row[j] - vector_dot(row, factor_row(f, j), j)) / factor_row(f, j)[j];
    double pivot = own - vector_dot(row, row, i);
    if (!(pivot > least * own))
        return 0;
    row[i] = sqrt(pivot);
    return 1;
}

int cholesky_factor(cholesky *f, const double *g, int64_t n, double least)
{
    f->n = n;
    for (int64_t i = 0; i < n; i++) {
        if (g != f->r)
            memcpy(factor_row(f, i), g + i * f->stride, (size_t)(i + 1) * sizeof *g);
        if (!factor_one_row(f, i, least))
            return 0;
    }
    for (int64_t i = 0; i < n; i++)
        store_column(f, i);
    return 1;
}

/* ---- solving ----------------------------------------------------------------- */

/* Four rows are processed together, so that x is read and written once for all four. Their triangle
 * on the diagonal comes first (head). y may be NULL; otherwise it is solved together with x. */
enum { TOGETHER = 4 };

/* x = R'^-1 x in four rows. own = the results, which the following columns need. */
LANES_INLINE void forward_head(const double *r, int64_t stride, double *x, double own[TOGETHER])
{
    for (int a = 0; a < TOGETHER; a++) {
        own[a] = x[a] /= r[a * stride + a];
        for (int b = a + 1; b < TOGETHER; b++)
            x[b] -= own[a] * r[a * stride + b];
    }
}

/* The last rows, fewer than four. */
LANES_INLINE void forward_last(const cholesky *f, int64_t i, double *x)
{
    for (; i < f->n; i++) {
        x[i] /= f->r[i * f->stride + i];
        for (int64_t j = i + 1; j < f->n; j++)
            x[j] -= x[i] * f->r[i * f->stride + j];
    }
}

LANES_INLINE void forward(const cholesky *f, double *restrict x, double *restrict y)
{
    const int64_t n = f->n, stride = f->stride;
    int64_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        const double *r0 = f->r + i * stride, *r1 = r0 + stride, *r2 = r1 + stride;
        const double *r3 = r2 + stride;
        double p[TOGETHER], q[TOGETHER];
        forward_head(r0 + i, stride, x + i, p);
        if (y)
            forward_head(r0 + i, stride, y + i, q);
        for (int64_t j = i + TOGETHER; j < n; j++) {
            x[j] -= (p[0] * r0[j] + p[1] * r1[j]) + (p[2] * r2[j] + p[3] * r3[j]);
            if (y)
                y[j] -= (q[0] * r0[j] + q[1] * r1[j]) + (q[2] * r2[j] + q[3] * r3[j]);
        }
    }
    forward_last(f, i, x);
    if (y)
        forward_last(f, i, y);
}

/* x = R^-1 x in four rows; sums = those over the columns behind them. */
LANES_INLINE void backward_head(const double *r, int64_t stride, double *x,
                                const lanes sums[TOGETHER])
{
    for (int a = TOGETHER - 1; a >= 0; a--) {
        x[a] -= lanes_total(sums[a]);
        for (int b = a + 1; b < TOGETHER; b++)
            x[a] -= x[b] * r[a * stride + b];
        x[a] /= r[a * stride + a];
    }
}

/* Subtracts the last columns, fewer than eight, from four rows. */
LANES_INLINE void backward_tail(const double *r, int64_t stride, double *x, const double *behind,
                                int64_t count)
{
    for (int a = 0; a < TOGETHER; a++)
        for (int64_t j = 0; j < count; j++)
            x[a] -= r[a * stride + j] * behind[j];
}

LANES_INLINE void backward_last(const cholesky *f, int64_t end, double *x)
{
    for (int64_t i = f->n - 1; i >= end; i--) {
        for (int64_t j = i + 1; j < f->n; j++)
            x[i] -= x[j] * f->r[i * f->stride + j];
        x[i] /= f->r[i * f->stride + i];
    }
}

LANES_INLINE void backward(const cholesky *f, double *restrict x, double *restrict y)
{
    const int64_t n = f->n, stride = f->stride, blocks = n / TOGETHER;
    backward_last(f, blocks * TOGETHER, x);
    if (y)
        backward_last(f, blocks * TOGETHER, y);
    for (int64_t i = (blocks - 1) * TOGETHER; i >= 0; i -= TOGETHER) {
        const double *r = f->r + i * stride;
        lanes s[TOGETHER] = {{0}}, t[TOGETHER] = {{0}};
        int64_t j = i + TOGETHER;
        for (; j + LANES <= n; j += LANES) {
            lanes v = lanes_load_f64(x + j), w = y ? lanes_load_f64(y + j) : v;
#pragma GCC unroll 4
            for (int a = 0; a < TOGETHER; a++) {
                lanes row = lanes_load_f64(r + a * stride + j);
                s[a] += row * v;
                if (y)
                    t[a] += row * w;
            }
        }
        backward_tail(r + j, stride, x + i, x + j, n - j);
        backward_head(r + i, stride, x + i, s);
        if (y) {
            backward_tail(r + j, stride, y + i, y + j, n - j);
            backward_head(r + i, stride, y + i, t);
        }
    }
}

EVERY_WIDTH static void solve_forward(const cholesky *f, double *x)
{
    forward(f, x, NULL);
}

EVERY_WIDTH static void solve_one(const cholesky *f, double *x)
{
    forward(f, x, NULL);
    backward(f, x, NULL);
}

EVERY_WIDTH static void solve_two(const cholesky *f, double *x, double *y)
{
    forward(f, x, y);
    backward(f, x, y);
}

void cholesky_solve(const cholesky *f, double *x)
{
    solve_one(f, x);
}

void cholesky_solve_two(const cholesky *f, double *x, double *y)
{
    solve_two(f, x, y);
}

/* ---- appending and removing columns ------------------------------------------ */

int cholesky_append(cholesky *f, const double *row, double least)
{
    const int64_t n = f->n;
    double *own = factor_row(f, n); /* below the diagonal: scratch */
    memcpy(own, row, (size_t)n * sizeof *row);
    solve_forward(f, own);
    double pivot = row[n] - vector_dot(own, own, n);
    if (!(pivot > least * row[n]))
        return 0;
    own[n] = sqrt(pivot);
    store_column(f, n);
    f->n++;
    return 1;
}

/* The Givens rotation of (a, b) to (length, 0). Squares of entries of R do not overflow, because G
 * is their sum. */
static double make_rotation(double a, double b, double *cosine, double *sine)
{
    double length = sqrt(a * a + b * b);
    *cosine = length > 0 ? a / length : 1;
    *sine = length > 0 ? b / length : 0;
    return length;
}

EVERY_WIDTH static void rotate_rows(double *restrict a, double *restrict b, double cosine,
                                    double sine, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double left = a[i], right = b[i];
        a[i] = cosine * left + sine * right;
        b[i] = cosine * right - sine * left;
    }
}

/* Without column k, R has one entry below the diagonal in each later column. Rotations of
 * neighbouring rows remove it. */
void cholesky_remove(cholesky *f, int64_t k)
{
    f->n--;
    for (int64_t i = 0; i <= f->n; i++) {
        int64_t from = i < k ? k : i - (i > k);
        memmove(factor_row(f, i) + from, factor_row(f, i) + from + 1,
                (size_t)(f->n - from) * sizeof *f->r);
    }
    for (int64_t j = k; j < f->n; j++) {
        double cosine, sine, *row = factor_row(f, j), *below = factor_row(f, j + 1);
        row[j] = make_rotation(row[j], below[j], &cosine, &sine);
        rotate_rows(row + j + 1, below + j + 1, cosine, sine, f->n - j - 1);
    }
}

/* ---- adding and removing rows ------------------------------------------------- */

void cholesky_update(cholesky *f, double *row)
{
    for (int64_t j = 0; j < f->n; j++) {
        double cosine, sine, *own = factor_row(f, j);
        own[j] = make_rotation(own[j], row[j], &cosine, &sine);
        rotate_rows(own + j + 1, row + j + 1, cosine, sine, f->n - j - 1);
    }
}

EVERY_WIDTH static void downdate_rows(double *restrict own, double *restrict row, double cosine,
                                      double ratio, int64_t n)
{
    const double inverse = 1 / cosine;
    for (int64_t i = 0; i < n; i++) {
        own[i] = (own[i] - ratio * row[i]) * inverse;
        row[i] = cosine * row[i] - ratio * own[i];
    }
}

/* Hyperbolic rotations in their mixed form, which does not amplify rounding. */
int cholesky_downdate(cholesky *f, double *row)
{
    for (int64_t j = 0; j < f->n; j++) {
        double *own = factor_row(f, j), ratio = row[j] / own[j];
        double square = (1 - ratio) * (1 + ratio);
        if (!(square > 1e-10))
            return 0;
        double cosine = sqrt(square);
        own[j] *= cosine;
        downdate_rows(own + j + 1, row + j + 1, cosine, ratio, f->n - j - 1);
    }
    return 1;
}
