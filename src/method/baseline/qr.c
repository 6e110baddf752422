/* Householder reflections with column pivoting, Z P = Q R. Where the rank r is below n,
 * the first r rows of R are factored once more from the other side, R' = V T: the
 * shortest solution is then P V T^-T c. */
#include "method/baseline/qr.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* H = I - scale v v' with H x = (beta, 0, ..); v replaces x, beta is returned. */
static double reflector(double *x, int64_t n, double *scale)
{
    double length = vector_norm(x, n), beta = x[0] > 0 ? -length : length;
    *scale = 0;
    if (length == 0)
        return 0;
    x[0] -= beta;
    *scale = -1 / (beta * x[0]); /* 2 / v'v */
    return beta;
}

static void reflect(const double *v, double scale, double *x, int64_t n)
{
    double along = scale * vector_dot(v, x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] -= along * v[i];
}

static void swap_columns(double *z, int64_t m, int64_t a, int64_t b)
{
    for (int64_t i = 0; a != b && i < m; i++) {
        double kept = z[a * m + i];
        z[a * m + i] = z[b * m + i];
        z[b * m + i] = kept;
    }
}

/* The column from k on with the most left below row k. */
static int64_t longest(const double *z, int64_t m, int64_t n, int64_t k, double *length)
{
    int64_t best = k;
    *length = -1;
    for (int64_t j = k; j < n; j++) {
        double left = vector_norm(z + j * m + k, m - k);
        if (left > *length) {
            *length = left;
            best = j;
        }
    }
    return best;
}

/* R above the diagonal, its diagonal in `diagonal`, the reflectors below. b = Q'b. */
static int64_t factor(double *z, int64_t m, int64_t n, double *b, double least, double *diagonal,
                      int64_t *place)
{
    int64_t most = m < n ? m : n;
    double top = 0;
    for (int64_t k = 0; k < most; k++) {
        double length, scale;
        int64_t best = longest(z, m, n, k, &length), was = place[k];
        top = k == 0 ? length : top;
        if (!(length > least * top))
            return k;
        swap_columns(z, m, k, best);
        place[k] = place[best];
        place[best] = was;
        double *v = z + k * m + k;
        diagonal[k] = reflector(v, m - k, &scale);
        for (int64_t j = k + 1; j < n; j++)
            reflect(v, scale, z + j * m + k, m - k);
        reflect(v, scale, b + k, m - k);
    }
    return most;
}

/* R x = c for the leading rank columns. */
static void back_substitute(const double *z, int64_t m, int64_t rank, const double *diagonal,
                            double *x)
{
    for (int64_t k = rank - 1; k >= 0; k--) {
        x[k] /= diagonal[k];
        for (int64_t i = 0; i < k; i++)
            x[i] -= x[k] * z[k * m + i];
    }
}

/* wide: n x rank by columns, column k is row k of R. R' = V T, x = V T^-T c. */
static void shortest(double *wide, int64_t n, int64_t rank, double *scales, double *diagonal,
                     double *x)
{
    for (int64_t k = 0; k < rank; k++) {
        double *v = wide + k * n + k;
        diagonal[k] = reflector(v, n - k, &scales[k]);
        for (int64_t j = k + 1; j < rank; j++)
            reflect(v, scales[k], wide + j * n + k, n - k);
    }
    for (int64_t k = 0; k < rank; k++)
        x[k] = (x[k] - vector_dot(wide + k * n, x, k)) / diagonal[k];
    for (int64_t k = rank - 1; k >= 0; k--)
        reflect(wide + k * n + k, scales[k], x + k, n - k);
}

typedef struct room {
    double *diagonal, *scales, *solution, *wide;
    int64_t *place;
} room;

static roofs_status solve(room *s, double *z, int64_t m, int64_t n, double *b, double least,
                          int64_t *rank, roofs_error *err)
{
    for (int64_t j = 0; j < n; j++)
        s->place[j] = j;
    *rank = factor(z, m, n, b, least, s->diagonal, s->place);
    memcpy(s->solution, b, (size_t)*rank * sizeof *b);
    if (*rank == n) {
        back_substitute(z, m, n, s->diagonal, s->solution);
        return ROOFS_OK;
    }
    TRY(memory_get(&s->wide, n * *rank, sizeof *s->wide, "least squares", err));
    for (int64_t k = 0; k < *rank; k++)
        for (int64_t j = k; j < n; j++)
            s->wide[k * n + j] = j == k ? s->diagonal[k] : z[j * m + k];
    shortest(s->wide, n, *rank, s->scales, s->diagonal, s->solution);
    return ROOFS_OK;
}

roofs_status qr_least_squares(double *z, int64_t m, int64_t n, double *b, double least, double *x,
                              int64_t *rank, roofs_error *err)
{
    const char *what = "least squares";
    room s = {0};
    roofs_status status = memory_get(&s.diagonal, n, sizeof *s.diagonal, what, err);
    if (status == ROOFS_OK)
        status = memory_get(&s.scales, n, sizeof *s.scales, what, err);
    if (status == ROOFS_OK)
        status = memory_get(&s.solution, n, sizeof *s.solution, what, err);
    if (status == ROOFS_OK)
        status = memory_get(&s.place, n, sizeof *s.place, what, err);
    if (status == ROOFS_OK)
        status = solve(&s, z, m, n, b, least, rank, err);
    for (int64_t j = 0; status == ROOFS_OK && j < n; j++)
        x[s.place[j]] = s.solution[j];
    memory_free(s.diagonal);
    memory_free(s.scales);
    memory_free(s.solution);
    memory_free(s.wide);
    memory_free(s.place);
    return status;
}

/* Q'Z = R P' below row *kept is zero: it needs no tolerance. */
static void keep_rows(const room *s, const double *z, int64_t m, int64_t n, const double *b,
                      int64_t kept, double *rows)
{
    memset(rows, 0, (size_t)(kept * (n + 1)) * sizeof *rows);
    for (int64_t i = 0; i < kept; i++) {
        double *row = rows + i * (n + 1);
        for (int64_t j = i; j < n; j++)
            row[s->place[j]] = j == i ? s->diagonal[i] : z[j * m + i];
        row[n] = b[i];
    }
}

roofs_status qr_compress(double *z, int64_t m, int64_t n, double *b, double *rows, int64_t *kept,
                         roofs_error *err)
{
    room s = {0};
    roofs_status status = memory_get(&s.diagonal, n, sizeof *s.diagonal, "least squares", err);
    if (status == ROOFS_OK)
        status = memory_get(&s.place, n, sizeof *s.place, "least squares", err);
    if (status == ROOFS_OK) {
        for (int64_t j = 0; j < n; j++)
            s.place[j] = j;
        *kept = factor(z, m, n, b, 0, s.diagonal, s.place);
        keep_rows(&s, z, m, n, b, *kept, rows);
    }
    memory_free(s.diagonal);
    memory_free(s.place);
    return status;
}
