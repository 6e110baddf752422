/* Queries of an estimator. */
#include "api/estimator.h"
#include "base/sized.h"

void roofs_describe_sized(const roofs_estimator *e, roofs_description *out, size_t size)
{
    static const sized_type type = {"roofs_description", sizeof *out, sizeof *out};
    roofs_description now = {0};
    if (e)
        *e->described = e->f->set;
    if (e)
        now = (roofs_description){.settings = e->described,
                                  .n = e->f->n,
                                  .features_seen = e->f->features_seen,
                                  .pass = e->f->pass,
                                  .position = e->f->position,
                                  .batches = e->f->batches,
                                  .named = e->named,
                                  .finished = e->phase == PHASE_FINISHED};
    sized_export(&type, out, size, &now);
}

const char *roofs_device(const roofs_estimator *e)
{
    return e ? e->ops->name : NULL;
}

int64_t roofs_samples(const roofs_estimator *e)
{
    return e ? comm_samples(&e->f->comm, e->f->n) : 0;
}

int32_t roofs_failure_is_shared(const roofs_estimator *e)
{
    int32_t shared = e && e->f->comm.agreed;
    for (int64_t k = 0; e && k < e->other_count; k++)
        shared |= e->others[k]->f->comm.agreed;
    return shared;
}

/* ---- where the time goes ----------------------------------------------- */

/* Without FIT_IDLE. */
const char *roofs_phase_name(int64_t k)
{
    static const char *const names[] = {"checking", "rounds", "samples",
                                        "storing",  "joint",  "groups"};
    _Static_assert(sizeof names / sizeof *names == FIT_PHASES - 1, "a name for each phase");
    return k >= 0 && k < FIT_PHASES - 1 ? names[k] : NULL;
}

static double sum_of_phase(const roofs_estimator *e, int64_t k, int is_bytes)
{
    if (!e || !roofs_phase_name(k))
        return 0;
    double sum = 0;
    for (int64_t h = 0; h <= e->other_count; h++) {
        const fit_spent *s = &(h == 0 ? e : e->others[h - 1])->f->spent;
        sum += is_bytes ? s->bytes[k + 1] : s->seconds[k + 1];
    }
    return sum;
}

double roofs_phase_seconds(const roofs_estimator *e, int64_t k)
{
    return sum_of_phase(e, k, 0);
}

double roofs_phase_bytes(const roofs_estimator *e, int64_t k)
{
    return sum_of_phase(e, k, 1);
}
