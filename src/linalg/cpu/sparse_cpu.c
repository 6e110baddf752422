/* Products on sparse columns. Without a stored value, z = (x - center) factor is -center factor. So
 * a sum over all samples is a sum over the stored values plus a multiple of one sum over the
 * vector, and a sum of columns adds one number to all samples, the level, at the end.
 *
 * Threads divide the columns for results per column, and the samples for results per sample. One
 * thread computes each sum, in a fixed order. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

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

static const cpu_column *subset_column(const device *d, const cpu_subset *p, int64_t k)
{
    return cpu_at(d, p->columns[k].place);
}

typedef struct sparse_job {
    device *d;
    const cpu_subset *p;
    const double *vector;
    double number;
    int squares;   /* of add_columns */
    int64_t count; /* columns of products */
    double *out;
} sparse_job;

/* Indirect addressing makes a sparse value twice as slow as a dense one. */
static int64_t sparse_cost(const device *d, const cpu_subset *p)
{
    int64_t values = 0;
    for (int64_t k = 0; k < p->count; k++)
        values += subset_column(d, p, k)->count;
    return 2 * values;
}

/* Threads divide the columns. */
static void products_thread(void *user, int me, int team)
{
    const sparse_job *s = user;
    const workers_range own = workers_share(s->count, me, team);
    for (int64_t k = own.begin; k < own.end; k++) {
        const device_column *c = &s->p->columns[k];
        const double dot = s->d->s->dot(subset_column(s->d, s->p, k), s->vector);
        s->out[cpu_list_position(s->p, k)] = c->factor * (dot - c->center * s->number);
    }
}

void cpu_sparse_products(device *d, const cpu_subset *p, const double *r, double r_sum, double *out)
{
    sparse_job s = {.d = d, .p = p, .vector = r, .number = r_sum, .count = p->count, .out = out};
    workers_run(d->workers, sparse_cost(d, p), p->count, products_thread, &s);
}

static void add_level(double *out, int64_t begin, int64_t end, double level)
{
    for (int64_t i = begin; i < end; i++)
        out[i] += level;
}

/* Threads divide the samples. */
static void add_thread(void *user, int me, int team)
{
    const sparse_job *s = user;
    const device *d = s->d;
    const workers_range own = workers_share(d->shape.n, me, team);
    for (int64_t k = 0; k < s->p->count; k++) {
        const cpu_column *c = subset_column(d, s->p, k);
        const int64_t from = cpu_sparse_find(c, own.begin), to = cpu_sparse_find(c, own.end);
        if (s->squares)
            d->s->add_squares(c, from, to, d->number[k], s->p->columns[k].center, s->out);
        else
            d->s->add(c, from, to, d->number[k], s->out);
    }
    add_level(s->out, own.begin, own.end, s->number);
}

/* out += level + sum_k d->number[k] x_k, k over the subset; with x_k (x_k - 2 center_k) instead of
 * x_k if `squares` is set. */
static void add_columns(device *d, const cpu_subset *p, int squares, double level, double *out)
{
    sparse_job s = {.d = d, .p = p, .number = level, .squares = squares, .out = out};
    workers_run(d->workers, sparse_cost(d, p), d->shape.n, add_thread, &s);
}

/* out += sum_k d->number[k] (x_k - center_k), k over the subset */
static void add_centred(device *d, const cpu_subset *p, double *out)
{
    double level = 0;
    for (int64_t k = 0; k < p->count; k++)
        level -= d->number[k] * p->columns[k].center;
    add_columns(d, p, 0, level, out);
}

void cpu_sparse_add(device *d, const cpu_subset *p, const double *weight, double *out)
{
    for (int64_t k = 0; k < p->count; k++)
        d->number[k] = weight[cpu_list_position(p, k)] * p->columns[k].factor;
    add_centred(d, p, out);
}

void cpu_sparse_descend(device *d, const cpu_subset *p, const double *r, double *gradient,
                        double *image)
{
    cpu_sparse_products(d, p, r, vector_sum(r, d->shape.n), gradient);
    for (int64_t k = 0; k < p->count; k++) {
        double *slope = &gradient[cpu_list_position(p, k)];
        *slope *= p->columns[k].unit;
        d->number[k] = *slope * p->columns[k].unit * p->columns[k].factor;
    }
    add_centred(d, p, image);
}

/* (x - center)^2 = x (x - 2 center) + center^2; the last summand is the same for all samples. */
void cpu_sparse_add_squares(device *d, const cpu_subset *p, const double *weight, double *out)
{
    double level = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const device_column *c = &p->columns[k];
        d->number[k] = weight[cpu_list_position(p, k)] * (c->factor * c->factor);
        level += d->number[k] * (c->center * c->center);
    }
    add_columns(d, p, 1, level, out);
}

/* ---- Gram matrices ----------------------------------------------------- */

/* z_q'W z_l = factor_q (inner - center_q total) with inner = x_q'W z_l, a sum over the values of q,
 * and total = 1'W z_l. */
static double gram_entry(const device_column *q, double inner, double total)
{
    return q->factor * (inner - q->center * total);
}

static void set_gram_entry(double *gram, int64_t count, int64_t row, int64_t at, double value)
{
    gram[row * count + at] = value;
    gram[at * count + row] = value;
}

typedef struct gram_job {
    const device *d;
    const cpu_subset *sparse;
    int64_t k, count; /* column; of all columns */
    const double *total;
    double own;
    double *gram;
} gram_job;

/* With the sparse columns 0..k, which threads divide. */
static void gram_thread(void *user, int me, int team)
{
    const gram_job *s = user;
    const int64_t row = cpu_list_position(s->sparse, s->k);
    const workers_range share = workers_share(s->k + 1, me, team);
    for (int64_t l = share.begin; l < share.end; l++) {
        const device_column *c = &s->sparse->columns[l];
        const double inner = s->d->s->dot(subset_column(s->d, s->sparse, l), s->d->scattered);
        const int64_t at = cpu_list_position(s->sparse, l);
        set_gram_entry(s->gram, s->count, row, at,
                       gram_entry(&s->sparse->columns[s->k],
                                  c->factor * (inner - c->center * s->own), s->total[at]));
    }
}

/* The Gram entries of sparse column k with all dense columns and with the sparse columns 0..k.
 * d->scattered holds column k times the weights; `own` is their sum. */
static void sparse_gram_row(device *d, const cpu_subset *dense, const cpu_subset *sparse, int64_t k,
                            const double *total, const double *weight, double *gram)
{
    const int64_t count = dense->count + sparse->count, row = cpu_list_position(sparse, k);
    const device_column *q = &sparse->columns[k];
    const cpu_column *x = subset_column(d, sparse, k);
    double own = d->s->dot(x, weight);
    for (int64_t l = 0; l < dense->count; l++) {
        const device_column *c = &dense->columns[l];
        double inner = d->s->dot_dense(x, weight, subset_column(d, dense, l), c->center);
        int64_t at = cpu_list_position(dense, l);
        set_gram_entry(gram, count, row, at, gram_entry(q, c->factor * inner, total[at]));
    }
    gram_job s = {d, sparse, k, count, total, own, gram};
    workers_run(d->workers, sparse_cost(d, sparse), k + 1, gram_thread, &s);
}

void cpu_sparse_gram(device *d, const cpu_subset *dense, const cpu_subset *sparse,
                     const double *weight, double *gram)
{
    const double sum = vector_sum(weight, d->shape.n);
    cpu_dense_products(d, dense, weight, sum, d->number);
    cpu_sparse_products(d, sparse, weight, sum, d->number);
    for (int64_t k = 0; k < sparse->count; k++) {
        const cpu_column *c = subset_column(d, sparse, k);
        d->s->scatter(c, weight, d->scattered);
        sparse_gram_row(d, dense, sparse, k, d->number, weight, gram);
        d->s->scatter(c, NULL, d->scattered);
    }
}

/* ---- sweeps ------------------------------------------------------------ */

/* During a sweep over sparse columns, r and the variance are the stored vectors plus a level that
 * is the same for all samples. A column changes the samples with a stored value, and the levels. */
typedef struct levels {
    double weight; /* sum of w */
    double slope;  /* sum of w r */
    double r, variance;
} levels;

static void sweep_sparse_column(device *d, const device_column *c, int64_t j,
                                const device_sweep *how, levels *all)
{
    const cpu_column *x = cpu_at(d, c->place);
    sparse_sums s;
    d->s->sum(x, c->center, how->weight, how->r, all->r, &s);
    const double others = all->weight > s.weight ? all->weight - s.weight : 0;
    const double slope[DEVICE_BLOCK] = {c->factor *
                                        (s.off_slope - c->center * (all->slope - s.slope))};
    const double gram[DEVICE_BLOCK][DEVICE_BLOCK] = {
        {c->factor * c->factor * (s.off_square + c->center * c->center * others)}};
    double delta[DEVICE_BLOCK] = {0}, spread[DEVICE_BLOCK] = {0};
    how->update(how->user, j, 1, slope, gram, delta, spread);
    const sparse_change change = {.center = c->center,
                                  .move = delta[0] * c->factor,
                                  .spread = spread[0] * (c->factor * c->factor)};
    d->s->apply(x, &change, how->r, how->variance);
    all->slope -= change.move * (s.off - c->center * others);
    all->r += change.move * c->center;
    all->variance += change.spread * (c->center * c->center);
}

void cpu_sparse_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                      const device_sweep *how)
{
    levels all = {.weight = vector_sum(how->weight, d->shape.n),
                  .slope = vector_dot(how->weight, how->r, d->shape.n)};
    for (int64_t j = begin; j < end; j++)
        sweep_sparse_column(d, &columns[j], j, how, &all);
    add_level(how->r, 0, d->shape.n, all.r);
    add_level(how->variance, 0, d->shape.n, all.variance);
}
