#include "method/baseline/cholesky.h"

#include "linalg/lanes.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static double *row_of(const cholesky *f, int64_t i)
{
    return f->r + i * f->stride;
}

/* Column i of R, found in the lower half as a row, goes where it belongs. */
static void mirror(cholesky *f, int64_t i)
{
    for (int64_t j = 0; j < i; j++)
        row_of(f, j)[i] = row_of(f, i)[j];
}

/* ---- made at once ---------------------------------------------------------- */

/* Row i of R' from row i of G (already in place): forward substitution. */
static int finish_row(cholesky *f, int64_t i, double least)
{
    double *row = row_of(f, i), own = row[i];
    for (int64_t j = 0; j < i; j++)
        row[j] = (row[j] - vector_dot(row, row_of(f, j), j)) / row_of(f, j)[j];
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
            memcpy(row_of(f, i), g + i * f->stride, (size_t)(i + 1) * sizeof *g);
        if (!finish_row(f, i, least))
            return 0;
    }
    for (int64_t i = 0; i < n; i++)
        mirror(f, i);
    return 1;
}

/* ---- solving ----------------------------------------------------------------- */

/* Rows are used four at a time, so that x is read and written once for all of them; the
 * small triangle they begin with is done by hand. Where there is a y, it goes along with x:
 * the factor is read once for both. */
enum { TOGETHER = 4 };

/* x = R'^-1 x in four rows; own = what they take from the columns behind them. */
LANES_INLINE void down_head(const double *r, int64_t stride, double *x, double own[TOGETHER])
{
    for (int a = 0; a < TOGETHER; a++) {
        own[a] = x[a] /= r[a * stride + a];
        for (int b = a + 1; b < TOGETHER; b++)
            x[b] -= own[a] * r[a * stride + b];
    }
}

LANES_INLINE void down_rest(const cholesky *f, int64_t i, double *x)
{
    for (; i < f->n; i++) {
        x[i] /= f->r[i * f->stride + i];
        for (int64_t j = i + 1; j < f->n; j++)
            x[j] -= x[i] * f->r[i * f->stride + j];
    }
}

LANES_INLINE void down(const cholesky *f, double *restrict x, double *restrict y)
{
    const int64_t n = f->n, stride = f->stride;
    int64_t i = 0;
    for (; i + TOGETHER <= n; i += TOGETHER) {
        const double *r0 = f->r + i * stride, *r1 = r0 + stride, *r2 = r1 + stride;
        const double *r3 = r2 + stride;
        double p[TOGETHER], q[TOGETHER];
        down_head(r0 + i, stride, x + i, p);
        if (y)
            down_head(r0 + i, stride, y + i, q);
        for (int64_t j = i + TOGETHER; j < n; j++) {
            x[j] -= (p[0] * r0[j] + p[1] * r1[j]) + (p[2] * r2[j] + p[3] * r3[j]);
            if (y)
                y[j] -= (q[0] * r0[j] + q[1] * r1[j]) + (q[2] * r2[j] + q[3] * r3[j]);
        }
    }
    down_rest(f, i, x);
    if (y)
        down_rest(f, i, y);
}

/* x = R^-1 x in four rows, where what the columns behind them take is known. */
LANES_INLINE void up_head(const double *r, int64_t stride, double *x, const lanes taken[TOGETHER])
{
    for (int a = TOGETHER - 1; a >= 0; a--) {
        x[a] -= lanes_total(taken[a]);
        for (int b = a + 1; b < TOGETHER; b++)
            x[a] -= x[b] * r[a * stride + b];
        x[a] /= r[a * stride + a];
    }
}

/* What the last few columns take from four rows. */
LANES_INLINE void up_few(const double *r, int64_t stride, double *x, const double *behind,
                         int64_t count)
{
    for (int a = 0; a < TOGETHER; a++)
        for (int64_t j = 0; j < count; j++)
            x[a] -= r[a * stride + j] * behind[j];
}

LANES_INLINE void up_rest(const cholesky *f, int64_t end, double *x)
{
    for (int64_t i = f->n - 1; i >= end; i--) {
        for (int64_t j = i + 1; j < f->n; j++)
            x[i] -= x[j] * f->r[i * f->stride + j];
        x[i] /= f->r[i * f->stride + i];
    }
}

LANES_INLINE void up(const cholesky *f, double *restrict x, double *restrict y)
{
    const int64_t n = f->n, stride = f->stride, blocks = n / TOGETHER;
    up_rest(f, blocks * TOGETHER, x);
    if (y)
        up_rest(f, blocks * TOGETHER, y);
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
        up_few(r + j, stride, x + i, x + j, n - j);
        up_head(r + i, stride, x + i, s);
        if (y) {
            up_few(r + j, stride, y + i, y + j, n - j);
            up_head(r + i, stride, y + i, t);
        }
    }
}

EVERY_WIDTH static void solve_down(const cholesky *f, double *x)
{
    down(f, x, NULL);
}

EVERY_WIDTH static void solve(const cholesky *f, double *x)
{
    down(f, x, NULL);
    up(f, x, NULL);
}

EVERY_WIDTH static void solve_two(const cholesky *f, double *x, double *y)
{
    down(f, x, y);
    up(f, x, y);
}

void cholesky_solve(const cholesky *f, double *x)
{
    solve(f, x);
}

void cholesky_solve_two(const cholesky *f, double *x, double *y)
{
    solve_two(f, x, y);
}

/* ---- columns join and leave ------------------------------------------------- */

int cholesky_append(cholesky *f, const double *row, double least)
{
    const int64_t n = f->n;
    double *own = row_of(f, n); /* below the diagonal: free to be used */
    memcpy(own, row, (size_t)n * sizeof *row);
    solve_down(f, own);
    double pivot = row[n] - vector_dot(own, own, n);
    if (!(pivot > least * row[n]))
        return 0;
    own[n] = sqrt(pivot);
    mirror(f, n);
    f->n++;
    return 1;
}

/* A rotation of the plane that turns (a, b) into (length, 0). Squares of what is in a
 * factor do not overflow: they were sums of products before. */
static double rotate(double a, double b, double *cosine, double *sine)
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

/* Without column k, R has one number below the diagonal in each column after it; rotations
 * of neighbouring rows remove it. */
void cholesky_remove(cholesky *f, int64_t k)
{
    f->n--;
    for (int64_t i = 0; i <= f->n; i++) {
        int64_t from = i < k ? k : i - (i > k);
        memmove(row_of(f, i) + from, row_of(f, i) + from + 1, (size_t)(f->n - from) * sizeof *f->r);
    }
    for (int64_t j = k; j < f->n; j++) {
        double cosine, sine, *row = row_of(f, j), *below = row_of(f, j + 1);
        row[j] = rotate(row[j], below[j], &cosine, &sine);
        rotate_rows(row + j + 1, below + j + 1, cosine, sine, f->n - j - 1);
    }
}

/* ---- rows join and leave ------------------------------------------------------ */

void cholesky_update(cholesky *f, double *row)
{
    for (int64_t j = 0; j < f->n; j++) {
        double cosine, sine, *own = row_of(f, j);
        own[j] = rotate(own[j], row[j], &cosine, &sine);
        rotate_rows(own + j + 1, row + j + 1, cosine, sine, f->n - j - 1);
    }
}

EVERY_WIDTH static void turn_back(double *restrict own, double *restrict row, double cosine,
                                  double ratio, int64_t n)
{
    const double inverse = 1 / cosine;
    for (int64_t i = 0; i < n; i++) {
        own[i] = (own[i] - ratio * row[i]) * inverse;
        row[i] = cosine * row[i] - ratio * own[i];
    }
}

/* Hyperbolic rotations, in the mixed form that does not amplify rounding. */
int cholesky_downdate(cholesky *f, double *row)
{
    for (int64_t j = 0; j < f->n; j++) {
        double *own = row_of(f, j), ratio = row[j] / own[j];
        double rest = (1 - ratio) * (1 + ratio);
        if (!(rest > 1e-10))
            return 0;
        double cosine = sqrt(rest);
        own[j] *= cosine;
        turn_back(own + j + 1, row + j + 1, cosine, ratio, f->n - j - 1);
    }
    return 1;
}
