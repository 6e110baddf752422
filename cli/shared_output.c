#include "cli/shared_output.h"

#include "cli/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

typedef struct output_place {
    int64_t start;
    char path[PATH_MOST];
} output_place;

static roofs_status shared_output_refuse(const char *what, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s: cannot be written: %s", what, strerror(errno));
}

static roofs_status find_place(const output *o, output_place *w, roofs_error *err)
{
    if (fflush(o->file) != 0 || (w->start = ftell(o->file)) < 0)
        return shared_output_refuse(o->target ? o->target : "the output", err);
    snprintf(w->path, sizeof w->path, "%s", o->temporary);
    return ROOFS_OK;
}

roofs_status shared_output_open(shared_output *s, const output *o, comm *ranks, roofs_error *err)
{
    output_place own = {0}, place = {0};
    *s = (shared_output){.fd = -1};
    TRY(comm_agree(ranks, comm_is_root(ranks) ? find_place(o, &own, err) : ROOFS_OK, err));
    comm_take_from(ranks, 0, &own, sizeof own, &place);
    TRY(comm_status(ranks, err));
    s->start = place.start;
    s->fd = open(place.path, O_WRONLY | O_CLOEXEC);
    return comm_agree(ranks, s->fd >= 0 ? ROOFS_OK : shared_output_refuse(place.path, err), err);
}

roofs_status shared_output_write(const shared_output *s, const void *bytes, int64_t size,
                                 int64_t at, roofs_error *err)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t put = pwrite(s->fd, from, (size_t)size, (off_t)(s->start + at));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return shared_output_refuse("a shard of the output", err);
        from += put;
        at += put;
        size -= put;
    }
    return ROOFS_OK;
}

roofs_status shared_output_close(shared_output *s, comm *ranks, roofs_status status,
                                 roofs_error *err)
{
    if (status == ROOFS_OK && fsync(s->fd) != 0)
        status = shared_output_refuse("a shard of the output", err);
    if (s->fd >= 0 && close(s->fd) != 0 && status == ROOFS_OK)
        status = shared_output_refuse("a shard of the output", err);
    s->fd = -1;
    return comm_agree(ranks, status, err);
}
