#include "stream/axes.h"

static roofs_status cannot_tell(const int64_t shape[2], const char *name, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "%s has shape (%lld, %lld): which axis holds the samples cannot be told; give "
                "--orient features (one feature per row) or --orient samples (one sample per row)",
                name, (long long)shape[0], (long long)shape[1]);
}

roofs_status axes_find_samples(const int64_t shape[2], const format_hints *hints, const char *name,
                               int *axis, roofs_error *err)
{
    if (hints->orient != ORIENT_AUTO) {
        *axis = hints->orient == ORIENT_FEATURES;
        return ROOFS_OK;
    }
    int64_t told = hints->n > 0 ? hints->n : hints->features; /* the length of one axis */
    if (hints->n > 0 && shape[0] != told && shape[1] != told)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has shape (%lld, %lld): no axis has %lld samples, as %s has", name,
                    (long long)shape[0], (long long)shape[1], (long long)hints->n, hints->n_owner);
    if (told <= 0 || (shape[0] == told) == (shape[1] == told))
        return cannot_tell(shape, name, err);
    *axis = hints->n > 0 ? shape[1] == told : shape[0] == told;
    return ROOFS_OK;
}
