#include "stream/source.h"

#include "base/comm.h"
#include "base/memory.h"
#include "stream/folder.h"
#include "stream/format.h"
#include "stream/name_file.h"

#include <stdio.h>
#include <string.h>

/* Of a long list of files only the first stay open from the start. */
enum { FILES_HELD_OPEN = 64 };

typedef struct part {
    const char *path; /* a view into source.files */
    reader *reader;   /* NULL: not open now */
    int64_t features; /* -1: known at the end of the file */
    int64_t first;    /* place in the stream of its first feature; set when it is reached */
} part;

/* Where a block lies. */
typedef struct room {
    struct sparse entries;
    void *values;
    int64_t value_bytes;
    names names;
    const char **name_views;
    int64_t view_capacity;
} room;

struct source {
    names files;
    part *parts;
    int64_t part_count;
    int64_t current;  /* the part being read */
    int64_t position; /* place in the stream of the next feature */
    source_options options;
    int64_t n;
    roofs_dtype dtype;
    int named;
    int turns, has_datasets; /* any file can */
    int by_name;             /* every file is */
    index_base base;
    names given; /* names of all features; empty = those in the files */
    int sparse;  /* every file is */
    missing_count missing;
    room rooms[2]; /* the second only where the last block is kept */
    room *block;
    int keeps_last;
};

/* ---- parts ------------------------------------------------------------- */

static const char *n_owner(const source *s, int64_t k)
{
    if (k > 0)
        return s->parts[0].path;
    return s->options.n_owner ? s->options.n_owner : "the response";
}

static roofs_status open_part(source *s, int64_t k, roofs_error *err)
{
    format_hints hints = {
        .n = s->n,
        .n_owner = n_owner(s, k),
        .features = s->options.features,
        .alone = s->part_count == 1 && !s->options.joined,
        .orient = s->options.orient,
        .base = s->options.base,
        .format = s->options.format,
        .dataset = s->options.dataset,
        .keep_missing = s->options.missing != MISSING_ERROR,
        .turn_bytes = s->options.turn_bytes,
    };
    return reader_open(&s->parts[k].reader, s->parts[k].path, &hints, err);
}

static void close_part(source *s, int64_t k)
{
    reader_close(s->parts[k].reader);
    s->parts[k].reader = NULL;
}

static roofs_status check_samples(const source *s, int64_t k, roofs_error *err)
{
    int64_t n = s->parts[k].reader->n;
    if (n >= INT32_MAX)
        return fail(err, ROOFS_BAD_DATA, "%s has %lld samples; at most %d can be used",
                    s->parts[k].path, (long long)n, INT32_MAX - 1);
    if (n < 0 || n == s->n)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s has %lld samples, but %s has %lld%s", s->parts[k].path,
                (long long)n, n_owner(s, k), (long long)s->n,
                n == s->n + 1 ? " (is its first line a header of numbers?)" : "");
}

int64_t source_first_sample(const source *s)
{
    return s->options.ranks > 0 ? shard_begin(s->n, s->options.rank, s->options.ranks) : 0;
}

int64_t source_own_samples(const source *s)
{
    if (s->options.ranks <= 1)
        return s->n;
    return shard_begin(s->n, s->options.rank + 1, s->options.ranks) - source_first_sample(s);
}

/* The reader of the current part, ready to read. */
static roofs_status ready_part(source *s, reader **r, roofs_error *err)
{
    if (!s->parts[s->current].reader)
        TRY(open_part(s, s->current, err));
    *r = s->parts[s->current].reader;
    if (s->options.ranks > 1)
        reader_take_part(*r, source_first_sample(s), source_own_samples(s));
    TRY(reader_load(*r, err));
    if (s->base == INDEX_AUTO)
        s->base = (*r)->base;
    s->parts[s->current].features = (*r)->features;
    return check_samples(s, s->current, err);
}

static void leave_part(source *s)
{
    close_part(s, s->current);
    s->current++;
    if (s->current < s->part_count)
        s->parts[s->current].first = s->position;
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status list_parts(source *s, const char *const *paths, int64_t count, roofs_error *err)
{
    for (int64_t k = 0; k < count; k++)
        TRY(folder_expand(paths[k], &s->files, err));
    s->part_count = s->files.count;
    TRY(memory_get(&s->parts, s->part_count, sizeof *s->parts, "a list of files", err));
    for (int64_t k = 0; k < s->part_count; k++)
        s->parts[k].path = names_get(&s->files, k);
    return ROOFS_OK;
}

static roofs_status learn_samples(source *s, reader *r, roofs_error *err)
{
    if (s->n > 0)
        return ROOFS_OK;
    if (r->n < 0)
        TRY(reader_load(r, err));
    s->n = r->n;
    return ROOFS_OK;
}

/* Opens a file and takes over what its header says. */
static roofs_status check_part(source *s, int64_t k, roofs_error *err)
{
    TRY(open_part(s, k, err));
    reader *r = s->parts[k].reader;
    TRY(learn_samples(s, r, err));
    TRY(check_samples(s, k, err));
    s->parts[k].features = r->features;
    s->named |= r->named;
    s->sparse &= reader_is_sparse(r);
    s->turns |= r->format->turns;
    s->has_datasets |= r->format->has_datasets;
    s->by_name &= r->format->by_name;
    if (r->dtype == ROOFS_F64)
        s->dtype = ROOFS_F64;
    if (k >= FILES_HELD_OPEN && bytes_can_reopen(r->input))
        close_part(s, k);
    return ROOFS_OK;
}

static roofs_status read_given_names(source *s, roofs_error *err)
{
    if (!s->options.names_path)
        return ROOFS_OK;
    TRY(name_file_read(s->options.names_path, &s->given, err));
    s->named = 1;
    s->options.features = s->given.count;
    return ROOFS_OK;
}

static roofs_status wrong_number_of_names(const source *s, int64_t features, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s has %lld names, but there are %s%lld features",
                s->options.names_path, (long long)s->given.count,
                features > s->given.count ? "at least " : "", (long long)features);
}

static roofs_status check_given_names(const source *s, int64_t features, roofs_error *err)
{
    if (s->given.count == 0 || features == s->given.count)
        return ROOFS_OK;
    return wrong_number_of_names(s, features, err);
}

/* Options that mean nothing to any of the files are a misunderstanding. */
static roofs_status check_options(const source *s, roofs_error *err)
{
    const char *path = s->parts[0].path;
    if (s->options.orient != ORIENT_AUTO && !s->turns)
        return fail(
            err, ROOFS_BAD_DATA,
            "%s: --orient means nothing here: LIBSVM text has one sample per line, triplets "
            "one value",
            path);
    if (s->options.dataset && !s->has_datasets)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: --dataset means nothing here: only HDF5 files have "
                    "datasets",
                    path);
    return ROOFS_OK;
}

static roofs_status open_all(source *s, const char *const *paths, int64_t count,
                             const source_options *options, roofs_error *err)
{
    s->options = *options;
    s->n = options->n;
    s->position = options->before;
    s->dtype = options->like ? options->like->dtype : ROOFS_F32;
    s->sparse = options->like ? options->like->sparse : 1;
    s->named = options->like ? options->like->named : 0;
    TRY(read_given_names(s, err));
    if (count == 0)
        return fail(err, ROOFS_BAD_DATA, "no file with features is given");
    TRY(list_parts(s, paths, count, err));
    s->parts[0].first = s->position;
    s->by_name = 1;
    for (int64_t k = 0; k < s->part_count; k++)
        TRY(check_part(s, k, err));
    TRY(check_options(s, err));
    int64_t features = source_features(s);
    return features > 0 ? check_given_names(s, s->position + features, err) : ROOFS_OK;
}

roofs_status source_open(source **out, const char *const *paths, int64_t count,
                         const source_options *options, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "a stream", err));
    roofs_status status = open_all(*out, paths, count, options, err);
    if (status) {
        source_close(*out);
        *out = NULL;
    }
    return status;
}

void source_close(source *s)
{
    if (!s)
        return;
    for (int64_t k = 0; k < s->part_count && s->parts; k++)
        close_part(s, k);
    memory_free(s->parts);
    names_free(&s->files);
    names_free(&s->given);
    for (room *r = s->rooms; r < s->rooms + 2; r++) {
        memory_free(r->values);
        sparse_free(&r->entries);
        names_free(&r->names);
        memory_free(r->name_views);
    }
    memory_free(s);
}

int64_t source_samples(const source *s)
{
    return s->n;
}

const double *source_labels(const source *s)
{
    const reader *r = s->part_count == 1 ? s->parts[0].reader : NULL;
    return r && r->loaded ? r->labels : NULL;
}

int64_t source_features(const source *s)
{
    int64_t total = 0;
    for (int64_t k = 0; k < s->part_count; k++) {
        if (s->parts[k].features < 0)
            return 0;
        total += s->parts[k].features;
    }
    return total;
}

int source_is_by_name(const source *s)
{
    return s->by_name;
}

index_base source_base(const source *s)
{
    return s->base;
}

source_kind source_kind_of(const source *s)
{
    return (source_kind){.sparse = s->sparse, .dtype = s->dtype, .named = s->named};
}

int64_t source_position(const source *s)
{
    return s->position;
}

/* ---- blocks ------------------------------------------------------------ */

/* Features that may still come, as far as the headers tell; `most` at the most. */
static int64_t expected(const source *s, int64_t most)
{
    int64_t left = 0;
    for (int64_t k = s->current; k < s->part_count && left < most; k++) {
        const part *p = &s->parts[k];
        if (p->features < 0)
            return most;
        left += p->features - (k == s->current ? s->position - p->first : 0);
    }
    return left < most ? left : most;
}

static int64_t feature_bytes(const source *s)
{
    return source_own_samples(s) *
           (s->dtype == ROOFS_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double));
}

/* Makes room for `count` features; what the last block held is not kept. */
static roofs_status reserve(const source *s, room *r, int64_t count, roofs_error *err)
{
    int64_t needed = memory_bytes(count, feature_bytes(s));
    if (needed <= r->value_bytes && r->values)
        return ROOFS_OK;
    memory_free(r->values);
    r->value_bytes = 0;
    TRY(memory_reserve(&r->values, needed, 1, "a block of features", err));
    r->value_bytes = needed;
    return ROOFS_OK;
}

/* Names of the `count` features just read; they begin at s->position. */
static roofs_status add_names(source *s, const reader *r, int64_t count, roofs_error *err)
{
    for (int64_t k = 0; k < count && s->named; k++) {
        char made[32];
        const char *name = r->named ? r->format->feature_name(r, k) : "";
        if (s->given.count > 0 && s->position + k >= s->given.count)
            return wrong_number_of_names(s, s->position + count, err);
        if (s->given.count > 0)
            name = names_get(&s->given, s->position + k);
        if (name[0] == '\0') {
            snprintf(made, sizeof made, "f%lld", (long long)(s->position + k));
            name = made;
        }
        TRY(names_add(&s->block->names, name, (int64_t)strlen(name), err));
    }
    return ROOFS_OK;
}

static roofs_status view_names(const source *s, roofs_block *block, roofs_error *err)
{
    room *r = s->block;
    if (!s->named)
        return ROOFS_OK;
    TRY(memory_grow(&r->name_views, &r->view_capacity, block->count, sizeof *r->name_views,
                    "feature names", err));
    for (int64_t k = 0; k < block->count; k++)
        r->name_views[k] = names_get(&r->names, k);
    block->names = r->name_views;
    return ROOFS_OK;
}

static roofs_status read_part(source *s, reader *r, int64_t before, int64_t wanted, int64_t *got,
                              roofs_error *err)
{
    if (s->sparse)
        return reader_read_sparse(r, wanted, &s->block->entries, got, err);
    char *place = (char *)s->block->values + before * feature_bytes(s);
    return reader_read(r, wanted, s->dtype, place, got, err);
}

static roofs_status read_features(source *s, int64_t wanted, int64_t *got, roofs_error *err)
{
    *got = 0;
    while (*got < wanted && s->current < s->part_count) {
        reader *r;
        int64_t here = 0;
        TRY(ready_part(s, &r, err));
        TRY(read_part(s, r, *got, wanted - *got, &here, err));
        TRY(add_names(s, r, here, err));
        *got += here;
        s->position += here;
        if (*got < wanted)
            leave_part(s);
    }
    return ROOFS_OK;
}

void source_keep_last(source *s)
{
    s->keeps_last = 1;
}

/* An empty room for the next block: the other one, where the last block is kept. */
static roofs_status clear_room(source *s, int64_t wanted, roofs_error *err)
{
    if (!s->block || s->keeps_last)
        s->block = s->block == s->rooms ? s->rooms + 1 : s->rooms;
    if (!s->sparse)
        TRY(reserve(s, s->block, wanted, err));
    sparse_clear(&s->block->entries);
    s->block->entries.n = source_own_samples(s);
    names_clear(&s->block->names);
    return sparse_reserve(&s->block->entries, 0, 0, err); /* an empty sparse block is sparse, too */
}

roofs_status source_next(source *s, int64_t most, roofs_block *block, roofs_error *err)
{
    int64_t wanted = expected(s, most), got;
    TRY(clear_room(s, wanted, err));
    TRY(read_features(s, wanted, &got, err));
    if (got == 0 && most > 0) /* the end: only now is it known how many there were */
        TRY(check_given_names(s, s->position, err));
    room *r = s->block;
    if (s->sparse)
        sparse_view(&r->entries, 0, got, block);
    else
        *block = (roofs_block){.count = got,
                               .n = source_own_samples(s),
                               .dtype = s->dtype,
                               .values = r->values,
                               .feature_stride = source_own_samples(s),
                               .sample_stride = 1};
    void *values = s->sparse ? r->entries.values : r->values;
    TRY(missing_mend(s->options.missing, block, values, &s->missing, err));
    return view_names(s, block, err);
}

roofs_status source_skip(source *s, int64_t count, roofs_error *err)
{
    while (count > 0 && s->current < s->part_count) {
        int64_t here;
        if (!s->parts[s->current].reader)
            TRY(open_part(s, s->current, err));
        reader *r = s->parts[s->current].reader;
        TRY(r->format->skip(r, count, &here, err));
        s->position += here;
        count -= here;
        if (count > 0)
            leave_part(s);
    }
    return ROOFS_OK;
}

missing_count source_missing(const source *s)
{
    return s->missing;
}

int64_t source_file_number(const source *s, int64_t index)
{
    int64_t k = s->current < s->part_count ? s->current : s->part_count - 1;
    while (k > 0 && index < s->parts[k].first)
        k--;
    return k;
}

const char *source_file_of(const source *s, int64_t index)
{
    return s->parts[source_file_number(s, index)].path;
}

const char *source_file_at(const source *s, int64_t k)
{
    return k < s->part_count ? s->parts[k].path : NULL;
}

int64_t source_file_features(const source *s, int64_t k)
{
    return s->parts[k].features;
}
