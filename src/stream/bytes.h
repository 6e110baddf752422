/* The bytes of a file or of standard input. gzip and xz are decompressed; the first bytes of the
 * input decide, not its name. */
#ifndef STREAM_BYTES_H
#define STREAM_BYTES_H

#include "base/status.h"

typedef struct bytes bytes;

/* "-" is standard input. */
roofs_status bytes_open(bytes **out, const char *path, roofs_error *err);
void bytes_close(bytes *b); /* accepts NULL */

/* The path for messages; "standard input" for "-". */
const char *bytes_name(const bytes *b);

/* Reads the next `size` bytes; *got is smaller only at the end. */
roofs_status bytes_read(bytes *b, void *to, int64_t size, int64_t *got, roofs_error *err);

/* Skips `size` bytes, or all that are left. */
roofs_status bytes_skip(bytes *b, int64_t size, roofs_error *err);

/* Returns the first bytes (at most BYTES_PEEK) as a view; bytes_read still returns them. Call it
 * before the first read. */
enum { BYTES_PEEK = 512 };
roofs_status bytes_peek(bytes *b, const unsigned char **start, int64_t *length, roofs_error *err);

/* True if the path can be opened again and gives the same bytes. */
int bytes_can_reopen(const bytes *b);

/* The size of an uncompressed regular file; -1 for other input. */
int64_t bytes_plain_size(const bytes *b);

/* Upper bound of the bytes that the input can give, after decompression; INT64_MAX if unknown. */
int64_t bytes_most_size(const bytes *b);

/* The bytes that the input has shown to have: its size on the disk, or those read so far. */
int64_t bytes_held(const bytes *b);

/* True if a file of `held` bytes hardly has this many samples or features. */
int bytes_only_claim(int64_t held, int64_t number);

/* Enables bytes_read_at: copies the input to a temporary file unless it is an uncompressed regular
 * file. Sets *size. Call it before the first read. */
roofs_status bytes_make_seekable(bytes *b, int64_t *size, roofs_error *err);

/* Writes all bytes to `fd`. Call it before the first read. */
roofs_status bytes_copy(bytes *b, int fd, int64_t *size, roofs_error *err);

/* Reads exactly `size` bytes at `offset`; does not affect bytes_read. */
roofs_status bytes_read_at(const bytes *b, int64_t offset, void *to, int64_t size,
                           roofs_error *err);

/* From now on reads fail with CANCELLED if `is_stopped` returns non-zero; NULL = never. */
void bytes_stop_when(bytes *b, int (*is_stopped)(void));

/* A range of a seekable file, read like a file of its own: `packed` bytes from `offset` on, stored
 * or deflated. They must decompress to `size` bytes with this CRC-32, which is checked at the end
 * of the range. `whole` must outlive it. */
typedef struct bytes_range {
    const char *name; /* for messages, after the name of the file */
    int64_t offset, packed, size;
    int deflated;
    uint32_t crc;
} bytes_range;
roofs_status bytes_open_range(bytes **out, const bytes *whole, const bytes_range *range,
                              roofs_error *err);

#endif
