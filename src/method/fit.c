#include "linalg/vector.h"
#include "method/method.h"

#include <float.h>
#include <math.h>

roofs_status fit_create_trust(fit *f, roofs_error *err)
{
    TRY(workers_create(&f->workers, f->threads, err));
    TRY(trust_create(&f->trusted, &f->comm, f->n, err));
    f->trusted.workers = f->workers;
    return ROOFS_OK;
}

void fit_destroy_trust(fit *f)
{
    trust_destroy(&f->trusted);
    workers_destroy(f->workers);
}

/* Reports a round of the current batch to the monitor, unless it has requested to stop. */
static roofs_status report_round(fit *f, int64_t round, roofs_error *err)
{
    if (!f->monitor || f->stop_requested)
        return ROOFS_OK;
    const fit *reported = f->reported ? f->reported : f;
    roofs_progress progress = {
        .struct_size = sizeof progress,
        .batch = f->batches + 1,
        .round = f->rounds_before + round,
        .features_seen = f->features_seen,
        .selected = reported->cols.count,
        .trusted = reported->trusted.count,
    };
    int answer = f->monitor(f->monitor_user, &progress);
    if (answer != ROOFS_MONITOR_CONTINUE && answer != ROOFS_MONITOR_UNDO)
        answer = ROOFS_MONITOR_STOP;
    answer = (int)comm_largest_of(&f->comm, answer);
    if (answer == ROOFS_MONITOR_CONTINUE)
        return ROOFS_OK;
    f->undo_requested |= f->undo && answer == ROOFS_MONITOR_UNDO;
    f->stop_requested = f->stops_late && !f->undo_requested;
    fail(err, ROOFS_CANCELLED, "stopped in round %lld of batch %lld%s", (long long)progress.round,
         (long long)progress.batch, f->undo_requested ? ", which was undone" : "");
    return f->stop_requested ? ROOFS_OK : ROOFS_CANCELLED;
}

roofs_status fit_round_done(fit *f, roofs_error *err)
{
    f->now.rounds++;
    f->rounds++;
    TRY(comm_status(&f->comm, err));
    return f->reports_later ? ROOFS_OK : report_round(f, f->now.rounds, err);
}

roofs_status fit_report_rounds(fit *f, roofs_error *err)
{
    for (int64_t round = 1; f->reports_later && round <= f->now.rounds; round++)
        TRY(report_round(f, round, err));
    return ROOFS_OK;
}

int fit_host_reads_samples(const fit *f)
{
    return f->is_last || f->undo || f->monitor;
}

int64_t fit_hypotheses(const roofs_settings *set)
{
    const method *m = method_named(set->method);
    return m->has_hypotheses && set->clean_ratio == 0 ? set->hypotheses : 1;
}

int64_t fit_free_capacity(const roofs_settings *set)
{
    const int64_t asked = llround((double)set->mu * (1 + set->reserve));
    const int64_t least = fit_hypotheses(set) > 1 ? 2 * set->batch : 0;
    return asked > least ? asked : least;
}

int64_t fit_capacity(const roofs_settings *set)
{
    return fit_free_capacity(set) + set->always;
}

int64_t fit_forced(const fit *f)
{
    int64_t count = 0;
    for (int64_t j = 0; j < f->cols.count && f->set.always > 0; j++)
        count += fit_is_forced(f, j);
    return count;
}

int64_t fit_free(const fit *f)
{
    return f->cols.count - fit_forced(f);
}

int64_t fit_free_seen(const fit *f)
{
    return f->features_seen > f->set.always ? f->features_seen - f->set.always : 0;
}

int64_t fit_expected(const fit *f)
{
    const int64_t tenth = (int64_t)(f->cases / 10);
    const double held = (double)fit_capacity(&f->set);
    const int is_small = f->cases * held * held <= FIT_SMALL;
    if ((f->set.prior == ROOFS_PRIOR_MU && !is_small) || tenth >= f->set.mu)
        return f->set.mu;
    return tenth > 1 ? tenth : 1;
}

double fit_published_step(const fit *f)
{
    return fmin(ldexp(f->set.eta, 2 * f->cols.unit_exponent), DBL_MAX);
}

void fit_record_step(fit *f, double step)
{
    f->now.step = f->now.rounds == 0 || step < f->now.step ? step : f->now.step;
}

void fit_residual(fit *f, const int64_t *which, int64_t count, const double *x, double *scratch)
{
    for (int64_t k = 0; k < count; k++)
        scratch[k] = -(x ? x[k] : f->cols.items[k].coef);
    for (int64_t i = 0; i < f->n; i++)
        f->residual[i] = f->y[i] - f->intercept;
    columns_add(&f->cols, which, count, scratch, f->residual);
}

/* Time per sample, see workers_sum. */
enum { RECENTRE_COST = 4 };

typedef struct recentring {
    fit *f;
    double shift;
} recentring;

static void sum_trusted(void *user, int64_t begin, int64_t end, double *sums)
{
    const fit *f = ((const recentring *)user)->f;
    sums[0] = vector_dot(f->trusted.mask + begin, f->residual + begin, end - begin);
}

static void shift_residuals(void *user, int64_t begin, int64_t end, double *sums)
{
    const recentring *s = user;
    (void)sums;
    for (int64_t i = begin; i < end; i++)
        s->f->residual[i] -= s->shift;
}

void fit_recentre(fit *f)
{
    recentring s = {.f = f};
    double sum = 0;
    workers_sum(f->workers, f->n, RECENTRE_COST, sum_trusted, &s, 1, &sum);
    s.shift = comm_sum_of(&f->comm, sum) / (double)f->trusted.count;
    f->intercept += s.shift;
    workers_sum(f->workers, f->n, RECENTRE_COST, shift_residuals, &s, 0, NULL);
}

void fit_transfer(fit *f, int graded, archive *a)
{
    archive_f64(a, &f->intercept);
    archive_mark(a, ARCHIVE_SAMPLES);
    archive_doubles(a, f->residual, f->n);
    archive_i64(a, &f->features_seen, 0, ARCHIVE_MOST);
    archive_i64(a, &f->position, 0, f->features_seen);
    archive_i64(a, &f->pass, 1, f->set.passes > 0 ? f->set.passes : ROOFS_AUTO_PASSES);
    archive_i64(a, &f->rounds, 0, ARCHIVE_MOST);
    archive_i64(a, &f->batches, 0, ARCHIVE_MOST);
    archive_int(a, &f->hit_cap, 0, 1);
    columns_transfer(&f->cols, fit_capacity(&f->set), a);
    trust_transfer(&f->trusted, graded, a);
}
