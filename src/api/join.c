#include "api/join.h"

#include "api/checkpoint.h"
#include "base/memory.h"
#include "linalg/columns.h"

#include <math.h>
#include <string.h>

roofs_status join_shard_open(join_shard *p, int64_t *total, roofs_error *err)
{
    int64_t narrow = 0;
    char name[SECTION_NAME + 1];
    do {
        TRY(section_next(&p->from, name, &p->section, err));
        if (checkpoint_begins(name))
            return fail(err, ROOFS_BAD_DATA,
                        "the checkpoint is that of one process, not of a rank of several");
    } while (strcmp(name, CHECKPOINT_SHARD) != 0);
    archive_i64(&p->section, total, 1, ARCHIVE_MOST);
    archive_i64(&p->section, &p->first, 0, *total - 1);
    archive_i64(&p->section, &p->n, 1, *total - p->first);
    archive_i64(&p->section, &narrow, 0, 1);
    p->narrow = (int)narrow;
    return archive_end(&p->section);
}

void join_shard_free(join_shard *p)
{
    archive_free(&p->section);
    archive_free(&p->marks);
}

void join_free(join *j)
{
    archive_free(&j->joined);
    archive_free(&j->stream);
}

static roofs_status join_damaged(roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "the checkpoint is damaged: the files of the ranks do not fit together");
}

/* The range of the wanted samples within a shard. */
static void join_overlap(const join *j, const join_shard *p, int64_t *begin, int64_t *end)
{
    int64_t low = j->first - p->first, high = j->first + j->n - p->first;
    *begin = low < 0 ? 0 : low > p->n ? p->n : low;
    *end = high < 0 ? 0 : high > p->n ? p->n : high;
}

/* ---- sections with marks ----------------------------------------------- */

typedef struct mark {
    int64_t at;
    int what;
} mark;

static int mark_at(const join_shard *p, int64_t k, mark *m)
{
    int64_t number;
    memcpy(&number, p->marks.bytes + k * (int64_t)sizeof number, sizeof number);
    *m = (mark){number >> 1, (int)(number & 1)};
    int64_t size = m->what == ARCHIVE_COUNT ? 8 : p->n * 8;
    return m->at >= 0 && m->at % 8 == 0 && m->at <= p->section.size - size;
}

static roofs_status join_mark(join *j, int64_t k, int64_t *done, roofs_error *err)
{
    mark first, m;
    if (!mark_at(&j->shards[0], k, &first) || first.at < *done)
        return join_damaged(err);
    archive_put(&j->joined, j->shards[0].section.bytes + *done, first.at - *done);
    *done = first.at + (first.what == ARCHIVE_COUNT ? 8 : j->shards[0].n * 8);
    if (first.what == ARCHIVE_COUNT)
        archive_put(&j->joined, &j->n, sizeof j->n);
    for (int64_t p = 0; p < j->count; p++) {
        int64_t begin, end;
        if (!mark_at(&j->shards[p], k, &m) || m.what != first.what)
            return join_damaged(err);
        join_overlap(j, &j->shards[p], &begin, &end);
        if (m.what == ARCHIVE_SAMPLES)
            archive_put(&j->joined, j->shards[p].section.bytes + m.at + begin * 8,
                        (end - begin) * 8);
    }
    return j->joined.status;
}

/* Bytes without a mark are the same on all ranks; they are copied from the first shard. */
static roofs_status join_marked(join *j, roofs_error *err)
{
    const int64_t marks = j->shards[0].marks.size / 8;
    int64_t done = 0;
    for (int64_t p = 0; p < j->count; p++)
        if (j->shards[p].marks.size != marks * 8)
            return join_damaged(err);
    for (int64_t k = 0; k < marks; k++)
        TRY(join_mark(j, k, &done, err));
    archive_put(&j->joined, j->shards[0].section.bytes + done, j->shards[0].section.size - done);
    return j->joined.status;
}

/* ---- columns ----------------------------------------------------------- */

typedef struct joined_column {
    char *values; /* zeros at first */
    int32_t *samples;
    int64_t count;
} joined_column;

static roofs_dtype join_wide_type(const join_shard *p)
{
    return p->narrow ? ROOFS_F32 : ROOFS_F64;
}

static roofs_status join_view_column(join_shard *p, device_values *v, roofs_error *err)
{
    archive *a = &p->section;
    a->err = err;
    *v = (device_values){.dtype = join_wide_type(p)};
    column_values_transfer(v, p->n, a);
    return archive_end(a);
}

static int have_same_levels(const device_values *a, const device_values *b)
{
    for (int c = 0; a->dtype == ROOFS_2BIT && c < 4; c++)
        if (a->levels[c] != b->levels[c])
            return 0;
    return 1;
}

/* The type of the joined column: that of the shards, if all have the same one. The levels of
 * missing values may differ from rank to rank. */
static roofs_dtype join_type(const join *j, const device_values *all)
{
    for (int64_t p = 1; p < j->count; p++)
        if (all[p].dtype != all[0].dtype || !have_same_levels(&all[p], &all[0]))
            return join_wide_type(&j->shards[0]);
    return all[0].dtype;
}

static void join_add_value(joined_column *to, roofs_dtype dtype, const device_values *v, int64_t k)
{
    const int64_t at = to->count++;
    if (dtype == ROOFS_2BIT)
        to->values[at / 4] |= (char)(block_code(v->values, k) << 2 * (at % 4));
    else if (dtype_is_packed(dtype))
        to->values[at] = ((const char *)v->values)[k];
    else if (dtype == ROOFS_F32)
        ((float *)(void *)to->values)[at] = (float)device_value(v, k);
    else
        ((double *)(void *)to->values)[at] = device_value(v, k);
}

/* A joined column is dense if all shards are; otherwise it leaves out zeros. */
static void join_add_shard(const join *j, const join_shard *p, const device_values *v,
                           roofs_dtype dtype, int sparse, joined_column *to)
{
    int64_t begin, end;
    join_overlap(j, p, &begin, &end);
    for (int64_t k = 0; k < v->count; k++) {
        const int64_t sample = v->samples ? v->samples[k] : k;
        if (sample < begin || sample >= end)
            continue;
        if (sparse && device_value(v, k) == 0 && !signbit(device_value(v, k)))
            continue;
        to->samples[to->count] = (int32_t)(p->first + sample - j->first);
        join_add_value(to, dtype, v, k);
    }
}

static roofs_status join_column(join *j, device_values *all, joined_column *to, roofs_error *err)
{
    int sparse = 0;
    for (int64_t p = 0; p < j->count; p++) {
        TRY(join_view_column(&j->shards[p], &all[p], err));
        sparse |= all[p].samples != NULL;
    }
    const roofs_dtype dtype = join_type(j, all);
    for (int64_t p = 0; p < j->count; p++)
        join_add_shard(j, &j->shards[p], &all[p], dtype, sparse, to);
    device_values joined = {.dtype = dtype,
                            .count = to->count,
                            .values = to->values,
                            .samples = sparse ? to->samples : NULL,
                            .levels = all[0].levels};
    column_values_transfer(&joined, j->n, &j->joined);
    return j->joined.status;
}

static roofs_status join_columns(join *j, roofs_error *err)
{
    device_values *all = NULL;
    joined_column to = {0};
    roofs_status status = memory_get(&all, j->count, sizeof *all, "a checkpoint", err);
    if (status == ROOFS_OK)
        status = memory_get(&to.values, j->n, 8, "a checkpoint", err);
    if (status == ROOFS_OK)
        status = memory_get(&to.samples, j->n, sizeof *to.samples, "a checkpoint", err);
    if (status == ROOFS_OK)
        status = join_column(j, all, &to, err);
    memory_free(all);
    memory_free(to.values);
    memory_free(to.samples);
    return status;
}

/* ---- the stream -------------------------------------------------------- */

static int join_write(void *user, const void *bytes, size_t size)
{
    archive *a = user;
    archive_put(a, bytes, (int64_t)size);
    return a->status != ROOFS_OK;
}

static roofs_status join_section(join *j, roofs_error *err)
{
    const section_sink to = {
        .write = join_write, .user = &j->stream, .version = j->shards[0].from.version};
    char name[SECTION_NAME + 1] = "", other[SECTION_NAME + 1] = "";
    for (int64_t p = 0; p < j->count; p++) {
        TRY(section_next(&j->shards[p].from, p == 0 ? name : other, &j->shards[p].section, err));
        if (p > 0 && strcmp(name, other) != 0)
            return join_damaged(err);
    }
    int marked = strcmp(name, CHECKPOINT_BEGIN) == 0 || strcmp(name, CHECKPOINT_STATE) == 0;
    for (int64_t p = 0; p < j->count && marked; p++)
        TRY(section_read(&j->shards[p].from, CHECKPOINT_MARKS, &j->shards[p].marks, err));
    archive_begin_saving(&j->joined, err);
    j->ended = strcmp(name, CHECKPOINT_END) == 0;
    if (marked)
        TRY(join_marked(j, err));
    else if (!j->ended)
        TRY(join_columns(j, err));
    archive_begin_saving(&j->stream, err);
    const roofs_status status = section_write(&to, name, &j->joined, err);
    if (j->stream.status == ROOFS_NO_MEMORY)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a section of a checkpoint");
    return status;
}

/* Sections and their heads are multiples of 8 bytes, so archive_put adds no padding. */
static int64_t join_read(void *user, void *bytes, size_t size)
{
    join *j = user;
    if (j->stream.at == j->stream.size && j->ended)
        return 0;
    if (j->stream.at == j->stream.size && join_section(j, &j->why) != ROOFS_OK)
        return -1;
    int64_t left = j->stream.size - j->stream.at;
    int64_t count = (int64_t)size < left ? (int64_t)size : left;
    memcpy(bytes, j->stream.bytes + j->stream.at, (size_t)count);
    j->stream.at += count;
    return count;
}

section_source join_source(join *j)
{
    archive_begin_saving(&j->stream, &j->why);
    return (section_source){.read = join_read, .user = j, .version = j->shards[0].from.version};
}
