#include "stream/spill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

roofs_status spill_open_named(int *fd, char path[SPILL_PATH], roofs_error *err)
{
    static const char *const folders[] = {"/var/tmp", P_tmpdir};
    for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
        snprintf(path, SPILL_PATH, "%s/roofs-XXXXXX", folders[k]);
        *fd = mkstemp(path);
        if (*fd >= 0)
            return ROOFS_OK;
    }
    return fail(err, ROOFS_IO, "cannot create a temporary file in %s or %s: %s", folders[0],
                folders[1], strerror(errno));
}

roofs_status spill_open(int *fd, roofs_error *err)
{
    char path[SPILL_PATH];
    TRY(spill_open_named(fd, path, err));
    unlink(path);
    return ROOFS_OK;
}

void spill_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

roofs_status spill_write(int fd, const void *from, int64_t size, int64_t offset, roofs_error *err)
{
    while (size > 0) {
        ssize_t count = pwrite(fd, from, (size_t)size, (off_t)offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(err, ROOFS_IO,
                        "cannot write a temporary file of %.1f MiB for transposing rows: %s",
                        (double)(offset + size) / 1048576.0, strerror(errno));
        from = (const char *)from + count;
        offset += count;
        size -= count;
    }
    return ROOFS_OK;
}

int64_t spill_read_some(int fd, void *to, int64_t size, int64_t offset)
{
    int64_t got = 0;
    while (got < size) {
        ssize_t count = pread(fd, (char *)to + got, (size_t)(size - got), (off_t)(offset + got));
        if (count < 0 && errno != EINTR)
            return -1;
        if (count == 0)
            break;
        got += count > 0 ? count : 0;
    }
    return got;
}

roofs_status spill_read(int fd, void *to, int64_t size, int64_t offset, roofs_error *err)
{
    int64_t got = spill_read_some(fd, to, size, offset);
    if (got == size)
        return ROOFS_OK;
    return fail(err, ROOFS_IO, "cannot read a temporary file: %s",
                got < 0 ? strerror(errno) : "it is too short");
}
