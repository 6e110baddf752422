/* The theorem of the paper, on the trusted samples: docs/theory.md, "The theorem of the paper".
 * Numbers in brackets are the equations of the paper. */
#include "base/memory.h"
#include "cli/arithmetic.h"
#include "cli/dense.h"
#include "cli/theory.h"
#include "cli/theory_noise.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Coefficients in the unit of the method: of features with scale 1 if it standardises. */
static double unit_of(const theory *t, int64_t k)
{
    return t->standardize ? t->scale[k] : 1;
}

/* The Gram matrix and the gradient are those of features with scale 1. */
static double gram_unit(const theory *t, int64_t k)
{
    return t->standardize ? 1 : t->scale[k];
}

typedef struct fixed_point {
    double step;              /* eta of the paper: the step over the number of trusted samples */
    double smallest_coef;     /* beta_min */
    double kept_change;       /* largest change of a kept coefficient by the next step */
    double other_change;      /* the same of the other features */
    double along;             /* <g, beta> */
    double smallest, largest; /* eigenvalues of the Gram matrix */
} fixed_point;

static roofs_status find_eigenvalues(const theory *t, const double *gram, fixed_point *p,
                                     roofs_error *err)
{
    const int64_t kept = t->model->selected;
    double *matrix = NULL;
    TRY(memory_get(&matrix, kept * (kept + 4), sizeof *matrix, "the bound", err));
    for (int64_t a = 0; a < kept; a++)
        for (int64_t b = 0; b < kept; b++)
            matrix[a * kept + b] = gram[a * kept + b] * gram_unit(t, a) * gram_unit(t, b);
    const extremes found = dense_eigenvalues(matrix, kept, matrix + kept * kept);
    p->smallest = found.smallest;
    p->largest = found.largest;
    memory_free(matrix);
    return ROOFS_OK;
}

static void find_changes(const theory *t, const double *gradient, fixed_point *p)
{
    const roofs_result *m = t->model;
    p->step = m->batches > 0 ? m->history[m->batches - 1].step / (double)m->trusted : 0;
    p->smallest_coef = INFINITY;
    for (int64_t k = 0; k < m->selected; k++) {
        const double coef = m->features[k].coef * unit_of(t, k);
        const double slope = gradient[k] * gram_unit(t, k);
        p->smallest_coef = fmin(p->smallest_coef, fabs(coef));
        p->kept_change = fmax(p->kept_change, p->step * fabs(slope));
        p->along += slope * coef;
    }
    p->other_change = p->step * t->other_gradient;
}

/* f(beta) and f(0), after centring if there is an intercept. */
static double trusted_squares(const theory *t, const double *values)
{
    const roofs_result *m = t->model;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < m->n && t->intercept; i++)
        mean += m->trust[i] ? values[i] / (double)m->trusted : 0;
    for (int64_t i = 0; i < m->n; i++)
        squares += m->trust[i] ? (values[i] - mean) * (values[i] - mean) : 0;
    return squares;
}

/* Lemma 2. It is 1 where no corrupt sample is trusted. */
static double lambda_of(double clean_share)
{
    return 1 + 128 * (1 - clean_share) / (2 * clean_share - 1);
}

static void check_conditions(theory *t, const fixed_point *p)
{
    bound *b = &t->published;
    const roofs_result *m = t->model;
    const int64_t clean = m->n - t->corrupt;
    if (!theory_condition(b, "trusted samples, at most the clean ones", (double)m->trusted,
                          "<=", (double)clean))
        theory_refuse(b,
                      "%" PRId64 " samples are trusted, but only %" PRId64 " need be clean: lambda "
                      "of Lemma 2 is then %.3g",
                      m->trusted, clean, lambda_of((double)clean / (double)m->n));
    if (!theory_condition(b, "next change of a kept coefficient, at most the smallest one",
                          p->kept_change, "<=", p->smallest_coef))
        theory_refuse(b,
                      "the fit stopped before a fixed point: the next step changes a coefficient "
                      "by %.3g, and the smallest coefficient is %.3g",
                      p->kept_change, p->smallest_coef);
    if (!theory_condition(b, "next coefficient of another feature, at most the smallest one",
                          p->other_change, "<=", p->smallest_coef))
        theory_refuse(b,
                      "a feature that is not kept would get the coefficient %.3g in the next step, "
                      "and the smallest kept coefficient is %.3g",
                      p->other_change, p->smallest_coef);
    if (!theory_condition(b, "gradient times coefficients", p->along, ">=", 0))
        theory_refuse(b,
                      "the gradient at the fit is against the coefficients: their product is %.3g, "
                      "and must not be negative",
                      p->along);
}

/* (7) with S = the trusted samples, and what it means for the coefficients by (6). */
static void evaluate(theory *t, const fixed_point *p, double noise_factor)
{
    measured *f = &t->found;
    const double kappa = p->smallest, noise = t->sigma * noise_any(t->model->n, t->model->trusted);
    const double root = 1 / (p->step * kappa);
    f->alpha = root * root;
    const double share = 1 / (1 + 1 / f->alpha); /* alpha / (1 + alpha) */
    f->residual_bound = share * f->response_squares + noise * noise / (1 + f->alpha);
    const double b = sqrt(p->largest) * t->sigma * noise_factor;
    const double error = (b + sqrt(b * b + kappa * share * f->response_squares)) / kappa;
    double unit = INFINITY;
    for (int64_t k = 0; k < t->model->selected; k++)
        unit = fmin(unit, unit_of(t, k));
    if (!t->published.reason[0])
        t->published.value = error / unit;
}

roofs_status theory_published(theory *t, const double *gram, const double *gradient,
                              double noise_factor, roofs_error *err)
{
    fixed_point p = {0};
    t->found.residual_squares = trusted_squares(t, t->residual);
    t->found.response_squares = trusted_squares(t, t->response);
    if (strcmp(t->model->method, "roofs") != 0) {
        t->published.count = 0;
        theory_refuse(&t->published, "the model was fitted by method %s, not by roofs",
                      t->model->method);
        return ROOFS_OK;
    }
    TRY(find_eigenvalues(t, gram, &p, err));
    find_changes(t, gradient, &p);
    check_conditions(t, &p);
    if (p.step > 0)
        evaluate(t, &p, noise_factor);
    return ROOFS_OK;
}
