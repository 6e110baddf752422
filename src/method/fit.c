#include "method/fit.h"

#include "linalg/vector.h"

#include <math.h>

roofs_status fit_round_done(fit *f, roofs_error *err)
{
    f->now.rounds++;
    f->rounds++;
    if (!f->monitor)
        return ROOFS_OK;
    roofs_progress progress = {
        .batch = f->batches + 1,
        .round = f->now.rounds,
        .features_seen = f->features_seen,
        .selected = f->cols.count,
        .trusted = f->trusted.count,
    };
    if (f->monitor(f->monitor_user, &progress) != 0)
        return fail(err, ROOFS_CANCELLED, "stopped in round %lld of batch %lld",
                    (long long)progress.round, (long long)progress.batch);
    return ROOFS_OK;
}

int64_t fit_capacity(const roofs_settings *set)
{
    return llround((double)set->mu * (1 + set->reserve));
}

void fit_recentre(fit *f)
{
    double shift = vector_dot(f->trusted.mask, f->residual, f->n) / (double)f->trusted.count;
    f->intercept += shift;
    for (int64_t i = 0; i < f->n; i++)
        f->residual[i] -= shift;
}
