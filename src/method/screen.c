#include "method/screen.h"

#include "base/memory.h"
#include "linalg/lanes.h"
#include "linalg/rows.h"

#include <math.h>
#include <string.h>

enum { SOME = 512 };

/* A correlation on some samples may be wrong by the first; on all of them, in single precision, by
 * the second. */
static const double MARGIN = 0.1, ROUNDING = 1e-3;

void screen_create(screen *s, fit *f)
{
    const int64_t all = comm_samples(&f->comm, f->n), begin = comm_first(&f->comm);
    *s = (screen){.f = f, .stride = all / SOME > 1 ? all / SOME : 1};
    s->first = (s->stride - begin % s->stride) % s->stride;
    s->some = s->first < f->n ? (f->n - 1 - s->first) / s->stride + 1 : 0;
    s->length = lanes_padded(s->some + 1);
}

void screen_destroy(screen *s)
{
    memory_free(s->root);
    s->root = NULL;
}

int64_t screen_row_bytes(void)
{
    return (2 * SOME + LANES) * (int64_t)sizeof(float);
}

double screen_least(const screen *s, double near)
{
    return near - (s->stride > 1 ? MARGIN : ROUNDING);
}

roofs_status screen_weigh(screen *s, const double *W, roofs_error *err)
{
    if (!s->root)
        TRY(memory_get(&s->root, s->length, sizeof *s->root, "correlations", err));
    s->total = 0;
    for (int64_t k = 0; k < s->some; k++) {
        s->root[k] = (float)sqrt(W[s->first + k * s->stride]);
        s->total += (double)s->root[k] * s->root[k];
    }
    s->total = comm_sum_of(&s->f->comm, s->total);
    return ROOFS_OK;
}

void screen_take(const screen *s, const double *z, float *row)
{
    for (int64_t k = 0; k < s->some; k++)
        row[k] = (float)z[s->first + k * s->stride];
}

/* Sums of the weighted values and of their squares. */
static void sum_row(const screen *s, const float *row, double sums[2])
{
    sums[0] = sums[1] = 0;
    for (int64_t k = 0; k < s->some; k++) {
        const double w = (double)s->root[k] * s->root[k], v = row[k];
        sums[0] += w * v;
        sums[1] += w * v * v;
    }
}

static void normalise_row(const screen *s, const double sums[2], float *row)
{
    const double mean = s->f->set.intercept && s->total > 0 ? sums[0] / s->total : 0;
    const double square = sums[1] - mean * mean * s->total;
    const double unit = square > 0 ? 1 / sqrt(square) : 0;
    for (int64_t k = 0; k < s->some; k++)
        row[k] = (float)((row[k] - mean) * s->root[k] * unit);
    memset(row + s->some, 0, (size_t)(s->length - s->some) * sizeof *row);
}

roofs_status screen_normalise(const screen *s, float *rows, int64_t count, roofs_error *err)
{
    double *sums = NULL;
    TRY(memory_get(&sums, 2 * count, sizeof *sums, "correlations", err));
    for (int64_t k = 0; k < count; k++)
        sum_row(s, rows + k * s->length, sums + 2 * k);
    comm_sum(&s->f->comm, sums, 2 * count);
    for (int64_t k = 0; k < count; k++)
        normalise_row(s, sums + 2 * k, rows + k * s->length);
    memory_free(sums);
    return ROOFS_OK;
}

void screen_products(const screen *s, const float *rows, int64_t count, const float *other,
                     int64_t others, double *out)
{
    rows_products(rows, count, other, others, s->length, s->f->threads, out);
}
