#include "cli/reproduce/oracle.h"

#include "base/memory.h"
#include "cli/arithmetic.h"

#include <math.h>

/* Conjugate gradients on the normal equations, started at zero: the iterates stay in the span of
 * the rows, so the solution is the shortest. */
typedef struct solver {
    int64_t n, mu;
    double *a;         /* mu x n: the true features, each on all samples */
    int64_t *feature;  /* mu: their indices */
    double *mask;      /* n: 1 = clean */
    double *x;         /* mu */
    double *r;         /* n: mask (y - A x) */
    double *slope;     /* mu: A'r */
    double *direction; /* mu */
    double *image;     /* n: mask A direction */
} solver;

static roofs_status solver_create(solver *s, const simulation *w, roofs_error *err)
{
    const char *what = "the oracle";
    *s = (solver){.n = w->n};
    TRY(memory_get(&s->a, memory_bytes(w->mu, w->n), sizeof *s->a, what, err));
    TRY(memory_get(&s->feature, w->mu, sizeof *s->feature, what, err));
    TRY(memory_get(&s->mask, w->n, sizeof *s->mask, what, err));
    TRY(memory_get(&s->x, w->mu, sizeof *s->x, what, err));
    TRY(memory_get(&s->r, w->n, sizeof *s->r, what, err));
    TRY(memory_get(&s->slope, w->mu, sizeof *s->slope, what, err));
    TRY(memory_get(&s->direction, w->mu, sizeof *s->direction, what, err));
    return memory_get(&s->image, w->n, sizeof *s->image, what, err);
}

static void solver_destroy(solver *s)
{
    memory_free(s->a);
    memory_free(s->feature);
    memory_free(s->mask);
    memory_free(s->x);
    memory_free(s->r);
    memory_free(s->slope);
    memory_free(s->direction);
    memory_free(s->image);
}

static void read_true_features(solver *s, const simulator *data)
{
    for (int64_t j = 0; j < data->what.p; j++) {
        if (data->beta[j] == 0)
            continue;
        simulator_features(data, j, 1, ROOFS_F64, 1, s->a + s->mu * s->n);
        s->feature[s->mu++] = j;
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
        o->features[j] =
            (roofs_feature){.index = s->feature[j], .coef = s->x[j], .probability = NAN};
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
    roofs_status status = solver_create(&s, w, err);
    if (!status) {
        for (int64_t i = 0; i < w->n; i++)
            s.mask[i] = data->clean[i];
        read_true_features(&s, data);
        solver_solve(&s, data->y);
        copy_answer(&s, data->y, o);
    }
    solver_destroy(&s);
    return status;
}

void oracle_destroy(oracle *o)
{
    memory_free(o->features);
    memory_free(o->residual);
    *o = (oracle){0};
}
