/* Sizes that a small file only claims. */
#include "stream/source_state.h"

static roofs_status fail_claimed(const char *path, int64_t number, const char *what,
                                 roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "%s has %lld %s by its numbers, far more than its size suggests; if that is "
                "right, give --expect-%s %lld",
                path, (long long)number, what, what, (long long)number);
}

roofs_status source_check_sizes(const source *s, int features_too, roofs_error *err)
{
    int64_t held = 0, features = source_features(s);
    int claims = 1; /* no dense file confirms the number of samples */
    for (int64_t k = 0; k < s->file_count; k++) {
        const reader *r = s->files[k].reader;
        held += r ? bytes_held(r->input) : 0;
        claims &= !r || reader_is_sparse(r) || r->features == 0;
    }
    if (claims && s->options.n == 0 && bytes_only_claim(held, s->n))
        return fail_claimed(s->files[0].path, s->n, "samples", err);
    if (features_too && s->options.expected.features == 0 && bytes_only_claim(held, features))
        return fail_claimed(s->files[0].path, features, "features", err);
    return ROOFS_OK;
}
