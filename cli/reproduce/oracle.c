#include "cli/reproduce/oracle.h"

#include "base/memory.h"
#include "cli/arithmetic.h"

#include <math.h>

/* Conjugate gradients on the normal equations, started at zero: the iterates stay in the span of
 * the rows, so the solution is the shortest. */
typedef struct solver {
    int64_t n, mu;
    double *a;     /* mu x n: the true features, each on all samples; the others are behind it */
    double *mask;  /* n: 1 = clean */
    double *r;     /* n: mask (y - A x) */
    double *image; /* n: mask A direction */
    double *x;     /* mu */
    double *slope; /* mu: A'r */
    double *direction; /* mu */
} solver;

static roofs_status solver_create(solver *s, const simulation *w, roofs_error *err)
{
    *s = (solver){.n = w->n};
    TRY(memory_get(&s->a, memory_bytes(w->mu + 3, w->n + 3), sizeof *s->a, "the oracle", err));
    s->mask = s->a + w->mu * w->n;
    s->r = s->mask + w->n;
    s->image = s->r + w->n;
    s->x = s->image + w->n;
    s->slope = s->x + w->mu;
    s->direction = s->slope + w->mu;
    return ROOFS_OK;
}

static void read_true_features(solver *s, const simulator *data, oracle *o)
{
    for (int64_t j = 0; j < data->what.p; j++) {
        if (data->beta[j] == 0)
            continue;
        simulator_features(data, j, 1, ROOFS_F64, 1, s->a + s->mu * s->n);
        o->features[s->mu++] = (roofs_feature){.index = j, .probability = NAN};
    }
}

/* to += A coef */
static void add_columns(const solver *s, const double *coef, double *to)
{
    for (int64_t j = 0; j < s->mu; j++)
        for (int64_t i = 0; i < s->n; i++)
            to[i] += coef[j] * s->a[j * s->n + i];
}

/* slope = A'r; returns its square. */
static double update_slope(solver *s)
{
    for (int64_t j = 0; j < s->mu; j++)
        s->slope[j] = dot_product(s->a + j * s->n, s->r, s->n);
    return dot_product(s->slope, s->slope, s->mu);
}

/* One step; returns |A'r|^2 after it. */
static double solver_step(solver *s, double before)
{
    for (int64_t i = 0; i < s->n; i++)
        s->image[i] = 0;
    add_columns(s, s->direction, s->image);
    for (int64_t i = 0; i < s->n; i++)
        s->image[i] *= s->mask[i];
    double length = before / dot_product(s->image, s->image, s->n);
    for (int64_t j = 0; j < s->mu; j++)
        s->x[j] += length * s->direction[j];
    for (int64_t i = 0; i < s->n; i++)
        s->r[i] -= length * s->image[i];
    double after = update_slope(s);
    for (int64_t j = 0; j < s->mu; j++)
        s->direction[j] = s->slope[j] + after / before * s->direction[j];
    return after;
}

static void solver_solve(solver *s, const double *y)
{
    enum { STEPS = 3000 };
    static const double SMALL = 1e-16; /* relative to the first square of the slope */
    for (int64_t i = 0; i < s->n; i++)
        s->r[i] = s->mask[i] * y[i];
    double now = update_slope(s), end = SMALL * now;
    for (int64_t j = 0; j < s->mu; j++)
        s->direction[j] = s->slope[j];
    for (int k = 0; k < STEPS && now > end; k++)
        now = solver_step(s, now);
}

/* residual = y - A x over all samples. */
static void copy_answer(solver *s, const double *y, oracle *o)
{
    for (int64_t j = 0; j < s->mu; j++) {
        o->features[j].coef = s->x[j];
        s->direction[j] = -s->x[j];
    }
    for (int64_t i = 0; i < s->n; i++)
        o->residual[i] = y[i];
    add_columns(s, s->direction, o->residual);
}

roofs_status oracle_solve(oracle *o, const simulator *data, roofs_error *err)
{
    const simulation *w = &data->what;
    *o = (oracle){0};
    TRY(memory_get(&o->features, w->mu, sizeof *o->features, "the oracle", err));
    TRY(memory_get(&o->residual, w->n, sizeof *o->residual, "the oracle", err));
    solver s;
    TRY(solver_create(&s, w, err));
    for (int64_t i = 0; i < w->n; i++)
        s.mask[i] = data->clean[i];
    read_true_features(&s, data, o);
    solver_solve(&s, data->y);
    copy_answer(&s, data->y, o);
    memory_free(s.a);
    return ROOFS_OK;
}

void oracle_destroy(oracle *o)
{
    memory_free(o->features);
    memory_free(o->residual);
    *o = (oracle){0};
}
