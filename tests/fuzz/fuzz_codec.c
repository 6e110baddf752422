/* gzip and xz. First byte even: the rest is a compressed file, broken or not. Odd: the rest
 * is compressed here and must come back the same, also when read in small pieces. */
#include "base/memory.h"
#include "stream/bytes.h"
#include "tests/fuzz/fuzz.h"

#include <lzma.h>
#include <zlib.h>

enum { MOST = 1 << 16 }; /* bytes that are looked at: a few can stand for gigabytes */

static size_t pack(unsigned kind, input in, unsigned char *to)
{
    size_t used = 0;
    if (kind & 2) {
        MUST(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, in.at, left(&in), to, &used,
                                     MOST) == LZMA_OK,
             "xz");
        return used;
    }
    z_stream z = {.next_in = (unsigned char *)in.at,
                  .avail_in = (uInt)left(&in),
                  .next_out = to,
                  .avail_out = MOST};
    MUST(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK, "gzip");
    MUST(deflate(&z, Z_FINISH) == Z_STREAM_END, "gzip");
    used = z.total_out;
    deflateEnd(&z);
    return used;
}

/* Reads `piece` bytes at a time; gives how many came. */
static int64_t unpack(const char *path, int64_t piece, unsigned char *to)
{
    roofs_error err = {0};
    bytes *b = NULL;
    int64_t size = 0, got = 1;
    roofs_status status = bytes_open(&b, path, &err);
    while (!status && got > 0 && size <= MOST - piece) {
        status = bytes_read(b, to + size, piece, &got, &err);
        size += status ? 0 : got;
    }
    must_be_explained(status, &err, path);
    bytes_close(b);
    return status ? -1 : size;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static unsigned char packed[MOST], one[MOST], other[MOST];
    input in = {data, data + size};
    unsigned kind = take(&in);
    int64_t piece = 1 + (kind >> 2);
    if (left(&in) > MOST / 2)
        return 0;
    if ((kind & 1) == 0) {
        const char *path = file_of(in.at, left(&in));
        int64_t whole = unpack(path, 4096, one), pieces = unpack(path, piece, other);
        int64_t both = whole < pieces ? whole : pieces;
        MUST(both < 0 || memcmp(one, other, (size_t)both) == 0, "pieces differ");
        return 0;
    }
    const char *path = file_of(packed, pack(kind, in, packed));
    MUST(unpack(path, piece, one) == (int64_t)left(&in), "not as long");
    MUST(memcmp(one, in.at, left(&in)) == 0, "not the same");
    return 0;
}
