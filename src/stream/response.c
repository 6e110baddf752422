#include "stream/response.h"

#include "base/comm.h"
#include "base/memory.h"
#include "stream/format.h"

#include <math.h>
#include <string.h>

static roofs_status check(const reader *r, int64_t first, int64_t count, const double *y,
                          roofs_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(y[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "%s: value %lld of the response (counted from 0) is %s; missing values "
                        "must be left out or filled first",
                        bytes_name(r->input), (long long)(first + i),
                        isnan(y[i]) ? "nan" : "infinite");
    return ROOFS_OK;
}

/* One column gives its values; of one row every field is a feature with a single
 * sample. Both come out of the reader as one run of numbers. */
static roofs_status read_vector(reader *r, int64_t rank, int64_t ranks, double **y, int64_t *n,
                                roofs_error *err)
{
    int64_t got;
    if (r->n < 0)
        TRY(reader_load(r, err));
    if (r->features != 1 && r->n != 1)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has %lld rows and %lld columns: a response has one column, or one row",
                    bytes_name(r->input), (long long)r->n, (long long)r->features);
    *n = r->n * r->features;
    const int64_t first = shard_begin(*n, rank, ranks);
    const int64_t own = shard_begin(*n, rank + 1, ranks) - first;
    const int cut_after = r->n == 1 && *n > 1; /* one row: each of its values is a feature */
    if (!cut_after && ranks > 1)
        reader_take_part(r, first, own);
    TRY(reader_load(r, err));
    TRY(memory_get(y, cut_after ? *n : own, sizeof **y, "the response", err));
    TRY(reader_read(r, r->features, ROOFS_F64, *y, &got, err));
    if (cut_after)
        memmove(*y, *y + first, (size_t)own * sizeof **y);
    return check(r, first, own, *y, err);
}

roofs_status response_read(const char *path, double **y, int64_t *n, roofs_error *err)
{
    return response_read_part(path, 0, 1, y, n, err);
}

roofs_status response_read_part(const char *path, int64_t rank, int64_t ranks, double **y,
                                int64_t *n, roofs_error *err)
{
    const format_hints hints = {.n_owner = "the response", .orient = ORIENT_SAMPLES};
    reader *r;
    *y = NULL;
    *n = 0;
    TRY(reader_open(&r, path, &hints, err));
    roofs_status status = read_vector(r, rank, ranks, y, n, err);
    reader_close(r);
    if (status) {
        memory_free(*y);
        *y = NULL;
    }
    return status;
}
