/* SciPy's sparse matrices. The first byte says what the rest is, after two that say how to
 * read: the archive itself; its members, each two bytes of length and that many bytes
 * (checksums would keep the fuzzer out, so the archive is made here); or the numbers of a
 * matrix, one byte each, of which members are made. */
#include "tests/fuzz/stream.h"

#include <zlib.h>

static const char *const members[] = {"format.npy",  "shape.npy", "indptr.npy",
                                      "indices.npy", "data.npy",  "names.npy"};
enum { MEMBERS = 6, LONGEST = 1 << 16 };

typedef struct archive {
    unsigned char bytes[8 * LONGEST];
    size_t size;
} archive;

static void put(archive *a, uint64_t value, int size)
{
    for (int k = 0; k < size; k++)
        a->bytes[a->size++] = (unsigned char)(k < 8 ? value >> (8 * k) : 0);
}

static void put_bytes(archive *a, const void *bytes, size_t size)
{
    memcpy(a->bytes + a->size, bytes, size);
    a->size += size;
}

/* The header before a member, or with `listed` its entry in the list at the end. */
static void put_header(archive *a, const char *name, input content, size_t offset, int listed)
{
    put(a, listed ? 0x02014b50 : 0x04034b50, 4);
    put(a, 20, listed ? 4 : 2);
    put(a, 0, 8);
    put(a, crc32(0, content.at, (uInt)left(&content)), 4);
    put(a, left(&content), 4);
    put(a, left(&content), 4);
    put(a, strlen(name), 2);
    put(a, 0, listed ? 12 : 2);
    put(a, offset, listed ? 4 : 0);
    put_bytes(a, name, strlen(name));
}

static void make_archive(const input content[MEMBERS], archive *a)
{
    size_t offset[MEMBERS];
    a->size = 0;
    for (int k = 0; k < MEMBERS; k++) {
        offset[k] = a->size;
        put_header(a, members[k], content[k], 0, 0);
        put_bytes(a, content[k].at, left(&content[k]));
    }
    size_t list = a->size;
    for (int k = 0; k < MEMBERS; k++)
        put_header(a, members[k], content[k], offset[k], 1);
    size_t length = a->size - list;
    put(a, 0x06054b50, 8);
    put(a, MEMBERS, 2);
    put(a, MEMBERS, 2);
    put(a, length, 4);
    put(a, list, 6);
}

/* ---- members ----------------------------------------------------------- */

static void cut_members(input *in, input content[MEMBERS])
{
    for (int k = 0; k < MEMBERS; k++) {
        size_t length = take(in);
        length |= (size_t)take(in) << 8;
        if (length > left(in))
            length = left(in);
        content[k] = (input){in->at, in->at + length};
        in->at += length;
    }
}

static int64_t number(input *in)
{
    static const int64_t edges[] = {-1, INT32_MAX - 1, INT32_MAX, (int64_t)1 << 40, INT64_MAX};
    unsigned byte = take(in);
    return byte < 250 ? byte : edges[byte % 5];
}

/* An array of `count` numbers; those of `indptr` ascend, as they should mostly. */
static void put_array(archive *a, input *in, int64_t count, int ascends)
{
    char text[118];
    uint64_t last = 0;
    snprintf(text, sizeof text, "{'descr': '<i8', 'fortran_order': False, 'shape': (%lld,), }",
             (long long)count);
    put_bytes(a, "\x93NUMPY\1\0\x76\0", 10);
    for (size_t k = 0; k < 117; k++)
        put(a, k < strlen(text) ? (unsigned char)text[k] : ' ', 1);
    put(a, '\n', 1);
    for (int64_t k = 0; k < count; k++) {
        uint64_t value = (uint64_t)number(in);
        last = ascends && value < 250 ? last + value % 4 : value;
        put(a, last, 8);
    }
}

static void make_members(input *in, archive *a, input content[MEMBERS])
{
    unsigned starts = take(in) % 20, entries = take(in) % 40, names = take(in) % 8;
    const int64_t counts[MEMBERS] = {0, 2, starts, entries, entries, names};
    a->size = 0;
    for (int k = 0; k < MEMBERS; k++) {
        content[k].at = a->bytes + a->size;
        if (k == 0)
            put_bytes(a, take(in) & 1 ? "\ncsc" : "\ncsr", 4);
        else
            put_array(a, in, counts[k], k == 2);
        content[k].end = a->bytes + a->size;
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static archive made, parts;
    input in = {data, data + size}, content[MEMBERS];
    unsigned kind = take(&in) % 3;
    source_options options = stream_options(&in, "npz");
    if (kind == 1) {
        stream_check(file_of(in.at, left(&in)), &options);
        return 0;
    }
    if (kind == 0)
        cut_members(&in, content);
    else
        make_members(&in, &parts, content);
    make_archive(content, &made);
    stream_check(file_of(made.bytes, made.size), &options);
    return 0;
}
