#include "stream/response.h"

#include "base/memory.h"
#include "stream/format.h"

#include <math.h>

/* One column gives its values; of one row every field is a feature with a single
 * sample. Both come out of the reader as one run of numbers. */
static roofs_status read_vector(reader *r, double **y, int64_t *n, roofs_error *err)
{
    int64_t got;
    TRY(reader_load(r, err));
    if (r->features != 1 && r->n != 1)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has %lld rows and %lld columns: a response has one column, or one row",
                    bytes_name(r->input), (long long)r->n, (long long)r->features);
    *n = r->n * r->features;
    TRY(memory_get(y, *n, sizeof **y, "the response", err));
    TRY(reader_read(r, r->features, ROOFS_F64, *y, &got, err));
    for (int64_t i = 0; i < *n; i++)
        if (!isfinite((*y)[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "%s: value %lld of the response (counted from 0) is %s; missing values "
                        "must be left out or filled first",
                        bytes_name(r->input), (long long)i, isnan((*y)[i]) ? "nan" : "infinite");
    return ROOFS_OK;
}

roofs_status response_read(const char *path, double **y, int64_t *n, roofs_error *err)
{
    const format_hints hints = {.n_owner = "the response", .orient = ORIENT_SAMPLES};
    reader *r;
    *y = NULL;
    *n = 0;
    TRY(reader_open(&r, path, &hints, err));
    roofs_status status = read_vector(r, y, n, err);
    reader_close(r);
    if (status) {
        memory_free(*y);
        *y = NULL;
    }
    return status;
}
