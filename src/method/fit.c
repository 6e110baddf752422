#include "method/fit.h"

#include <math.h>

roofs_status fit_round_done(fit *f, roofs_error *err)
{
    f->now.rounds++;
    f->rounds++;
    TRY(comm_status(&f->comm, err));
    if (!f->monitor)
        return ROOFS_OK;
    roofs_progress progress = {
        .struct_size = sizeof progress,
        .batch = f->batches + 1,
        .round = f->now.rounds,
        .features_seen = f->features_seen,
        .selected = f->cols.count,
        .trusted = f->trusted.count,
    };
    int answer = (int)comm_largest_of(&f->comm, f->monitor(f->monitor_user, &progress));
    if (answer == ROOFS_MONITOR_CONTINUE)
        return ROOFS_OK;
    f->take_back |= f->undo && answer == ROOFS_MONITOR_UNDO;
    return fail(err, ROOFS_CANCELLED, "stopped in round %lld of batch %lld%s",
                (long long)progress.round, (long long)progress.batch,
                f->take_back ? ", which was taken back" : "");
}

int fit_host_reads_samples(const fit *f)
{
    return f->is_last || f->undo || f->monitor;
}

int64_t fit_capacity(const roofs_settings *set)
{
    return llround((double)set->mu * (1 + set->reserve));
}

void fit_recentre(fit *f)
{
    double shift =
        comm_dot(&f->comm, f->trusted.mask, f->residual, f->n) / (double)f->trusted.count;
    f->intercept += shift;
    for (int64_t i = 0; i < f->n; i++)
        f->residual[i] -= shift;
}

void fit_transfer(fit *f, int graded, archive *a)
{
    archive_f64(a, &f->intercept);
    archive_mark(a, ARCHIVE_SAMPLES);
    archive_doubles(a, f->residual, f->n);
    archive_i64(a, &f->features_seen, 0, ARCHIVE_MOST);
    archive_i64(a, &f->position, 0, f->features_seen);
    archive_i64(a, &f->pass, 1, f->set.passes);
    archive_i64(a, &f->rounds, 0, ARCHIVE_MOST);
    archive_i64(a, &f->batches, 0, ARCHIVE_MOST);
    archive_int(a, &f->hit_cap, 0, 1);
    columns_transfer(&f->cols, fit_capacity(&f->set), a);
    trust_transfer(&f->trusted, graded, a);
}
