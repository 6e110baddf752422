#include "cli/lock.h"

#include "base/memory.h"
#include "base/target.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const MARK = "lock of roofs, process "; /* how a lock file begins */

/* ---- the lock file ----------------------------------------------------- */

static roofs_status name_lock(char **out, const char *file, roofs_error *err)
{
    char target[PATH_MAX];
    int reason = target_resolve(file, target);
    if (reason)
        return fail(err, ROOFS_IO, "%s: cannot be written: %s", file, strerror(reason));
    size_t length = strlen(target) + sizeof ".lock";
    TRY(memory_get(out, (int64_t)length, 1, "a file name", err));
    snprintf(*out, length, "%s.lock", target);
    return ROOFS_OK;
}

/* Returns the process in a lock file; "" if roofs did not write the file. */
static const char *read_holder(int fd, char text[64])
{
    ssize_t got = pread(fd, text, 63, 0);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strncmp(text, MARK, strlen(MARK)) == 0 ? text + strlen(MARK) : "";
}

static roofs_status refuse_held(const char *file, const char *process, roofs_error *err)
{
    return fail(err, ROOFS_FAILED, "%s is in use by process %s; wait until it ends, or stop it",
                file, process[0] ? process : "(unknown)");
}

/* False if the path no longer leads to the open file. */
static int is_current(int fd, const char *path)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && lstat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

static void write_holder(int fd)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s%ld\n", MARK, (long)getpid());
    if (pwrite(fd, text, (size_t)length, 0) == length && ftruncate(fd, length) != 0)
        return; /* the number is only for the message of refuse_held */
}

/* Creates the lock file with its content, and locked: other processes never see it otherwise.
 * Returns -1 with errno set; EEXIST if there is a file. */
static int create_lock_file(const char *path)
{
    char name[PATH_MAX];
    int fd = temporary_open(path, 0666, name);
    if (fd < 0)
        return -1;
    write_holder(fd);
    int failed = name[0] ? link(name, path) : temporary_link_as(fd, path), reason = errno;
    if (name[0])
        unlink(name);
    if (!failed)
        return fd;
    close(fd);
    if (reason == EPERM || reason == EOPNOTSUPP) /* no hard links on this file system */
        return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    errno = reason;
    return -1;
}

/* Opens the lock file, new or not. Follows no links and waits for no pipe. */
static int open_lock_file(file_lock *l)
{
    l->is_own = 1;
    int fd = create_lock_file(l->path);
    if (fd >= 0 || errno != EEXIST)
        return fd;
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    fd = open(l->path, O_RDWR | flags);
    if (fd < 0 && errno == EACCES)
        fd = open(l->path, O_RDONLY | flags);
    char text[64];
    l->is_own = fd >= 0 && read_holder(fd, text)[0] != '\0';
    return fd;
}

static int is_file(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

static roofs_status lock_lock_file(const file_lock *l, int fd, const char *file, roofs_error *err)
{
    char text[64];
    if (!is_file(fd))
        return fail(err, ROOFS_IO, "%s is not a file, but roofs locks %s by it; remove it", l->path,
                    file);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return ROOFS_OK;
    if (errno == EWOULDBLOCK)
        return refuse_held(file, read_holder(fd, text), err);
    return fail(err, ROOFS_IO, "%s: cannot be locked: %s", l->path, strerror(errno));
}

static roofs_status lock_by_name(file_lock *l, const char *file, roofs_error *err)
{
    for (;;) {
        int fd = open_lock_file(l);
        if (fd < 0 && errno == ENOENT && l->is_own == 0)
            continue; /* its process has just removed it */
        if (fd < 0 && errno == ELOOP)
            return fail(err, ROOFS_IO, "%s is a link, but roofs locks %s by it; remove it", l->path,
                        file);
        if (fd < 0)
            return fail(err, ROOFS_IO, "%s: cannot be written: %s", l->path, strerror(errno));
        roofs_status status = lock_lock_file(l, fd, file, err);
        l->fd = fd;
        if (status == ROOFS_OK && is_current(fd, l->path))
            break;
        close(fd);
        TRY(status);
    }
    if (l->is_own)
        write_holder(l->fd);
    return ROOFS_OK;
}

/* ---- the file itself --------------------------------------------------- */

/* Locks the file if it exists. A file system that cannot lock it is not an error: the lock file is
 * locked. */
static roofs_status lock_itself(file_lock *l, const char *file, roofs_error *err)
{
    for (;;) {
        char target[PATH_MAX];
        const int flags = O_NONBLOCK | O_CLOEXEC;
        if (target_resolve(file, target) != 0)
            return ROOFS_OK;
        int fd = open(target, O_RDWR | flags);
        fd = fd < 0 ? open(target, O_RDONLY | flags) : fd;
        if (fd < 0)
            return ROOFS_OK;
        int is_held = is_file(fd) && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!is_held && is_current(fd, target)) {
            l->found = fd;
            return ROOFS_OK;
        }
        close(fd);
        if (is_held)
            return fail(err, ROOFS_FAILED,
                        "%s is in use by another process under another name (a hard link); wait "
                        "until it ends, or stop it",
                        file);
    }
}

/* ---- both -------------------------------------------------------------- */

roofs_status lock_acquire(file_lock *l, const char *file, roofs_error *err)
{
    l->found = l->replaced = -1;
    TRY(name_lock(&l->path, file, err));
    roofs_status status = lock_by_name(l, file, err);
    if (status != ROOFS_OK) {
        memory_free(l->path);
        *l = (file_lock){0};
        return status;
    }
    status = lock_itself(l, file, err);
    if (status != ROOFS_OK)
        lock_release(l);
    return status;
}

void lock_move(file_lock *l, int fd)
{
    int before = l->path ? l->replaced : fd;
    if (l->path)
        l->replaced = fd;
    if (before >= 0)
        close(before);
}

void lock_release(file_lock *l)
{
    if (!l->path)
        return;
    if (l->is_own && is_current(l->fd, l->path))
        unlink(l->path);
    close(l->fd);
    if (l->found >= 0)
        close(l->found);
    if (l->replaced >= 0)
        close(l->replaced);
    memory_free(l->path);
    *l = (file_lock){0};
}
