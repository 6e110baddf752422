/* What a user should hear about a fit: the flags of ROOFS_WARNING_LIST that no method sets. */
#include "api/estimator.h"
#include "robust/ties.h"

enum {
    EQUAL_LEAST = 5,    /* fewer equal responses may be a coincidence of rounded numbers */
    DISCRETE_LEAST = 50 /* fewer samples have few values in any case */
};

static const double FEW = 0.6; /* of the samples */

roofs_status warn_about_response(fit *f, roofs_error *err)
{
    const int64_t n = comm_samples(&f->comm, f->n);
    int64_t different = 0;
    double equal = 0;
    TRY(ties_different(&f->comm, f->y, f->case_weight, f->n, &different, err));
    TRY(ties_largest(&f->comm, f->y, f->case_weight, f->n, &equal, err));
    if (different > 1 && different <= DIFFERENT_MOST && n >= DISCRETE_LEAST)
        f->warnings |= ROOFS_WARNING_DISCRETE_RESPONSE;
    else if (equal >= EQUAL_LEAST)
        f->warnings |= ROOFS_WARNING_EQUAL_RESPONSES;
    return ROOFS_OK;
}

/* A caller who asks for few trusted samples gets them without a warning. */
static int has_few_trusted(const fit *f)
{
    const double ratio = f->set.clean_ratio;
    const int asked = ratio > 0 && ratio < FEW;
    return !asked && (double)f->trusted.count < FEW * (double)comm_samples(&f->comm, f->n);
}

int64_t warnings_of(const fit *f)
{
    int64_t flags = f->warnings;
    if (f->hit_cap)
        flags |= ROOFS_WARNING_NOT_SETTLED;
    if (has_few_trusted(f))
        flags |= ROOFS_WARNING_FEW_TRUSTED;
    if (fit_forced(f) < f->features_seen - fit_free_seen(f))
        flags |= ROOFS_WARNING_FORCED;
    return flags;
}
