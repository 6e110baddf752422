/* Weights of samples: how many samples each one stands for. */
#include "api/estimator.h"
#include "base/memory.h"
#include "linalg/vector.h"

#include <float.h>
#include <string.h>

roofs_status estimator_choose_cpu(roofs_estimator *e, const char *what, roofs_error *err)
{
    roofs_settings *set = &e->f->set;
    if (set->device == ROOFS_DEVICE_AUTO)
        set->device = ROOFS_DEVICE_CPU;
    if (set->device == ROOFS_DEVICE_CPU)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING, "%s need the CPU: the device must be cpu or auto", what);
}

static roofs_status check_case_weight(const fit *f, const double *weight, roofs_error *err)
{
    for (int64_t i = 0; i < f->n; i++)
        if (!(weight[i] >= 0 && weight[i] <= DBL_MAX))
            return fail(err, ROOFS_BAD_DATA,
                        "the weight of sample %lld (counted from 0) is negative or not a finite "
                        "number",
                        (long long)(comm_first(&f->comm) + i));
    return ROOFS_OK;
}

/* A sum of 1 is that of shares, which are not meant. */
static roofs_status check_total(double total, roofs_error *err)
{
    const double most = 0x1p53;
    if (total >= FEWEST_SAMPLES && total <= most)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the weights of the samples have the sum %g; a weight says how often a sample "
                "counts: multiply the weights so that their sum is the number of observations, "
                "from %d to %g",
                total, FEWEST_SAMPLES, most);
}

static roofs_status copy_case_weight(fit *f, const double *weight, roofs_error *err)
{
    TRY(memory_get(&f->case_weight, f->n, sizeof *weight, "the weights of the samples", err));
    memcpy(f->case_weight, weight, (size_t)f->n * sizeof *weight);
    return ROOFS_OK;
}

roofs_status estimator_set_case_weight(roofs_estimator *e, const double *weight, roofs_error *err)
{
    fit *f = e->f;
    comm *c = &f->comm;
    f->cases = (double)comm_samples(c, f->n);
    const int64_t weighted = comm_count(c, weight != NULL);
    TRY(comm_status(c, err));
    if (weighted > 0 && weighted < (comm_is_alone(c) ? 1 : c->with.size))
        return comm_agree(
            c, fail(err, ROOFS_BAD_CALL, "some ranks have weights of samples, others have none"),
            err);
    if (!weight)
        return ROOFS_OK;
    TRY(comm_agree(c, check_case_weight(f, weight, err), err));
    int64_t others = 0, used = 0;
    for (int64_t i = 0; i < f->n; i++) {
        others += weight[i] != 1;
        used += weight[i] > 0;
    }
    others = comm_count(c, others);
    used = comm_count(c, used);
    TRY(comm_status(c, err));
    if (others == 0)
        return ROOFS_OK;
    TRY(method_require(e->m, offsetof(method, has_case_weights), "weigh samples", err));
    if (used < FEWEST_SAMPLES)
        return fail(err, ROOFS_BAD_DATA,
                    "%lld samples have a weight above 0; at least %d are needed", (long long)used,
                    FEWEST_SAMPLES);
    TRY(comm_agree(c, copy_case_weight(f, weight, err), err));
    f->cases = comm_total(c, f->case_weight, f->n);
    TRY(comm_status(c, err));
    return check_total(f->cases, err);
}
