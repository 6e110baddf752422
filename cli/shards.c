#include "cli/shards.h"

#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/process_comm.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct shard_path {
    char text[PATH_MOST];
} shard_path;

static shard_path path_of_shard(const char *path, int64_t stamp, int64_t rank)
{
    shard_path p;
    snprintf(p.text, sizeof p.text, "%s.%" PRId64 "-%" PRId64, path, stamp, rank);
    return p;
}

/* ---- the manifest: the file F ------------------------------------------ */

static const char *const MANIFEST = "manifest"; /* the name of its section */

static void manifest_transfer(int64_t *shards, int64_t *stamp, archive *a)
{
    archive_i64(a, shards, 1, ARCHIVE_MOST);
    archive_i64(a, stamp, 1, ARCHIVE_MOST);
}

static roofs_status manifest_write(const checkpoint *c, int64_t stamp, roofs_error *err)
{
    output out;
    archive a = {0};
    int64_t shards = c->comm->with.size;
    TRY(output_open(&out, c->path, err));
    const section_sink to = {.write = checkpoint_write_bytes, .user = out.file};
    archive_begin_saving(&a, err);
    manifest_transfer(&shards, &stamp, &a);
    roofs_status status = section_write_head(&to, err);
    if (status == ROOFS_OK)
        status = section_write(&to, MANIFEST, &a, err);
    archive_free(&a);
    if (status == ROOFS_OK)
        return output_commit(&out, err);
    output_abandon(&out);
    return status;
}

static roofs_status manifest_read(FILE *file, archive *a, int64_t *shards, int64_t *stamp,
                                  roofs_error *err)
{
    char name[SECTION_NAME + 1];
    TRY(checkpoint_first_section(file, name, a, err));
    if (strcmp(name, MANIFEST) != 0)
        return ROOFS_OK;
    manifest_transfer(shards, stamp, a);
    return archive_end(a);
}

roofs_status shards_find(const char *path, int64_t *shards, int64_t *stamp, roofs_error *err)
{
    archive a = {0};
    *shards = *stamp = 0;
    if (!is_checkpoint(path))
        return ROOFS_OK;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(err, ROOFS_IO, "%s: cannot be read: %s", path, strerror(errno));
    roofs_status status = manifest_read(file, &a, shards, stamp, err);
    archive_free(&a);
    fclose(file);
    return error_in_file(path, status, err);
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status open_on_root(checkpoint *c, const char *path, int64_t found[2],
                                 roofs_error *err)
{
    if (!comm_is_root(c->comm))
        return ROOFS_OK;
    TRY(checkpoint_claim(c, path, err));
    return shards_find(path, &found[0], &found[1], err);
}

roofs_status shards_open(checkpoint *c, const char *path, roofs_error *err)
{
    int64_t own[2] = {0}, found[2] = {0};
    TRY(comm_agree(c->comm, open_on_root(c, path, own, err), err));
    comm_take_from(c->comm, 0, own, sizeof own, found);
    c->shards = found[0];
    c->stamp = found[1];
    c->read.blind = 1;
    return comm_status(c->comm, err);
}

/* ---- writing ----------------------------------------------------------- */

/* Rank K removes the shards K, K + ranks, ...: there may be more shards than ranks. */
void shards_remove(checkpoint *c)
{
    for (int64_t k = process_comm()->rank; k < c->shards; k += process_comm()->size)
        unlink(path_of_shard(c->path, c->stamp, k).text);
    c->shards = 0;
}

/* A checkpoint by the name of a shard is what a killed process left. Another file is the user's. */
static roofs_status check_shard(const char *path, roofs_error *err)
{
    if (access(path, F_OK) != 0 || is_checkpoint(path))
        return ROOFS_OK;
    return fail(err, ROOFS_FAILED,
                "%s exists and is not a checkpoint; rename it, or choose another name for the "
                "checkpoint",
                path);
}

roofs_status shards_write(checkpoint *c, roofs_estimator *e, roofs_error *err)
{
    const int64_t stamp = c->stamp + 1;
    const shard_path own = path_of_shard(c->path, stamp, c->comm->with.rank);
    TRY(comm_agree(c->comm, check_shard(own.text, err), err));
    roofs_status status = comm_agree(c->comm, checkpoint_write_file(c, e, own.text, err), err);
    if (status == ROOFS_OK) {
        if (comm_is_root(c->comm))
            status = manifest_write(c, stamp, err);
        status = comm_agree(c->comm, status, err);
    }
    if (status != ROOFS_OK) {
        unlink(own.text);
        return status;
    }
    shards_remove(c);
    c->stamp = stamp;
    c->shards = c->comm->with.size;
    return ROOFS_OK;
}

/* ---- reading ----------------------------------------------------------- */

static int shard_rewind(void *file)
{
    return fseek(file, 0, SEEK_SET);
}

/* Opens all shards and reads the record of the first; the others have the same. */
static roofs_status shards_open_files(checkpoint *c, const char *path, void ***files,
                                      roofs_error *err)
{
    TRY(memory_get(files, c->shards, sizeof **files, "a checkpoint", err));
    for (int64_t k = 0; k < c->shards; k++) {
        const shard_path own = path_of_shard(path, c->stamp, k);
        (*files)[k] = fopen(own.text, "rb");
        if (!(*files)[k])
            return fail(err, ROOFS_IO, "%s: cannot be read: %s", own.text, strerror(errno));
    }
    return error_in_file(path, checkpoint_read_record(c, (*files)[0], err), err);
}

roofs_status shards_read(checkpoint *c, const char *path, const roofs_settings *execution,
                         roofs_estimator **e, roofs_error *err)
{
    void **files = NULL;
    roofs_status status = comm_agree(c->comm, shards_open_files(c, path, &files, err), err);
    if (status == ROOFS_OK) {
        status = roofs_load_split(e, checkpoint_read_bytes, shard_rewind, files, c->shards,
                                  execution, process_comm(), err);
        status = error_in_file(path, status, err);
    }
    for (int64_t k = 0; files && k < c->shards; k++)
        if (files[k])
            fclose(files[k]);
    memory_free(files);
    return status;
}
