#include "stream/response.h"

#include "base/comm.h"
#include "base/memory.h"
#include "stream/format.h"

#include <math.h>
#include <string.h>

static roofs_status response_check_finite(const reader *r, int64_t first, int64_t count,
                                          const double *y, roofs_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(y[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "%s: value %lld of the response (counted from 0) is %s; remove or fill "
                        "missing values first",
                        bytes_name(r->input), (long long)(first + i),
                        isnan(y[i]) ? "nan" : "infinite");
    return ROOFS_OK;
}

static roofs_status response_check_memory(const reader *r, int64_t count, int64_t limit,
                                          roofs_error *err)
{
    const int64_t needed = memory_bytes(count, sizeof(double));
    const int64_t small = 1 << 24; /* read anyway: the fit then reports all that it needs */
    if (limit == 0 || needed <= limit || needed <= small)
        return ROOFS_OK;
    return fail(err, ROOFS_OVER_LIMIT,
                "%s: the response has %lld values, which need %lld bytes, more than the limit of "
                "%lld; raise the limit",
                bytes_name(r->input), (long long)count, (long long)needed, (long long)limit);
}

/* A sparse file stores no zeros, so its size does not bound the number of its values. One that
 * lists the samples of one feature may have few of them; one row of so many features is no
 * response. */
static roofs_status response_check_sparse(const reader *r, roofs_error *err)
{
    if (!reader_is_sparse(r))
        return ROOFS_OK;
    if (r->n == 1 && r->features > 1)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has one sample and %lld features: a response in a sparse file is one "
                    "feature; exchange its rows and columns",
                    bytes_name(r->input), (long long)r->features);
    if (bytes_only_claim(bytes_held(r->input), r->n))
        return fail(err, ROOFS_BAD_DATA,
                    "%s has %lld values by its numbers, far more than its size suggests; write "
                    "the response as an array",
                    bytes_name(r->input), (long long)r->n);
    return ROOFS_OK;
}

/* One column is one feature. One row is n features with one sample each. The reader returns the
 * same n numbers for both. */
static roofs_status response_read_vector(reader *r, int64_t rank, int64_t ranks, int64_t limit,
                                         double **y, int64_t *n, roofs_error *err)
{
    int64_t got;
    if (r->n < 0)
        TRY(reader_load(r, err));
    if (r->features != 1 && r->n != 1)
        return fail(
            err, ROOFS_BAD_DATA,
            "%s has %lld rows and %lld columns: a response has one column, or one row; name a "
            "column with --y FILE:COLUMN",
            bytes_name(r->input), (long long)r->n, (long long)r->features);
    TRY(response_check_sparse(r, err));
    *n = r->n * r->features;
    const int64_t first = shard_begin(*n, rank, ranks);
    const int64_t own = shard_begin(*n, rank + 1, ranks) - first;
    const int cut_after = r->n == 1 && *n > 1; /* one row: each value is a feature */
    if (!cut_after && ranks > 1)
        reader_set_shard(r, first, own);
    TRY(response_check_memory(r, cut_after ? *n : own, limit, err));
    TRY(reader_load(r, err));
    TRY(memory_reserve(y, cut_after ? *n : own, sizeof **y, "the response", err));
    TRY(reader_read(r, r->features, ROOFS_F64, *y, &got, err));
    if (cut_after)
        memmove(*y, *y + first, (size_t)own * sizeof **y);
    return response_check_finite(r, first, own, *y, err);
}

/* A table in place of a response: words may have been found before the columns were counted. */
static roofs_status hint_at_columns(const reader *r, roofs_status status, roofs_error *err)
{
    if (status != ROOFS_BAD_DATA || !err || !r->named || r->features < 2 || r->n >= 0)
        return status;
    roofs_error reason = *err;
    return fail(err, status,
                "%s; the file has %lld columns: name the response with --y FILE:COLUMN",
                reason.text, (long long)r->features);
}

roofs_status response_read(const char *path, double **y, int64_t *n, roofs_error *err)
{
    return response_read_shard(path, 0, 1, 0, y, n, err);
}

roofs_status response_read_shard(const char *path, int64_t rank, int64_t ranks, int64_t limit,
                                 double **y, int64_t *n, roofs_error *err)
{
    const format_hints hints = {.n_owner = "the response", .orient = ORIENT_SAMPLES};
    reader *r;
    *y = NULL;
    *n = 0;
    TRY(reader_open(&r, path, &hints, err));
    roofs_status status = response_read_vector(r, rank, ranks, limit, y, n, err);
    status = hint_at_columns(r, status, err);
    reader_close(r);
    if (status) {
        memory_free(*y);
        *y = NULL;
    }
    return status;
}
