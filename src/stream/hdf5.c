/* A dataset of an HDF5 file. Built only where the HDF5 library is found; see registry.c.
 *
 * Features in rows are read when they are needed. Features in columns are read by stripes of
 * columns if the chunks of the file are narrow enough, so that every chunk is decompressed once;
 * otherwise the rows are transposed first. */
#include "base/memory.h"
#include "stream/axes.h"
#include "stream/spill.h"
#include "stream/transpose.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t STRIPE_BYTES = (int64_t)128 << 20; /* of unpacked chunks, at most */
enum { MOST_NAME = 512 };

typedef struct hdf5 {
    reader base;
    hid_t file, dataset;
    int rank;
    int64_t shape[2], chunk[2]; /* chunk 0: not chunked */
    int sample_axis;
    int by_stripe;          /* samples are rows; read a stripe of columns at a time */
    transposer *transposer; /* otherwise, after `load` */
    void *stripe;           /* scratch: rows by columns, not yet transposed */
    int64_t stripe_capacity;
} hdf5;

/* ---- silence ----------------------------------------------------------- */

/* The handler that prints errors of HDF5. It is off while this file calls HDF5. */
typedef struct silence {
    H5E_auto2_t print;
    void *data;
} silence;

static silence silence_begin(void)
{
    silence before;
    H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static void silence_end(silence before)
{
    H5Eset_auto2(H5E_DEFAULT, before.print, before.data);
}

/* ---- finding the dataset ------------------------------------------------ */

/* Refuses every link to another file. */
static herr_t refuse_link(const char *parent_file, const char *parent_group, const char *child_file,
                          const char *child_object, unsigned *flags, hid_t access, void *data)
{
    (void)parent_file, (void)parent_group, (void)child_file, (void)child_object;
    (void)flags, (void)access, (void)data;
    return -1;
}

/* Opens a dataset; `access` is a property list of H5Dopen2, or H5P_DEFAULT. */
static hid_t open_inside(const hdf5 *h, const char *name, hid_t access)
{
    hid_t own = access == H5P_DEFAULT ? H5Pcreate(H5P_DATASET_ACCESS) : H5Pcopy(access);
    if (!h->base.hints.external)
        H5Pset_elink_cb(own, refuse_link, NULL);
    hid_t dataset = H5Dopen2(h->file, name, own);
    H5Pclose(own);
    return dataset;
}

/* True if the values are in other files: external storage, or a virtual dataset. */
static int is_elsewhere(hid_t dataset)
{
    hid_t creation = H5Dget_create_plist(dataset);
    if (creation < 0)
        return 0;
    const int elsewhere =
        H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL;
    H5Pclose(creation);
    return elsewhere;
}

static int is_numeric(hid_t dataset)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return (class == H5T_FLOAT || class == H5T_INTEGER) && (rank == 1 || rank == 2);
}

typedef struct search {
    char name[MOST_NAME]; /* the names of the datasets found, separated by spaces */
    int found;
} search;

static herr_t add_dataset(hid_t file, const char *name, const H5O_info_t *info, void *data)
{
    search *s = data;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset >= 0 && is_numeric(dataset)) {
        size_t used = strlen(s->name);
        snprintf(s->name + used, sizeof s->name - used, "%s%s", used ? " " : "", name);
        s->found++;
    }
    if (dataset >= 0)
        H5Dclose(dataset);
    return 0;
}

static roofs_status find_dataset(const hdf5 *h, const char *given, search *s, roofs_error *err)
{
    *s = (search){0};
    if (given) {
        snprintf(s->name, sizeof s->name, "%s", given);
        return ROOFS_OK;
    }
    if (H5Ovisit(h->file, H5_INDEX_NAME, H5_ITER_INC, add_dataset, s) < 0 || s->found == 0)
        return fail(err, ROOFS_BAD_DATA, "%s has no dataset of numbers with 1 or 2 axes",
                    bytes_name(h->base.input));
    if (s->found > 1)
        return fail(err, ROOFS_BAD_DATA, "%s has several datasets; give one with --dataset: %s",
                    bytes_name(h->base.input), s->name);
    return ROOFS_OK;
}

static roofs_status open_dataset(hdf5 *h, const char *name, hid_t access, roofs_error *err)
{
    if (h->dataset >= 0)
        H5Dclose(h->dataset);
    h->dataset = open_inside(h, name, access);
    if (h->dataset >= 0 && !h->base.hints.external && is_elsewhere(h->dataset))
        return fail(err, ROOFS_BAD_DATA,
                    "%s: %s takes its values from other files; give --external if you trust the "
                    "file and want this",
                    bytes_name(h->base.input), name);
    if (h->dataset < 0 || !is_numeric(h->dataset))
        return fail(err, ROOFS_BAD_DATA, "%s: %s is not a dataset of numbers with 1 or 2 axes%s",
                    bytes_name(h->base.input), name,
                    h->base.hints.external ? "" : " in this file (see --external)");
    return ROOFS_OK;
}

/* ---- its shape ---------------------------------------------------------- */

static void read_chunks(hdf5 *h)
{
    hsize_t chunk[2] = {0, 0};
    hid_t creation = H5Dget_create_plist(h->dataset);
    if (creation < 0)
        return;
    if (H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, h->rank, chunk) >= 0)
        for (int k = 0; k < h->rank; k++)
            h->chunk[k] = (int64_t)chunk[k];
    H5Pclose(creation);
}

static roofs_status hdf5_read_shape(hdf5 *h, roofs_error *err)
{
    hsize_t shape[2] = {0, 1};
    hid_t space = H5Dget_space(h->dataset), type = H5Dget_type(h->dataset);
    h->rank = H5Sget_simple_extent_dims(space, shape, NULL);
    h->base.dtype =
        H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) <= 4 ? ROOFS_F32 : ROOFS_F64;
    H5Sclose(space);
    H5Tclose(type);
    for (int k = 0; k < 2; k++)
        h->shape[k] = shape[k] > (hsize_t)INT64_MAX / 16 ? -1 : (int64_t)shape[k];
    if (h->rank < 1 || memory_bytes(memory_bytes(h->shape[0], h->shape[1]), 16) == INT64_MAX)
        return fail(err, ROOFS_BAD_DATA, "%s: the shape of the dataset is too large",
                    bytes_name(h->base.input));
    if (h->rank == 2)
        TRY(axes_find_samples(h->shape, &h->base, &h->sample_axis, err));
    h->base.n = h->shape[h->sample_axis];
    h->base.features = h->shape[!h->sample_axis];
    if (h->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s: the dataset holds no samples",
                    bytes_name(h->base.input));
    read_chunks(h);
    return ROOFS_OK;
}

/* Refuses a shape that the file cannot hold even if compressed: reading it could take years. */
static roofs_status hdf5_check_size(const hdf5 *h, roofs_error *err)
{
    const int64_t best_ratio = 1040; /* what deflate can do, rounded up */
    hsize_t size = 0;
    H5Fget_filesize(h->file, &size);
    if (h->base.hints.external || h->shape[0] * h->shape[1] / best_ratio <= (int64_t)size)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: the header of the dataset gives it %lld values, more than the file can hold",
                bytes_name(h->base.input), (long long)(h->shape[0] * h->shape[1]));
}

/* Opens the dataset again with a cache for all chunks that a feature crosses. No chunk is then
 * decompressed twice while the features of a row of chunks are read. */
static roofs_status hdf5_set_cache(hdf5 *h, const char *name, roofs_error *err)
{
    const size_t slots = 10007;
    int64_t across = h->chunk[!h->sample_axis];
    int64_t cache = memory_bytes(memory_bytes(h->base.n + h->chunk[h->sample_axis], across), 8);
    h->by_stripe = h->sample_axis == 0 && across > 0 && cache <= STRIPE_BYTES;
    if (h->rank != 2 || across == 0 || cache > STRIPE_BYTES)
        return ROOFS_OK;
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, slots, (size_t)cache, 1.0);
    roofs_status status = open_dataset(h, name, access, err);
    H5Pclose(access);
    return status;
}

/* ---- opening ----------------------------------------------------------- */

/* HDF5 opens files by name. Compressed and piped input is copied to a temporary file, which is
 * unlinked once it is open. */
static roofs_status open_copy(hdf5 *h, roofs_error *err)
{
    char path[SPILL_PATH];
    int fd;
    int64_t size;
    TRY(spill_open_named(&fd, path, err));
    roofs_status status = bytes_copy(h->base.input, fd, &size, err);
    if (!status)
        h->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    spill_close(fd);
    unlink(path);
    return status;
}

static roofs_status hdf5_open_file(hdf5 *h, roofs_error *err)
{
    search found;
    if (bytes_plain_size(h->base.input) < 0)
        TRY(open_copy(h, err));
    else
        h->file = H5Fopen(bytes_name(h->base.input), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (h->file < 0)
        return fail(err, ROOFS_BAD_DATA, "%s is not an HDF5 file, or it is damaged",
                    bytes_name(h->base.input));
    TRY(find_dataset(h, h->base.hints.dataset, &found, err));
    TRY(open_dataset(h, found.name, H5P_DEFAULT, err));
    TRY(hdf5_read_shape(h, err));
    TRY(hdf5_check_size(h, err));
    return hdf5_set_cache(h, found.name, err);
}

static void hdf5_close(reader *r)
{
    hdf5 *h = (hdf5 *)r;
    silence before = silence_begin();
    if (h->dataset >= 0)
        H5Dclose(h->dataset);
    if (h->file >= 0)
        H5Fclose(h->file);
    silence_end(before);
    transposer_destroy(h->transposer);
    memory_free(h->stripe);
}

static roofs_status hdf5_open(reader *r, roofs_error *err)
{
    hdf5 *h = (hdf5 *)r;
    h->file = h->dataset = -1;
    r->reads_shard = 1;
    silence before = silence_begin();
    roofs_status status = hdf5_open_file(h, err);
    silence_end(before);
    return status;
}

/* ---- values ------------------------------------------------------------ */

/* Reads a rectangle of the dataset, row by row. */
static roofs_status read_rectangle(const hdf5 *h, const int64_t first[2], const int64_t count[2],
                                   roofs_dtype dtype, void *to, roofs_error *err)
{
    hsize_t start[2] = {(hsize_t)first[0], (hsize_t)first[1]};
    hsize_t length[2] = {(hsize_t)count[0], (hsize_t)count[1]};
    silence before = silence_begin();
    hid_t from = H5Dget_space(h->dataset), memory = H5Screate_simple(h->rank, length, NULL);
    herr_t outcome = H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, length, NULL);
    if (outcome >= 0)
        outcome = H5Dread(h->dataset, dtype == ROOFS_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                          memory, from, H5P_DEFAULT, to);
    H5Sclose(from);
    H5Sclose(memory);
    silence_end(before);
    if (outcome < 0)
        return fail(
            err, ROOFS_BAD_DATA,
            "%s: the dataset cannot be read (it is damaged or compressed in an unknown way)",
            bytes_name(h->base.input));
    return ROOFS_OK;
}

/* Reads `together` rows at a time: whole chunks where the file has chunks. */
static roofs_status hdf5_transpose_rows(hdf5 *h, char *rows, int64_t together, roofs_error *err)
{
    int64_t row_bytes = h->base.features * dtype_size(h->base.dtype);
    const int64_t end = h->base.shard_first + reader_own_samples(&h->base);
    for (int64_t i = h->base.shard_first; i < end; i += together) {
        int64_t count = end - i < together ? end - i : together;
        TRY(read_rectangle(h, (int64_t[]){i, 0}, (int64_t[]){count, h->base.features},
                           h->base.dtype, rows, err));
        for (int64_t k = 0; k < count; k++) {
            void *row;
            TRY(transposer_row(h->transposer, &row, err));
            memcpy(row, rows + k * row_bytes, (size_t)row_bytes);
            TRY(transposer_push(h->transposer, err));
        }
    }
    return transposer_finish(h->transposer, err);
}

static roofs_status hdf5_load(reader *r, roofs_error *err)
{
    const int64_t read_bytes = 4 << 20;
    hdf5 *h = (hdf5 *)r;
    if (h->sample_axis == 1 || h->by_stripe || h->rank == 1 || r->features == 0)
        return ROOFS_OK;
    int64_t row_bytes = r->features * dtype_size(r->dtype);
    int64_t together = read_bytes / row_bytes + 1;
    if (h->chunk[0] > together && h->chunk[0] * row_bytes <= STRIPE_BYTES)
        together = h->chunk[0];
    char *rows;
    TRY(transposer_create(&h->transposer, r->features, r->dtype, r->hints.transpose_bytes, err));
    TRY(memory_reserve(&rows, memory_bytes(together, row_bytes), 1, "rows of an HDF5 file", err));
    roofs_status status = hdf5_transpose_rows(h, rows, together, err);
    memory_free(rows);
    return status;
}

static roofs_status read_stripe(hdf5 *h, int64_t first, int64_t count, roofs_dtype dtype, void *to,
                                roofs_error *err)
{
    const int64_t n = reader_own_samples(&h->base);
    const int64_t need = memory_bytes(memory_bytes(n, count), dtype_size(dtype));
    if (need > h->stripe_capacity) {
        memory_free(h->stripe);
        h->stripe_capacity = 0;
        TRY(memory_reserve(&h->stripe, need, 1, "columns of an HDF5 file", err));
        h->stripe_capacity = need;
    }
    TRY(read_rectangle(h, (int64_t[]){h->base.shard_first, first}, (int64_t[]){n, count}, dtype,
                       h->stripe, err));
    transpose_values(h->stripe, n, count, dtype, to);
    return ROOFS_OK;
}

static roofs_status hdf5_read(reader *r, int64_t count, roofs_dtype dtype, void *values,
                              int64_t *got, roofs_error *err)
{
    hdf5 *h = (hdf5 *)r;
    int64_t first = h->base.position;
    *got = reader_advance(r, count);
    if (*got == 0)
        return ROOFS_OK;
    if (h->transposer)
        return transposer_read(h->transposer, first, *got, dtype, values, err);
    if (h->by_stripe)
        return read_stripe(h, first, *got, dtype, values, err);
    const int64_t n = reader_own_samples(r), at = r->shard_first;
    if (h->rank == 1)
        return read_rectangle(h, (int64_t[]){at, 0}, (int64_t[]){n, 1}, dtype, values, err);
    return read_rectangle(h, (int64_t[]){first, at}, (int64_t[]){*got, n}, dtype, values, err);
}

static int hdf5_recognises(const unsigned char *start, int64_t length)
{
    return length >= 8 && memcmp(start, "\x89HDF\r\n\x1a\n", 8) == 0;
}

extern const file_format format_hdf5;
const file_format format_hdf5 = {
    .name = "hdf5",
    .endings = {".h5", ".hdf5"},
    .size = sizeof(hdf5),
    .orientable = 1,
    .has_datasets = 1,
    .recognises = hdf5_recognises,
    .open = hdf5_open,
    .load = hdf5_load,
    .read = hdf5_read,
    .close = hdf5_close,
};
