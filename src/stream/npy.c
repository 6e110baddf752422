/* NumPy arrays as features. Contiguous features are read from the file when they are needed;
 * otherwise the array is transposed first. */
#include "stream/npy.h"

#include "base/memory.h"
#include "stream/axes.h"
#include "stream/npy_values.h"
#include "stream/transpose.h"

#include <string.h>

typedef struct npy {
    reader base;
    npy_header header;
    int feature_is_contiguous; /* the values of a feature are contiguous in the file */
    transposer *transposer;    /* otherwise, after `load` */
} npy;

/* ---- which axis is which ----------------------------------------------- */

static roofs_status find_axes(npy *a, roofs_error *err)
{
    const npy_header *h = &a->header;
    if (h->rank == 1) {
        a->base.n = h->shape[0];
        a->base.features = 1;
        a->feature_is_contiguous = 1;
        return ROOFS_OK;
    }
    if (h->rank != 2) {
        char shape[128];
        npy_shape_text(h, shape, sizeof shape);
        return fail(err, ROOFS_BAD_DATA, "%s has shape %s: an array with 1 or 2 axes is needed",
                    bytes_name(a->base.input), shape);
    }
    int sample_axis = 0, contiguous_axis = h->fortran_order ? 0 : 1;
    TRY(axes_find_samples(h->shape, &a->base, &sample_axis, err));
    a->base.n = h->shape[sample_axis];
    a->base.features = h->shape[!sample_axis];
    a->feature_is_contiguous = sample_axis == contiguous_axis;
    return ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void npy_close(reader *r)
{
    npy *a = (npy *)r;
    transposer_destroy(a->transposer);
}

static roofs_status npy_open(reader *r, roofs_error *err)
{
    npy *a = (npy *)r;
    TRY(npy_read_header(r->input, &a->header, err));
    TRY(find_axes(a, err));
    if (r->n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s holds no samples", bytes_name(r->input));
    r->dtype = npy_dtype(&a->header);
    r->reads_shard = 1;
    return ROOFS_OK;
}

static roofs_status npy_load(reader *r, roofs_error *err)
{
    npy *a = (npy *)r;
    void *row;
    if (a->feature_is_contiguous || r->features == 0)
        return ROOFS_OK;
    TRY(transposer_create(&a->transposer, r->features, r->dtype, r->hints.transpose_bytes, err));
    int by_offset = r->shard_count > 0 && bytes_plain_size(r->input) >= 0;
    if (!by_offset)
        TRY(bytes_skip(r->input, r->shard_first * r->features * a->header.type.size, err));
    for (int64_t i = r->shard_first; i < r->shard_first + reader_own_samples(r); i++) {
        TRY(transposer_row(a->transposer, &row, err));
        TRY(npy_read_values(a->base.input, &a->header, by_offset ? i * r->features : -1,
                            r->features, r->dtype, row, err));
        TRY(transposer_push(a->transposer, err));
    }
    return transposer_finish(a->transposer, err);
}

/* Reads the samples of this rank. */
static roofs_status npy_read_shard(const npy *a, int64_t first, int64_t count, roofs_dtype dtype,
                                   char *values, roofs_error *err)
{
    const reader *r = &a->base;
    const int64_t size = dtype_size(dtype);
    const int by_offset = bytes_plain_size(r->input) >= 0, stored = a->header.type.size;
    const int64_t after = r->n - r->shard_first - r->shard_count;
    for (int64_t k = first; k < first + count; k++, values += r->shard_count * size) {
        if (!by_offset)
            TRY(bytes_skip(r->input, r->shard_first * stored, err));
        TRY(npy_read_values(r->input, &a->header, by_offset ? k * r->n + r->shard_first : -1,
                            r->shard_count, dtype, values, err));
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
    *got = reader_advance(r, count);
    if (a->transposer)
        return transposer_read(a->transposer, first, *got, dtype, values, err);
    if (r->shard_count > 0)
        return npy_read_shard(a, first, *got, dtype, values, err);
    int by_offset = bytes_plain_size(a->base.input) >= 0;
    return npy_read_values(a->base.input, &a->header, by_offset ? first * r->n : -1, *got * r->n,
                           dtype, values, err);
}

static roofs_status npy_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    npy *a = (npy *)r;
    *got = reader_advance(r, count);
    if (!a->feature_is_contiguous || bytes_plain_size(a->base.input) >= 0)
        return ROOFS_OK;
    return bytes_skip(a->base.input, *got * r->n * a->header.type.size, err);
}

static int npy_recognises(const unsigned char *start, int64_t length)
{
    return length >= NPY_MAGIC_LENGTH && memcmp(start, npy_magic, NPY_MAGIC_LENGTH) == 0;
}

extern const file_format format_npy;
const file_format format_npy = {
    .name = "npy",
    .endings = {".npy"},
    .size = sizeof(npy),
    .orientable = 1,
    .recognises = npy_recognises,
    .open = npy_open,
    .load = npy_load,
    .read = npy_read,
    .skip = npy_skip,
    .close = npy_close,
};

/* ---- small arrays ------------------------------------------------------ */

static roofs_status npy_read_input(bytes *input, double **values, int64_t *count, roofs_error *err)
{
    npy_header h;
    TRY(npy_read_header(input, &h, err));
    if (h.fortran_order && h.rank > 1)
        return fail(err, ROOFS_BAD_DATA, "%s must be in C order", bytes_name(input));
    *count = h.count;
    return npy_read_growing(input, &h, values, err);
}

roofs_status npy_read_all(const char *path, double **values, int64_t *count, roofs_error *err)
{
    bytes *input;
    *values = NULL;
    TRY(bytes_open(&input, path, err));
    roofs_status status = npy_read_input(input, values, count, err);
    bytes_close(input);
    if (status) {
        memory_free(*values);
        *values = NULL;
    }
    return status;
}
