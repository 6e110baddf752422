#include "base/output.h"

#include "base/memory.h"
#include "base/standard.h"
#include "base/target.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

/* ---- pipes, devices, standard output ----------------------------------- */

/* Opens a pipe once it has a reader. Returns -1 with errno set: ENXIO if none comes in time. A
 * signal ends the wait. */
static int open_pipe(const char *path)
{
    enum { TRIES = 200 };
    const struct timespec interval = {.tv_nsec = 50000000};
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    for (int k = 0; fd < 0 && errno == ENXIO && k < TRIES; k++) {
        if (nanosleep(&interval, NULL) != 0)
            return -1;
        fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    }
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

static roofs_status open_directly(output *o, const char *path, const struct stat *info,
                                  roofs_error *err)
{
    int is_pipe = S_ISFIFO(info->st_mode);
    int fd = is_pipe ? open_pipe(path) : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 && is_pipe && errno == ENXIO)
        return fail(err, ROOFS_IO,
                    "%s: cannot be written: no process reads this pipe; start the reader first",
                    path);
    o->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (o->file)
        return ROOFS_OK;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return cannot_write(path, reason, err);
}

/* Refuses a standard output that is closed, or open for reading only. */
static roofs_status open_standard(output *o, roofs_error *err)
{
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || !standard_output())
        return cannot_write("standard output", EBADF, err);
    o->file = standard_output();
    return ROOFS_OK;
}

/* ---- files ------------------------------------------------------------- */

/* The owner and the permissions of `like`. If the group cannot be kept, it gets the permissions of
 * others. */
static int copy_permissions(int fd, const struct stat *like)
{
    mode_t mode = like->st_mode & 0777;
    struct stat own;
    if (fstat(fd, &own) != 0)
        return -1;
    int moved = own.st_uid == like->st_uid && own.st_gid == like->st_gid;
    if (!moved && fchown(fd, like->st_uid, like->st_gid) != 0 &&
        fchown(fd, (uid_t)-1, like->st_gid) != 0)
        mode = (mode & 0707) | (mode & 007) << 3;
    if (fchmod(fd, mode) == 0)
        return 0;
    return fstat(fd, &own) == 0 && (own.st_mode & 0777) == mode ? 0 : -1; /* FAT has one mode */
}

/* Opens the unfinished file. A new file has the permissions of the umask. */
static int open_unfinished(output *o, const output_kind *kind, const struct stat *like)
{
    char name[PATH_MAX] = "";
    const mode_t mode = like ? 0600 : 0666;
    const char *owner = kind->like ? kind->like : o->target;
    int fd =
        kind->named ? temporary_open_named(owner, mode, name) : temporary_open(owner, mode, name);
    if (fd < 0)
        return -1;
    errno = ENOMEM;
    int done = (!name[0] || memory_copy_text(&o->temporary, name, NULL) == ROOFS_OK) &&
               (!like || copy_permissions(fd, like) == 0);
    o->file = done ? fdopen(fd, "wb") : NULL;
    if (o->file)
        return 0;
    int reason = errno;
    if (name[0])
        unlink(name);
    close(fd);
    errno = reason;
    return -1;
}

/* The target as it is named in messages: the given path, unless links lead elsewhere. */
static roofs_status find_target(output *o, const char *path, roofs_error *err)
{
    char resolved[PATH_MAX];
    struct stat info;
    if (lstat(path, &info) != 0)
        return memory_copy_text(&o->target, path, err);
    int reason = target_resolve(path, resolved);
    return reason ? cannot_write(path, reason, err) : memory_copy_text(&o->target, resolved, err);
}

static roofs_status open_file(output *o, const char *path, const output_kind *kind,
                              const struct stat *existing, roofs_error *err)
{
    struct stat other;
    int has_other = !existing && kind->like && stat(kind->like, &other) == 0;
    o->replaces = existing != NULL;
    TRY(find_target(o, path, err));
    if (open_unfinished(o, kind, has_other ? &other : existing) != 0)
        return cannot_write(o->target, errno, err);
    return ROOFS_OK;
}

roofs_status output_open_as(output *o, const char *path, const output_kind *kind, roofs_error *err)
{
    struct stat info;
    *o = (output){0};
    if (strcmp(path, "-") == 0)
        return open_standard(o, err);
    int exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return cannot_write(path, EISDIR, err);
    if (exists && !S_ISREG(info.st_mode))
        return open_directly(o, path, &info, err);
    roofs_status status = open_file(o, path, kind, exists ? &info : NULL, err);
    if (status != ROOFS_OK)
        output_reset(o);
    return status;
}

roofs_status output_open(output *o, const char *path, roofs_error *err)
{
    return output_open_as(o, path, &(output_kind){0}, err);
}

roofs_status output_check(const char *path, roofs_error *err)
{
    struct stat info;
    output probe;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
        !S_ISDIR(info.st_mode))
        return access(path, W_OK) == 0 ? ROOFS_OK : cannot_write(path, errno, err);
    TRY(output_open(&probe, path, err));
    if (probe.target)
        temporary_sweep(probe.target);
    output_abandon(&probe);
    return ROOFS_OK;
}

int output_hold(const output *o)
{
    return o->target ? fcntl(fileno(o->file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
}

/* ---- committing -------------------------------------------------------- */

/* Syncs the folder, so that the new name survives a crash. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    errno = target_folder(path, folder);
    int fd = errno ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int reason = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return reason;
}

/* Returns 0 or an errno value. */
static int flush_and_close(output *o)
{
    int reason = 0, ordinary = o->target != NULL;
    if (fflush(o->file) != 0 || ferror(o->file) || (ordinary && fsync(fileno(o->file)) != 0))
        reason = errno ? errno : EIO;
    if (o->file != standard_output() && fclose(o->file) != 0 && !reason)
        reason = errno;
    o->file = NULL;
    return reason;
}

/* Returns 0 or an errno value: EEXIST if there is a file by now. */
static int link_new(int fd, const char *target)
{
    return temporary_link_as(fd, target) == 0 ? 0 : errno;
}

/* Renames the unfinished file over the target. A new file without a name needs no temporary one.
 * Returns 0 or an errno value. */
static int put_in_place(const output *o, int fd)
{
    char name[PATH_MAX];
    const char *from = o->temporary;
    int reason = !from && !o->replaces ? link_new(fd, o->target) : EEXIST;
    if (reason != EEXIST)
        return reason;
    if (!from && temporary_link(fd, o->target, name) != 0)
        return errno;
    from = from ? from : name;
    if (rename(from, o->target) == 0)
        return 0;
    reason = errno;
    unlink(from);
    return reason;
}

static int commit_file(output *o)
{
    int fd = output_hold(o);
    int reason = fd < 0 ? errno : 0, lost = flush_and_close(o);
    reason = reason ? reason : lost;
    if (reason && o->temporary)
        unlink(o->temporary);
    if (!reason)
        reason = put_in_place(o, fd);
    if (!reason)
        reason = sync_folder(o->target);
    if (fd >= 0)
        close(fd);
    return reason;
}

roofs_status output_commit(output *o, roofs_error *err)
{
    int reason = o->target ? commit_file(o) : flush_and_close(o);
    roofs_status status = ROOFS_OK;
    if (reason)
        status = cannot_write(o->target ? o->target : "the output", reason, err);
    output_reset(o);
    return status;
}

void output_abandon(output *o)
{
    if (o->file && o->temporary)
        unlink(o->temporary);
    if (o->file && o->file != standard_output())
        fclose(o->file);
    output_reset(o);
}
