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
