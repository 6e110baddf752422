/* Loaded before the C library (LD_PRELOAD): the FAULT_AT-th call that writes a file fails with
 * the error FAULT_ERRNO. With FAULT_LOG, the calls are written down, a line each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long calls;

static void note(const char *call, const char *detail)
{
    const char *path = getenv("FAULT_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    int (*close_log)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
    if (log)
        fprintf(log, "%s %s\n", call, detail);
    if (log)
        close_log(log);
}

/* 1: this call is to fail. */
static int is_due(const char *call, const char *detail)
{
    const char *at = getenv("FAULT_AT"), *reason = getenv("FAULT_ERRNO");
    note(call, detail);
    if (!at || ++calls != atol(at))
        return 0;
    errno = reason ? atoi(reason) : EIO;
    return 1;
}

static int is_file(FILE *file)
{
    return file != stdout && file != stderr && file != stdin;
}

static const char *folder_or_file(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? "folder" : "file";
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    size_t (*real)(const void *, size_t, size_t, FILE *) =
        (size_t(*)(const void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fwrite");
    return is_file(file) && is_due("write", "") ? 0 : real(data, size, count, file);
}

int fflush(FILE *file)
{
    int (*real)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
    return is_file(file) && is_due("flush", "") ? EOF : real(file);
}

int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return is_due("sync", folder_or_file(fd)) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return is_due("rename", "") ? -1 : real(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
    return is_due("link", "") ? -1 : real(from_folder, from, to_folder, to, flags);
}
