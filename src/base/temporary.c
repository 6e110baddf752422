#define _GNU_SOURCE /* O_TMPFILE */
#include "base/temporary.h"

#include "base/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { TRIES = 1000, NAME_BYTES = 96 };

/* ---- names ------------------------------------------------------------- */

/* The name of a temporary file that a process chooses at a time. The digest proves that roofs chose
 * it. */
static void make_name(char name[NAME_BYTES], const char *target, long process, long long when)
{
    const char *file = target_name(target);
    uint64_t digest = XXH3_64bits_withSeed(file, strlen(file), (uint64_t)process);
    digest = XXH3_64bits_withSeed(&when, sizeof when, digest);
    snprintf(name, NAME_BYTES, ".roofs-%ld-%lld-%016llx.tmp", process, when,
             (unsigned long long)digest);
}

static int is_name_of(const char *name, const char *target)
{
    char wanted[NAME_BYTES];
    long process;
    long long when;
    if (sscanf(name, ".roofs-%ld-%lld-", &process, &when) != 2)
        return 0;
    make_name(wanted, target, process, when);
    return strcmp(name, wanted) == 0;
}

static int make_path(char path[PATH_MAX], const char *target, const char *name)
{
    char folder[PATH_MAX];
    errno = target_folder(target, folder);
    if (errno)
        return -1;
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Chooses a new name. No name is used twice: after a power failure some changes of names may be
 * lost, and a rename must not find an earlier file by the same name. */
static int path_of_temporary(char path[PATH_MAX], const char *target)
{
    char name[NAME_BYTES];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    make_name(name, target, (long)getpid(), now.tv_sec * 1000000000LL + now.tv_nsec);
    return make_path(path, target, name);
}

/* ---- opening ----------------------------------------------------------- */

/* Moves a descriptor above 2: text for standard output must not end in a file. */
static int keep_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), reason = errno;
    close(fd);
    errno = reason;
    return above;
}

/* True if the path leads to this file. */
static int is_named(int fd, const char *path)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && lstat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Locks the file, which temporary_sweep may have removed before. */
static int lock_named(int fd, const char *path)
{
    if (fd < 0)
        return fd;
    int is_taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_taken && is_named(fd, path))
        return fd; /* also on a file system without locks: there leftovers are not recognised */
    close(fd);
    errno = EEXIST;
    return -1;
}

int temporary_open_named(const char *target, mode_t mode, char name[PATH_MAX])
{
    int fd = -1;
    for (int k = 0; fd < 0 && k < TRIES; k++) {
        if (path_of_temporary(name, target) != 0)
            return -1;
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        fd = lock_named(keep_above_standard(fd), name);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static void path_of_descriptor(char path[NAME_BYTES], int fd)
{
    snprintf(path, NAME_BYTES, "/proc/self/fd/%d", fd);
}

/* Returns -1 if the file system or the system has no files without a name that can get one. */
static int open_nameless(const char *target, mode_t mode)
{
    char folder[PATH_MAX], self[NAME_BYTES];
    if (target_folder(target, folder) != 0)
        return -1;
    int fd = keep_above_standard(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
    if (fd < 0)
        return -1;
    path_of_descriptor(self, fd);
    if (access(self, F_OK) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    close(fd);
    return -1;
}

int temporary_open(const char *target, mode_t mode, char name[PATH_MAX])
{
    int fd = open_nameless(target, mode);
    name[0] = '\0';
    return fd >= 0 ? fd : temporary_open_named(target, mode, name);
}

/* ---- naming ------------------------------------------------------------ */

int temporary_link_as(int fd, const char *target)
{
    char self[NAME_BYTES];
    path_of_descriptor(self, fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, target, AT_SYMLINK_FOLLOW);
}

int temporary_link(int fd, const char *target, char name[PATH_MAX])
{
    for (int k = 0; k < TRIES; k++) {
        if (path_of_temporary(name, target) != 0)
            break;
        if (temporary_link_as(fd, name) == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    name[0] = '\0';
    return -1;
}

/* ---- leftovers --------------------------------------------------------- */

/* Removes a file that no process has locked. */
static void remove_unlocked(const char *path)
{
    struct stat info;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, path))
        unlink(path);
    close(fd);
}

void temporary_sweep(const char *target)
{
    char folder[PATH_MAX], path[PATH_MAX];
    DIR *entries = target_folder(target, folder) == 0 ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL)
        if (is_name_of(entry->d_name, target) && make_path(path, target, entry->d_name) == 0)
            remove_unlocked(path);
    if (entries)
        closedir(entries);
}
