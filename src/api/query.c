/* What a program asks about an estimator. */
#include "api/estimator.h"
#include "api/settings.h"

int64_t roofs_samples(const roofs_estimator *e)
{
    return e ? comm_samples(&e->f.comm, e->f.n) : 0;
}

int32_t roofs_failure_is_shared(const roofs_estimator *e)
{
    return e && e->f.comm.agreed;
}

int64_t roofs_features_held(const roofs_settings *settings)
{
    roofs_settings own;
    if (!settings || settings_take(settings, &own, NULL) != ROOFS_OK)
        return 0;
    return fit_capacity(&own);
}
