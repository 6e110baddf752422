/* Features that the caller forces into the model: the setting always. */
#include "api/estimator.h"

/* Forced features are solved for without a prior: there must be more samples. */
static roofs_status check_count(const fit *f, roofs_error *err)
{
    const int64_t n = comm_samples(&f->comm, f->n), all = f->set.always + (f->set.intercept != 0);
    if (all < n)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING,
                "always = %lld: so many features cannot be forced into a model of %lld samples; "
                "give fewer, and let the others compete",
                (long long)f->set.always, (long long)n);
}

roofs_status estimator_check_forced(roofs_estimator *e, roofs_error *err)
{
    if (e->f->set.always == 0)
        return ROOFS_OK;
    TRY(method_require(e->m, offsetof(method, has_forced),
                       "keep features in any case (always must be 0)", err));
    TRY(check_count(e->f, err));
    return estimator_choose_cpu(e, "forced features (always)", err);
}
