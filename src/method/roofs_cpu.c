/* The rounds of method roofs on the CPU. The line numbers are those of the paper's listing. */
#include "base/memory.h"
#include "linalg/vector.h"
#include "method/roofs_engine.h"

#include <math.h>
#include <string.h>

typedef struct roofs_host {
    double *gradient; /* per column */
    int64_t capacity; /* of the gradient */
    double *image;    /* n: the change of the residual by a step along the gradient */
    double *before;   /* n: |residual| before the round */
    double *scratch;  /* n */
} roofs_host;

static void roofs_cpu_destroy(void *own)
{
    roofs_host *s = own;
    memory_free(s->gradient);
    memory_free(s->image);
    memory_free(s->before);
    memory_free(s->scratch);
    memory_free(s);
}

static roofs_status roofs_cpu_create(void **own, const fit *f, roofs_error *err)
{
    const char *what = "method roofs";
    roofs_host *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, what, err));
    *own = s;
    TRY(memory_get(&s->image, f->n, sizeof *s->image, what, err));
    TRY(memory_get(&s->before, f->n, sizeof *s->before, what, err));
    return memory_get(&s->scratch, f->n, sizeof *s->scratch, what, err);
}

static roofs_status roofs_cpu_begin(void *own, const roofs_job *job, roofs_error *err)
{
    roofs_host *s = own;
    const fit *f = job->f;
    memset(s->before, 0, (size_t)f->n * sizeof *s->before);
    return memory_grow(&s->gradient, &s->capacity, f->cols.count, sizeof *s->gradient, "a gradient",
                       err);
}

static void trusted_subset(const fit *f, const double *x, double *out)
{
    for (int64_t i = 0; i < f->n; i++)
        out[i] = x[i] * f->trusted.mask[i];
}

/* Line 6: beta += h X_S r_S with h = step / |S|. One read of the columns gives the gradient and its
 * image, by which the residual of line 11 changes. */
static void gradient_step(roofs_host *s, roofs_job *job)
{
    fit *f = job->f;
    columns *c = &f->cols;
    trusted_subset(f, f->residual, s->scratch);
    columns_descend(c, NULL, c->count, s->scratch, s->gradient, s->image);

    trusted_subset(f, s->image, s->scratch);
    double size = (double)f->trusted.count;
    double step = safe_step(&job->guard, job->published_step, vector_norm(s->gradient, c->count),
                            comm_norm(&f->comm, s->scratch, f->n) / sqrt(size));
    for (int64_t j = 0; j < c->count; j++)
        c->items[j].coef += step / size * c->places[j].unit * s->gradient[j];
    for (int64_t i = 0; i < f->n; i++)
        f->residual[i] -= step / size * s->image[i];
    job->step = step;
}

/* Lines 7 to 10: the smallest |beta| leave, the later of two equals first. */
static void roofs_keep_largest(roofs_job *job)
{
    fit *f = job->f;
    if (f->cols.count <= f->set.mu)
        return;
    largest_mark(&job->selection, f, f->set.mu);
    columns_drop(&f->cols, job->selection.keep, f->residual, NULL);
}

/* Line 14: |r_S - r_S before the round| / |S|, with absolute residuals and the new S. */
static double residual_movement(roofs_host *s, fit *f)
{
    for (int64_t i = 0; i < f->n; i++) {
        double size = fabs(f->residual[i]);
        s->scratch[i] = (size - s->before[i]) * f->trusted.mask[i];
        s->before[i] = size;
    }
    return comm_norm(&f->comm, s->scratch, f->n) / (double)f->trusted.count;
}

static roofs_status roofs_cpu_round(void *own, roofs_job *job, roofs_error *err)
{
    fit *f = job->f;
    (void)err;
    gradient_step(own, job);
    roofs_keep_largest(job);
    if (f->set.intercept)
        fit_recentre(f); /* completes the residual of line 11 */
    const fit_phase before = fit_enter(f, FIT_SAMPLES);
    trust_update(&f->trusted, f->residual, f->set.clean_ratio); /* line 12, eq. (5) */
    fit_enter(f, before);
    job->movement = residual_movement(own, f);
    return ROOFS_OK;
}

const roofs_engine roofs_cpu = {
    .create = roofs_cpu_create,
    .destroy = roofs_cpu_destroy,
    .begin = roofs_cpu_begin,
    .round = roofs_cpu_round,
};
