/* NumPy arrays as features. Where the values of a feature stand together they
 * are read from the file as they are wanted; else the array is turned. */
#include "stream/npy.h"

#include "base/memory.h"
#include "stream/axes.h"
#include "stream/npy_values.h"
#include "stream/turn.h"

#include <string.h>

typedef struct npy {
    reader base;
    npy_header header;
    int feature_is_run; /* the values of a feature stand together */
    turner *turner;     /* otherwise, after `load` */
    int64_t turn_bytes;
} npy;

/* ---- which axis is which ----------------------------------------------- */

static roofs_status find_axes(npy *a, const format_hints *hints, roofs_error *err)
{
    const npy_header *h = &a->header;
    if (h->rank == 1) {
        a->base.n = h->shape[0];
        a->base.features = 1;
        a->feature_is_run = 1;
        return ROOFS_OK;
    }
    if (h->rank != 2) {
        char shape[128];
        npy_shape_text(h, shape, sizeof shape);
        return fail(err, ROOFS_BAD_DATA, "%s has shape %s: an array with 1 or 2 axes is needed",
                    bytes_name(a->base.input), shape);
    }
    int sample_axis = 0, run_axis = h->fortran_order ? 0 : 1;
    TRY(axes_find_samples(h->shape, hints, bytes_name(a->base.input), &sample_axis, err));
    a->base.n = h->shape[sample_axis];
    a->base.features = h->shape[!sample_axis];
    a->feature_is_run = sample_axis == run_axis;
    return ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void npy_close(reader *r)
{
    npy *a = (npy *)r;
    turner_destroy(a->turner);
    memory_free(a);
}

static roofs_status open_array(npy *a, const format_hints *hints, roofs_error *err)
{
    TRY(npy_read_header(a->base.input, &a->header, err));
    TRY(find_axes(a, hints, err));
    if (a->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s holds no samples", bytes_name(a->base.input));
    a->base.dtype = npy_dtype(&a->header);
    a->base.cuts = 1;
    return ROOFS_OK;
}

static roofs_status npy_open(reader **out, bytes *input, const format_hints *hints,
                             roofs_error *err)
{
    npy *a;
    *out = NULL;
    TRY(memory_get(&a, 1, sizeof *a, "a .npy file", err));
    a->base.input = input;
    a->turn_bytes = hints->turn_bytes;
    roofs_status status = open_array(a, hints, err);
    if (status)
        npy_close(&a->base);
    else
        *out = &a->base;
    return status;
}

static roofs_status npy_load(reader *r, roofs_error *err)
{
    npy *a = (npy *)r;
    void *row;
    if (a->feature_is_run || r->features == 0)
        return ROOFS_OK;
    TRY(turner_create(&a->turner, r->features, r->dtype, a->turn_bytes, err));
    int by_offset = r->part_count > 0 && bytes_plain_size(r->input) >= 0;
    if (!by_offset)
        TRY(bytes_skip(r->input, r->part_first * r->features * a->header.type.size, err));
    for (int64_t i = r->part_first; i < r->part_first + reader_own(r); i++) {
        TRY(turner_row(a->turner, &row, err));
        TRY(npy_take_values(a->base.input, &a->header, by_offset ? i * r->features : -1,
                            r->features, r->dtype, row, err));
        TRY(turner_push(a->turner, err));
    }
    return turner_finish(a->turner, err);
}

/* Of each feature this rank's samples. */
static roofs_status read_parts(const npy *a, int64_t first, int64_t count, roofs_dtype dtype,
                               char *values, roofs_error *err)
{
    const reader *r = &a->base;
    const int64_t size = dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    const int by_offset = bytes_plain_size(r->input) >= 0, stored = a->header.type.size;
    const int64_t after = r->n - r->part_first - r->part_count;
    for (int64_t k = first; k < first + count; k++, values += r->part_count * size) {
        if (!by_offset)
            TRY(bytes_skip(r->input, r->part_first * stored, err));
        TRY(npy_take_values(r->input, &a->header, by_offset ? k * r->n + r->part_first : -1,
                            r->part_count, dtype, values, err));
        if (!by_offset)
            TRY(bytes_skip(r->input, after * stored, err));
    }
    return ROOFS_OK;
}

static roofs_status npy_read(reader *r, int64_t count, roofs_dtype dtype, void *values,
                             int64_t *got, roofs_error *err)
{
    npy *a = (npy *)r;
    int64_t first = a->base.position;
    *got = reader_pass(r, count);
    if (a->turner)
        return turner_read(a->turner, first, *got, dtype, values, err);
    if (r->part_count > 0)
        return read_parts(a, first, *got, dtype, values, err);
    int by_offset = bytes_plain_size(a->base.input) >= 0;
    return npy_take_values(a->base.input, &a->header, by_offset ? first * r->n : -1, *got * r->n,
                           dtype, values, err);
}

static roofs_status npy_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    npy *a = (npy *)r;
    *got = reader_pass(r, count);
    if (!a->feature_is_run || bytes_plain_size(a->base.input) >= 0)
        return ROOFS_OK;
    return bytes_skip(a->base.input, *got * r->n * a->header.type.size, err);
}

static int npy_recognises(const unsigned char *start, int64_t length)
{
    return length >= NPY_MAGIC_LENGTH && memcmp(start, npy_magic, NPY_MAGIC_LENGTH) == 0;
}

static const char *const endings[] = {".npy", NULL};

extern const file_format format_npy;
const file_format format_npy = {
    .name = "npy",
    .endings = endings,
    .turns = 1,
    .recognises = npy_recognises,
    .open = npy_open,
    .load = npy_load,
    .read = npy_read,
    .skip = npy_skip,
    .close = npy_close,
};

/* ---- small arrays ------------------------------------------------------ */

static roofs_status read_all(bytes *input, double **values, int64_t *count, roofs_error *err)
{
    npy_header h;
    TRY(npy_read_header(input, &h, err));
    if (h.fortran_order && h.rank > 1)
        return fail(err, ROOFS_BAD_DATA, "%s must be in C order", bytes_name(input));
    *count = h.count;
    TRY(memory_get(values, h.count, sizeof **values, "an array", err));
    return npy_take_values(input, &h, -1, h.count, ROOFS_F64, *values, err);
}

roofs_status npy_read_all(const char *path, double **values, int64_t *count, roofs_error *err)
{
    bytes *input;
    *values = NULL;
    TRY(bytes_open(&input, path, err));
    roofs_status status = read_all(input, values, count, err);
    bytes_close(input);
    if (status) {
        memory_free(*values);
        *values = NULL;
    }
    return status;
}
