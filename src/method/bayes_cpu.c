/* The rounds of method roofs-bayes on the CPU. docs/roofs-bayes.md has the model and every update;
 * names are those of that page. */
#include "base/memory.h"
#include "linalg/lanes_math.h"
#include "method/bayes_engine.h"
#include "method/coordinate_formula.h"

#include <math.h>
#include <string.h>

/* Time per sample, see workers_sum. */
enum { PASS_COST = 4 };

typedef struct bayes_host {
    int64_t *subset; /* columns of a sweep that is not over all */
    int64_t capacity;
} bayes_host;

typedef struct bayes_sweep {
    bayes_job *job;
    const int64_t *which; /* NULL = all columns */
    int is_all;           /* V is summed anew */
} bayes_sweep;

static void bayes_cpu_destroy(void *own)
{
    bayes_host *s = own;
    memory_free(s->subset);
    memory_free(s);
}

static roofs_status bayes_cpu_create(void **own, const fit *f, roofs_error *err)
{
    bayes_host *s = NULL;
    (void)f;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs-bayes", err));
    *own = s;
    return ROOFS_OK;
}

static roofs_status bayes_cpu_begin(void *own, const bayes_job *job, roofs_error *err)
{
    bayes_host *s = own;
    return memory_grow(&s->subset, &s->capacity, job->f->cols.count, sizeof *s->subset,
                       "the list of features", err);
}

/* ---- publish: samples from the mixture to the fit ------------------------ */

/* Copies `count` samples from i on, at most eight; the mixture's arrays are padded. */
LANES_INLINE void publish_lanes(const mixture *m, fit *f, int64_t i, size_t count, lanes *highest,
                                lanes *number)
{
    const lanes one = 1.0 + (lanes){0}, zero = {0};
    lanes given = {0}, w = lanes_load_f64(m->w + i);
    memcpy(&given, f->y + i, count * sizeof(double));
    lanes r = lanes_load_f64(m->r + i) + (given - lanes_load_f64(m->y + i));
    memcpy(f->residual + i, &r, count * sizeof(double));
    memcpy(f->trusted.mask + i, &w, count * sizeof(double));
    lanes_int trusted = w > TRUSTED;
    lanes size = lanes_choose(trusted, lanes_choose(r < zero, -r, r), zero);
    *highest = lanes_choose(size > *highest, size, *highest);
    *number += lanes_choose(trusted, one, zero);
}

typedef struct publish_job {
    const mixture *m;
    fit *f;
    int64_t rows; /* of a piece, see workers_sum */
    double highest[PIECES_MOST];
} publish_job;

EVERY_WIDTH static void publish_samples(publish_job *job, int64_t begin, int64_t end, double *sums)
{
    lanes highest = {0}, number = {0};
    int64_t i = begin;
    for (; i + LANES <= end; i += LANES)
        publish_lanes(job->m, job->f, i, LANES, &highest, &number);
    if (i < end)
        publish_lanes(job->m, job->f, i, (size_t)(end - i), &highest, &number);
    double cut = 0;
    for (int l = 0; l < LANES; l++)
        cut = fmax(cut, highest[l]);
    job->highest[begin / job->rows] = cut;
    sums[0] = lanes_total(number);
}

static void publish_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    publish_samples(user, begin, end, sums);
}

void bayes_publish(const bayes_job *job)
{
    fit *f = job->f;
    const workers_pieces pieces = workers_pieces_of(f->n);
    publish_job own = {.m = &job->samples, .f = f, .rows = pieces.rows};
    double number = 0, cut = 0;
    f->intercept = job->samples.intercept;
    workers_sum(f->workers, f->n, PASS_COST, publish_piece, &own, 1, &number);
    for (int64_t k = 0; k < pieces.count; k++)
        cut = fmax(cut, own.highest[k]);
    f->trusted.count = (int64_t)comm_sum_of(&f->comm, number);
    f->trusted.cut = comm_largest_of(&f->comm, cut);
}

/* ---- sweep ------------------------------------------------------------- */

/* Updates one coefficient, with slope = z'Wr. Returns its change delta. */
static double update_coordinate(bayes_job *job, column *c, const coordinate *prepared, double slope)
{
    coordinate_estimate found;
    const double delta = coordinate_move(prepared, slope, &found);
    c->coef = coordinate_is_defined(prepared) ? c->coef + delta : 0;
    c->variance = found.variance;
    c->probability = found.probability;
    if (coordinate_is_defined(prepared))
        slab_record(&job->prior, c->feature, found.R, coordinate_variance(prepared),
                    slab_scale(c->flatness));
    return delta;
}

/* Updates the coefficients of a block, in order, on its small Gram matrix. What does not depend on
 * the order is prepared before, so that the processor can compute it side by side. */
static void update_block(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                         const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                         double spread[DEVICE_BLOCK])
{
    const bayes_sweep *sweep = user;
    bayes_job *job = sweep->job;
    column *items[DEVICE_BLOCK];
    coordinate prepared[DEVICE_BLOCK];
    for (int64_t q = 0; q < count; q++) {
        items[q] = &job->f->cols.items[sweep->which ? sweep->which[first + q] : first + q];
        prepared[q] = coordinate_prepare(items[q]->coef, gram[q][q], slab_scale(items[q]->flatness),
                                         &job->samples.now, &job->prior.now);
    }
    for (int64_t q = 0; q < count; q++) {
        column *c = items[q];
        double now = slope[q], variance = sweep->is_all ? 0 : c->variance;
        for (int64_t p = 0; p < q; p++)
            now -= gram[q][p] * delta[p];
        delta[q] = update_coordinate(job, c, &prepared[q], now);
        job->largest_move = fmax(job->largest_move, fabs(delta[q]));
        spread[q] = c->variance - variance;
    }
}

/* x = max(x, 0); x is padded, as all arrays of the mixture. */
EVERY_WIDTH static void clip_lanes(double *x, int64_t n)
{
    const lanes zero = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes v = lanes_load_f64(x + i);
        v = lanes_choose(v > zero, v, zero);
        memcpy(x + i, &v, sizeof v);
    }
}

static void clip_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    (void)sums;
    clip_lanes((double *)user + begin, end - begin);
}

static void clip_negative(const fit *f, double *x)
{
    workers_sum(f->workers, f->n, PASS_COST, clip_piece, x, 0, NULL);
}

static void clear_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    (void)sums;
    memset((double *)user + begin, 0, (size_t)(end - begin) * sizeof(double));
}

/* Forced columns are solved for together, before the sweep over the others. */
static void solve_forced(bayes_job *job, int is_all)
{
    fit *f = job->f;
    mixture *m = &job->samples;
    forced *own = &job->always;
    const double moved = forced_solve(own, f, m->weight, m->r, m->z);
    job->largest_move = fmax(job->largest_move, moved);
    forced_spread(own, f, m->now.tau2, is_all, m->V);
}

/* hyper, sweep, judge: over which[0..count), or over all columns if `which` is NULL. is_all: no
 * column is left out but forced ones. */
static void round_on(bayes_job *job, const int64_t *which, int64_t count, int is_all)
{
    fit *f = job->f;
    mixture *m = &job->samples;
    bayes_sweep sweep = {.job = job, .which = which, .is_all = is_all};
    slab_learn(&job->prior, m->total, job->expected, fit_free_seen(f), f->workers);
    if (is_all)
        workers_sum(f->workers, f->n, PASS_COST, clear_piece, m->V, 0, NULL);
    job->largest_move = 0;
    if (job->always.count > 0)
        solve_forced(job, is_all);
    device_sweep how = {
        .weight = m->weight, .r = m->r, .variance = m->V, .update = update_block, .user = &sweep};
    columns_sweep(&f->cols, which, count, &how);
    clip_negative(f, m->V);
    const fit_phase before = fit_enter(f, FIT_SAMPLES);
    mixture_recentre(m);
    mixture_judge(m, job->at_end);
    bayes_publish(job);
    fit_enter(f, before);
}

static roofs_status bayes_cpu_round(void *own, bayes_job *job, int64_t spared, roofs_error *err)
{
    bayes_host *s = own;
    const fit *f = job->f;
    const int is_all = spared == BAYES_ALL;
    int64_t count = 0;
    (void)err;
    if (is_all && job->always.count == 0) {
        round_on(job, NULL, 0, 1);
        return ROOFS_OK;
    }
    if (!is_all)
        largest_mark(&job->selection, f, spared);
    for (int64_t j = 0; j < f->cols.count; j++)
        if (is_all ? !fit_is_forced(f, j) : !job->selection.keep[j])
            s->subset[count++] = j;
    round_on(job, s->subset, count, is_all);
    return ROOFS_OK;
}

static roofs_status bayes_cpu_keep(void *own, bayes_job *job, int64_t limit, roofs_error *err)
{
    mixture *m = &job->samples;
    (void)own;
    (void)err;
    largest_mark(&job->selection, job->f, limit);
    columns_drop(&job->f->cols, job->selection.keep, m->r, m->V);
    clip_negative(job->f, m->V);
    mixture_variances(m);
    bayes_publish(job);
    return ROOFS_OK;
}

const bayes_engine bayes_cpu = {
    .create = bayes_cpu_create,
    .destroy = bayes_cpu_destroy,
    .begin = bayes_cpu_begin,
    .round = bayes_cpu_round,
    .keep = bayes_cpu_keep,
};
