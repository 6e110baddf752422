#include "cli/reproduce/oracle.h"

#include "base/memory.h"
#include "linalg/columns.h"
#include "linalg/vector.h"

#include <math.h>

/* Conjugate gradients on the normal equations, from zero: the iterates stay in the span of the
 * rows, so that the answer is the shortest. */
typedef struct solver {
    columns a;
    double *mask;      /* n: 1 = clean */
    double *x;         /* mu */
    double *r;         /* n: mask (y - A x) */
    double *slope;     /* mu: A'r */
    double *direction; /* mu */
    double *image;     /* n: mask A direction */
} solver;

static roofs_status solver_create(solver *s, const simulation *w, roofs_error *err)
{
    const device_shape shape = {
        .n = w->n, .slots = w->mu, .batch = 1, .dtype = ROOFS_F64, .threads = 1};
    const char *what = "the oracle";
    *s = (solver){0};
    TRY(columns_create(&s->a, &device_cpu, &shape, err));
    TRY(memory_get(&s->mask, w->n, sizeof *s->mask, what, err));
    TRY(memory_get(&s->x, w->mu, sizeof *s->x, what, err));
    TRY(memory_get(&s->r, w->n, sizeof *s->r, what, err));
    TRY(memory_get(&s->slope, w->mu, sizeof *s->slope, what, err));
    TRY(memory_get(&s->direction, w->mu, sizeof *s->direction, what, err));
    return memory_get(&s->image, w->n, sizeof *s->image, what, err);
}

static void solver_destroy(solver *s)
{
    columns_destroy(&s->a);
    memory_free(s->mask);
    memory_free(s->x);
    memory_free(s->r);
    memory_free(s->slope);
    memory_free(s->direction);
    memory_free(s->image);
}

/* One true feature after the other, where it stands in the stream. */
static roofs_status take_true_features(solver *s, const simulator *data, roofs_error *err)
{
    const simulation *w = &data->what;
    const ingest_options options = {.weight = s->mask};
    int64_t settled = 0;
    for (int64_t j = 0; j < w->p; j++) {
        if (data->beta[j] == 0)
            continue;
        simulator_features(data, j, 1, ROOFS_F64, 1, s->image);
        const roofs_block block = {.count = 1,
                                   .n = w->n,
                                   .dtype = ROOFS_F64,
                                   .values = s->image,
                                   .feature_stride = w->n,
                                   .sample_stride = 1};
        TRY(columns_arrive(&s->a, &block, j, &options, err));
        TRY(columns_settle(&s->a, &settled, err));
    }
    return ROOFS_OK;
}

/* One step; returns |A'r|^2 after it. */
static double step(solver *s, double before)
{
    int64_t n = s->a.n, mu = s->a.count;
    for (int64_t i = 0; i < n; i++)
        s->image[i] = 0;
    columns_add(&s->a, NULL, mu, s->direction, s->image);
    for (int64_t i = 0; i < n; i++)
        s->image[i] *= s->mask[i];
    double length = before / vector_dot(s->image, s->image, n);
    for (int64_t j = 0; j < mu; j++)
        s->x[j] += length * s->direction[j];
    for (int64_t i = 0; i < n; i++)
        s->r[i] -= length * s->image[i];
    columns_products(&s->a, NULL, mu, s->r, s->slope);
    double after = vector_dot(s->slope, s->slope, mu);
    for (int64_t j = 0; j < mu; j++)
        s->direction[j] = s->slope[j] + after / before * s->direction[j];
    return after;
}

static void solve(solver *s, const double *y)
{
    enum { STEPS = 3000 };
    static const double SMALL = 1e-16; /* of the square of what the slope was */
    int64_t n = s->a.n, mu = s->a.count;
    for (int64_t i = 0; i < n; i++)
        s->r[i] = s->mask[i] * y[i];
    columns_products(&s->a, NULL, mu, s->r, s->slope);
    for (int64_t j = 0; j < mu; j++)
        s->direction[j] = s->slope[j];
    double now = vector_dot(s->slope, s->slope, mu), end = SMALL * now;
    for (int k = 0; k < STEPS && now > end; k++)
        now = step(s, now);
}

/* residual = y - A x over all samples. */
static void tell(solver *s, const double *y, oracle *o)
{
    for (int64_t j = 0; j < s->a.count; j++) {
        o->features[j] =
            (roofs_feature){.index = s->a.items[j].feature, .coef = s->x[j], .probability = NAN};
        s->direction[j] = -s->x[j];
    }
    for (int64_t i = 0; i < s->a.n; i++)
        o->residual[i] = y[i];
    columns_add(&s->a, NULL, s->a.count, s->direction, o->residual);
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
        status = take_true_features(&s, data, err);
    }
    if (!status) {
        solve(&s, data->y);
        tell(&s, data->y, o);
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
