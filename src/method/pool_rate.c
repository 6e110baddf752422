/* The entries of the pool: which head each looks like, and how well it would do in its place. */
#include "base/memory.h"
#include "linalg/vector.h"
#include "method/pool.h"

#include <math.h>
#include <string.h>

static const double FAMILY = 0.7; /* of heads that share an effect */

/* ---- a column with weighted mean 0 and scale 1 ------------------------------------ */

/* Returns the scale; a column without one becomes 0. */
static double standardise(pool *p, const double *W, double total, double *z)
{
    const int64_t n = p->f->n;
    double mean = 0;
    if (p->f->set.intercept)
        mean = comm_dot(&p->f->comm, W, z, n) / total;
    for (int64_t i = 0; i < n; i++)
        z[i] -= mean;
    const double scale = sqrt(comm_weighted_dot(&p->f->comm, W, z, z, n, p->t) / total);
    const double unit = scale > 0 ? 1 / scale : 0;
    for (int64_t i = 0; i < n; i++)
        z[i] *= unit;
    return scale;
}

static roofs_status fetch_head(pool *p, pool_head *head, const double *W, double total, double *z,
                               roofs_error *err)
{
    TRY(columns_fetch(&p->f->cols, head->column, z, err));
    head->scale = standardise(p, W, total, z);
    return ROOFS_OK;
}

/* The scale of a head, where the device has it without the column. */
static roofs_status measure_head(pool *p, pool_head *head, const double *W, double total,
                                 roofs_error *err)
{
    columns *c = &p->f->cols;
    double sum = 0, square = 0;
    if (!c->ops->products)
        return fetch_head(p, head, W, total, p->h, err);
    if (p->f->set.intercept)
        columns_products(c, &head->column, 1, W, &sum);
    columns_gram(c, &head->column, 1, W, &square);
    head->scale = sqrt(fmax(0, square / total - sum / total * (sum / total)));
    return ROOFS_OK;
}

/* ---- the head of each candidate ----------------------------------------------------- */

/* *out = z't of the column of a head as it is stored, of all ranks. */
static roofs_status product_with(pool *p, const pool_head *head, const double *t, double *out,
                                 roofs_error *err)
{
    columns *c = &p->f->cols;
    if (c->ops->products) {
        columns_products(c, &head->column, 1, t, out);
        return ROOFS_OK;
    }
    TRY(columns_fetch(c, head->column, p->h, err));
    *out = comm_dot(&p->f->comm, p->h, t, p->f->n);
    return ROOFS_OK;
}

/* The correlation of a head with the standardised candidate p->z; p->f_h = W z. Where columns have
 * a mean, W z has the sum 0, so that the mean of the head does not matter. */
static roofs_status correlate(pool *p, pool_head *head, const double *W, double total, double *near,
                              roofs_error *err)
{
    double product = 0;
    if (head->scale < 0)
        TRY(measure_head(p, head, W, total, err));
    TRY(product_with(p, head, p->f_h, &product, err));
    *near = head->scale > 0 ? fabs(product) / (head->scale * total) : 0;
    return ROOFS_OK;
}

/* Compares a candidate with the heads that are new, or with all if it has none. */
static roofs_status compare(pool *p, pool_entry *e, const double *product, const double *W,
                            double total, roofs_error *err)
{
    int is_ready = 0;
    const int has_head = pool_find_head(p, e->head) != NULL;
    if (!has_head) {
        e->head = -1;
        e->near = 0;
    }
    for (int64_t k = 0; k < p->head_count; k++) {
        double near = 0;
        if ((has_head && !p->heads[k].is_new) || product[k] == 0)
            continue;
        if (!is_ready) {
            pool_decode(e, p->f->n, p->z);
            standardise(p, W, total, p->z);
            for (int64_t i = 0; i < p->f->n; i++)
                p->f_h[i] = W[i] * p->z[i];
            is_ready = 1;
        }
        TRY(correlate(p, &p->heads[k], W, total, &near, err));
        if (near > e->near) {
            e->near = near;
            e->head = p->heads[k].feature;
        }
    }
    return ROOFS_OK;
}

/* Whether a candidate must be compared with any head at all. */
static int is_due(const pool *p, const pool_entry *e, int has_new)
{
    return has_new || !pool_find_head(p, e->head);
}

static void fill_values(pool *p, const pool_entry *e, float *row)
{
    const screen *some = &p->some;
    for (int64_t k = 0; k < some->some; k++)
        row[k] = (float)e->codes[some->first + k * some->stride];
    memset(row + some->some, 0, (size_t)(some->length - some->some) * sizeof *row);
}

/* Compares the entries which[0..count). */
static roofs_status compare_entries(pool *p, const int64_t *which, int64_t count, const double *W,
                                    double total, roofs_error *err)
{
    for (int64_t c = 0; c < count; c++)
        fill_values(p, &p->entries[which[c]], p->values + c * p->some.length);
    TRY(pool_compare_chunk(p, count, screen_least(&p->some, POOL_NEAR), err));
    for (int64_t c = 0; c < count; c++)
        TRY(compare(p, &p->entries[which[c]], p->product + c * p->head_count, W, total, err));
    return ROOFS_OK;
}

static roofs_status compare_all(pool *p, const double *W, double total, roofs_error *err)
{
    int64_t which[SCREEN_MOST], count = 0;
    int has_new = 0;
    for (int64_t k = 0; k < p->head_count; k++) {
        has_new |= p->heads[k].is_new;
        p->heads[k].scale = -1;
    }
    for (int64_t k = 0; k < p->count; k++) {
        if (is_due(p, &p->entries[k], has_new))
            which[count++] = k;
        if (count == SCREEN_MOST || (count > 0 && k == p->count - 1)) {
            TRY(compare_entries(p, which, count, W, total, err));
            count = 0;
        }
    }
    return ROOFS_OK;
}

/* ---- in place of the head ----------------------------------------------------------- */

/* p->f_h = the part of the fit that the head, p->h, shares with heads near it. */
static roofs_status share_family(pool *p, int64_t head, const double *W, double total,
                                 roofs_error *err)
{
    const int64_t n = p->f->n;
    TRY(fetch_head(p, &p->heads[head], W, total, p->h, err));
    screen_correlations(&p->some, &p->head_rows, head, 1, &p->head_rows, p->head_count,
                        screen_least(&p->some, FAMILY), p->product);
    memset(p->f_h, 0, (size_t)n * sizeof *p->f_h);
    for (int64_t k = 0; k < p->head_count; k++) {
        if (p->product[k] == 0)
            continue;
        TRY(fetch_head(p, &p->heads[k], W, total, p->z, err));
        if (fabs(comm_weighted_dot(&p->f->comm, W, p->z, p->h, n, p->t)) / total > FAMILY)
            vector_add(p->f_h, p->f->cols.items[p->heads[k].column].coef * p->heads[k].scale, p->z,
                       n);
    }
    return ROOFS_OK;
}

/* delta of an entry; t = W (r + f_h) of its head, whose product with it is `head`. The entry is
 * standardised by its sums over the samples. */
static void rate_entry(pool *p, pool_entry *e, const mixture *m, const double *t, double sum_t,
                       double total, double head)
{
    double sums[3];
    rows_code_sums(e->codes, m->weight, t, p->f->n, sums);
    comm_sum(&p->f->comm, sums, 3);
    const double mean = p->f->set.intercept ? sums[0] / total : 0;
    const double square = sums[1] / total - mean * mean;
    const double own = square > 0 ? (sums[2] - mean * sum_t) / sqrt(square) : 0;
    e->delta = (own * own - head * head) / (2 * m->now.tau2 * total);
}

/* delta of the candidates of one head; the head is in p->h. */
static void rate_family(pool *p, int64_t feature, const mixture *m, double total)
{
    const int64_t n = p->f->n;
    for (int64_t i = 0; i < n; i++)
        p->f_h[i] = m->weight[i] * (m->r[i] + p->f_h[i]);
    const double head = comm_dot(&p->f->comm, p->h, p->f_h, n);
    const double sum_t = comm_total(&p->f->comm, p->f_h, n);
    for (int64_t k = 0; k < p->count; k++) {
        pool_entry *e = &p->entries[k];
        if (e->head == feature && e->near > POOL_NEAR)
            rate_entry(p, e, m, p->f_h, sum_t, total, head);
    }
}

static roofs_status rate_all(pool *p, const mixture *m, double total, roofs_error *err)
{
    for (int64_t h = 0; h < p->head_count; h++) {
        int is_used = 0;
        for (int64_t k = 0; k < p->count && !is_used; k++)
            is_used = p->entries[k].head == p->heads[h].feature && p->entries[k].near > POOL_NEAR;
        if (!is_used)
            continue;
        TRY(share_family(p, h, m->weight, total, err));
        rate_family(p, p->heads[h].feature, m, total);
    }
    return ROOFS_OK;
}

roofs_status pool_rate(pool *p, const mixture *m, roofs_error *err)
{
    for (int64_t k = 0; k < p->count; k++)
        p->entries[k].delta = -INFINITY;
    if (p->count == 0 || p->head_count == 0)
        return ROOFS_OK;
    const double total = comm_total(&p->f->comm, m->weight, p->f->n);
    if (!(total > 0))
        return ROOFS_OK;
    TRY(comm_agree(&p->f->comm, pool_prepare(p, m->weight, err), err));
    TRY(compare_all(p, m->weight, total, err));
    TRY(rate_all(p, m, total, err));
    return comm_status(&p->f->comm, err);
}
