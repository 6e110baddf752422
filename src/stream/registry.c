#include "base/memory.h"
#include "stream/foreign.h"
#include "stream/format.h"

#include <stdio.h>
#include <string.h>

extern const file_format format_npy, format_npz, format_libsvm, format_triplets, format_text,
    format_hdf5, format_bed, format_pgen;

/* The first format that recognises a file reads it. */
/* clang-format off */
static const file_format *const formats[] = {
    &format_npy,
    &format_npz,
#if ROOFS_HDF5
    &format_hdf5,
#endif
    &format_bed,
    &format_pgen,
    &format_libsvm,
    &format_triplets,
    &format_text,
};
/* clang-format on */
enum { FORMATS = sizeof formats / sizeof *formats };

/* ---- finding the format ------------------------------------------------ */

static size_t length_without(const char *name, size_t length, const char *ending)
{
    size_t tail = strlen(ending);
    int has = length > tail && memcmp(name + length - tail, ending, tail) == 0;
    return has ? length - tail : length;
}

static const file_format *find_by_ending(const char *name)
{
    size_t whole = strlen(name), length = length_without(name, whole, ".gz");
    if (length == whole)
        length = length_without(name, whole, ".xz");
    for (int k = 0; k < FORMATS; k++)
        for (const char *const *ending = formats[k]->endings; *ending; ending++)
            if (length_without(name, length, *ending) < length)
                return formats[k];
    return NULL;
}

int format_matches_name(const char *name)
{
    return find_by_ending(name) != NULL;
}

int format_may_be_labelled(const char *name)
{
    const file_format *format = find_by_ending(name);
    return !format || format->labelled;
}

static roofs_status unknown_format(const char *name, roofs_error *err)
{
    char known[256] = "";
    for (int k = 0; k < FORMATS; k++)
        for (const char *const *ending = formats[k]->endings; *ending; ending++) {
            size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, " %s", *ending);
        }
    return fail(err, ROOFS_BAD_DATA,
                "%s has an unknown format; known endings are%s, each also with .gz or .xz", name,
                known);
}

const char *format_name(int64_t k)
{
    return k < FORMATS ? formats[k]->name : NULL;
}

const char *const *format_endings(int64_t k)
{
    return k < FORMATS ? formats[k]->endings : NULL;
}

static const file_format *find_by_name(const char *name)
{
    for (int k = 0; name && k < FORMATS; k++)
        if (strcmp(formats[k]->name, name) == 0)
            return formats[k];
    return NULL;
}

static roofs_status find_format(bytes *input, const char *path, const char *name,
                                const file_format **format, roofs_error *err)
{
    const unsigned char *start;
    int64_t length;
    const file_format *const given = find_by_name(name);
    *format = given ? given : find_by_ending(path);
    if (*format && *format != &format_text)
        return ROOFS_OK;
    TRY(bytes_peek(input, &start, &length, err));
    TRY(foreign_refuse(start, length, bytes_name(input), err));
    if (given)
        return ROOFS_OK;
    if (*format && !format_triplets.recognises(start, length)) /* triplets may end in .csv */
        return ROOFS_OK;
    *format = NULL;
    for (int k = 0; k < FORMATS && !*format; k++)
        if (formats[k]->recognises(start, length))
            *format = formats[k];
    return *format ? ROOFS_OK : unknown_format(bytes_name(input), err);
}

/* ---- readers ----------------------------------------------------------- */

roofs_status reader_open(reader **out, const char *path, const format_hints *hints,
                         roofs_error *err)
{
    bytes *input;
    const file_format *format;
    *out = NULL;
    TRY(bytes_open(&input, path, err));
    bytes_stop_when(input, hints->is_stopped);
    roofs_status status = find_format(input, path, hints->format, &format, err);
    if (!status)
        status = memory_get(out, 1, format->size, "a data file", err);
    if (status) {
        bytes_close(input);
        return status;
    }
    **out = (reader){.format = format,
                     .input = input,
                     .hints = *hints,
                     .n = -1,
                     .features = -1,
                     .dtype = ROOFS_F64};
    status = format->open(*out, err);
    if (status) {
        reader_close(*out);
        *out = NULL;
    }
    return status;
}

roofs_status reader_load(reader *r, roofs_error *err)
{
    if (!r->loaded && r->format->load)
        TRY(r->format->load(r, err));
    r->loaded = 1;
    return ROOFS_OK;
}

void reader_close(reader *r)
{
    if (!r)
        return;
    r->format->close(r);
    names_free(&r->names);
    bytes_close(r->input);
    memory_free(r);
}

int reader_is_sparse(const reader *r)
{
    return r->format->read_sparse != NULL;
}

int64_t reader_advance(reader *r, int64_t count)
{
    int64_t left = r->features - r->position;
    r->last_count = count < left ? count : left;
    r->position += r->last_count;
    return r->last_count;
}

roofs_status reader_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    if (r->format->skip)
        return r->format->skip(r, count, got, err);
    if (r->features < 0)
        TRY(reader_load(r, err));
    *got = reader_advance(r, count);
    return ROOFS_OK;
}

const char *reader_feature_name(const reader *r, int64_t k)
{
    return names_get(&r->names, r->position - r->last_count + k);
}

roofs_status reader_visit_recipes(const reader *r, recipe_visit visit, void *user, roofs_error *err)
{
    return r->format->visit_recipes && r->loaded ? r->format->visit_recipes(r, visit, user, err)
                                                 : ROOFS_OK;
}

/* ---- the samples of one rank ------------------------------------------- */

void reader_set_shard(reader *r, int64_t first, int64_t count)
{
    r->shard_first = first;
    r->shard_count = count;
}

static int registry_cuts(const reader *r)
{
    return r->shard_count > 0 && !r->reads_shard;
}

/* A reader that does not advance replaces its names in every read. */
static roofs_status collect_name(const reader *r, names *all, roofs_error *err)
{
    const char *name = names_get(&r->names, 0);
    return names_add(all, name, (int64_t)strlen(name), err);
}

/* Reads one whole feature at a time, and leaves names and position as one read of all features
 * would. */
static roofs_status read_and_cut(reader *r, int64_t count, roofs_dtype dtype, char *values,
                                 int64_t *got, roofs_error *err)
{
    const int64_t size = dtype_size(dtype), before = r->position;
    names all = {0};
    char *whole;
    int64_t one = 1;
    roofs_status status = ROOFS_OK;
    TRY(memory_reserve(&whole, memory_bytes(r->n, size), 1, "a feature", err));
    for (*got = 0; *got < count && one == 1 && status == ROOFS_OK; *got += one) {
        one = 0;
        status = r->format->read(r, 1, dtype, whole, &one, err);
        if (status != ROOFS_OK || one == 0)
            continue;
        memcpy(values + *got * r->shard_count * size, whole + r->shard_first * size,
               (size_t)(r->shard_count * size));
        if (r->named && r->position == before)
            status = collect_name(r, &all, err);
    }
    r->last_count = r->position - before;
    if (all.count > 0) {
        names_free(&r->names);
        r->names = all;
    } else {
        names_free(&all); /* memory that a failed call has left */
    }
    memory_free(whole);
    return status;
}

static roofs_status add_cut(const sparse *from, int64_t k, const reader *r, sparse *out,
                            roofs_error *err)
{
    for (int64_t at = from->starts[k]; at < from->starts[k + 1]; at++) {
        int64_t sample = from->samples[at] - r->shard_first;
        if (sample >= 0 && sample < r->shard_count)
            TRY(sparse_add(out, sample, from->values[at], err));
    }
    return sparse_end_feature(out, err);
}

roofs_status reader_read_sparse(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err)
{
    if (!registry_cuts(r))
        return r->format->read_sparse(r, count, out, got, err);
    sparse some = {.n = r->n};
    roofs_status status = r->format->read_sparse(r, count, &some, got, err);
    for (int64_t k = 0; k < *got && status == ROOFS_OK; k++)
        status = add_cut(&some, k, r, out, err);
    sparse_free(&some);
    return status;
}

static roofs_status read_spread(reader *r, int64_t count, double *values, int64_t *got,
                                roofs_error *err)
{
    sparse some = {.n = reader_own_samples(r)};
    roofs_status status = reader_read_sparse(r, count, &some, got, err);
    for (int64_t k = 0; k < *got && !status; k++)
        sparse_spread(&some, k, values + k * some.n);
    sparse_free(&some);
    return status;
}

roofs_status reader_read(reader *r, int64_t count, roofs_dtype dtype, void *values, int64_t *got,
                         roofs_error *err)
{
    *got = 0;
    if (reader_is_sparse(r))
        return read_spread(r, count, values, got, err);
    return registry_cuts(r) ? read_and_cut(r, count, dtype, values, got, err)
                            : r->format->read(r, count, dtype, values, got, err);
}

roofs_status reader_blame(const reader *r, roofs_status status, roofs_error *err)
{
    if (status != ROOFS_BAD_DATA || !err)
        return status;
    roofs_error reason = *err;
    return fail(err, status, "%s: %s", bytes_name(r->input), reason.text);
}
