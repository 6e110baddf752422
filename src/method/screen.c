#include "method/screen.h"

#include "base/memory.h"
#include "linalg/lanes.h"

#include <math.h>
#include <string.h>

enum { SOME = 512, FEW = 4 }; /* samples; one in so many of these */

/* A correlation may be wrong by so much on some samples, on a few of them, and on all of them in
 * single precision. */
static const double MARGIN = 0.1, FEW_MARGIN = 0.25, ROUNDING = 1e-3;

/* Mean fourth power of a column of scale 1 that a few samples show: 3 for a normal one. */
static const double RARE = 20;

/* ---- the samples -------------------------------------------------------------- */

void screen_create(screen *s, fit *f)
{
    const int64_t all = comm_samples(&f->comm, f->n), begin = comm_first(&f->comm);
    *s = (screen){.f = f, .stride = all / SOME > 1 ? all / SOME : 1};
    s->first = (s->stride - begin % s->stride) % s->stride;
    s->some = s->first < f->n ? (f->n - 1 - s->first) / s->stride + 1 : 0;
    s->length = lanes_padded(s->some + 1);
    if (all < SOME)
        return;
    const int64_t number = (begin + s->first) / s->stride; /* of the first, over all ranks */
    s->few_first = (FEW - number % FEW) % FEW;
    s->few = s->few_first < s->some ? (s->some - 1 - s->few_first) / FEW + 1 : 0;
    s->few_length = lanes_padded(s->few + 1);
}

void screen_destroy(screen *s)
{
    memory_free(s->weight);
    memory_free(s->rows);
    s->weight = s->rows = NULL;
}

int64_t screen_value_bytes(int64_t n)
{
    return ((n < 2 * SOME ? n : 2 * SOME) + 2 * LANES) * (int64_t)sizeof(float);
}

int64_t screen_row_bytes(int64_t n)
{
    const int64_t few = screen_value_bytes(n) / FEW + 2 * LANES * (int64_t)sizeof(float);
    return few + (int64_t)sizeof(float *) + 3 * (int64_t)sizeof(double) + 1;
}

int64_t screen_bytes(int64_t n)
{
    return (SCREEN_MOST + 2) * screen_value_bytes(n);
}

double screen_least(const screen *s, double near)
{
    return near - (s->stride > 1 ? MARGIN : ROUNDING);
}

roofs_status screen_weigh(screen *s, const double *W, roofs_error *err)
{
    const int64_t length = s->length + 2 * s->few_length;
    if (!s->weight)
        TRY(memory_get(&s->weight, length, sizeof *s->weight, "correlations", err));
    if (!s->rows)
        TRY(memory_get(&s->rows, SCREEN_MOST * s->length, sizeof *s->rows, "correlations", err));
    s->few_weight = s->weight + s->length;
    s->few_root = s->few_weight + s->few_length;
    s->total[0] = s->total[1] = 0;
    for (int64_t k = 0; k < s->some; k++) {
        s->weight[k] = (float)W[s->first + k * s->stride];
        s->total[0] += s->weight[k];
    }
    for (int64_t k = 0; k < s->few; k++) {
        s->few_weight[k] = s->weight[s->few_first + k * FEW];
        s->few_root[k] = sqrtf(s->few_weight[k]);
        s->total[1] += s->few_weight[k];
    }
    comm_sum(&s->f->comm, s->total, 2);
    return ROOFS_OK;
}

/* ---- rows ----------------------------------------------------------------------- */

void screen_take_values(const screen *s, const double *z, float *row)
{
    for (int64_t k = 0; k < s->some; k++)
        row[k] = (float)z[s->first + k * s->stride];
    memset(row + s->some, 0, (size_t)(s->length - s->some) * sizeof *row);
}

static void take_column(const screen *s, int64_t j, float *row)
{
    columns_take(&s->f->cols, j, s->first, s->stride, s->some, row);
    memset(row + s->some, 0, (size_t)(s->length - s->some) * sizeof *row);
}

roofs_status screen_take(const screen *s, int64_t j, double *scratch, float *row, roofs_error *err)
{
    columns *c = &s->f->cols;
    if (c->ops->products) {
        take_column(s, j, row);
        return ROOFS_OK;
    }
    TRY(columns_fetch(c, j, scratch, err));
    screen_take_values(s, scratch, row);
    return ROOFS_OK;
}

typedef struct take_job {
    const screen *s;
    const int64_t *which;
    int64_t count;
    float *rows;
} take_job;

static void take_thread(void *user, int me, int team)
{
    const take_job *t = user;
    const workers_range own = workers_share(t->count, me, team);
    for (int64_t k = own.begin; k < own.end; k++)
        take_column(t->s, t->which[k], t->rows + k * t->s->length);
}

roofs_status screen_take_columns(const screen *s, const int64_t *which, int64_t count,
                                 double *scratch, float *rows, roofs_error *err)
{
    enum { COST = 8 }; /* each value is on another cache line */
    take_job t = {s, which, count, rows};
    if (s->f->cols.ops->products)
        workers_run(s->f->workers, count * s->some * COST, count, take_thread, &t);
    for (int64_t k = 0; k < count && !s->f->cols.ops->products; k++)
        TRY(screen_take(s, which[k], scratch, rows + k * s->length, err));
    return ROOFS_OK;
}

void screen_rows_destroy(screen_rows *rows)
{
    memory_free(rows->some);
    memory_free(rows->shift);
    memory_free(rows->few);
    memory_free(rows->is_rare);
    *rows = (screen_rows){0};
}

/* Rows that pad the list are never read into a result, but must be numbers. */
roofs_status screen_reserve(const screen *s, screen_rows *rows, int64_t count, roofs_error *err)
{
    const char *what = "correlations";
    if (count <= rows->count)
        return ROOFS_OK;
    screen_rows_destroy(rows);
    const int64_t padded = rows_padded(count);
    TRY(memory_get(&rows->some, count, sizeof *rows->some, what, err));
    TRY(memory_get(&rows->shift, 3 * count, sizeof *rows->shift, what, err));
    TRY(memory_get(&rows->few, memory_bytes(padded, s->few_length), sizeof(float), what, err));
    TRY(memory_get(&rows->is_rare, count, 1, what, err));
    rows->unit = rows->shift + 2 * count;
    rows->count = count;
    return ROOFS_OK;
}

/* Sums of a row become its mean and the unit that gives it length 1. */
static void shifts_of(const screen *s, double total, double *sums, int64_t count)
{
    comm_sum(&s->f->comm, sums, 2 * count);
    for (int64_t k = 0; k < count; k++) {
        const double mean = s->f->set.intercept && total > 0 ? sums[2 * k] / total : 0;
        const double square = sums[2 * k + 1] - mean * mean * total;
        sums[2 * k] = mean;
        sums[2 * k + 1] = square > 0 ? 1 / sqrt(square) : 0;
    }
}

/* The few samples are gathered in the place of the result. */
static void measure_few(const screen *s, screen_rows *rows, int64_t from, int64_t count,
                        const float **gathered, double *sums)
{
    float *out = rows->few + from * s->few_length;
    double *fourth = sums + 2 * count;
    for (int64_t k = 0; k < count; k++) {
        float *row = out + k * s->few_length;
        for (int64_t i = 0; i < s->few; i++)
            row[i] = rows->some[from + k][s->few_first + i * FEW];
        memset(row + s->few, 0, (size_t)(s->few_length - s->few) * sizeof *row);
        gathered[k] = row;
    }
    rows_moments(gathered, count, s->few_weight, s->few_length, s->f->workers, sums);
    shifts_of(s, s->total[1], sums, count);
    rows_normalise(gathered, count, s->few_root, s->few_length, s->f->workers, sums, out, fourth);
    comm_sum(&s->f->comm, fourth, count);
    const double most = RARE * FEW / SOME;
    for (int64_t k = 0; k < count; k++)
        rows->is_rare[from + k] = !(sums[2 * k + 1] > 0) || fourth[k] > most;
}

roofs_status screen_measure(const screen *s, screen_rows *rows, int64_t from, int64_t count,
                            roofs_error *err)
{
    double *sums = NULL;
    const float **gathered = NULL;
    if (count == 0)
        return ROOFS_OK;
    double *shift = rows->shift + 2 * from;
    rows_moments(rows->some + from, count, s->weight, s->length, s->f->workers, shift);
    shifts_of(s, s->total[0], shift, count);
    for (int64_t k = 0; k < count; k++)
        rows->unit[from + k] = shift[2 * k + 1];
    if (s->few_length == 0)
        return ROOFS_OK;
    TRY(memory_get(&sums, 3 * count, sizeof *sums, "correlations", err));
    roofs_status status = memory_get(&gathered, count, sizeof *gathered, "correlations", err);
    if (gathered)
        measure_few(s, rows, from, count, gathered, sums);
    memory_free(gathered);
    memory_free(sums);
    return status;
}

/* ---- correlations ------------------------------------------------------------------ */

/* s->rows = W (v - mean) unit: its product with the values of another row times the unit of that
 * row is the correlation. Where there is a mean, the sum of the row is 0, so that the mean of the
 * other row does not matter. */
static void weigh_rows(const screen *s, const screen_rows *rows, int64_t from, int64_t count)
{
    rows_normalise(rows->some + from, count, s->weight, s->length, s->f->workers,
                   rows->shift + 2 * from, s->rows, NULL);
}

double screen_pair(const screen *s, const screen_rows *rows, int64_t k, int64_t l)
{
    weigh_rows(s, rows, k, 1);
    return comm_sum_of(&s->f->comm, rows_pair(s->rows, rows->some[l], s->length) * rows->unit[l]);
}

void screen_correlations(const screen *s, const screen_rows *rows, int64_t from, int64_t count,
                         const screen_rows *other, int64_t others, double least, double *out)
{
    const rows_refined refined = {.rows = s->rows,
                                  .other = other->some,
                                  .unit = other->unit,
                                  .always = rows->is_rare + from,
                                  .other_always = other->is_rare,
                                  .count = count,
                                  .others = others,
                                  .length = s->length,
                                  .w = s->f->workers};
    const double all = -1, further = FEW_MARGIN - (s->stride > 1 ? MARGIN : 0);
    weigh_rows(s, rows, from, count);
    if (s->few_length > 0) {
        rows_products(rows->few + from * s->few_length, count, other->few, others, s->few_length,
                      s->f->workers, out);
        comm_sum(&s->f->comm, out, count * others);
    } else {
        memset(out, 0, (size_t)(count * others) * sizeof *out);
    }
    rows_refine(&refined, s->few_length > 0 ? least - further : all, out);
    comm_sum(&s->f->comm, out, count * others);
    for (int64_t k = 0; k < count * others; k++)
        out[k] = fabs(out[k]) >= least ? out[k] : 0;
}
