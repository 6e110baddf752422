#include "cli/lock.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static roofs_status name_lock(char **out, const char *file, roofs_error *err)
{
    char *real = realpath(file, NULL); /* resolves links */
    const char *target = real ? real : file;
    size_t length = strlen(target) + sizeof ".lock";
    roofs_status status = memory_get(out, (int64_t)length, 1, "a file name", err);
    if (status == ROOFS_OK)
        snprintf(*out, length, "%s.lock", target);
    free(real);
    return status;
}

static roofs_status refuse_held(const char *file, int fd, roofs_error *err)
{
    char pid[32] = "";
    ssize_t got = pread(fd, pid, sizeof pid - 1, 0);
    pid[got > 0 ? got : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
    return fail(err, ROOFS_FAILED, "%s is in use by process %s; wait until it ends, or stop it",
                file, pid[0] ? pid : "(unknown)");
}

/* False if the process that held the lock before has removed the file. */
static int is_current(int fd, const char *path)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

roofs_status lock_acquire(file_lock *l, const char *file, roofs_error *err)
{
    TRY(name_lock(&l->path, file, err));
    for (;;) {
        int fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return fail(err, ROOFS_IO, "%s: cannot be written: %s", l->path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            roofs_status status =
                errno == EWOULDBLOCK
                    ? refuse_held(file, fd, err)
                    : fail(err, ROOFS_IO, "%s: cannot be locked: %s", l->path, strerror(errno));
            close(fd);
            return status;
        }
        l->fd = fd;
        if (is_current(fd, l->path))
            break;
        close(fd);
        l->fd = 0;
    }
    if (ftruncate(l->fd, 0) == 0)
        dprintf(l->fd, "%ld\n", (long)getpid()); /* for the message of refuse_held */
    return ROOFS_OK;
}

void lock_release(file_lock *l)
{
    if (l->fd > 0) {
        unlink(l->path);
        close(l->fd);
    }
    memory_free(l->path);
    *l = (file_lock){0};
}
