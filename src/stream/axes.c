#include "stream/axes.h"

roofs_status axes_find_samples(const int64_t shape[2], const reader *r, int *axis, roofs_error *err)
{
    const format_hints *hints = &r->hints;
    if (hints->orient != ORIENT_AUTO) {
        *axis = hints->orient == ORIENT_FEATURES;
        return ROOFS_OK;
    }
    int64_t known = hints->n > 0 ? hints->n : hints->features; /* the length of one axis */
    if (hints->n > 0 && shape[0] != known && shape[1] != known)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has shape (%lld, %lld): no axis has %lld samples, as %s has",
                    bytes_name(r->input), (long long)shape[0], (long long)shape[1],
                    (long long)hints->n, hints->n_owner);
    if (known <= 0 || (shape[0] == known) == (shape[1] == known))
        return fail(err, ROOFS_BAD_DATA,
                    "%s has shape (%lld, %lld), which does not show which axis holds the samples; "
                    "give --orient features (one feature per row) or --orient samples (one sample "
                    "per row)",
                    bytes_name(r->input), (long long)shape[0], (long long)shape[1]);
    *axis = hints->n > 0 ? shape[1] == known : shape[0] == known;
    return ROOFS_OK;
}
