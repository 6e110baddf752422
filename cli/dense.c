#include "cli/dense.h"

#include "cli/arithmetic.h"

#include <float.h>
#include <math.h>
#include <string.h>

int dense_factor(double *a, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        double *row = a + i * m;
        for (int64_t j = 0; j < i; j++)
            row[j] = (row[j] - dot_product(row, a + j * m, j)) / a[j * m + j];
        const double rest = row[i] - dot_product(row, row, i);
        if (!(rest > 0))
            return 0;
        row[i] = sqrt(rest);
    }
    return 1;
}

void dense_forward(const double *l, int64_t m, double *x, int64_t stride, int64_t count)
{
    enum { TILE = 64 }; /* the vectors of a tile stay in cache */
    for (int64_t first = 0; first < count; first += TILE) {
        const int64_t width = count - first < TILE ? count - first : TILE;
        for (int64_t j = 0; j < m; j++) {
            double *to = x + j * stride + first;
            for (int64_t k = 0; k < j; k++) {
                const double factor = l[j * m + k], *from = x + k * stride + first;
                for (int64_t i = 0; i < width; i++)
                    to[i] -= factor * from[i];
            }
            for (int64_t i = 0; i < width; i++)
                to[i] /= l[j * m + j];
        }
    }
}

/* The rows of L^-1 end at the diagonal, so sums over them are short. */
void dense_inverse(const double *l, int64_t m, double *out)
{
    memset(out, 0, (size_t)(m * m) * sizeof *out);
    for (int64_t j = 0; j < m; j++)
        out[j * m + j] = 1;
    dense_forward(l, m, out, m, m);
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = a; b < m; b++) {
            double sum = 0;
            for (int64_t k = b; k < m; k++)
                sum += out[k * m + a] * out[k * m + b];
            out[a * m + b] = sum; /* no later sum reads this entry of L^-1 */
        }
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < a; b++)
            out[a * m + b] = out[b * m + a];
}

/* ---- eigenvalues ------------------------------------------------------- */

/* Turns v into the unit vector of the reflection that maps v to (result, 0, ..., 0). */
static double reflection(double *v, int64_t count)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(v[i]));
    if (largest == 0)
        return 0;
    for (int64_t i = 0; i < count; i++)
        v[i] /= largest;
    const double image = -copysign(sqrt(dot_product(v, v, count)), v[0]);
    v[0] -= image;
    const double length = sqrt(dot_product(v, v, count));
    for (int64_t i = 0; i < count; i++)
        v[i] /= length;
    return image * largest;
}

/* Replaces the last `count` rows and columns of a by their reflection along v. */
static void reflect(double *a, int64_t m, int64_t count, const double *v, double *image)
{
    double *corner = a + (m - count) * (m + 1);
    for (int64_t i = 0; i < count; i++)
        image[i] = dot_product(corner + i * m, v, count);
    const double along = dot_product(image, v, count);
    for (int64_t i = 0; i < count; i++)
        image[i] -= along * v[i];
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < count; j++)
            corner[i * m + j] -= 2 * (v[i] * image[j] + image[i] * v[j]);
}

/* Householder: a matrix with the same eigenvalues and only two diagonals. */
static void tridiagonal(double *a, int64_t m, double *diagonal, double *beside, double *scratch)
{
    double *v = scratch, *image = scratch + m;
    for (int64_t k = 0; k < m; k++) {
        const int64_t rest = m - k - 1;
        diagonal[k] = a[k * m + k];
        beside[k] = 0;
        if (rest == 0)
            break;
        memcpy(v, a + k * m + k + 1, (size_t)rest * sizeof *v);
        beside[k] = reflection(v, rest);
        if (beside[k] != 0)
            reflect(a, m, rest, v, image);
    }
}

/* How many eigenvalues are below x: the signs of the pivots (Sturm). */
static int64_t count_below(const double *diagonal, const double *beside, int64_t m, double x)
{
    int64_t below = 0;
    double pivot = 1;
    for (int64_t k = 0; k < m; k++) {
        const double square = k > 0 ? beside[k - 1] * beside[k - 1] : 0;
        pivot = diagonal[k] - x - (square > 0 ? square / pivot : 0);
        if (pivot == 0)
            pivot = -DBL_MIN;
        below += pivot < 0;
    }
    return below;
}

/* Eigenvalue number `which`, from 0, by bisection between the bounds of Gershgorin. */
static double bisect(const double *diagonal, const double *beside, int64_t m, int64_t which)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < m; k++) {
        const double radius = fabs(beside[k]) + (k > 0 ? fabs(beside[k - 1]) : 0);
        low = fmin(low, diagonal[k] - radius);
        high = fmax(high, diagonal[k] + radius);
    }
    for (;;) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high))
            return high;
        if (count_below(diagonal, beside, m, middle) > which)
            high = middle;
        else
            low = middle;
    }
}

extremes dense_eigenvalues(double *a, int64_t m, double *scratch)
{
    double *diagonal = scratch, *beside = scratch + m;
    tridiagonal(a, m, diagonal, beside, scratch + 2 * m);
    return (extremes){bisect(diagonal, beside, m, 0), bisect(diagonal, beside, m, m - 1)};
}
