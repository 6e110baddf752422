#include "base/output.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static roofs_status cannot_write(const char *path, int reason, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s: cannot be written: %s", path, strerror(reason));
}

/* "path.XXXXXX" beside the target, so that the rename stays on one disk. */
static roofs_status name_temporary(output *o, const char *path, roofs_error *err)
{
    TRY(memory_copy_text(&o->target, path, err));
    size_t length = strlen(path) + sizeof ".XXXXXX";
    TRY(memory_get(&o->temporary, (int64_t)length, 1, "a file name", err));
    snprintf(o->temporary, length, "%s.XXXXXX", path);
    return ROOFS_OK;
}

static void forget(output *o)
{
    memory_free(o->target);
    memory_free(o->temporary);
    *o = (output){0};
}

/* mkstemp makes files only the owner can read; a result is an ordinary file. */
static int open_temporary(output *o)
{
    int fd = mkstemp(o->temporary);
    if (fd < 0)
        return -1;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0 || !(o->file = fdopen(fd, "wb"))) {
        int reason = errno;
        close(fd);
        unlink(o->temporary);
        errno = reason;
        return -1;
    }
    return 0;
}

roofs_status output_open(output *o, const char *path, roofs_error *err)
{
    *o = (output){0};
    if (strcmp(path, "-") == 0) {
        o->file = stdout;
        return ROOFS_OK;
    }
    struct stat there;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return cannot_write(path, EISDIR, err);
    roofs_status status = name_temporary(o, path, err);
    if (status == ROOFS_OK && open_temporary(o) != 0)
        status = cannot_write(path, errno, err);
    if (status != ROOFS_OK)
        forget(o);
    return status;
}

/* The rename itself must survive a crash: sync the folder it happened in. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return -1;
    int result = fsync(fd);
    close(fd);
    return result;
}

static int flush_and_close(output *o)
{
    int reason = 0;
    if (fflush(o->file) != 0 || ferror(o->file) || fsync(fileno(o->file)) != 0)
        reason = errno ? errno : EIO;
    if (fclose(o->file) != 0 && !reason)
        reason = errno;
    o->file = NULL;
    return reason;
}

roofs_status output_commit(output *o, roofs_error *err)
{
    if (!o->target) {
        int broken = fflush(o->file) != 0 || ferror(o->file);
        *o = (output){0};
        return broken ? cannot_write("standard output", errno ? errno : EIO, err) : ROOFS_OK;
    }
    int reason = flush_and_close(o);
    if (!reason && rename(o->temporary, o->target) != 0)
        reason = errno;
    if (reason)
        unlink(o->temporary);
    else if (sync_folder(o->target) != 0)
        reason = errno;
    roofs_status status = reason ? cannot_write(o->target, reason, err) : ROOFS_OK;
    forget(o);
    return status;
}

void output_abandon(output *o)
{
    if (o->target && o->file) {
        fclose(o->file);
        unlink(o->temporary);
    }
    forget(o);
}
