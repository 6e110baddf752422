/* Householder reflections with column pivoting, Z P = Q R. Where the rank r is below n, the first r
 * rows of R are factored again from the other side, R' = V T (a complete orthogonal decomposition).
 * The solution of minimum norm is P V T^-T c, where c is the first r entries of Q'b. */
#include "method/baseline/qr.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* The reflection H = I - scale v v' with H x = (beta, 0, ..). v replaces x; beta is returned. */
static double make_reflector(double *x, int64_t n, double *scale)
{
    double length = vector_norm(x, n), beta = x[0] > 0 ? -length : length;
    *scale = 0;
    if (length == 0)
        return 0;
    x[0] -= beta;
    *scale = -1 / (beta * x[0]); /* 2 / v'v */
    return beta;
}

/* x = H x */
static void reflect(const double *v, double scale, double *x, int64_t n)
{
    double along = scale * vector_dot(v, x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] -= along * v[i];
}

static void swap_columns(double *z, int64_t m, int64_t a, int64_t b)
{
    for (int64_t i = 0; a != b && i < m; i++) {
        double saved = z[a * m + i];
        z[a * m + i] = z[b * m + i];
        z[b * m + i] = saved;
    }
}

/* Among columns k.. the one with the largest norm from row k on. */
static int64_t longest_column(const double *z, int64_t m, int64_t n, int64_t k, double *length)
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

/* Leaves R above the diagonal, its diagonal in `diagonal`, the reflections below, and b = Q'b.
 * place[k] = the column at position k. Returns the numerical rank. */
static int64_t qr_factor(double *z, int64_t m, int64_t n, double *b, double least, double *diagonal,
                         int64_t *place)
{
    int64_t most = m < n ? m : n;
    double top = 0;
    for (int64_t k = 0; k < most; k++) {
        double length, scale;
        int64_t best = longest_column(z, m, n, k, &length), was = place[k];
        top = k == 0 ? length : top;
        if (!(length > least * top))
            return k;
        swap_columns(z, m, k, best);
        place[k] = place[best];
        place[best] = was;
        double *v = z + k * m + k;
        diagonal[k] = make_reflector(v, m - k, &scale);
        for (int64_t j = k + 1; j < n; j++)
            reflect(v, scale, z + j * m + k, m - k);
        reflect(v, scale, b + k, m - k);
    }
    return most;
}

/* Solves R x = c for the leading `rank` columns; x holds c on entry. */
static void back_substitute(const double *z, int64_t m, int64_t rank, const double *diagonal,
                            double *x)
{
    for (int64_t k = rank - 1; k >= 0; k--) {
        x[k] /= diagonal[k];
        for (int64_t i = 0; i < k; i++)
            x[i] -= x[k] * z[k * m + i];
    }
}

/* x = V T^-T c with R' = V T. `wide` is R', n x rank by columns; x holds c on entry. */
static void solve_minimum_norm(double *wide, int64_t n, int64_t rank, double *scales,
                               double *diagonal, double *x)
{
    for (int64_t k = 0; k < rank; k++) {
        double *v = wide + k * n + k;
        diagonal[k] = make_reflector(v, n - k, &scales[k]);
        for (int64_t j = k + 1; j < rank; j++)
            reflect(v, scales[k], wide + j * n + k, n - k);
    }
    for (int64_t k = 0; k < rank; k++)
        x[k] = (x[k] - vector_dot(wide + k * n, x, k)) / diagonal[k];
    for (int64_t k = rank - 1; k >= 0; k--)
        reflect(wide + k * n + k, scales[k], x + k, n - k);
}

typedef struct qr_scratch {
    double *diagonal, *scales, *solution, *wide;
    int64_t *place;
} qr_scratch;

static roofs_status scratch_create(qr_scratch *s, int64_t n, roofs_error *err)
{
    const char *what = "least squares";
    TRY(memory_get(&s->diagonal, n, sizeof *s->diagonal, what, err));
    TRY(memory_get(&s->scales, n, sizeof *s->scales, what, err));
    TRY(memory_get(&s->solution, n, sizeof *s->solution, what, err));
    TRY(memory_get(&s->place, n, sizeof *s->place, what, err));
    for (int64_t j = 0; j < n; j++)
        s->place[j] = j;
    return ROOFS_OK;
}

static void scratch_destroy(qr_scratch *s)
{
    memory_free(s->diagonal);
    memory_free(s->scales);
    memory_free(s->solution);
    memory_free(s->wide);
    memory_free(s->place);
}

static roofs_status qr_solve(qr_scratch *s, double *z, int64_t m, int64_t n, double *b,
                             double least, int64_t *rank, roofs_error *err)
{
    *rank = qr_factor(z, m, n, b, least, s->diagonal, s->place);
    memcpy(s->solution, b, (size_t)*rank * sizeof *b);
    if (*rank == n) {
        back_substitute(z, m, n, s->diagonal, s->solution);
        return ROOFS_OK;
    }
    TRY(memory_get(&s->wide, n * *rank, sizeof *s->wide, "least squares", err));
    for (int64_t k = 0; k < *rank; k++)
        for (int64_t j = k; j < n; j++)
            s->wide[k * n + j] = j == k ? s->diagonal[k] : z[j * m + k];
    solve_minimum_norm(s->wide, n, *rank, s->scales, s->diagonal, s->solution);
    return ROOFS_OK;
}

roofs_status qr_least_squares(double *z, int64_t m, int64_t n, double *b, double least, double *x,
                              int64_t *rank, roofs_error *err)
{
    qr_scratch s = {0};
    roofs_status status = scratch_create(&s, n, err);
    if (status == ROOFS_OK)
        status = qr_solve(&s, z, m, n, b, least, rank, err);
    for (int64_t j = 0; status == ROOFS_OK && j < n; j++)
        x[s.place[j]] = s.solution[j];
    scratch_destroy(&s);
    return status;
}

/* Rows of Q'Z = R P' from `count` on are exactly zero, because the factoring used no tolerance. */
static void copy_rows(const qr_scratch *s, const double *z, int64_t m, int64_t n, const double *b,
                      int64_t count, double *rows)
{
    memset(rows, 0, (size_t)(count * (n + 1)) * sizeof *rows);
    for (int64_t i = 0; i < count; i++) {
        double *row = rows + i * (n + 1);
        for (int64_t j = i; j < n; j++)
            row[s->place[j]] = j == i ? s->diagonal[i] : z[j * m + i];
        row[n] = b[i];
    }
}

roofs_status qr_compress(double *z, int64_t m, int64_t n, double *b, double *rows, int64_t *count,
                         roofs_error *err)
{
    qr_scratch s = {0};
    roofs_status status = scratch_create(&s, n, err);
    if (status == ROOFS_OK) {
        *count = qr_factor(z, m, n, b, 0, s.diagonal, s.place);
        copy_rows(&s, z, m, n, b, *count, rows);
    }
    scratch_destroy(&s);
    return status;
}
