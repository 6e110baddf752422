#include "linalg/cholesky.h"

#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static double *row_of(const cholesky *f, int64_t i)
{
    return f->l + i * f->stride;
}

/* Row i of L from row i of G (already in place): forward substitution. */
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
        if (g != f->l)
            memcpy(row_of(f, i), g + i * f->stride, (size_t)(i + 1) * sizeof *g);
        if (!finish_row(f, i, least))
            return 0;
    }
    return 1;
}

int cholesky_append(cholesky *f, const double *row, double least)
{
    memcpy(row_of(f, f->n), row, (size_t)(f->n + 1) * sizeof *row);
    if (!finish_row(f, f->n, least))
        return 0;
    f->n++;
    return 1;
}

/* A rotation of the plane that turns (a, b) into (length, 0). */
static double rotate(double a, double b, double *cosine, double *sine)
{
    double length = hypot(a, b);
    *cosine = length > 0 ? a / length : 1;
    *sine = length > 0 ? b / length : 0;
    return length;
}

/* Without row k, L has one number too many in each row below; rotations of
 * neighbouring columns remove it. */
void cholesky_remove(cholesky *f, int64_t k)
{
    f->n--;
    for (int64_t i = k; i < f->n; i++)
        memmove(row_of(f, i), row_of(f, i + 1), (size_t)(i + 2) * sizeof *f->l);
    for (int64_t j = k; j < f->n; j++) {
        double cosine, sine, *row = row_of(f, j);
        row[j] = rotate(row[j], row[j + 1], &cosine, &sine);
        for (int64_t i = j + 1; i < f->n; i++) {
            double *below = row_of(f, i), left = below[j], right = below[j + 1];
            below[j] = cosine * left + sine * right;
            below[j + 1] = cosine * right - sine * left;
        }
    }
}

void cholesky_update(cholesky *f, double *row)
{
    for (int64_t j = 0; j < f->n; j++) {
        double cosine, sine, *own = row_of(f, j);
        own[j] = rotate(own[j], row[j], &cosine, &sine);
        for (int64_t i = j + 1; i < f->n; i++) {
            double *below = row_of(f, i), left = below[j];
            below[j] = cosine * left + sine * row[i];
            row[i] = cosine * row[i] - sine * left;
        }
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
        for (int64_t i = j + 1; i < f->n; i++) {
            double *below = row_of(f, i);
            below[j] = (below[j] - ratio * row[i]) / cosine;
            row[i] = cosine * row[i] - ratio * below[j];
        }
    }
    return 1;
}

void cholesky_solve(const cholesky *f, double *x)
{
    for (int64_t i = 0; i < f->n; i++)
        x[i] = (x[i] - vector_dot(row_of(f, i), x, i)) / row_of(f, i)[i];
    for (int64_t i = f->n - 1; i >= 0; i--) {
        const double *row = row_of(f, i);
        x[i] /= row[i];
        for (int64_t j = 0; j < i; j++)
            x[j] -= x[i] * row[j];
    }
}
