/* Loaded before the C library (LD_PRELOAD): records what a program does to files that it creates,
 * for tests/faults/power.py, which cuts the power between any two of these operations. POWER_LOG is
 * the record. With POWER_NAMED the system has no files without a name. A line of the record:
 *
 *   create ID PATH        nameless ID FOLDER       write ID OFFSET HEX     truncate ID SIZE
 *   sync ID               syncfolder FOLDER        link ID PATH
 *   rename PATH PATH      unlink PATH              done
 *
 * Paths are as the program gives them; those in tests have no blanks. Streams of the C library
 * write by functions of their own that cannot be replaced, so fdopen returns a stream that writes
 * here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 4096 };

/* File k of the record, by its inode: numbers are used again, so the newest one counts. */
static struct {
    dev_t device;
    ino_t inode;
} files[FILES];
static int count;

static struct {
    FILE *stream;
    int fd;
} streams[64];

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put_all(int fd, const char *text, size_t size)
{
    ssize_t (*real_write)(int, const void *, size_t) = REAL(write);
    while (size > 0) {
        ssize_t put = real_write(fd, text, size);
        if (put <= 0)
            abort();
        text += put;
        size -= (size_t)put;
    }
}

static int open_log(void)
{
    static int fd = -1;
    if (fd < 0 && getenv("POWER_LOG"))
        fd = fcntl(REAL(open)(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666),
                   F_DUPFD_CLOEXEC, 200);
    return fd;
}

static void note(const char *format, ...)
{
    char text[9000];
    va_list list;
    int before = errno, fd = open_log();
    if (fd < 0)
        return;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put_all(fd, text, (size_t)length);
    errno = before;
}

/* The number of a file in the record; -1 for others. */
static int find_file(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return -1;
    for (int k = count - 1; k >= 0; k--)
        if (files[k].device == info.st_dev && files[k].inode == info.st_ino)
            return k;
    return -1;
}

static int add_file(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || count == FILES)
        abort();
    files[count].device = info.st_dev;
    files[count].inode = info.st_ino;
    return count++;
}

static void note_write(int fd, off_t offset, const char *data, size_t size)
{
    int k = find_file(fd);
    enum { PIECE = 4096 };
    for (size_t at = 0; k >= 0 && at < size; at += PIECE) {
        char hex[2 * PIECE + 1];
        size_t length = size - at < PIECE ? size - at : PIECE;
        for (size_t i = 0; i < length; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)data[at + i]);
        note("write %d-%d %lld %s\n", (int)getpid(), k, (long long)offset + (long long)at, hex);
    }
}

/* ---- descriptors --------------------------------------------------------- */

static int open_noted(int fd, const char *path, int flags, int existed)
{
    pthread_mutex_lock(&guard);
    if (fd >= 0 && (flags & O_TMPFILE) == O_TMPFILE)
        note("nameless %d-%d %s\n", (int)getpid(), add_file(fd), path);
    else if (fd >= 0 && (flags & O_CREAT) && !existed)
        note("create %d-%d %s\n", (int)getpid(), add_file(fd), path);
    pthread_mutex_unlock(&guard);
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("POWER_NAMED")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int existed = access(path, F_OK) == 0;
    return open_noted(REAL(open)(path, flags, mode), path, flags, existed);
}

ssize_t write(int fd, const void *data, size_t size)
{
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t put = REAL(write)(fd, data, size);
    pthread_mutex_lock(&guard);
    if (put > 0)
        note_write(fd, at, data, (size_t)put);
    pthread_mutex_unlock(&guard);
    return put;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    ssize_t put = REAL(pwrite)(fd, data, size, at);
    pthread_mutex_lock(&guard);
    if (put > 0)
        note_write(fd, at, data, (size_t)put);
    pthread_mutex_unlock(&guard);
    return put;
}

int ftruncate(int fd, off_t size)
{
    int code = REAL(ftruncate)(fd, size);
    if (code == 0 && find_file(fd) >= 0)
        note("truncate %d-%d %lld\n", (int)getpid(), find_file(fd), (long long)size);
    return code;
}

int fsync(int fd)
{
    struct stat info;
    char self[64], folder[4096];
    int code = REAL(fsync)(fd);
    if (code != 0 || fstat(fd, &info) != 0)
        return code;
    if (!S_ISDIR(info.st_mode)) {
        note("sync %d-%d\n", (int)getpid(), find_file(fd));
        return code;
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(self, folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    note("syncfolder %s\n", folder);
    return code;
}

/* ---- names ----------------------------------------------------------------- */

int rename(const char *from, const char *to)
{
    int code = REAL(rename)(from, to);
    if (code == 0)
        note("rename %s %s\n", from, to);
    return code;
}

int unlink(const char *path)
{
    int code = REAL(unlink)(path);
    if (code == 0)
        note("unlink %s\n", path);
    return code;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int code = REAL(linkat)(from_folder, from, to_folder, to, flags), fd = -1;
    if (code == 0 && sscanf(from, "/proc/self/fd/%d", &fd) == 1)
        note("link %d-%d %s\n", (int)getpid(), find_file(fd), to);
    return code;
}

/* ---- streams ----------------------------------------------------------------- */

static ssize_t stream_write(void *cookie, const char *data, size_t size)
{
    return write((int)(long)cookie, data, size);
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    off_t at = lseek((int)(long)cookie, *offset, whence);
    *offset = at;
    return at < 0 ? -1 : 0;
}

static int stream_close(void *cookie)
{
    return close((int)(long)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
    if (find_file(fd) < 0)
        return REAL(fdopen)(fd, mode);
    cookie_io_functions_t functions = {
        .write = stream_write, .seek = stream_seek, .close = stream_close};
    FILE *stream = fopencookie((void *)(long)fd, mode, functions);
    for (int k = 0; stream && k < 64; k++)
        if (!streams[k].stream) {
            streams[k].stream = stream;
            streams[k].fd = fd;
            return stream;
        }
    abort();
}

int fileno(FILE *stream)
{
    for (int k = 0; k < 64; k++)
        if (streams[k].stream == stream)
            return streams[k].fd;
    return REAL(fileno)(stream);
}

int fclose(FILE *stream)
{
    for (int k = 0; k < 64; k++)
        if (streams[k].stream == stream)
            streams[k].stream = NULL;
    return REAL(fclose)(stream);
}

__attribute__((destructor)) static void end_record(void)
{
    note("done\n");
}
