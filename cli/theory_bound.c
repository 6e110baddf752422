/* The bound on the error of the coefficients: docs/theory.md, "A bound that can be
 * checked". (T1) to (T9) are the equations of that page. */
#include "base/memory.h"
#include "base/order.h"
#include "cli/arithmetic.h"
#include "cli/dense.h"
#include "cli/theory.h"
#include "cli/theory_noise.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Eigenvalues below this share of the largest are not distinguished from 0. */
#define SINGULAR 1e-11

typedef struct work {
    theory *t;
    int64_t n, m;     /* samples; columns: the intercept first, if there is one */
    double *z;        /* t->columns: m columns of n values, the trusted samples first */
    double *gram;     /* m by m: G of the trusted samples */
    double *factor;   /* L of G = L L' */
    double *matrix;   /* m by m: scratch */
    double *gradient; /* m: g */
    double *features; /* kept by kept: G without the intercept, for the theorem of the paper */
    double *slopes;   /* kept: g without the intercept */
    double *residual; /* n, in the order of z */
    double *scratch;  /* 4 m, or 4 of the certificate's size */
    order sorted;
    double unit; /* residuals are divided by it */
} work;

int theory_condition(bound *b, const char *name, double value, const char *relation, double limit)
{
    const int holds = relation[0] == '<' ? (relation[1] ? value <= limit : value < limit)
                                         : (relation[1] ? value >= limit : value > limit);
    b->conditions[b->count++] = (condition){name, relation, value, limit, holds};
    return holds;
}

void theory_refuse(bound *b, const char *format, ...)
{
    va_list list;
    if (b->reason[0])
        return;
    va_start(list, format);
    vsnprintf(b->reason, sizeof b->reason, format, list);
    va_end(list);
}

/* ---- the columns ------------------------------------------------------- */

/* Copies n values, those of the trusted samples first. */
static void trusted_first(const roofs_result *m, const double *from, double *to)
{
    int64_t front = 0, back = m->trusted;
    for (int64_t i = 0; i < m->n; i++)
        to[m->trust[i] ? front++ : back++] = from[i];
}

/* Gives a column the scale 1 on the trusted samples, and the mean 0 if there is an intercept.
 * Returns the scale; 0 if the column does not vary. */
static double standardize_column(double *x, int64_t n, int64_t trusted, int centre)
{
    double largest = 0;
    for (int64_t i = 0; i < trusted; i++)
        largest = fmax(largest, fabs(x[i]));
    if (largest == 0)
        return 0;
    for (int64_t i = 0; i < n; i++)
        x[i] /= largest;
    const double mean = centre ? sum_values(x, trusted) / (double)trusted : 0;
    for (int64_t i = 0; i < n; i++)
        x[i] -= mean;
    const double scale = sqrt(dot_product(x, x, trusted) / (double)trusted);
    if (!(scale > 1e-12))
        return 0;
    for (int64_t i = 0; i < n; i++)
        x[i] /= scale;
    return scale * largest;
}

/* Returns 0 if a column does not vary on the trusted samples. */
static int prepare_columns(work *w)
{
    theory *t = w->t;
    const roofs_result *m = t->model;
    const int64_t first = t->intercept ? 1 : 0;
    int vary = 1;
    for (int64_t i = 0; i < w->n && first; i++)
        w->z[i] = 1;
    for (int64_t k = 0; k < m->selected; k++) {
        double *column = w->z + (k + first) * w->n;
        trusted_first(m, column, w->residual); /* here only scratch */
        memcpy(column, w->residual, (size_t)w->n * sizeof *column);
        t->scale[k] = standardize_column(column, w->n, m->trusted, t->intercept);
        vary = vary && t->scale[k] > 0;
    }
    return vary;
}

static void prepare_residual(work *w)
{
    const roofs_result *m = w->t->model;
    trusted_first(m, w->t->residual, w->residual);
    w->unit = 0;
    for (int64_t i = 0; i < m->trusted; i++)
        w->unit = fmax(w->unit, fabs(w->residual[i]));
    w->unit = w->unit > 0 ? w->unit : 1;
    for (int64_t i = 0; i < w->n; i++)
        w->residual[i] /= w->unit;
}

/* gram = sum of z z' over samples first..first + count - 1. */
static void gram_of(const work *w, int64_t first, int64_t count, double *gram)
{
    enum { TILE = 256 };
    memset(gram, 0, (size_t)(w->m * w->m) * sizeof *gram);
    for (int64_t at = first; at < first + count; at += TILE) {
        const int64_t width = first + count - at < TILE ? first + count - at : TILE;
        for (int64_t a = 0; a < w->m; a++)
            for (int64_t b = 0; b <= a; b++)
                gram[a * w->m + b] +=
                    dot_product(w->z + a * w->n + at, w->z + b * w->n + at, width);
    }
    for (int64_t a = 0; a < w->m; a++)
        for (int64_t b = 0; b < a; b++)
            gram[b * w->m + a] = gram[a * w->m + b];
}

static extremes eigenvalues_of(work *w, const double *matrix)
{
    memcpy(w->matrix, matrix, (size_t)(w->m * w->m) * sizeof *matrix);
    return dense_eigenvalues(w->matrix, w->m, w->scratch);
}

/* G, g and the factor of G. Returns 0 if G is singular. */
static int prepare_gram(work *w)
{
    const roofs_result *m = w->t->model;
    measured *f = &w->t->found;
    if (m->trusted <= w->m)
        return 0;
    gram_of(w, 0, m->trusted, w->gram);
    for (int64_t a = 0; a < w->m; a++)
        w->gradient[a] = dot_product(w->z + a * w->n, w->residual, m->trusted);
    const extremes found = eigenvalues_of(w, w->gram);
    f->smallest = found.smallest / (double)m->trusted;
    f->largest = found.largest / (double)m->trusted;
    memcpy(w->factor, w->gram, (size_t)(w->m * w->m) * sizeof *w->gram);
    return f->smallest > SINGULAR * f->largest && dense_factor(w->factor, w->m);
}

/* Copies what the theorem of the paper needs, before find_leverage overwrites it. */
static void save_features(work *w)
{
    const int64_t first = w->t->intercept ? 1 : 0, kept = w->t->model->selected;
    for (int64_t a = 0; a < kept; a++) {
        w->slopes[a] = w->unit * w->gradient[a + first];
        memcpy(w->features + a * kept, w->gram + (a + first) * w->m + first,
               (size_t)kept * sizeof *w->features);
    }
}

/* ---- leverage ---------------------------------------------------------- */

/* The k largest of the values, summed; sorts their magnitudes. */
static double sum_largest(work *w, const double *values, int64_t count, int64_t k)
{
    double sum = 0;
    order_sort(&w->sorted, values, count);
    for (int64_t i = 0; i < k && i < count; i++)
        sum += order_value(&w->sorted, count - 1 - i);
    return sum;
}

/* Bound (T6): the k largest h_i = |v_i|^2. w->z holds v. */
static double leverage_by_sum(work *w, double *h)
{
    const int64_t trusted = w->t->model->trusted;
    for (int64_t i = 0; i < trusted; i++) {
        double sum = 0;
        for (int64_t a = 0; a < w->m; a++)
            sum += w->z[a * w->n + i] * w->z[a * w->n + i];
        h[i] = sum;
    }
    return sum_largest(w, h, trusted, w->t->corrupt);
}

/* The products v_a v_b of a few samples, for a <= b, times sqrt(2) for a < b: one row per product.
 */
static void fill_products(const work *w, int64_t first, int64_t width, int64_t stride, double *rows)
{
    for (int64_t a = 0; a < w->m; a++)
        for (int64_t b = a; b < w->m; b++, rows += stride)
            for (int64_t i = 0; i < width; i++)
                rows[i] = (a == b ? 1 : sqrt(2)) * w->z[a * w->n + first + i] *
                          w->z[b * w->n + first + i];
}

/* M of (T7): the sum of t t' over the trusted samples, t the products. */
static void fourth_moments(const work *w, int64_t size, double *rows, double *moments)
{
    enum { TILE = 64 };
    const int64_t trusted = w->t->model->trusted;
    for (int64_t at = 0; at < trusted; at += TILE) {
        const int64_t width = trusted - at < TILE ? trusted - at : TILE;
        fill_products(w, at, width, TILE, rows);
        for (int64_t a = 0; a < size; a++)
            for (int64_t b = 0; b <= a; b++)
                moments[a * size + b] += dot_product(rows + a * TILE, rows + b * TILE, width);
    }
    for (int64_t a = 0; a < size; a++)
        for (int64_t b = 0; b < a; b++)
            moments[b * size + a] = moments[a * size + b];
}

/* The places of the squares v_a v_a among the products: `move` adds theta to M for each pair. */
static double at_squares(const work *w, int64_t size, double *moments, double move)
{
    double sum = 0;
    for (int64_t a = 0, row = 0; a < w->m; row += w->m - a, a++)
        for (int64_t b = 0, column = 0; b < w->m; column += w->m - b, b++) {
            moments[row * size + column] += move;
            sum += moments[row * size + column];
        }
    return sum;
}

/* Bound (T7): sqrt(k Q), Q = theta + the largest eigenvalue of M - theta w w'. */
static roofs_status leverage_by_moments(work *w, double *out, roofs_error *err)
{
    enum { COLUMNS_MOST = 50, TILE = 64 }; /* the matrix has about columns^2 / 2 rows */
    const int64_t size = w->m * (w->m + 1) / 2;
    double *moments = NULL, *rows = NULL;
    *out = INFINITY;
    if (w->m > COLUMNS_MOST)
        return ROOFS_OK;
    roofs_status status = memory_get(&moments, size * size, sizeof *moments, "the moments", err);
    if (status == ROOFS_OK)
        status = memory_get(&rows, (size > 4 ? size : 4) * TILE, sizeof *rows, "the moments", err);
    if (status == ROOFS_OK) {
        const double columns = (double)w->m;
        fourth_moments(w, size, rows, moments);
        const double theta = at_squares(w, size, moments, 0) / (columns * (columns + 2));
        at_squares(w, size, moments, -theta);
        const double q = theta + dense_eigenvalues(moments, size, rows).largest;
        *out = sqrt((double)w->t->corrupt * q);
    }
    memory_free(moments);
    memory_free(rows);
    return status;
}

/* rho, the leverage of samples that are not trusted, and the k largest squares of residuals. The
 * columns become v = L^-1 z. */
static roofs_status find_leverage(work *w, double *largest_squares, roofs_error *err)
{
    const roofs_result *m = w->t->model;
    measured *f = &w->t->found;
    double *h = NULL, by_moments = 0;
    dense_forward(w->factor, w->m, w->z, w->n, w->n);
    gram_of(w, m->trusted, w->n - m->trusted, w->gram);
    f->outside = fmax(0, eigenvalues_of(w, w->gram).largest);
    *largest_squares = 0;
    if (w->t->corrupt == 0)
        return ROOFS_OK;
    TRY(leverage_by_moments(w, &by_moments, err));
    TRY(memory_get(&h, m->trusted, sizeof *h, "the leverages", err));
    f->leverage = fmin(by_moments, leverage_by_sum(w, h));
    for (int64_t i = 0; i < m->trusted; i++)
        h[i] = w->residual[i] * w->residual[i];
    *largest_squares = sum_largest(w, h, m->trusted, w->t->corrupt);
    memory_free(h);
    return ROOFS_OK;
}

/* ---- the terms --------------------------------------------------------- */

/* The estimate of sigma, unless it is given: trusted samples are the smallest residuals of all. */
static void find_sigma(work *w)
{
    theory *t = w->t;
    const roofs_result *m = t->model;
    const double squares = dot_product(w->residual, w->residual, m->trusted);
    if (!t->sigma_is_given)
        t->sigma =
            w->unit * sqrt(squares / ((double)(m->trusted - w->m) *
                                      noise_trimmed_square((double)m->trusted / (double)m->n)));
}

/* Bound (T5) on |V_T e_T| / sigma, if `leverage` bounds that of corrupt samples among the trusted.
 */
static double noise_factor(const work *w, double leverage, int64_t corrupt)
{
    const roofs_result *m = w->t->model;
    const double outside = w->t->found.outside;
    const int64_t lost = m->n - m->trusted + corrupt;
    const double all = noise_projected(w->m, m->features_seen, m->selected);
    const double any = noise_any(m->n, lost < m->n ? lost : m->n);
    return fmin(sqrt(1 + outside) * all + sqrt(outside + leverage) * any,
                noise_any(m->n, m->trusted));
}

/* (T3), then (T8) and (T9) for the coefficients in the user's units. */
static void find_bound(work *w, double largest_squares)
{
    theory *t = w->t;
    measured *f = &t->found;
    const int64_t first = t->intercept ? 1 : 0, kept = t->model->selected;
    dense_forward(w->factor, w->m, w->gradient, 1, 1);
    f->gradient = w->unit * sqrt(dot_product(w->gradient, w->gradient, w->m));
    f->corruption = w->unit * sqrt(f->leverage * largest_squares);
    f->noise = t->sigma * noise_factor(w, f->leverage, t->corrupt);
    if (t->repaired.reason[0])
        return;
    f->distance = (f->gradient + f->corruption + f->noise) / (1 - f->leverage);
    dense_inverse(w->factor, w->m, w->gram);
    double smallest = INFINITY;
    for (int64_t k = 0; k < kept; k++)
        smallest = fmin(smallest, t->scale[k]);
    for (int64_t a = 0; a < kept; a++) {
        const double own = w->gram[(a + first) * (w->m + 1)];
        t->each[a] = f->distance * sqrt(own) / t->scale[a];
        for (int64_t b = 0; b < kept; b++)
            w->matrix[a * kept + b] = w->gram[(a + first) * w->m + b + first] *
                                      (smallest / t->scale[a]) * (smallest / t->scale[b]);
    }
    const double widest = dense_eigenvalues(w->matrix, kept, w->scratch).largest;
    t->repaired.value = f->distance * sqrt(widest) / smallest;
}

/* ---- all --------------------------------------------------------------- */

static void refuse_both(theory *t, const char *reason)
{
    theory_refuse(&t->repaired, "%s", reason);
    theory_refuse(&t->published, "%s", reason);
}

static roofs_status create_work(work *w, roofs_error *err)
{
    const char *what = "the bound";
    theory *t = w->t;
    const int64_t kept = t->model->selected;
    TRY(memory_get(&t->scale, kept, sizeof *t->scale, what, err));
    TRY(memory_get(&t->each, kept, sizeof *t->each, what, err));
    TRY(memory_get(&w->gram, w->m * w->m, sizeof *w->gram, what, err));
    TRY(memory_get(&w->factor, w->m * w->m, sizeof *w->factor, what, err));
    TRY(memory_get(&w->matrix, w->m * w->m, sizeof *w->matrix, what, err));
    TRY(memory_get(&w->features, kept * kept, sizeof *w->features, what, err));
    TRY(memory_get(&w->slopes, kept, sizeof *w->slopes, what, err));
    TRY(memory_get(&w->gradient, w->m, sizeof *w->gradient, what, err));
    TRY(memory_get(&w->residual, w->n, sizeof *w->residual, what, err));
    TRY(memory_get(&w->scratch, 4 * w->m, sizeof *w->scratch, what, err));
    return order_create(&w->sorted, w->n, err);
}

static void destroy_work(work *w)
{
    memory_free(w->gram);
    memory_free(w->factor);
    memory_free(w->matrix);
    memory_free(w->features);
    memory_free(w->slopes);
    memory_free(w->gradient);
    memory_free(w->residual);
    memory_free(w->scratch);
    order_destroy(&w->sorted);
}

static void check_clean_share(theory *t)
{
    const double n = (double)t->model->n, share = (n - (double)t->corrupt) / n;
    const char *name = "share of samples that are clean";
    theory_condition(&t->published, name, share, ">", 0.5);
    if (!theory_condition(&t->repaired, name, share, ">", 0.5))
        refuse_both(t, "half of the samples or more may be corrupt");
}

static void check_eigenvalue(theory *t, int positive)
{
    const char *name = "smallest eigenvalue of the kept features, over the largest";
    const double value = positive ? t->found.smallest / t->found.largest : 0;
    theory_condition(&t->repaired, name, value, ">", SINGULAR);
    theory_condition(&t->published, name, value, ">", SINGULAR);
    if (!positive)
        refuse_both(t, "the kept features are linearly dependent on the trusted samples");
}

static void check_leverage(theory *t)
{
    if (!theory_condition(&t->repaired, "influence of the corrupt samples that may be trusted",
                          t->found.leverage, "<", 1))
        theory_refuse(&t->repaired,
                      "%" PRId64 " corrupt samples among the trusted ones could decide the fit: "
                      "their influence may be %.3g, and must be below 1",
                      t->corrupt, t->found.leverage);
}

static roofs_status compute(work *w, roofs_error *err)
{
    theory *t = w->t;
    double largest_squares = 0;
    TRY(create_work(w, err));
    check_clean_share(t);
    const int vary = prepare_columns(w);
    prepare_residual(w);
    const int regular = vary && prepare_gram(w);
    check_eigenvalue(t, regular);
    if (!regular)
        return ROOFS_OK;
    save_features(w);
    find_sigma(w);
    TRY(find_leverage(w, &largest_squares, err));
    check_leverage(t);
    find_bound(w, largest_squares);
    return theory_published(t, w->features, w->slopes, noise_factor(w, 0, 0), err);
}

roofs_status theory_bound(theory *t, roofs_error *err)
{
    const roofs_result *m = t->model;
    work w = {.t = t, .n = m->n, .m = m->selected + (t->intercept ? 1 : 0), .z = t->columns};
    t->found = (measured){.columns = w.m, .alpha = NAN, .distance = NAN};
    t->repaired.value = t->published.value = NAN;
    if (m->selected == 0) {
        refuse_both(t, "the model has no feature");
        return ROOFS_OK;
    }
    roofs_status status = compute(&w, err);
    destroy_work(&w);
    return status;
}
