/* Products on sparse columns. z = (x - center) factor is -center factor wherever x has no
 * value: sums over all samples are sums over those with a value and a multiple of one sum over
 * the vector, and what is added to all samples is one number, added at the end.
 *
 * Threads share out columns where a column has one result, and ranges of samples where a
 * sample has one: every sum is made by one thread in one order. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

#include <omp.h>

int64_t cpu_sparse_find(const cpu_column *c, int64_t sample)
{
    int64_t low = 0, high = c->count;
    if (high == 0 || c->samples[high - 1] < sample)
        return high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (c->samples[middle] < sample)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const cpu_column *column_of(const device *d, const cpu_part *p, int64_t k)
{
    return cpu_at(d, p->columns[k].place);
}

/* Values are found one by one: a few are as much work as many in a row. */
static int team_of(const device *d, const cpu_part *p)
{
    int64_t values = 0;
    for (int64_t k = 0; k < p->count; k++)
        values += column_of(d, p, k)->count;
    return values < WORTH_THREADS / 4 ? 1 : d->threads;
}

void cpu_sparse_products(device *d, const cpu_part *p, const double *r, double r_sum, double *out)
{
#pragma omp parallel for schedule(dynamic, 8) num_threads(team_of(d, p))
    for (int64_t k = 0; k < p->count; k++) {
        const device_column *c = &p->columns[k];
        double dot = d->s->dot(column_of(d, p, k), r);
        out[cpu_place_in_list(p, k)] = c->factor * (dot - c->center * r_sum);
    }
}

/* The samples of one thread of a team. */
typedef struct range {
    int64_t begin, end;
} range;

static range range_of(const device *d, int team, int me)
{
    return (range){d->shape.n * me / team, d->shape.n * (me + 1) / team};
}

static void add_level(double *out, range own, double level)
{
    for (int64_t i = own.begin; i < own.end; i++)
        out[i] += level;
}

/* out += sum_k d->number[k] (x_k - center_k) */
static void add_numbered(device *d, const cpu_part *p, double *out)
{
    double level = 0;
    for (int64_t k = 0; k < p->count; k++)
        level -= d->number[k] * p->columns[k].center;
#pragma omp parallel num_threads(team_of(d, p))
    {
        const range own = range_of(d, omp_get_num_threads(), omp_get_thread_num());
        for (int64_t k = 0; k < p->count; k++) {
            const cpu_column *c = column_of(d, p, k);
            d->s->add(c, cpu_sparse_find(c, own.begin), cpu_sparse_find(c, own.end), d->number[k],
                      out);
        }
        add_level(out, own, level);
    }
}

void cpu_sparse_add(device *d, const cpu_part *p, const double *weight, double *out)
{
    for (int64_t k = 0; k < p->count; k++)
        d->number[k] = weight[cpu_place_in_list(p, k)] * p->columns[k].factor;
    add_numbered(d, p, out);
}

void cpu_sparse_descend(device *d, const cpu_part *p, const double *r, double *gradient,
                        double *image)
{
    cpu_sparse_products(d, p, r, vector_sum(r, d->shape.n), gradient);
    for (int64_t k = 0; k < p->count; k++) {
        double *slope = &gradient[cpu_place_in_list(p, k)];
        *slope *= p->columns[k].unit;
        d->number[k] = *slope * p->columns[k].unit * p->columns[k].factor;
    }
    add_numbered(d, p, image);
}

/* (x - center)^2 = x (x - 2 center) + center^2, the last for all samples. */
void cpu_sparse_add_squares(device *d, const cpu_part *p, const double *weight, double *out)
{
    double level = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const device_column *c = &p->columns[k];
        d->number[k] = weight[cpu_place_in_list(p, k)] * (c->factor * c->factor);
        level += d->number[k] * (c->center * c->center);
    }
#pragma omp parallel num_threads(team_of(d, p))
    {
        const range own = range_of(d, omp_get_num_threads(), omp_get_thread_num());
        for (int64_t k = 0; k < p->count; k++) {
            const cpu_column *c = column_of(d, p, k);
            d->s->add_squares(c, cpu_sparse_find(c, own.begin), cpu_sparse_find(c, own.end),
                              d->number[k], p->columns[k].center, out);
        }
        add_level(out, own, level);
    }
}

/* ---- Gram matrices ----------------------------------------------------- */

/* z_q'W z_l = factor_q (x_q'W z_l - center_q 1'W z_l): the first over the values of q. */
static double join(const device_column *q, double inner, double total)
{
    return q->factor * (inner - q->center * total);
}

static void put(double *gram, int64_t count, int64_t row, int64_t at, double value)
{
    gram[row * count + at] = value;
    gram[at * count + row] = value;
}

/* Sparse column k against all dense ones, and the sparse ones up to itself. It lies spread
 * out in d->spread, times the weights; `own` is its sum there. */
static void gram_row(device *d, const cpu_part *dense, const cpu_part *sparse, int64_t k,
                     const double *total, const double *weight, double *gram)
{
    const int64_t count = dense->count + sparse->count, row = cpu_place_in_list(sparse, k);
    const device_column *q = &sparse->columns[k];
    const cpu_column *x = column_of(d, sparse, k);
    double own = d->s->dot(x, weight);
    for (int64_t l = 0; l < dense->count; l++) {
        const device_column *c = &dense->columns[l];
        double inner = d->s->dot_dense(x, weight, column_of(d, dense, l)->values, c->center);
        int64_t at = cpu_place_in_list(dense, l);
        put(gram, count, row, at, join(q, c->factor * inner, total[at]));
    }
#pragma omp parallel for schedule(static) num_threads(team_of(d, sparse))
    for (int64_t l = 0; l <= k; l++) {
        const device_column *c = &sparse->columns[l];
        double inner = d->s->dot(column_of(d, sparse, l), d->spread);
        int64_t at = cpu_place_in_list(sparse, l);
        put(gram, count, row, at, join(q, c->factor * (inner - c->center * own), total[at]));
    }
}

void cpu_sparse_gram(device *d, const cpu_part *dense, const cpu_part *sparse, const double *weight,
                     double *gram)
{
    const double sum = vector_sum(weight, d->shape.n);
    cpu_dense_products(d, dense, weight, sum, d->number);
    cpu_sparse_products(d, sparse, weight, sum, d->number);
    for (int64_t k = 0; k < sparse->count; k++) {
        const cpu_column *c = column_of(d, sparse, k);
        d->s->lay_out(c, weight, d->spread);
        gram_row(d, dense, sparse, k, d->number, weight, gram);
        d->s->lay_out(c, NULL, d->spread);
    }
}

/* ---- sweeps ------------------------------------------------------------ */

/* Along a run of sparse columns r and the variance are what is stored plus a level that is
 * the same for all samples: a column then changes the samples that have a value, and the
 * levels. */
typedef struct levels {
    double weight; /* sum of w */
    double slope;  /* sum of w r */
    double r, variance;
} levels;

static void sweep_one(device *d, const device_column *c, int64_t j, const device_sweep *how,
                      levels *all)
{
    const cpu_column *x = cpu_at(d, c->place);
    sparse_sums s;
    d->s->sum(x, c->center, how->weight, how->r, all->r, &s);
    const double rest = all->weight > s.weight ? all->weight - s.weight : 0;
    const double slope[DEVICE_BLOCK] = {c->factor *
                                        (s.off_slope - c->center * (all->slope - s.slope))};
    const double gram[DEVICE_BLOCK][DEVICE_BLOCK] = {
        {c->factor * c->factor * (s.off_square + c->center * c->center * rest)}};
    double delta[DEVICE_BLOCK] = {0}, spread[DEVICE_BLOCK] = {0};
    how->update(how->user, j, 1, slope, gram, delta, spread);
    const sparse_change change = {.center = c->center,
                                  .move = delta[0] * c->factor,
                                  .spread = spread[0] * (c->factor * c->factor)};
    d->s->apply(x, &change, how->r, how->variance);
    all->slope -= change.move * (s.off - c->center * rest);
    all->r += change.move * c->center;
    all->variance += change.spread * (c->center * c->center);
}

void cpu_sparse_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                      const device_sweep *how)
{
    const range every = {0, d->shape.n};
    levels all = {.weight = vector_sum(how->weight, d->shape.n),
                  .slope = vector_dot(how->weight, how->r, d->shape.n)};
    for (int64_t j = begin; j < end; j++)
        sweep_one(d, &columns[j], j, how, &all);
    add_level(how->r, every, all.r);
    add_level(how->variance, every, all.variance);
}
