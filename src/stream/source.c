#include "stream/source.h"

#include "base/comm.h"
#include "base/memory.h"
#include "stream/folder.h"
#include "stream/name_file.h"
#include "stream/source_state.h"

#include <stdio.h>
#include <string.h>

/* Of a long list of files only the first stay open after their headers are checked. */
enum { FILES_HELD_OPEN = 64 };

/* ---- files ------------------------------------------------------------- */

static const char *n_owner(const source *s, int64_t k)
{
    if (k > 0)
        return s->files[0].path;
    return s->options.n_owner ? s->options.n_owner : "the response";
}

roofs_status source_open_reader(const source *s, int64_t k, genotype_counts *counts, reader **out,
                                roofs_error *err)
{
    source *own = (source *)s; /* tables and IDs of variants are those of the stream */
    format_hints hints = {
        .n = s->n,
        .n_owner = n_owner(s, k),
        .features = s->options.features,
        .alone = s->file_count == 1 && !s->options.joined,
        .files = s->file_count,
        .orient = s->options.orient,
        .base = s->options.base,
        .format = s->options.format,
        .dataset = s->options.dataset,
        .header = s->options.header,
        .external = s->options.external,
        .keep_missing = s->options.missing != MISSING_ERROR,
        .missing = s->options.missing,
        .table = s->options.table,
        .ids = s->ids,
        .joins = &own->joins,
        .notes = &own->notes,
        .transpose_bytes = s->options.transpose_bytes,
        .is_stopped = s->options.is_stopped,
        .file = s->options.earlier_count + k,
        .genotypes = s->options.genotypes,
        .variant_ids = s->variant_ids,
        .genotype_counts = counts,
        .unpacked = s->options.unpacked,
    };
    return reader_open(out, s->files[k].path, &hints, err);
}

static roofs_status source_open_file(source *s, int64_t k, roofs_error *err)
{
    return source_open_reader(s, k, &s->genotypes, &s->files[k].reader, err);
}

static void source_close_file(source *s, int64_t k)
{
    reader_close(s->files[k].reader);
    s->files[k].reader = NULL;
}

roofs_status source_check_samples(const source *s, int64_t k, roofs_error *err)
{
    int64_t n = s->files[k].reader->n;
    if (n >= INT32_MAX)
        return fail(err, ROOFS_BAD_DATA, "%s has %lld samples; at most %d can be used",
                    s->files[k].path, (long long)n, INT32_MAX - 1);
    if (n < 0 || n == s->n)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s has %lld samples, but %s has %lld%s", s->files[k].path,
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

/* Opens and loads the current file. */
static roofs_status source_ready_file(source *s, reader **r, roofs_error *err)
{
    if (!s->files[s->current].reader)
        TRY(source_open_file(s, s->current, err));
    *r = s->files[s->current].reader;
    if (s->options.ranks > 1)
        reader_set_shard(*r, source_first_sample(s), source_own_samples(s));
    TRY(reader_load(*r, err));
    if (s->base == INDEX_AUTO)
        s->base = (*r)->base;
    s->files[s->current].features = (*r)->features;
    return source_check_samples(s, s->current, err);
}

static source_listed listed_with(source_listed all, const reader *r)
{
    if (!r)
        return all;
    all.values += r->listed.values;
    if (r->listed.samples > all.samples)
        all.samples = r->listed.samples;
    return all;
}

static roofs_status source_leave_file(source *s, roofs_error *err)
{
    if (s->files[s->current].reader)
        TRY(source_keep_recipes(s, s->files[s->current].reader, err));
    s->listed = listed_with(s->listed, s->files[s->current].reader);
    source_close_file(s, s->current);
    s->current++;
    if (s->current < s->file_count)
        s->files[s->current].first = s->position;
    return ROOFS_OK;
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status source_list_files(source *s, const char *const *paths, int64_t count,
                                      roofs_error *err)
{
    for (int64_t k = 0; k < count; k++)
        TRY(folder_expand(paths[k], &s->paths, err));
    s->file_count = s->paths.count;
    TRY(memory_get(&s->files, s->file_count, sizeof *s->files, "a list of files", err));
    for (int64_t k = 0; k < s->file_count; k++)
        s->files[k].path = names_get(&s->paths, k);
    return ROOFS_OK;
}

/* Opens a file and checks its header against the other files. */
static roofs_status source_check_file(source *s, int64_t k, roofs_error *err)
{
    TRY(source_open_file(s, k, err));
    reader *r = s->files[k].reader;
    TRY(source_load_early(s, r, err));
    TRY(source_check_samples(s, k, err));
    s->files[k].features = r->features;
    s->files[k].packed = dtype_is_packed(r->dtype) ? r->dtype : ROOFS_F64;
    s->named |= r->named;
    s->sparse &= reader_is_sparse(r);
    s->orientable |= r->format->orientable;
    s->has_datasets |= r->format->has_datasets;
    s->by_name &= r->format->by_name;
    s->has_tables &= r->format->column_name && s->options.orient != ORIENT_FEATURES;
    if (r->dtype == ROOFS_F64)
        s->dtype = ROOFS_F64;
    if (k >= FILES_HELD_OPEN && !r->loaded && bytes_can_reopen(r->input))
        source_close_file(s, k);
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
    return fail(err, ROOFS_BAD_DATA, "%s has %lld names, but the files have %s%lld features",
                s->options.names_path, (long long)s->given.count,
                features > s->given.count ? "at least " : "", (long long)features);
}

static roofs_status check_given_names(const source *s, int64_t features, roofs_error *err)
{
    if (s->given.count == 0 || features == s->given.count)
        return ROOFS_OK;
    return wrong_number_of_names(s, features, err);
}

/* Refuses options that apply to none of the files. */
static roofs_status check_options(const source *s, roofs_error *err)
{
    const char *path = s->files[0].path;
    if (s->options.orient != ORIENT_AUTO && !s->orientable)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: --orient does not apply: the format itself defines what a row is; leave "
                    "out --orient",
                    path);
    if (s->options.missing == MISSING_INDICATOR && !s->has_tables)
        return fail(
            err, ROOFS_BAD_DATA,
            "%s: --missing indicator does not apply: only text tables with a row per sample "
            "have columns that show where values are missing",
            path);
    if (s->options.dataset && !s->has_datasets)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: --dataset does not apply: only HDF5 files have datasets", path);
    return ROOFS_OK;
}

/* ---- what the user expects --------------------------------------------- */

static roofs_status fail_expected(int64_t expected, const char *option, int64_t found,
                                  const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "%s %lld is given, but the files have %lld %s: they are not complete, or the "
                "number is wrong",
                option, (long long)expected, (long long)found, what);
}

static roofs_status check_expected_shape(const source *s, int64_t features, roofs_error *err)
{
    const source_expectation *e = &s->options.expected;
    if (e->samples > 0 && e->samples != s->n)
        return fail(err, ROOFS_BAD_DATA, "--expect-samples %lld is given, but %s has %lld samples",
                    (long long)e->samples, n_owner(s, s->options.n == 0), (long long)s->n);
    if (e->values > 0 && !s->by_name)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: --expect-values does not apply: only triplets count "
                    "their values",
                    s->files[0].path);
    if (e->features > 0 && features > 0 && s->position + features != e->features)
        return fail_expected(e->features, "--expect-features", s->position + features, "features",
                             err);
    return ROOFS_OK;
}

/* Called at the end of the stream, where the last file may still be open. */
static roofs_status check_expected_end(const source *s, roofs_error *err)
{
    const source_expectation *e = &s->options.expected;
    const int64_t values = source_listed_so_far(s).values;
    if (e->features > 0 && s->position != e->features)
        return fail_expected(e->features, "--expect-features", s->position, "features", err);
    if (e->values > 0 && values != e->values)
        return fail_expected(e->values, "--expect-values", values, "values", err);
    return ROOFS_OK;
}

static roofs_status source_start(source *s, const char *const *paths, int64_t count,
                                 const source_options *options, roofs_error *err)
{
    s->options = *options;
    s->n = options->n;
    s->position = options->before;
    s->dtype =
        options->like && !dtype_is_packed(options->like->dtype) ? options->like->dtype : ROOFS_F32;
    s->sparse = options->like ? options->like->sparse : 1;
    s->named = options->like ? options->like->named : 0;
    source_begin_tables(s);
    TRY(source_begin_genotypes(s, err));
    TRY(read_given_names(s, err));
    if (count == 0)
        return fail(err, ROOFS_BAD_DATA, "no file with features is given");
    TRY(source_list_files(s, paths, count, err));
    s->files[0].first = s->position + (options->lead ? options->lead->count : 0);
    s->by_name = s->has_tables = 1;
    for (int64_t k = 0; k < s->file_count; k++)
        TRY(source_check_file(s, k, err));
    TRY(source_learn_last(s, err));
    TRY(check_options(s, err));
    int64_t features = source_features(s);
    TRY(source_check_chromosomes(s, err));
    TRY(check_expected_shape(s, features, err));
    return features > 0 ? check_given_names(s, s->position + features, err) : ROOFS_OK;
}

roofs_status source_open(source **out, const char *const *paths, int64_t count,
                         const source_options *options, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "a stream", err));
    roofs_status status = source_start(*out, paths, count, options, err);
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
    for (int64_t k = 0; k < s->file_count && s->files; k++)
        source_close_file(s, k);
    source_end_tables(s);
    source_end_genotypes(s);
    memory_free(s->files);
    names_free(&s->paths);
    names_free(&s->given);
    for (block_buffer *r = s->buffers; r < s->buffers + 2; r++) {
        memory_free(r->values);
        memory_free(r->levels);
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
    const reader *r = s->file_count == 1 ? s->files[0].reader : NULL;
    return r && r->loaded ? r->labels : NULL;
}

int64_t source_features(const source *s)
{
    int64_t total = s->options.lead ? s->options.lead->count : 0;
    for (int64_t k = 0; k < s->file_count; k++) {
        if (s->files[k].features < 0)
            return 0;
        total += s->files[k].features;
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
    roofs_dtype packed = ROOFS_F64; /* the last of the packed types: genotypes come after bytes */
    for (int64_t k = 0; k < s->file_count; k++)
        packed = s->files[k].packed > packed ? s->files[k].packed : packed;
    return (source_kind){.sparse = s->sparse,
                         .dtype = dtype_is_packed(packed) ? packed : s->dtype,
                         .named = s->named};
}

int64_t source_position(const source *s)
{
    return s->position;
}

/* ---- blocks ------------------------------------------------------------ */

/* Upper bound of the features left, at most `most`. */
static int64_t source_features_left(const source *s, int64_t most)
{
    int64_t left = 0;
    for (int64_t k = s->current; k < s->file_count && left < most; k++) {
        const source_file *p = &s->files[k];
        if (p->features < 0)
            return most;
        left += p->features - (k == s->current ? s->position - p->first : 0);
    }
    return left < most ? left : most;
}

static roofs_dtype block_dtype(const source *s, const block_buffer *r)
{
    return dtype_is_packed(r->packed) ? r->packed : s->dtype;
}

static int64_t feature_bytes(const source *s, const block_buffer *r)
{
    return dtype_bytes(block_dtype(s, r), source_own_samples(s));
}

/* Reserves memory for `count` features; does not keep the old values. */
static roofs_status source_reserve(const source *s, block_buffer *r, int64_t count,
                                   roofs_error *err)
{
    int64_t needed = memory_bytes(count, feature_bytes(s, r));
    if (needed <= r->value_bytes && r->values)
        return ROOFS_OK;
    memory_free(r->values);
    r->value_bytes = 0;
    TRY(memory_reserve(&r->values, needed, 1, "a block of features", err));
    r->value_bytes = needed;
    return ROOFS_OK;
}

/* Adds the names of the `count` features just read, which begin at s->position. */
static roofs_status source_add_names(source *s, const reader *r, int64_t count, roofs_error *err)
{
    for (int64_t k = 0; k < count && s->named; k++) {
        char made[32];
        const char *name = r->named ? reader_feature_name(r, k) : "";
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
    block_buffer *r = s->block;
    if (!s->named)
        return ROOFS_OK;
    TRY(memory_grow(&r->name_views, &r->view_capacity, block->count, sizeof *r->name_views,
                    "feature names", err));
    for (int64_t k = 0; k < block->count; k++)
        r->name_views[k] = names_get(&r->names, k);
    block->names = r->name_views;
    return ROOFS_OK;
}

static roofs_status source_read_file(source *s, reader *r, int64_t before, int64_t wanted,
                                     int64_t *got, roofs_error *err)
{
    if (s->sparse)
        return reader_read_sparse(r, wanted, &s->block->entries, got, err);
    block_buffer *b = s->block;
    char *place = (char *)b->values + before * feature_bytes(s, b);
    TRY(reader_read(r, wanted, block_dtype(s, b), place, got, err));
    return b->packed == ROOFS_2BIT ? source_add_levels(s, r, before, *got, err) : ROOFS_OK;
}

/* Gives the block the type of the current file. A block has one type: *ends if it has features of
 * the other one. */
static roofs_status source_choose_type(source *s, int64_t got, int64_t wanted, int *ends,
                                       roofs_error *err)
{
    const roofs_dtype packed = s->files[s->current].packed;
    *ends = got > 0 && packed != s->block->packed;
    if (*ends || s->sparse)
        return ROOFS_OK;
    s->block->packed = packed;
    return got == 0 ? source_reserve(s, s->block, wanted, err) : ROOFS_OK;
}

static roofs_status source_read_features(source *s, int64_t wanted, int64_t *got, roofs_error *err)
{
    *got = 0;
    while (*got < wanted && s->current < s->file_count) {
        reader *r;
        int64_t added = 0;
        int ends;
        TRY(source_choose_type(s, *got, wanted, &ends, err));
        if (ends)
            break;
        TRY(source_ready_file(s, &r, err));
        TRY(source_read_file(s, r, *got, wanted - *got, &added, err));
        TRY(source_add_names(s, r, added, err));
        s->missing.values += r->missing.values;
        s->missing.features += r->missing.features;
        r->missing = (missing_count){0};
        *got += added;
        s->position += added;
        if (*got < wanted)
            TRY(source_leave_file(s, err));
    }
    return ROOFS_OK;
}

void source_keep_last(source *s)
{
    s->keeps_last = 1;
}

/* Empties the buffer for the next block: the other one if the last block must stay. */
static roofs_status source_clear_buffer(source *s, int64_t wanted, roofs_error *err)
{
    if (!s->block || s->keeps_last)
        s->block = s->block == s->buffers ? s->buffers + 1 : s->buffers;
    if (!s->sparse)
        TRY(source_reserve(s, s->block, wanted, err));
    sparse_clear(&s->block->entries);
    s->block->entries.n = source_own_samples(s);
    names_clear(&s->block->names);
    return sparse_reserve(&s->block->entries, 0, 0, err); /* an empty block is sparse, too */
}

/* Loads the files of genotypes that are left, so that they are counted: all their variants are left
 * out. */
static roofs_status source_visit_rest(source *s, roofs_error *err)
{
    reader *r;
    while (s->current < s->file_count && s->files[s->current].packed == ROOFS_2BIT) {
        TRY(source_ready_file(s, &r, err));
        TRY(source_leave_file(s, err));
    }
    return ROOFS_OK;
}

roofs_status source_next(source *s, int64_t most, roofs_block *block, roofs_error *err)
{
    int64_t wanted = source_features_left(s, most), got;
    int is_lead;
    TRY(source_next_lead(s, most, block, &is_lead, err));
    if (is_lead)
        return ROOFS_OK;
    TRY(source_clear_buffer(s, wanted, err));
    TRY(source_read_features(s, wanted, &got, err));
    if (got == 0 && most > 0) { /* at the end the number of features is known */
        TRY(source_visit_rest(s, err));
        TRY(check_given_names(s, s->position, err));
        TRY(check_expected_end(s, err));
    }
    block_buffer *r = s->block;
    if (s->sparse)
        sparse_view(&r->entries, 0, got, block);
    else
        *block = (roofs_block){.struct_size = sizeof *block,
                               .count = got,
                               .n = source_own_samples(s),
                               .dtype = block_dtype(s, r),
                               .values = r->values,
                               .feature_stride = r->packed == ROOFS_2BIT ? feature_bytes(s, r)
                                                                         : source_own_samples(s),
                               .sample_stride = 1,
                               .levels = r->packed == ROOFS_2BIT ? r->levels : NULL};
    void *values = s->sparse ? r->entries.values : r->values;
    if (!dtype_is_packed(r->packed)) /* genotypes have no missing values any more, bytes never */
        TRY(missing_replace(s->options.missing, block, values, &s->missing, err));
    return view_names(s, block, err);
}

roofs_status source_skip(source *s, int64_t count, roofs_error *err)
{
    count -= source_skip_lead(s, count);
    while (count > 0 && s->current < s->file_count) {
        int64_t skipped;
        if (!s->files[s->current].reader)
            TRY(source_open_file(s, s->current, err));
        reader *r = s->files[s->current].reader;
        TRY(reader_skip(r, count, &skipped, err));
        s->position += skipped;
        count -= skipped;
        if (count > 0)
            TRY(source_leave_file(s, err));
    }
    return ROOFS_OK;
}

roofs_status source_finish(source *s, roofs_error *err)
{
    const source_expectation *e = &s->options.expected;
    if (e->features == 0 && !s->by_name)
        return ROOFS_OK;
    TRY(source_skip(s, INT64_MAX, err));
    return check_expected_end(s, err);
}

source_listed source_listed_so_far(const source *s)
{
    return listed_with(s->listed, s->current < s->file_count ? s->files[s->current].reader : NULL);
}

missing_count source_missing(const source *s)
{
    return s->missing;
}

int64_t source_file_number(const source *s, int64_t index)
{
    int64_t k = s->current < s->file_count ? s->current : s->file_count - 1;
    while (k > 0 && index < s->files[k].first)
        k--;
    return k;
}

const char *source_file_of(const source *s, int64_t index)
{
    return s->files[source_file_number(s, index)].path;
}

const char *source_file_at(const source *s, int64_t k)
{
    return k < s->file_count ? s->files[k].path : NULL;
}

int64_t source_file_features(const source *s, int64_t k)
{
    const int64_t lead = k == 0 && s->options.lead ? s->options.lead->count : 0;
    return s->files[k].features < 0 ? -1 : lead + s->files[k].features;
}
