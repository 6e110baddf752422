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

/* ---- maps and sums over samples, in pieces ------------------------------ */

/* Time per sample, see workers_sum. */
enum { PASS_COST = 4 };

typedef struct sample_job {
    roofs_host *s;
    fit *f;
    double amount;
} sample_job;

/* Runs one of the functions below over all samples. Returns the sum over this rank's samples. */
static double over_samples(roofs_host *s, fit *f, double amount, workers_piece piece)
{
    sample_job job = {s, f, amount};
    double sum = 0;
    workers_sum(f->workers, f->n, PASS_COST, piece, &job, 1, &sum);
    return sum;
}

/* scratch = r_S */
static void take_trusted(void *user, int64_t begin, int64_t end, double *sums)
{
    const sample_job *j = user;
    (void)sums;
    for (int64_t i = begin; i < end; i++)
        j->s->scratch[i] = j->f->residual[i] * j->f->trusted.mask[i];
}

/* scratch = the trusted samples of the image; the sum of their squares */
static void take_trusted_image(void *user, int64_t begin, int64_t end, double *sums)
{
    const sample_job *j = user;
    double *x = j->s->scratch;
    for (int64_t i = begin; i < end; i++)
        x[i] = j->s->image[i] * j->f->trusted.mask[i];
    sums[0] = vector_dot(x + begin, x + begin, end - begin);
}

/* r -= amount image */
static void subtract_image(void *user, int64_t begin, int64_t end, double *sums)
{
    const sample_job *j = user;
    (void)sums;
    vector_add(j->f->residual + begin, -j->amount, j->s->image + begin, end - begin);
}

/* scratch = the movement of r_S, before = |r|; the sum of the squares of scratch */
static void take_movement(void *user, int64_t begin, int64_t end, double *sums)
{
    const sample_job *j = user;
    double *x = j->s->scratch;
    for (int64_t i = begin; i < end; i++) {
        const double size = fabs(j->f->residual[i]);
        x[i] = (size - j->s->before[i]) * j->f->trusted.mask[i];
        j->s->before[i] = size;
    }
    sums[0] = vector_dot(x + begin, x + begin, end - begin);
}

/* The norm of scratch, from the sum of its squares. */
static double scratch_norm(const roofs_host *s, fit *f, double squares)
{
    return comm_norm_of(&f->comm, vector_norm_of(s->scratch, f->n, squares));
}

/* Line 6: beta += h X_S r_S with h = step / |S|. One read of the columns gives the gradient and its
 * image, by which the residual of line 11 changes. */
static void gradient_step(roofs_host *s, roofs_job *job)
{
    fit *f = job->f;
    columns *c = &f->cols;
    over_samples(s, f, 0, take_trusted);
    columns_descend(c, NULL, c->count, s->scratch, s->gradient, s->image);

    const double squares = over_samples(s, f, 0, take_trusted_image);
    double size = (double)f->trusted.count;
    double step = safe_step(&job->guard, job->published_step, vector_norm(s->gradient, c->count),
                            scratch_norm(s, f, squares) / sqrt(size));
    for (int64_t j = 0; j < c->count; j++)
        c->items[j].coef += step / size * c->places[j].unit * s->gradient[j];
    over_samples(s, f, step / size, subtract_image);
    job->step = step;
}

/* Lines 7 to 10: the smallest |beta| leave, the later of two equals first. */
static void roofs_keep_largest(roofs_job *job)
{
    fit *f = job->f;
    if (fit_free(f) <= f->set.mu)
        return;
    largest_mark(&job->selection, f, f->set.mu);
    columns_drop(&f->cols, job->selection.keep, f->residual, NULL);
}

/* Line 14: |r_S - r_S before the round| / |S|, with absolute residuals and the new S. */
static double residual_movement(roofs_host *s, fit *f)
{
    const double squares = over_samples(s, f, 0, take_movement);
    return scratch_norm(s, f, squares) / (double)f->trusted.count;
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
