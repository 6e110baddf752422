/* Method os: online substitution (Yang et al., KDD 2016), feature by feature. A gradient step moves
 * the weights of the retained features and the new one together. Over budget, the smallest weight
 * is dropped. The new feature is accepted only where the objective decreases enough. All samples
 * are trusted. docs/baselines.md fills in what the paper leaves open. */
#include "base/memory.h"
#include "linalg/inner.h"
#include "linalg/vector.h"
#include "method/largest.h"
#include "method/method.h"
#include "robust/step.h"

#include <math.h>
#include <string.h>

/* The objective must decrease by this share of what the gradient predicts. */
static const double SUFFICIENT = 1e-4;

typedef struct os_state {
    int64_t *active; /* columns with a weight, by arrival, then the new one */
    int64_t count;
    double *gradient; /* per active column */
    double *weight;   /* per active column, after the step */
    unsigned char *keep;
    int64_t capacity[4];
    double *image; /* n */
    double *trial; /* n: the residual after the step */
    double step;   /* its length; the residual loses step times the image */
    step_guard guard;

    /* Where samples are many: no feature reads the columns, see os_by_products. */
    inner_products products;
    double *slope;  /* z'r of all columns */
    double *before; /* coefficients at the beginning of the batch */
    double *moved;  /* products times the gradient */
    double *spread; /* the gradient, 0 for columns that are not active */
    int64_t reserved[4];
} os_state;

static inner_shape os_shape(const roofs_settings *set, int64_t n, int64_t threads)
{
    return (inner_shape){.most = memory_sum(fit_capacity(set), set->batch),
                         .together = set->batch,
                         .n = n,
                         .threads = threads};
}

/* With fewer columns than half of the samples, reading the products of the columns is faster than
 * reading the columns, and they need less memory. */
static int os_has_products(const roofs_settings *set, int64_t samples)
{
    return memory_bytes(2, os_shape(set, samples, 1).most) <= samples;
}

static int64_t os_bytes(const roofs_settings *set, int64_t n)
{
    const inner_shape shape = os_shape(set, n, 1);
    const int64_t vectors = memory_bytes(n, 2 * sizeof(double));
    if (!os_has_products(set, n))
        return vectors;
    return memory_sum(memory_sum(vectors, inner_bytes(&shape)),
                      memory_bytes(shape.most, 4 * sizeof(double)));
}

static void os_destroy(void *own)
{
    os_state *s = own;
    memory_free(s->active);
    memory_free(s->gradient);
    memory_free(s->weight);
    memory_free(s->keep);
    memory_free(s->image);
    memory_free(s->trial);
    memory_free(s->slope);
    memory_free(s->before);
    memory_free(s->moved);
    memory_free(s->spread);
    inner_destroy(&s->products);
    memory_free(s);
}

static roofs_status os_create(void **own, fit *f, roofs_error *err)
{
    os_state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method os", err));
    *own = s;
    TRY(memory_get(&s->image, f->n, sizeof *s->image, "method os", err));
    return memory_get(&s->trial, f->n, sizeof *s->trial, "method os", err);
}

static roofs_status os_reserve(os_state *s, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    TRY(memory_grow(&s->active, &s->capacity[0], count, sizeof *s->active, what, err));
    TRY(memory_grow(&s->gradient, &s->capacity[1], count, sizeof *s->gradient, what, err));
    TRY(memory_grow(&s->weight, &s->capacity[2], count, sizeof *s->weight, what, err));
    return memory_grow(&s->keep, &s->capacity[3], count, sizeof *s->keep, what, err);
}

/* The published step, shortened where the residual would grow. Sets the weights and the trial
 * residual. Returns the predicted decrease of |r|^2 / 2. */
static double os_step(os_state *s, fit *f)
{
    columns *c = &f->cols;
    const int64_t count = s->count + 1;
    const double size = (double)comm_samples(&f->comm, f->n);
    columns_descend(c, s->active, count, f->residual, s->gradient, s->image);
    double slope = vector_norm(s->gradient, count);
    double step = safe_step(&s->guard, fit_published_step(f), slope,
                            comm_norm(&f->comm, s->image, f->n) / sqrt(size)) /
                  size;
    for (int64_t k = 0; k < count; k++)
        s->weight[k] =
            c->items[s->active[k]].coef + step * c->places[s->active[k]].unit * s->gradient[k];
    for (int64_t i = 0; i < f->n; i++)
        s->trial[i] = f->residual[i] - step * s->image[i];
    fit_record_step(f, ldexp(step * size, -2 * c->unit_exponent));
    s->step = step;
    return step * slope * slope;
}

/* The decrease of |r|^2 / 2 from the residual to the trial residual. */
static double objective_decrease(const os_state *s, fit *f)
{
    return comm_sum_of(&f->comm, vector_squares_less(f->residual, s->trial, f->n)) / 2;
}

/* Makes the trial that of the step without the newcomer. Returns the decrease of |r|^2 / 2: the
 * gradient gives the part that is linear in the step. Near the minimum both residuals differ by
 * less than they are rounded, and their squares would not decide. */
static double try_others_alone(os_state *s, fit *f, int64_t newcomer)
{
    const double out = -s->weight[newcomer];
    for (int64_t i = 0; i < f->n; i++)
        s->image[i] *= s->step;
    columns_add(&f->cols, &s->active[newcomer], 1, &out, s->image);
    for (int64_t i = 0; i < f->n; i++)
        s->trial[i] = f->residual[i] - s->image[i];
    const double slope = vector_norm(s->gradient, newcomer);
    const double change = comm_norm(&f->comm, s->image, f->n);
    return s->step * slope * slope - change * change / 2;
}

/* Takes the column at position k out of the trial. */
static void add_back(os_state *s, fit *f, int64_t k)
{
    columns_add(&f->cols, &s->active[k], 1, &s->weight[k], s->trial);
}

/* The weights of the trial become the state, without the column at position `leaving`. */
static void accept_weights(os_state *s, fit *f, int64_t leaving)
{
    columns *c = &f->cols;
    for (int64_t k = 0; k <= s->count; k++)
        c->items[s->active[k]].coef = k == leaving ? 0 : s->weight[k];
    int64_t stays = 0;
    for (int64_t k = 0; k <= s->count; k++)
        if (k != leaving)
            s->active[stays++] = s->active[k];
    s->count = stays;
}

static void accept_trial(os_state *s, fit *f, int64_t leaving)
{
    memcpy(f->residual, s->trial, (size_t)f->n * sizeof *s->trial);
    accept_weights(s, f, leaving);
}

/* One feature: column j is added, replaces another one, or is rejected. */
static void os_consider(os_state *s, fit *f, int64_t j)
{
    const int64_t newcomer = s->count;
    s->active[newcomer] = j;
    step_guard_relax(&s->guard);
    double sufficient = SUFFICIENT * os_step(s, f);
    int64_t leaving = -1;
    if (newcomer >= f->set.mu)
        leaving = largest_find_smallest(&f->cols, s->active, s->weight, newcomer + 1);
    if (leaving >= 0 && leaving != newcomer)
        add_back(s, f, leaving);
    if (leaving != newcomer && s->weight[newcomer] != 0 && objective_decrease(s, f) >= sufficient) {
        accept_trial(s, f, leaving);
        return;
    }
    if (try_others_alone(s, f, newcomer) >= 0)
        accept_trial(s, f, newcomer);
}

/* ---- the same, by the products of the columns ---------------------------- */

/* With r'z and z'z of all columns, a step needs neither r nor the columns. r follows at the end of
 * the batch. The image of the gradient is q = sum_k g_k z_k: s->moved holds z'q, and squares are
 * sums of products. */

/* As os_step. Returns |q|^2. */
static double products_step(os_state *s, fit *f, double *predicted)
{
    columns *c = &f->cols;
    const int64_t count = s->count + 1;
    const double size = (double)comm_samples(&f->comm, f->n);
    memset(s->spread, 0, (size_t)c->count * sizeof *s->spread);
    for (int64_t k = 0; k < count; k++)
        s->spread[s->active[k]] = s->gradient[k] = s->slope[s->active[k]];
    inner_times(&s->products, s->spread, s->moved);
    const double square = fmax(0, vector_dot(s->spread, s->moved, c->count));
    const double slope = vector_norm(s->gradient, count);
    s->step = safe_step(&s->guard, fit_published_step(f), slope, sqrt(square / size)) / size;
    for (int64_t k = 0; k < count; k++)
        s->weight[k] = c->items[s->active[k]].coef + s->step * s->gradient[k];
    fit_record_step(f, s->step * size);
    *predicted = s->step * slope * slope;
    return square;
}

/* The decrease of |r|^2 / 2 by the step without the column at position `leaving`: r' = r - step q +
 * w z. -1 = none leaves. */
static double products_decrease(const os_state *s, double square, double predicted, int64_t leaving)
{
    double linear = predicted, change = s->step * s->step * square;
    if (leaving >= 0) {
        const int64_t j = s->active[leaving];
        const double w = s->weight[leaving];
        linear -= w * s->slope[j];
        change += w * (w * inner_row(&s->products, j)[j] - 2 * s->step * s->moved[j]);
    }
    return linear - change / 2;
}

static void products_accept(os_state *s, fit *f, int64_t leaving)
{
    const int64_t all = f->cols.count;
    vector_add(s->slope, -s->step, s->moved, all);
    if (leaving >= 0)
        vector_add(s->slope, s->weight[leaving], inner_row(&s->products, s->active[leaving]), all);
    accept_weights(s, f, leaving);
}

static void os_consider_by_products(os_state *s, fit *f, int64_t j)
{
    const int64_t newcomer = s->count;
    double predicted;
    s->active[newcomer] = j;
    step_guard_relax(&s->guard);
    const double square = products_step(s, f, &predicted);
    int64_t leaving = -1;
    if (newcomer >= f->set.mu)
        leaving = largest_find_smallest(&f->cols, s->active, s->weight, newcomer + 1);
    if (leaving != newcomer && s->weight[newcomer] != 0 &&
        products_decrease(s, square, predicted, leaving) >= SUFFICIENT * predicted) {
        products_accept(s, f, leaving);
        return;
    }
    if (products_decrease(s, square, predicted, newcomer) >= 0)
        products_accept(s, f, newcomer);
}

static roofs_status reserve_products(os_state *s, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    TRY(memory_grow(&s->slope, &s->reserved[0], count, sizeof *s->slope, what, err));
    TRY(memory_grow(&s->before, &s->reserved[1], count, sizeof *s->before, what, err));
    TRY(memory_grow(&s->moved, &s->reserved[2], count, sizeof *s->moved, what, err));
    return memory_grow(&s->spread, &s->reserved[3], count, sizeof *s->spread, what, err);
}

static roofs_status products_begin(os_state *s, fit *f, roofs_error *err)
{
    columns *c = &f->cols;
    const inner_shape shape = os_shape(&f->set, f->n, f->threads);
    TRY(reserve_products(s, c->count, err));
    TRY(inner_extend(&s->products, c, &shape, err));
    columns_products(c, NULL, c->count, f->residual, s->slope);
    for (int64_t j = 0; j < c->count; j++)
        s->before[j] = c->items[j].coef;
    return ROOFS_OK;
}

/* r follows the coefficients. */
static void products_end(os_state *s, fit *f)
{
    columns *c = &f->cols;
    for (int64_t j = 0; j < c->count; j++)
        s->before[j] -= c->items[j].coef;
    columns_add(c, NULL, c->count, s->before, f->residual);
    inner_keep(&s->products, s->keep);
}

/* Extreme columns have a unit of steps, which the products lack. Ranks hold few of the samples
 * each, for which the products could be large. */
static int os_by_products(const fit *f)
{
    for (int64_t j = 0; j < f->cols.count; j++)
        if (f->cols.places[j].unit != 1)
            return 0;
    return f->cols.unit_exponent == 0 && comm_is_alone(&f->comm) && os_has_products(&f->set, f->n);
}

/* ---- a batch -------------------------------------------------------------- */

/* The unit of steps may change with a batch. */
static void os_begin_batch(os_state *s, fit *f)
{
    columns *c = &f->cols;
    step_guard_set_unit(&s->guard, c->unit_exponent);
    s->count = 0;
    while (s->count < c->count && !columns_is_new(c, s->count)) {
        s->active[s->count] = s->count;
        s->count++;
    }
    for (int64_t j = s->count; f->set.intercept && j < c->count; j++)
        columns_centre(c, &j, 1, f->trusted.mask, (double)f->trusted.count, s->weight);
}

static void os_end_batch(os_state *s, fit *f, int by_products)
{
    memset(s->keep, 0, (size_t)f->cols.count);
    for (int64_t k = 0; k < s->count; k++)
        s->keep[s->active[k]] = 1;
    if (by_products)
        products_end(s, f);
    else
        inner_reset(&s->products);
    columns_drop(&f->cols, s->keep, f->residual, NULL);
    f->trusted.cut = comm_largest_of(&f->comm, vector_largest(f->residual, f->n));
}

static roofs_status os_consume(void *own, fit *f, roofs_error *err)
{
    os_state *s = own;
    roofs_status status = ROOFS_OK;
    TRY(os_reserve(s, f->cols.count + 1, err));
    os_begin_batch(s, f);
    const int64_t first = s->count;
    const int by_products = os_by_products(f);
    if (by_products)
        TRY(products_begin(s, f, err));
    for (int64_t j = first; j < f->cols.count && status == ROOFS_OK; j++) {
        (by_products ? os_consider_by_products : os_consider)(s, f, j);
        status = fit_round_done(f, err);
    }
    os_end_batch(s, f, by_products);
    return status;
}

static void os_transfer(void *own, fit *f, archive *a)
{
    os_state *s = own;
    (void)f;
    step_guard_transfer(&s->guard, a);
    if (a->loading)
        inner_reset(&s->products); /* computed anew, with the same bits */
}

static int64_t os_transfer_bytes(const roofs_settings *set, int64_t n)
{
    (void)set;
    (void)n;
    return sizeof(step_guard);
}

const method method_os = {
    .name = "os",
    .summary = "feature by feature: a gradient step, the smallest weight leaves (Yang 2016)",
    .splits = 1,
    .bytes = os_bytes,
    .create = os_create,
    .destroy = os_destroy,
    .consume = os_consume,
    .transfer = os_transfer,
    .transfer_bytes = os_transfer_bytes,
};
