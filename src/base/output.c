#include "base/output.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static roofs_status cannot_write(const char *path, int reason, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s: cannot be written: %s", path, strerror(reason));
}

static void output_reset(output *o)
{
    memory_free(o->target);
    memory_free(o->temporary);
    *o = (output){0};
}

/* Creates a file beside the target, so that the rename stays on one file system. The umask sets
 * its permissions. */
static roofs_status open_temporary(output *o, roofs_error *err)
{
    size_t length = strlen(o->target) + 40;
    TRY(memory_get(&o->temporary, (int64_t)length, 1, "a file name", err));
    int fd = -1;
    for (int k = 0; fd < 0 && k < 1000; k++) {
        snprintf(o->temporary, length, "%s.%ld-%d.tmp", o->target, (long)getpid(), k);
        fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return cannot_write(o->target, errno, err);
    o->file = fdopen(fd, "wb");
    if (o->file)
        return ROOFS_OK;
    int reason = errno;
    close(fd);
    unlink(o->temporary);
    return cannot_write(o->target, reason, err);
}

static roofs_status open_directly(output *o, const char *path, roofs_error *err)
{
    o->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    return o->file ? ROOFS_OK : cannot_write(path, errno, err);
}

roofs_status output_open(output *o, const char *path, roofs_error *err)
{
    char resolved[PATH_MAX]; /* the target of a link */
    struct stat info;
    *o = (output){0};
    int exists = strcmp(path, "-") != 0 && stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return cannot_write(path, EISDIR, err);
    if (strcmp(path, "-") == 0 || (exists && !S_ISREG(info.st_mode)))
        return open_directly(o, path, err);
    if (exists && !realpath(path, resolved))
        return cannot_write(path, errno, err);
    roofs_status status = memory_copy_text(&o->target, exists ? resolved : path, err);
    if (status == ROOFS_OK)
        status = open_temporary(o, err);
    if (status != ROOFS_OK)
        output_reset(o);
    return status;
}

/* Syncs the folder, so that the rename survives a crash. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return -1;
    int result = fsync(fd);
    close(fd);
    return result;
}

/* Returns 0 or an errno value. */
static int flush_and_close(output *o)
{
    int reason = 0, ordinary = o->target != NULL;
    if (fflush(o->file) != 0 || ferror(o->file) || (ordinary && fsync(fileno(o->file)) != 0))
        reason = errno ? errno : EIO;
    if (o->file != stdout && fclose(o->file) != 0 && !reason)
        reason = errno;
    o->file = NULL;
    return reason;
}

roofs_status output_commit(output *o, roofs_error *err)
{
    int reason = flush_and_close(o);
    if (o->target && !reason && rename(o->temporary, o->target) != 0)
        reason = errno;
    if (o->target && reason)
        unlink(o->temporary);
    if (o->target && !reason && sync_folder(o->target) != 0)
        reason = errno;
    roofs_status status = ROOFS_OK;
    if (reason)
        status = cannot_write(o->target ? o->target : "the output", reason, err);
    output_reset(o);
    return status;
}

void output_abandon(output *o)
{
    if (o->file && o->file != stdout)
        fclose(o->file);
    if (o->file && o->target)
        unlink(o->temporary);
    output_reset(o);
}
