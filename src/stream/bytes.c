#include "stream/bytes.h"

#include "base/memory.h"
#include "stream/codec.h"
#include "stream/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { RAW_BYTES = 1 << 17 };

struct bytes {
    char *name;
    int fd;
    int is_stdin;
    int64_t regular_size; /* -1 = not a regular file */
    int copy_fd;          /* of the temporary copy; -1 = none */
    /* a range of another file */
    int is_range;
    bytes_range range;
    int64_t range_read;  /* packed bytes read */
    int64_t range_given; /* bytes returned */
    uint32_t crc;        /* of the bytes returned */
    /* buffer of bytes as stored in the file */
    unsigned char *raw;
    int64_t raw_start, raw_end;
    int raw_ended;
    /* decompression */
    const codec *codec; /* NULL: plain */
    void *codec_state;
    int ended;
    int (*is_stopped)(void);         /* NULL: nothing stops reading */
    int64_t given;                   /* bytes returned by bytes_read */
    unsigned char ahead[BYTES_PEEK]; /* read by bytes_peek, not yet by bytes_read */
    int64_t ahead_start, ahead_end;
};

/* ---- raw bytes --------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static roofs_status read_failed(const bytes *b, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s cannot be read: %s", b->name, strerror(errno));
}

/* One read(2). A signal ends it, because a pipe may deliver nothing for hours. */
static roofs_status bytes_read_once(bytes *b, void *to, int64_t size, int64_t *got,
                                    roofs_error *err)
{
    ssize_t count;
    if (b->is_stopped && b->is_stopped())
        return fail(err, ROOFS_CANCELLED, "reading %s was interrupted", b->name);
    if (b->is_range)
        size = smaller(size, b->range.packed - b->range_read);
    count = b->is_range ? pread(b->fd, to, (size_t)size, (off_t)(b->range.offset + b->range_read))
                        : read(b->fd, to, (size_t)size);
    if (count < 0 && errno == EINTR)
        return fail(err, ROOFS_CANCELLED, "reading %s was interrupted", b->name);
    if (count < 0)
        return read_failed(b, err);
    *got = count;
    b->range_read += count;
    b->raw_ended = count == 0;
    return ROOFS_OK;
}

/* One read into the raw buffer, which must not be full. */
static roofs_status raw_refill(bytes *b, roofs_error *err)
{
    int64_t count = 0;
    if (b->raw_start == b->raw_end)
        b->raw_start = b->raw_end = 0;
    TRY(bytes_read_once(b, b->raw + b->raw_end, RAW_BYTES - b->raw_end, &count, err));
    b->raw_end += count;
    return ROOFS_OK;
}

/* ---- plain and compressed bytes ---------------------------------------- */

/* Large plain reads go directly to the caller's memory. */
static roofs_status next_plain(bytes *b, unsigned char *to, int64_t size, int64_t *got,
                               roofs_error *err)
{
    if (b->raw_start == b->raw_end && !b->raw_ended) {
        if (size >= RAW_BYTES)
            return bytes_read_once(b, to, size, got, err);
        TRY(raw_refill(b, err));
    }
    *got = smaller(size, b->raw_end - b->raw_start);
    memcpy(to, b->raw + b->raw_start, (size_t)*got);
    b->raw_start += *got;
    b->ended = b->raw_ended && b->raw_start == b->raw_end;
    return ROOFS_OK;
}

static roofs_status next_decoded(bytes *b, unsigned char *to, int64_t size, int64_t *got,
                                 roofs_error *err)
{
    if (b->raw_start == b->raw_end && !b->raw_ended)
        TRY(raw_refill(b, err));
    codec_window w = {b->raw + b->raw_start, (size_t)(b->raw_end - b->raw_start), b->raw_ended, to,
                      (size_t)size};
    codec_state state = b->codec->step(b->codec_state, &w);
    int64_t used = w.in - (b->raw + b->raw_start);
    int stuck = b->raw_ended && used == 0 && w.out_left == (size_t)size;
    b->raw_start += used;
    *got = size - (int64_t)w.out_left;
    b->ended = state == CODEC_ENDED;
    if (state == CODEC_NO_MEMORY)
        return fail(err, ROOFS_NO_MEMORY, "no memory to decompress %s", b->name);
    if (state == CODEC_BROKEN)
        return fail(err, ROOFS_BAD_DATA, "%s: the %s data is damaged", b->name, b->codec->name);
    if (stuck && !b->ended)
        return fail(err, ROOFS_BAD_DATA, "%s: the %s data is truncated", b->name, b->codec->name);
    return ROOFS_OK;
}

/* ---- reading ----------------------------------------------------------- */

/* Copies bytes that bytes_peek has read. Returns their number. */
static int64_t copy_ahead(bytes *b, unsigned char *to, int64_t size)
{
    int64_t count = smaller(size, b->ahead_end - b->ahead_start);
    memcpy(to, b->ahead + b->ahead_start, (size_t)count);
    b->ahead_start += count;
    return count;
}

static roofs_status read_fresh(bytes *b, unsigned char *to, int64_t size, int64_t *got,
                               roofs_error *err)
{
    *got = 0;
    while (*got < size && !b->ended) {
        int64_t count = 0;
        if (b->codec)
            TRY(next_decoded(b, to + *got, size - *got, &count, err));
        else
            TRY(next_plain(b, to + *got, size - *got, &count, err));
        *got += count;
    }
    return ROOFS_OK;
}

static roofs_status bytes_check_range(bytes *b, const void *given, int64_t size, roofs_error *err)
{
    const int64_t most = 1 << 30; /* zlib counts in 32 bits */
    b->range_given += size;
    for (const unsigned char *at = given; size > 0; at += most, size -= most)
        b->crc = (uint32_t)crc32(b->crc, at, (uInt)smaller(size, most));
    int ended = b->range_given >= b->range.size;
    if (b->range_given > b->range.size || (ended && b->crc != b->range.crc))
        return fail(err, ROOFS_BAD_DATA, "%s is damaged (its checksum does not match)", b->name);
    return ROOFS_OK;
}

roofs_status bytes_read(bytes *b, void *to, int64_t size, int64_t *got, roofs_error *err)
{
    int64_t copied = copy_ahead(b, to, size);
    TRY(read_fresh(b, (unsigned char *)to + copied, size - copied, got, err));
    *got += copied;
    b->given += *got;
    return b->is_range ? bytes_check_range(b, to, *got, err) : ROOFS_OK;
}

roofs_status bytes_skip(bytes *b, int64_t size, roofs_error *err)
{
    unsigned char waste[16384];
    while (size > 0) {
        int64_t got;
        TRY(bytes_read(b, waste, smaller(size, sizeof waste), &got, err));
        if (got == 0)
            break;
        size -= got;
    }
    return ROOFS_OK;
}

roofs_status bytes_peek(bytes *b, const unsigned char **start, int64_t *length, roofs_error *err)
{
    if (b->ahead_end == 0)
        TRY(read_fresh(b, b->ahead, BYTES_PEEK, &b->ahead_end, err));
    *start = b->ahead;
    *length = b->ahead_end;
    return ROOFS_OK;
}

static int descriptor(const bytes *b)
{
    return b->copy_fd >= 0 ? b->copy_fd : b->fd;
}

static roofs_status copy_by(bytes *b, void *buffer, int64_t capacity, int fd, int64_t *size,
                            roofs_error *err)
{
    int64_t got;
    for (*size = 0;; *size += got) {
        TRY(bytes_read(b, buffer, capacity, &got, err));
        if (got == 0)
            return ROOFS_OK;
        TRY(spill_write(fd, buffer, got, *size, err));
    }
}

roofs_status bytes_copy(bytes *b, int fd, int64_t *size, roofs_error *err)
{
    const int64_t capacity = 1 << 20;
    void *buffer;
    TRY(memory_reserve(&buffer, capacity, 1, "a file buffer", err));
    roofs_status status = copy_by(b, buffer, capacity, fd, size, err);
    memory_free(buffer);
    return status;
}

roofs_status bytes_make_seekable(bytes *b, int64_t *size, roofs_error *err)
{
    *size = bytes_plain_size(b);
    if (*size >= 0)
        return ROOFS_OK;
    TRY(spill_open(&b->copy_fd, err));
    return bytes_copy(b, b->copy_fd, size, err);
}

roofs_status bytes_read_at(const bytes *b, int64_t offset, void *to, int64_t size, roofs_error *err)
{
    int64_t got = spill_read_some(descriptor(b), to, size, offset);
    if (got < 0)
        return read_failed(b, err);
    if (got < size)
        return fail(err, ROOFS_BAD_DATA, "%s became shorter while it was read", b->name);
    return ROOFS_OK;
}

void bytes_stop_when(bytes *b, int (*is_stopped)(void))
{
    b->is_stopped = is_stopped;
}

/* ---- opening ----------------------------------------------------------- */

static roofs_status bytes_open_file(bytes *b, const char *path, roofs_error *err)
{
    struct stat info;
    b->fd = b->is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (b->fd < 0 || fstat(b->fd, &info) != 0)
        return fail(err, ROOFS_BAD_DATA, "%s cannot be opened: %s", b->name, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return fail(err, ROOFS_BAD_DATA, "%s is a folder, not a file", b->name);
    b->regular_size = S_ISREG(info.st_mode) && !b->is_stdin ? (int64_t)info.st_size : -1;
    return ROOFS_OK;
}

static roofs_status start_codec(bytes *b, roofs_error *err)
{
    b->codec_state = b->codec->open();
    if (!b->codec_state)
        return fail(err, ROOFS_NO_MEMORY, "no memory to decompress %s", b->name);
    return ROOFS_OK;
}

/* Reads until the magic is complete: a pipe may return single bytes. */
static roofs_status find_codec(bytes *b, roofs_error *err)
{
    TRY(memory_reserve(&b->raw, RAW_BYTES, 1, "a file buffer", err));
    while (b->raw_end < (int64_t)sizeof b->codec->magic && !b->raw_ended)
        TRY(raw_refill(b, err));
    b->codec = codec_find(b->raw, (size_t)b->raw_end);
    return b->codec ? start_codec(b, err) : ROOFS_OK;
}

static roofs_status bytes_start(bytes *b, const char *path, roofs_error *err)
{
    b->fd = b->copy_fd = -1;
    b->is_stdin = strcmp(path, "-") == 0;
    TRY(memory_copy_text(&b->name, b->is_stdin ? "standard input" : path, err));
    TRY(bytes_open_file(b, path, err));
    return find_codec(b, err);
}

static roofs_status close_after_failure(bytes **b, roofs_status status)
{
    if (status) {
        bytes_close(*b);
        *b = NULL;
    }
    return status;
}

roofs_status bytes_open(bytes **out, const char *path, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "a file", err));
    return close_after_failure(out, bytes_start(*out, path, err));
}

static roofs_status bytes_start_range(bytes *b, const bytes *whole, const bytes_range *range,
                                      roofs_error *err)
{
    size_t length = strlen(whole->name) + strlen(range->name) + 4;
    b->is_range = 1;
    b->is_stopped = whole->is_stopped;
    b->range = *range;
    b->fd = descriptor(whole);
    b->copy_fd = -1;
    b->regular_size = -1;
    TRY(memory_get(&b->name, (int64_t)length, 1, "a name", err));
    snprintf(b->name, length, "%s (%s)", whole->name, range->name);
    TRY(memory_reserve(&b->raw, RAW_BYTES, 1, "a file buffer", err));
    b->codec = range->deflated ? codec_deflate() : NULL;
    return b->codec ? start_codec(b, err) : ROOFS_OK;
}

roofs_status bytes_open_range(bytes **out, const bytes *whole, const bytes_range *range,
                              roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "a file", err));
    return close_after_failure(out, bytes_start_range(*out, whole, range, err));
}

void bytes_close(bytes *b)
{
    if (!b)
        return;
    if (b->codec_state)
        b->codec->close(b->codec_state);
    if (b->fd >= 0 && !b->is_stdin && !b->is_range)
        close(b->fd);
    if (!b->is_range)
        spill_close(b->copy_fd);
    memory_free(b->raw);
    memory_free(b->name);
    memory_free(b);
}

const char *bytes_name(const bytes *b)
{
    return b->name;
}

int bytes_can_reopen(const bytes *b)
{
    return b->regular_size >= 0;
}

int64_t bytes_plain_size(const bytes *b)
{
    return b->codec ? -1 : b->regular_size;
}

int64_t bytes_most_size(const bytes *b)
{
    if (b->is_range)
        return b->range.size;
    if (b->regular_size < 0)
        return INT64_MAX;
    return b->codec ? memory_bytes(b->regular_size, b->codec->best_ratio) : b->regular_size;
}

int64_t bytes_held(const bytes *b)
{
    return b->regular_size > b->given ? b->regular_size : b->given;
}

int bytes_only_claim(int64_t held, int64_t number)
{
    const int64_t small = 1 << 24, bytes_per_name = 64;
    return number > small && number / bytes_per_name > held;
}
