/* What the fuzz targets share. A target is one LLVMFuzzerTestOneInput; libFuzzer drives it
 * with clang, replay.c with any compiler, over the inputs that are committed. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* A broken promise, as opposed to a broken input. */
#define MUST(what, ...)                                                                            \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #what);                             \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input, taken from front to back; zeros where it has ended. */
typedef struct input {
    const unsigned char *at, *end;
} input;

static inline unsigned take(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static inline size_t left(const input *in)
{
    return (size_t)(in->end - in->at);
}

/* One of several files in memory; the same ones every time, so that thousands a second are no
 * burden. */
enum { FILES_MOST = 4 };

static inline const char *file_number(int k, const void *content, size_t size)
{
    static int fds[FILES_MOST];
    static char paths[FILES_MOST][40];
    if (!paths[k][0]) {
        fds[k] = memfd_create("input", MFD_CLOEXEC);
        MUST(fds[k] >= 0, "no file in memory");
        snprintf(paths[k], sizeof paths[k], "/proc/self/fd/%d", fds[k]);
    }
    MUST(ftruncate(fds[k], 0) == 0 && pwrite(fds[k], content, size, 0) == (ssize_t)size,
         "cannot write");
    return paths[k];
}

static inline const char *file_of(const void *content, size_t size)
{
    return file_number(0, content, size);
}

/* Input is taken, or refused as bad data for a reason that names the file, or another in its
 * folder. A header may ask
 * for as many samples as the library can have (2^31), which is more than the run allows. */
static inline void must_be_explained(roofs_status status, const roofs_error *err, const char *path)
{
    double gib;
    const char *size = status == ROOFS_NO_MEMORY ? strchr(err->text, '(') : NULL;
    if (status == ROOFS_OK || (size && sscanf(size, "(%lf GiB)", &gib) == 1 && gib <= 16))
        return;
    MUST(status == ROOFS_BAD_DATA, "status %d: %s", (int)status, err->text);
    char folder[40] = "";
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    MUST(err->status == status && strstr(err->text, folder), "no file in '%s'", err->text);
}

#endif
