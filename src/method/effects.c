#include "method/effects.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/portable_math.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static const double MOST = 0.2;       /* effects, in units of the clean samples */
static const double SETTLED = 1e-3;   /* change of a fit, in units of the noise */
static const double EXPLAINED = 1e-6; /* scale below which forced columns explain a column */

enum { MOST_ROUNDS = 30, VARIANCES = 16, CACHE = 16, HELD = 1 << 25 }; /* bytes */

/* ---- life --------------------------------------------------------------------- */

/* Bytes of all columns as numbers; 0 if they are too many. */
static int64_t held_bytes(int64_t count, int64_t n)
{
    const int64_t bytes = memory_bytes(memory_bytes(count, lanes_padded(n)), sizeof(double));
    return bytes <= HELD ? bytes : 0;
}

int64_t effects_bytes(const roofs_settings *set, int64_t n)
{
    enum { LISTS = 10 };
    const int64_t all = memory_sum(memory_sum(set->mu, set->always), pool_capacity(set));
    int64_t rows = memory_bytes(all, screen_value_bytes(n) + screen_row_bytes(n) + LISTS * 8);
    rows = memory_sum(rows, screen_bytes(n));
    if (set->groups == ROOFS_GROUPS_OFF)
        return 0;
    const int64_t held = memory_bytes(memory_bytes(all, n + LANES), sizeof(double));
    rows = memory_sum(rows, held < HELD ? held : HELD);
    if (set->always > 0)
        rows = memory_sum(rows, memory_bytes(memory_bytes(set->always + 1, n + LANES), 8));
    return memory_sum(rows, memory_bytes(n + LANES, (4 + 3 + CACHE) * sizeof(double)));
}

static roofs_status allocate(effects *e, roofs_error *err)
{
    const int64_t n = lanes_padded(e->f->n);
    const char *what = "the groups of features";
    TRY(memory_get(&e->r, (4 + CACHE) * n, sizeof *e->r, what, err));
    e->z = e->r + n;
    e->h = e->z + n;
    e->t = e->h + n;
    e->cache = e->t + n;
    TRY(memory_get(&e->mean, 4 * e->columns, sizeof *e->mean, what, err));
    e->scale = e->mean + e->columns;
    e->product = e->scale + e->columns;
    e->largest = e->product + e->columns;
    TRY(memory_get(&e->swept, e->kept, sizeof *e->swept, what, err));
    TRY(memory_get(&e->values, memory_bytes(e->columns, e->some.length), sizeof *e->values, what,
                   err));
    return screen_reserve(&e->some, &e->rows, e->columns, err);
}

/* A column less what forced columns explain of it; a forced one is 0. */
static roofs_status raw_column(effects *e, int64_t k, double *out, roofs_error *err)
{
    if (k < e->kept && fit_is_forced(e->f, k)) {
        memset(out, 0, (size_t)e->f->n * sizeof *out);
        return ROOFS_OK;
    }
    if (k < e->kept)
        TRY(columns_fetch(&e->f->cols, k, out, err));
    else
        pool_decode(&e->p->entries[k - e->kept], e->f->n, out);
    effects_remove_forced(e, out);
    return ROOFS_OK;
}

static roofs_status standard_column(effects *e, int64_t k, double *out, roofs_error *err)
{
    TRY(raw_column(e, k, out, err));
    const double unit = e->scale[k] > 0 ? 1 / e->scale[k] : 0;
    for (int64_t i = 0; i < e->f->n; i++)
        out[i] = (out[i] - e->mean[k]) * unit;
    return ROOFS_OK;
}

roofs_status effects_column(effects *e, int64_t k, double *out, roofs_error *err)
{
    if (!e->all)
        return standard_column(e, k, out, err);
    memcpy(out, e->all + k * lanes_padded(e->f->n), (size_t)e->f->n * sizeof *out);
    return ROOFS_OK;
}

double effects_correlation(effects *e, const double *x, const double *y)
{
    return comm_weighted_dot(&e->f->comm, e->W, x, y, e->f->n, e->t) / e->total;
}

/* Few columns are held as numbers. */
static roofs_status hold_columns(effects *e, roofs_error *err)
{
    const int64_t n = lanes_padded(e->f->n);
    double *all = NULL;
    if (held_bytes(e->columns, n) == 0)
        return ROOFS_OK;
    TRY(memory_get(&all, e->columns * n, sizeof *all, "the groups of features", err));
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < e->columns && status == ROOFS_OK; k++)
        status = standard_column(e, k, all + k * n, err);
    e->all = all;
    return status;
}

/* Mean, scale and largest value of column k, and its values on some samples. */
static roofs_status measure_column(effects *e, int64_t k, float *values, roofs_error *err)
{
    const int64_t n = e->f->n;
    TRY(raw_column(e, k, e->z, err));
    screen_take_values(&e->some, e->z, values);
    e->mean[k] = e->f->set.intercept ? comm_dot(&e->f->comm, e->W, e->z, n) / e->total : 0;
    for (int64_t i = 0; i < n; i++)
        e->z[i] -= e->mean[k];
    e->scale[k] = sqrt(effects_correlation(e, e->z, e->z));
    if (e->forced > 0 && e->scale[k] < EXPLAINED)
        e->scale[k] = 0;
    const double largest = comm_largest_of(&e->f->comm, vector_largest(e->z, n));
    e->largest[k] = e->scale[k] > 0 ? largest / e->scale[k] : 0;
    return ROOFS_OK;
}

static roofs_status measure_columns(effects *e, roofs_error *err)
{
    for (int64_t k = 0; k < e->columns; k++) {
        float *values = e->values + k * e->some.length;
        e->rows.some[k] = values;
        TRY(measure_column(e, k, values, err));
    }
    TRY(screen_weigh(&e->some, e->W, err));
    TRY(screen_measure(&e->some, &e->rows, 0, e->columns, err));
    return hold_columns(e, err);
}

/* s2, and kappa: how much a sample shows, against its weight. */
static void learn_scale(effects *e)
{
    double sums[2] = {0}, spread = 0;
    for (int64_t i = 0; i < e->f->n; i++) {
        const double square = e->W[i] * e->r[i] * e->r[i], cases = fit_cases(e->f, i);
        sums[0] += square;
        sums[1] += cases > 0 ? e->W[i] / cases * square : 0;
    }
    comm_sum(&e->f->comm, sums, 2);
    for (int64_t l = 0; l < e->count; l++)
        spread += e->items[l].spread;
    const double free = e->clean - 1 - (double)e->forced;
    e->s2 = fmax((sums[0] + e->total * spread) / fmax(free, 1), 1e-12 * e->variance);
    e->kappa = sums[0] > 0 ? fmin(1, sums[1] / sums[0]) : 1;
}

static void centre_residual(effects *e)
{
    const int64_t n = e->f->n;
    if (!e->f->set.intercept)
        return;
    const double mean = comm_dot(&e->f->comm, e->W, e->r, n) / e->total;
    for (int64_t i = 0; i < n; i++)
        e->r[i] -= mean;
}

roofs_status effects_create(effects *e, fit *f, const pool *p, const double *y, const double *W,
                            const double *w, roofs_error *err)
{
    *e = (effects){.f = f, .p = p, .W = W, .kept = f->cols.count};
    e->columns = e->kept + p->count;
    e->total = fmax(comm_total(&f->comm, W, f->n), 1e-300);
    e->clean = comm_total(&f->comm, w, f->n);
    screen_create(&e->some, f);
    TRY(comm_agree(&f->comm, allocate(e, err), err));
    TRY(effects_find_basis(e, err));
    TRY(measure_columns(e, err));
    memcpy(e->r, y, (size_t)f->n * sizeof *e->r);
    centre_residual(e);
    effects_remove_forced(e, e->r);
    e->variance = effects_correlation(e, e->r, e->r);
    learn_scale(e);
    return comm_status(&f->comm, err);
}

void effects_destroy(effects *e)
{
    for (int64_t l = 0; l < e->count; l++) {
        memory_free(e->items[l].near);
        memory_free(e->items[l].alpha);
    }
    memory_free(e->items);
    memory_free(e->r);
    memory_free(e->mean);
    memory_free(e->swept);
    screen_rows_destroy(&e->rows);
    memory_free(e->values);
    memory_free(e->all);
    memory_free(e->basis);
    screen_destroy(&e->some);
    *e = (effects){0};
}

/* ---- columns near a head --------------------------------------------------------- */

/* e->product[k] = correlation of column k with `head` where it is large, else 0; the head goes to
 * e->h. Returns the number of large ones in *count. */
static roofs_status find_near(effects *e, int64_t head, int64_t *count, roofs_error *err)
{
    *count = 0;
    screen_correlations(&e->some, &e->rows, head, 1, &e->rows, e->columns,
                        screen_least(&e->some, POOL_NEAR), e->product);
    TRY(effects_column(e, head, e->h, err));
    for (int64_t k = 0; k < e->columns; k++) {
        if (e->product[k] == 0)
            continue;
        e->product[k] = 0;
        double found = e->scale[k] > 0; /* of the head with itself */
        if (k != head) {
            TRY(effects_column(e, k, e->z, err));
            found = effects_correlation(e, e->z, e->h);
        }
        if (fabs(found) > POOL_NEAR) {
            e->product[k] = found;
            ++*count;
        }
    }
    return ROOFS_OK;
}

/* A new effect with the columns of e->product that are near; its part of the fit is coef e->h. */
static roofs_status add_effect(effects *e, int64_t head, int64_t count, double coef,
                               roofs_error *err)
{
    const char *what = "the groups of features";
    effect new = {.head = head, .count = count, .a = 1};
    TRY(memory_grow(&e->items, &e->reserved, e->count + 1, sizeof *e->items, what, err));
    TRY(memory_get(&new.near, count, sizeof *new.near, what, err));
    e->items[e->count++] = new;
    effect *l = &e->items[e->count - 1];
    TRY(memory_get(&l->alpha, 3 * count, sizeof *l->alpha, what, err));
    l->mean = l->alpha + count;
    l->coef = l->mean + count;
    int64_t at = 0;
    for (int64_t k = 0; k < e->columns; k++)
        if (e->product[k] != 0) {
            l->coef[at] = k == head ? coef : 0;
            l->near[at++] = k;
        }
    vector_add(e->r, -coef, e->h, e->f->n);
    return ROOFS_OK;
}

/* ---- one effect ---------------------------------------------------------------------- */

static double variance_of_estimate(const effects *e)
{
    return e->s2 / (e->kappa * e->total);
}

/* Effects per feature. */
static double effects_per_feature(const effects *e)
{
    double sum = 0;
    for (int64_t l = 0; l < e->count; l++)
        sum += e->items[l].a;
    return fmax(1, sum) / fmax(1, (double)fit_free_seen(e->f));
}

/* The log of the mean Bayes factor for a variance v of the effect; alpha = the factors. */
static double mean_factor(const effect *l, const double *c, double v, double S, double *alpha)
{
    const double none = -0.5 * math_log1p(v / S), each = v / (2 * S * (v + S));
    double largest = -INFINITY, sum = 0;
    for (int64_t k = 0; k < l->count; k++) {
        alpha[k] = none + c[k] * c[k] * each;
        largest = alpha[k] > largest ? alpha[k] : largest;
    }
    for (int64_t k = 0; k < l->count; k++) {
        alpha[k] = math_exp(alpha[k] - largest);
        sum += alpha[k];
    }
    for (int64_t k = 0; k < l->count; k++)
        alpha[k] /= sum;
    return largest + math_log(sum / (double)l->count);
}

void effects_decide(effects *e, effect *l, const double *c)
{
    const double S = variance_of_estimate(e);
    double best = -INFINITY, chosen = 0, largest = 0;
    for (int k = 0; k < VARIANCES; k++) {
        const double v = e->variance * math_pow(10, -3 + k / 5.0);
        const double found = mean_factor(l, c, v, S, l->alpha);
        if (found > best) {
            best = found;
            chosen = v;
        }
    }
    l->log_bf = mean_factor(l, c, chosen, S, l->alpha);
    l->variance = chosen * S / (chosen + S);
    for (int64_t k = 0; k < l->count; k++) {
        l->mean[k] = c[k] * chosen / (chosen + S);
        largest = fmax(largest, fabs(c[k]));
    }
    l->z = largest / sqrt(S);
    const double odds = (double)l->count * effects_per_feature(e);
    l->a = odds < 1 ? 1 / (1 + (1 - odds) / odds * math_exp(-l->log_bf)) : 1;
    for (int64_t k = 0; k < l->count; k++)
        l->coef[k] = l->a * l->alpha[k] * l->mean[k];
}

/* A column of the effect: from memory, or into e->z. */
static roofs_status column_of(effects *e, const effect *l, int64_t k, double **z, roofs_error *err)
{
    if (e->all) {
        *z = e->all + l->near[k] * lanes_padded(e->f->n);
        return ROOFS_OK;
    }
    *z = l->count <= CACHE ? e->cache + k * lanes_padded(e->f->n) : e->z;
    return l->count <= CACHE ? ROOFS_OK : effects_column(e, l->near[k], *z, err);
}

static roofs_status fill_cache(effects *e, const effect *l, roofs_error *err)
{
    for (int64_t k = 0; !e->all && k < l->count && l->count <= CACHE; k++)
        TRY(effects_column(e, l->near[k], e->cache + k * lanes_padded(e->f->n), err));
    return ROOFS_OK;
}

/* e->h = the part of the effect in the fit. */
static roofs_status part_of(effects *e, const effect *l, roofs_error *err)
{
    double *z = NULL;
    memset(e->h, 0, (size_t)e->f->n * sizeof *e->h);
    for (int64_t k = 0; k < l->count; k++)
        if (l->coef[k] != 0) {
            TRY(column_of(e, l, k, &z, err));
            vector_add(e->h, l->coef[k], z, e->f->n);
        }
    return ROOFS_OK;
}

/* c = Z'W r / sum W over the columns of the effect. */
static roofs_status products(effects *e, const effect *l, double *c, roofs_error *err)
{
    const int64_t n = e->f->n;
    double *z = NULL;
    for (int64_t i = 0; i < n; i++)
        e->t[i] = e->W[i] * e->r[i];
    for (int64_t k = 0; k < l->count; k++) {
        TRY(column_of(e, l, k, &z, err));
        c[k] = vector_dot(z, e->t, n) / e->total;
    }
    comm_sum(&e->f->comm, c, l->count);
    return ROOFS_OK;
}

/* Fits one effect to the residual without it. *moved = the largest change of the fit. */
static roofs_status fit_effect(effects *e, effect *l, double *moved, roofs_error *err)
{
    const int64_t n = e->f->n;
    double second = 0, largest = 0;
    TRY(fill_cache(e, l, err));
    TRY(part_of(e, l, err));
    vector_add(e->r, 1, e->h, n);
    TRY(products(e, l, e->product, err));
    for (int64_t i = 0; i < n; i++)
        e->t[i] = e->h[i]; /* part_of does not use e->t */
    effects_decide(e, l, e->product);
    TRY(part_of(e, l, err));
    for (int64_t i = 0; i < n; i++) {
        const double off = fabs(e->h[i] - e->t[i]);
        largest = off > largest ? off : largest;
    }
    vector_add(e->r, -1, e->h, n);
    *moved = fmax(*moved, comm_largest_of(&e->f->comm, largest));
    for (int64_t k = 0; k < l->count; k++)
        second += l->alpha[k] * (l->mean[k] * l->mean[k] + l->variance);
    l->spread = fmax(0, l->a * second - effects_correlation(e, e->h, e->h));
    return ROOFS_OK;
}

/* Fits all effects in order, those of one column together. */
static roofs_status fit_all(effects *e, double *moved, roofs_error *err)
{
    for (int64_t first = 0, end; first < e->count; first = end) {
        for (end = first; end < e->count && e->items[end].count == 1;)
            end++;
        if (end > first)
            TRY(effects_fit_singles(e, first, end, moved, err));
        else
            TRY(fit_effect(e, &e->items[end++], moved, err));
    }
    return ROOFS_OK;
}

static roofs_status converge(effects *e, roofs_error *err)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double moved = 0;
        TRY(fit_all(e, &moved, err));
        centre_residual(e);
        learn_scale(e);
        if (moved <= SETTLED * sqrt(e->s2))
            break;
    }
    return comm_status(&e->f->comm, err);
}

/* ---- which effects ------------------------------------------------------------------------ */

static int is_full(const effects *e)
{
    return (double)e->count >= MOST * e->clean;
}

/* An effect for column `head` and those near it that no effect has yet. */
static roofs_status start_effect(effects *e, int64_t head, unsigned char *taken, roofs_error *err)
{
    int64_t count = 0;
    double coef = 0;
    TRY(find_near(e, head, &count, err));
    for (int64_t k = 0; k < e->columns; k++) {
        if (k < e->kept && e->product[k] != 0 && !taken[k])
            coef += e->f->cols.items[k].coef * e->product[k];
        taken[k] |= e->product[k] != 0;
    }
    return count > 0 ? add_effect(e, head, count, coef, err) : ROOFS_OK;
}

static roofs_status first_effects(effects *e, double *size, unsigned char *taken, roofs_error *err)
{
    ranked *list = NULL;
    for (int64_t k = 0; k < e->kept; k++) {
        const column *c = &e->f->cols.items[k];
        size[k] = c->probability > POOL_HEAD && !fit_is_forced(e->f, k) ? fabs(c->coef) : 0;
    }
    roofs_status status = order_rank(&list, size, e->kept, err);
    for (int64_t i = 0; i < e->kept && status == ROOFS_OK && !is_full(e); i++) {
        const int64_t head = list[i].place;
        if (size[head] == 0)
            break;
        if (!taken[head])
            status = start_effect(e, head, taken, err);
    }
    memory_free(list);
    return status;
}

/* Of a score under no effect. The score is reduced, because weights, noise and other effects are
 * estimates. */
static double probability_of(double z)
{
    const double reduced = 0.95;
    return math_erfc(reduced * fabs(z) / sqrt(2));
}

roofs_status effects_rates(const effects *e, double *rate, roofs_error *err)
{
    ranked *list = NULL;
    double least = 1;
    for (int64_t l = 0; l < e->count; l++)
        rate[l] = probability_of(e->items[l].z);
    TRY(order_rank(&list, rate, e->count, err));
    for (int64_t i = 0; i < e->count; i++) {
        const int64_t l = list[i].place;
        least = fmin(least, rate[l] * (double)fit_free_seen(e->f) / (double)(e->count - i));
        rate[l] = least;
    }
    memory_free(list);
    return ROOFS_OK;
}

static roofs_status count_found(const effects *e, double q, int64_t *found, roofs_error *err)
{
    double *rate = NULL;
    *found = 0;
    TRY(memory_get(&rate, e->count + 1, sizeof *rate, "the groups of features", err));
    roofs_status status = effects_rates(e, rate, err);
    for (int64_t l = 0; l < e->count; l++)
        *found += rate[l] <= q;
    memory_free(rate);
    return status;
}

/* size = the score of each kept column given all effects. */
static roofs_status score_columns(effects *e, double *size, roofs_error *err)
{
    const double S = variance_of_estimate(e);
    TRY(effects_products(e, size, err));
    for (int64_t k = 0; k < e->kept; k++)
        size[k] = fabs(size[k]) / sqrt(S);
    return ROOFS_OK;
}

/* Whether the column has started an effect that was there before this step. */
static int is_head(const effects *e, int64_t k)
{
    for (int64_t l = 0; l < e->count; l++)
        if (e->items[l].head == k)
            return 1;
    return 0;
}

/* New effects for the columns whose score would be a discovery, none near another new one.
 * *added = their number. */
static roofs_status more_effects(effects *e, double q, double *size, unsigned char *taken,
                                 int64_t *added, roofs_error *err)
{
    ranked *list = NULL;
    int64_t found = 0, near = 0;
    *added = 0;
    TRY(count_found(e, q, &found, err));
    TRY(score_columns(e, size, err));
    memset(taken, 0, (size_t)e->columns);
    roofs_status status = order_rank(&list, size, e->kept, err);
    const double most = q * (double)(found + 1) / fmax(1, (double)fit_free_seen(e->f));
    for (int64_t i = 0; i < e->kept && status == ROOFS_OK && !is_full(e); i++) {
        const int64_t head = list[i].place;
        if (probability_of(size[head]) > most || is_head(e, head))
            break;
        if (taken[head])
            continue;
        status = find_near(e, head, &near, err);
        for (int64_t k = 0; k < e->columns; k++)
            taken[k] |= e->product[k] != 0;
        if (status == ROOFS_OK && near > 0) {
            status = add_effect(e, head, near, 0, err);
            ++*added;
        }
    }
    memory_free(list);
    return status;
}

static roofs_status find(effects *e, double q, double *size, unsigned char *taken, roofs_error *err)
{
    int64_t added = 1;
    TRY(first_effects(e, size, taken, err));
    TRY(converge(e, err));
    while (added > 0 && !is_full(e)) {
        TRY(more_effects(e, q, size, taken, &added, err));
        if (added > 0)
            TRY(converge(e, err));
    }
    return ROOFS_OK;
}

roofs_status effects_find(effects *e, double q, roofs_error *err)
{
    double *size = NULL;
    unsigned char *taken = NULL;
    roofs_status status =
        memory_get(&size, e->kept + 1, sizeof *size, "the groups of features", err);
    if (status == ROOFS_OK)
        status = memory_get(&taken, e->columns + 1, 1, "the groups of features", err);
    status = comm_agree(&e->f->comm, status, err);
    if (status == ROOFS_OK && size && taken)
        status = find(e, q, size, taken, err);
    memory_free(taken);
    memory_free(size);
    return status;
}
