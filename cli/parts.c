#include "cli/parts.h"

#include "api/checkpoint.h"
#include "api/join.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct part_path {
    char text[PATH_MOST];
} part_path;

static part_path path_of(const char *path, int64_t stamp, int64_t rank)
{
    part_path p;
    snprintf(p.text, sizeof p.text, "%s.%" PRId64 "-%" PRId64, path, stamp, rank);
    return p;
}

/* ---- the manifest ------------------------------------------------------ */

static int put_bytes(void *file, const void *from, size_t size)
{
    return fwrite(from, 1, size, file) != size;
}

static void manifest_transfer(int64_t *parts, int64_t *stamp, archive *a)
{
    archive_i64(a, parts, 1, ARCHIVE_MOST);
    archive_i64(a, stamp, 1, ARCHIVE_MOST);
}

static roofs_status write_manifest(const checkpoint *c, int64_t stamp, roofs_error *err)
{
    output out;
    archive a = {0};
    int64_t parts = c->ranks->with.size;
    TRY(output_open(&out, c->path, err));
    const section_sink to = {.write = put_bytes, .user = out.file};
    archive_begin_saving(&a, err);
    manifest_transfer(&parts, &stamp, &a);
    roofs_status status = section_write_head(&to, err);
    if (status == ROOFS_OK)
        status = section_write(&to, PARTS_MANIFEST, &a, err);
    archive_free(&a);
    if (status == ROOFS_OK)
        return output_commit(&out, err);
    output_abandon(&out);
    return status;
}

static roofs_status look_inside(FILE *file, archive *a, int64_t *parts, int64_t *stamp,
                                roofs_error *err)
{
    section_source from = {.read = checkpoint_get_bytes, .user = file};
    char name[SECTION_NAME + 1];
    TRY(section_read_head(&from, err));
    TRY(section_next(&from, name, a, err));
    if (strcmp(name, PARTS_MANIFEST) != 0)
        return ROOFS_OK;
    manifest_transfer(parts, stamp, a);
    return archive_end(a);
}

roofs_status parts_look(const char *path, int64_t *parts, int64_t *stamp, roofs_error *err)
{
    archive a = {0};
    *parts = *stamp = 0;
    if (!is_checkpoint(path))
        return ROOFS_OK;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(err, ROOFS_IO, "%s: %s", path, strerror(errno));
    roofs_status status = look_inside(file, &a, parts, stamp, err);
    archive_free(&a);
    fclose(file);
    return checkpoint_named(path, status, err);
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status open_by_first(checkpoint *c, const char *path, int64_t found[2],
                                  roofs_error *err)
{
    if (c->ranks->with.rank > 0)
        return ROOFS_OK;
    TRY(checkpoint_claim(c, path, err));
    return parts_look(path, &found[0], &found[1], err);
}

roofs_status parts_open(checkpoint *c, const char *path, roofs_error *err)
{
    int64_t mine[2] = {0}, found[2] = {0};
    TRY(comm_agree(c->ranks, open_by_first(c, path, mine, err), err));
    comm_take_from(c->ranks, 0, mine, sizeof mine, found);
    c->parts = found[0];
    c->stamp = found[1];
    c->read.blind = 1;
    return comm_status(c->ranks, err);
}

/* ---- writing ----------------------------------------------------------- */

static roofs_status write_own(checkpoint *c, roofs_estimator *e, const char *path, roofs_error *err)
{
    output out;
    TRY(output_open(&out, path, err));
    errno = 0;
    roofs_status status = checkpoint_put(c, e, out.file, err);
    int reason = errno;
    if (status == ROOFS_OK)
        return output_commit(&out, err);
    output_abandon(&out);
    if (status == ROOFS_IO)
        fail(err, status, "%s: cannot be written: %s", path,
             reason ? strerror(reason) : "the disk may be full");
    return status;
}

/* The ranks share them out: those before may have been more. */
void parts_remove(checkpoint *c)
{
    for (int64_t k = ranks_here()->rank; k < c->parts; k += ranks_here()->size)
        unlink(path_of(c->path, c->stamp, k).text);
    c->parts = 0;
}

roofs_status parts_write(checkpoint *c, roofs_estimator *e, roofs_error *err)
{
    comm *ranks = c->ranks;
    const int64_t stamp = c->stamp + 1;
    const part_path own = path_of(c->path, stamp, ranks->with.rank);
    roofs_status status = comm_agree(ranks, write_own(c, e, own.text, err), err);
    if (status == ROOFS_OK)
        status = comm_agree(ranks, ranks->with.rank == 0 ? write_manifest(c, stamp, err) : ROOFS_OK,
                            err);
    if (status != ROOFS_OK) {
        unlink(own.text);
        return status;
    }
    parts_remove(c);
    c->stamp = stamp;
    c->parts = ranks->with.size;
    return ROOFS_OK;
}

/* ---- reading ----------------------------------------------------------- */

typedef struct reading {
    FILE **files;
    join_part *parts;
    int64_t count, total;
    join joint;
} reading;

static void close_parts(reading *r, int64_t count)
{
    for (int64_t k = 0; k < count && r->files && r->parts; k++) {
        if (r->files[k])
            fclose(r->files[k]);
        join_part_free(&r->parts[k]);
    }
    memory_free(r->files);
    memory_free(r->parts);
    join_free(&r->joint);
}

static roofs_status open_part(checkpoint *record, reading *r, const char *path, int64_t stamp,
                              int64_t k, roofs_error *err)
{
    const part_path own = path_of(path, stamp, k);
    join_part *p = &r->parts[k];
    r->files[k] = fopen(own.text, "rb");
    if (!r->files[k])
        return fail(err, ROOFS_IO, "%s: %s", own.text, strerror(errno));
    p->from = (section_source){.read = checkpoint_get_bytes, .user = r->files[k]};
    TRY(section_read_head(&p->from, err));
    if (p->from.version != ARCHIVE_VERSION)
        return fail(err, ROOFS_BAD_DATA, "%s is of another version of roofs", own.text);
    TRY(checkpoint_take_record(record, &p->from, &p->section, err));
    return join_part_open(p, &r->total, err);
}

/* The record of what was read is the same in all parts: that of the first is taken. */
static roofs_status open_parts(checkpoint *c, const char *path, reading *r, roofs_error *err)
{
    int64_t next = 0;
    TRY(memory_get(&r->files, c->parts, sizeof *r->files, "a checkpoint", err));
    TRY(memory_get(&r->parts, c->parts, sizeof *r->parts, "a checkpoint", err));
    for (int64_t k = 0; k < c->parts; k++) {
        checkpoint unused = {0};
        roofs_status status = open_part(k == 0 ? c : &unused, r, path, c->stamp, k, err);
        checkpoint_close(&unused);
        if (status != ROOFS_OK)
            return status;
        if (r->parts[k].first != next)
            return fail(err, ROOFS_BAD_DATA, "%s: the parts of the ranks do not fit together",
                        path);
        next += r->parts[k].n;
    }
    if (next != r->total)
        return fail(err, ROOFS_BAD_DATA, "%s: a part of the samples is not there", path);
    return ROOFS_OK;
}

/* The parts with samples of this rank. */
static void choose(reading *r, const roofs_comm *with)
{
    join *j = &r->joint;
    int64_t first = 0, count = 0;
    j->first = shard_begin(r->total, with->rank, with->size);
    j->n = shard_begin(r->total, with->rank + 1, with->size) - j->first;
    while (r->parts[first].first + r->parts[first].n <= j->first)
        first++;
    while (first + count < r->count && r->parts[first + count].first < j->first + j->n)
        count++;
    j->parts = r->parts + first;
    j->count = count;
}

static roofs_status begin(checkpoint *c, const char *path, reading *r, roofs_error *err)
{
    r->count = c->parts;
    TRY(open_parts(c, path, r, err));
    if (r->total < ranks_here()->size)
        return fail(err, ROOFS_BAD_DATA,
                    "%" PRId64 " samples cannot be split over %" PRId64 " ranks; use fewer ranks",
                    r->total, ranks_here()->size);
    choose(r, ranks_here());
    return ROOFS_OK;
}

/* Everything is read once before the fit is made of it: a rank that finds damage in the middle
 * would leave the others waiting. */
static roofs_status try_all(reading *r, roofs_error *err)
{
    section_source from = join_source(&r->joint);
    char name[SECTION_NAME + 1];
    archive a = {0};
    roofs_status status = ROOFS_OK;
    do
        status = section_next(&from, name, &a, err);
    while (status == ROOFS_OK && strcmp(name, CHECKPOINT_END) != 0);
    archive_free(&a);
    if (r->joint.why.status != ROOFS_OK)
        *err = r->joint.why;
    return r->joint.why.status != ROOFS_OK ? r->joint.why.status : status;
}

static roofs_status load(reading *r, const roofs_settings *run, roofs_estimator **e,
                         roofs_error *err)
{
    section_source from = join_source(&r->joint);
    archive a = {0};
    roofs_status status = section_read(&from, CHECKPOINT_BEGIN, &a, err);
    if (status == ROOFS_OK)
        status = checkpoint_load(e, &a, &from, run, ranks_here(), err);
    archive_free(&a);
    return status;
}

static roofs_status blame_path(const char *path, roofs_status status, roofs_error *err)
{
    roofs_error reason = *err;
    if (status == ROOFS_OK || status == ROOFS_IO)
        return status;
    return fail(err, status, "%s: %s", path, reason.text);
}

roofs_status parts_read(checkpoint *c, const char *path, const roofs_settings *run,
                        roofs_estimator **e, roofs_error *err)
{
    reading trial = {0}, real = {0};
    checkpoint unused = {.parts = c->parts, .stamp = c->stamp};
    roofs_status status = begin(&unused, path, &trial, err);
    if (status == ROOFS_OK)
        status = try_all(&trial, err);
    close_parts(&trial, c->parts);
    checkpoint_close(&unused);
    status = comm_agree(c->ranks, blame_path(path, status, err), err);
    if (status == ROOFS_OK)
        status = comm_agree(c->ranks, begin(c, path, &real, err), err);
    if (status == ROOFS_OK)
        status = load(&real, run, e, err);
    close_parts(&real, c->parts);
    return status;
}
