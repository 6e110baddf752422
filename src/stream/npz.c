/* Sparse matrices of SciPy (save_npz): CSC or CSR. A matrix stored feature by feature is read
 * when it is needed; otherwise it is transposed first. */
#include "base/memory.h"
#include "stream/axes.h"
#include "stream/npy_values.h"
#include "stream/sparse_transpose.h"
#include "stream/zip.h"

#include <string.h>

/* One array of the file, read once from start to end. */
typedef struct array {
    bytes *input;
    npy_header header;
} array;

typedef struct npz {
    reader base;
    zip zip;
    array indices, data;
    int64_t *starts; /* per feature, or per sample before transposing: its first value */
    int64_t major;   /* their number */
    int by_feature;  /* stored feature by feature */
    sparse_transposer *transposer;
} npz;

enum { AT_ONCE = 8192 }; /* values per read */

static roofs_status npz_error(const npz *z, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s: %s", bytes_name(z->base.input), what);
}

/* ---- arrays ------------------------------------------------------------ */

static void array_close(array *a)
{
    bytes_close(a->input);
    a->input = NULL;
}

static roofs_status array_open(npz *z, const char *name, array *a, roofs_error *err)
{
    int64_t member = zip_find(&z->zip, name);
    if (member < 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has no %s: it is not a sparse matrix written by scipy.sparse.save_npz",
                    bytes_name(z->base.input), name);
    TRY(zip_open_member(&z->zip, member, &a->input, err));
    TRY(npy_read_header(a->input, &a->header, err));
    if (a->header.rank != 1)
        return fail(err, ROOFS_BAD_DATA, "%s: one axis is expected", bytes_name(a->input));
    if (a->header.type.kind == 'f' && a != &z->data)
        return fail(err, ROOFS_BAD_DATA, "%s: whole numbers are expected", bytes_name(a->input));
    if (a->header.count > (z->zip.members[member].size / a->header.type.size))
        return fail(err, ROOFS_BAD_DATA, "%s is too short", bytes_name(a->input));
    return ROOFS_OK;
}

static roofs_status array_read(array *a, int64_t count, double *to, roofs_error *err)
{
    return npy_read_values(a->input, &a->header, -1, count, ROOFS_F64, to, err);
}

/* Reads a whole array of integers from 0 to `most`. */
static roofs_status npz_read_integers(npz *z, const char *name, int64_t most, int64_t **out,
                                      int64_t *count, roofs_error *err)
{
    array a = {0};
    double *values = NULL;
    *out = NULL;
    roofs_status status = array_open(z, name, &a, err);
    *count = a.header.count;
    if (!status)
        status = npy_read_growing(a.input, &a.header, &values, err);
    if (!status)
        status = memory_reserve(out, *count, sizeof **out, "a sparse matrix", err);
    for (int64_t k = 0; k < *count && !status; k++) {
        if (!(values[k] >= 0 && values[k] <= (double)most))
            status = fail(err, ROOFS_BAD_DATA, "%s: value %lld is %g, not between 0 and %lld",
                          bytes_name(a.input), (long long)k, values[k], (long long)most);
        else
            (*out)[k] = (int64_t)values[k];
    }
    array_close(&a);
    memory_free(values);
    return status;
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status npz_read_format(npz *z, int *by_column, roofs_error *err)
{
    char word[NPY_WORD];
    int64_t member = zip_find(&z->zip, "format.npy");
    bytes *input;
    if (member < 0)
        return npz_error(
            z, "it is not a sparse matrix written by scipy.sparse.save_npz (no format)", err);
    TRY(zip_open_member(&z->zip, member, &input, err));
    roofs_status status = npy_read_word(input, word, err);
    bytes_close(input);
    TRY(status);
    *by_column = strcmp(word, "csc") == 0;
    if (!*by_column && strcmp(word, "csr") != 0)
        return npz_error(z, "the matrix is neither CSC nor CSR; use .tocsc() before saving", err);
    return ROOFS_OK;
}

static roofs_status npz_read_shape(npz *z, roofs_error *err)
{
    int64_t *shape, axes;
    int by_column = 0, sample_axis = 0;
    TRY(npz_read_format(z, &by_column, err));
    roofs_status status = npz_read_integers(z, "shape.npy", INT32_MAX - 1, &shape, &axes, err);
    if (!status && axes != 2)
        status = npz_error(z, "the shape is not that of a matrix", err);
    if (!status)
        status = axes_find_samples(shape, &z->base, &sample_axis, err);
    if (!status) {
        z->base.n = shape[sample_axis];
        z->base.features = shape[!sample_axis];
        z->by_feature = by_column == (sample_axis == 0);
        z->major = z->by_feature ? z->base.features : z->base.n;
    }
    memory_free(shape);
    return status;
}

static roofs_status npz_read_starts(npz *z, roofs_error *err)
{
    int64_t count;
    TRY(npz_read_integers(z, "indptr.npy", z->data.header.count, &z->starts, &count, err));
    if (count != z->major + 1)
        return npz_error(z, "indptr does not fit the shape", err);
    for (int64_t k = 0; k < z->major; k++)
        if (z->starts[k] > z->starts[k + 1])
            return npz_error(z, "indptr does not ascend", err);
    if (z->starts[0] != 0 || z->starts[z->major] > z->indices.header.count)
        return npz_error(z, "indptr does not fit the indices", err);
    return ROOFS_OK;
}

/* names.npy: all names as bytes, each ended by a zero. SciPy ignores it. */
static roofs_status npz_read_names(npz *z, roofs_error *err)
{
    int64_t *letters, count;
    char *text;
    if (zip_find(&z->zip, "names.npy") < 0)
        return ROOFS_OK;
    roofs_status status = npz_read_integers(z, "names.npy", 255, &letters, &count, err);
    if (!status)
        status = memory_get(&text, count + 1, 1, "feature names", err);
    if (!status) {
        for (int64_t k = 0; k < count; k++)
            text[k] = (char)letters[k];
        for (int64_t at = 0; at < count && !status; at += (int64_t)strlen(text + at) + 1)
            status = names_add(&z->base.names, text + at, (int64_t)strlen(text + at), err);
        if (!status &&
            (z->base.names.count != z->base.features || !names_are_utf8(text, text + count)))
            status = npz_error(z, "names.npy does not fit the matrix", err);
        memory_free(text);
    }
    memory_free(letters);
    z->base.named = 1;
    return status;
}

static roofs_status npz_open(reader *r, roofs_error *err)
{
    npz *z = (npz *)r;
    TRY(zip_open(&z->zip, r->input, err));
    TRY(npz_read_shape(z, err));
    if (r->n == 0)
        return npz_error(z, "the matrix holds no samples", err);
    TRY(array_open(z, "indices.npy", &z->indices, err));
    TRY(array_open(z, "data.npy", &z->data, err));
    if (z->data.header.count != z->indices.header.count)
        return npz_error(z, "data and indices have different lengths", err);
    TRY(npz_read_starts(z, err));
    return npz_read_names(z, err);
}

static void npz_close(reader *r)
{
    npz *z = (npz *)r;
    array_close(&z->indices);
    array_close(&z->data);
    zip_close(&z->zip);
    memory_free(z->starts);
    sparse_transposer_destroy(z->transposer);
}

/* ---- values ------------------------------------------------------------ */

/* The target of the values of one feature or sample. */
typedef struct npz_target {
    sparse *features;              /* by feature; or */
    sparse_transposer *transposer; /* by sample */
    int64_t minor;                 /* indices must be below */
    int64_t place;                 /* of the feature or sample */
} npz_target;

static roofs_status npz_put_values(const npz *z, const npz_target *to, const double *indices,
                                   const double *values, int64_t count, roofs_error *err)
{
    for (int64_t k = 0; k < count; k++) {
        if (!(indices[k] >= 0 && indices[k] < (double)to->minor))
            return fail(err, ROOFS_BAD_DATA, "%s: index %g of %s %lld is beyond the shape",
                        bytes_name(z->base.input), indices[k], to->features ? "feature" : "sample",
                        (long long)to->place);
        if (values[k] == 0.0)
            continue;
        if (to->features)
            TRY(sparse_add(to->features, (int64_t)indices[k], values[k], err));
        else
            TRY(sparse_transposer_add(
                to->transposer, (sparse_entry){(int32_t)indices[k], (int32_t)to->place, values[k]},
                err));
    }
    return ROOFS_OK;
}

static roofs_status npz_read_one(npz *z, const npz_target *to, roofs_error *err)
{
    double indices[AT_ONCE], values[AT_ONCE];
    int64_t left = z->starts[to->place + 1] - z->starts[to->place];
    while (left > 0) {
        int64_t count = left < AT_ONCE ? left : AT_ONCE;
        TRY(array_read(&z->indices, count, indices, err));
        TRY(array_read(&z->data, count, values, err));
        TRY(npz_put_values(z, to, indices, values, count, err));
        left -= count;
    }
    return ROOFS_OK;
}

static roofs_status npz_load(reader *r, roofs_error *err)
{
    npz *z = (npz *)r;
    if (z->by_feature)
        return ROOFS_OK;
    TRY(sparse_transposer_create(&z->transposer, r->hints.transpose_bytes, err));
    npz_target to = {.transposer = z->transposer, .minor = r->features};
    for (to.place = 0; to.place < r->n; to.place++)
        TRY(npz_read_one(z, &to, err));
    return sparse_transposer_finish(z->transposer, err);
}

static roofs_status npz_read(reader *r, int64_t count, sparse *out, int64_t *got, roofs_error *err)
{
    npz *z = (npz *)r;
    npz_target to = {.features = out, .minor = r->n, .place = z->base.position};
    *got = reader_advance(r, count);
    if (z->transposer)
        return reader_blame(r, sparse_transposer_read(z->transposer, to.place, *got, out, err),
                            err);
    for (; to.place < z->base.position; to.place++) {
        TRY(npz_read_one(z, &to, err));
        TRY(reader_blame(r, sparse_end_feature(out, err), err));
    }
    return ROOFS_OK;
}

static roofs_status npz_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    npz *z = (npz *)r;
    int64_t first = z->base.position;
    *got = reader_advance(r, count);
    if (!z->by_feature)
        return ROOFS_OK;
    int64_t values = z->starts[z->base.position] - z->starts[first];
    TRY(bytes_skip(z->indices.input, values * z->indices.header.type.size, err));
    return bytes_skip(z->data.input, values * z->data.header.type.size, err);
}

/* A zip file whose first member is an array; many other files are zip files. */
static int npz_recognises(const unsigned char *start, int64_t length)
{
    if (length < 30 || memcmp(start, "PK\3\4", 4) != 0)
        return 0;
    int64_t name_end = 30 + start[26] + 256 * start[27];
    return name_end >= 34 && name_end <= length && memcmp(start + name_end - 4, ".npy", 4) == 0;
}

extern const file_format format_npz;
const file_format format_npz = {
    .name = "npz",
    .endings = {".npz"},
    .size = sizeof(npz),
    .orientable = 1,
    .recognises = npz_recognises,
    .open = npz_open,
    .load = npz_load,
    .read_sparse = npz_read,
    .skip = npz_skip,
    .close = npz_close,
};
