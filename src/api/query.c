/* What a program asks about an estimator. */
#include "api/estimator.h"

int64_t roofs_samples(const roofs_estimator *e)
{
    return comm_samples(&e->f.comm, e->f.n);
}

int32_t roofs_failure_is_shared(const roofs_estimator *e)
{
    return e && e->f.comm.agreed;
}

int64_t roofs_features_held(const roofs_settings *settings)
{
    return fit_capacity(settings);
}
