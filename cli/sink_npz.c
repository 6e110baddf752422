/* A sparse matrix for scipy.sparse.load_npz: CSC, one sample per row. The members of the archive
 * are not compressed. Indices and values are separate members, so both are gathered in temporary
 * files. */
#include "cli/sink.h"

#include "base/memory.h"
#include "stream/npy.h"
#include "stream/spill.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { MEMBERS = 6, COPY_BYTES = 1 << 16, NAME_MOST = 16 };

typedef struct member {
    char name[NAME_MOST];
    int64_t offset, size;
    uint32_t crc;
} member;

typedef struct npz {
    int values, indices; /* temporary files */
    int64_t entries;
    int64_t *starts;
    int64_t start_capacity;
    member members[MEMBERS];
    int member_count;
} npz;

/* ---- gathering --------------------------------------------------------- */

static roofs_status npz_begin(sink *s, roofs_error *err)
{
    npz *z;
    TRY(memory_get(&z, 1, sizeof *z, "a .npz file", err));
    z->values = z->indices = -1;
    s->state = z;
    TRY(spill_open(&z->values, err));
    TRY(spill_open(&z->indices, err));
    return memory_grow(&z->starts, &z->start_capacity, 1, sizeof *z->starts, "a .npz file", err);
}

/* SciPy reads 32-bit indices, and n is below 2^31. */
static roofs_status put_indices(npz *z, const sparse *block, int64_t entries, roofs_error *err)
{
    int32_t *narrow;
    TRY(memory_reserve(&narrow, entries, sizeof *narrow, "a .npz file", err));
    for (int64_t k = 0; k < entries; k++)
        narrow[k] = (int32_t)block->samples[k];
    roofs_status status = spill_write(z->indices, narrow, entries * 4, z->entries * 4, err);
    memory_free(narrow);
    return status;
}

static roofs_status npz_features(sink *s, const sparse *block, roofs_error *err)
{
    npz *z = s->state;
    int64_t entries = sparse_entries(block);
    TRY(memory_grow(&z->starts, &z->start_capacity, s->count + block->count + 1, sizeof *z->starts,
                    "a .npz file", err));
    for (int64_t k = 1; k <= block->count; k++)
        z->starts[s->count + k] = z->entries + block->starts[k];
    TRY(spill_write(z->values, block->values, entries * 8, z->entries * 8, err));
    TRY(put_indices(z, block, entries, err));
    z->entries += entries;
    return ROOFS_OK;
}

/* ---- the .zip around it ------------------------------------------------- */

/* Pairs of a number and its size in bytes, written in little-endian order. */
#define PUT_NUMBERS(file, ...)                                                                     \
    put_numbers(file, (const int64_t[]){__VA_ARGS__},                                              \
                sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static void put_numbers(FILE *file, const int64_t *pairs, size_t count)
{
    for (size_t k = 0; k < count; k += 2)
        for (int64_t byte = 0; byte < pairs[k + 1]; byte++)
            fputc((int)((uint64_t)pairs[k] >> (8 * byte) & 0xff), file);
}

enum { VERSION = 45, EXTRA = 20, ZIP64_END = 44 };
static const int64_t IN_EXTRA = 0xffffffff; /* the number is in the extra field of 64 bits */
static const int64_t DATE = 0x00210000;     /* 1 January 1980: the same data makes the same file */

/* The fields that the header of a member and its entry in the directory have in common. The first 0
 * is flags and method: stored. */
static void put_common(FILE *file, const member *m, int extra)
{
    PUT_NUMBERS(file, VERSION, 2, 0, 4, DATE, 4, m->crc, 4, IN_EXTRA, 4, IN_EXTRA, 4,
                (int64_t)strlen(m->name), 2, extra, 2);
}

static void put_local(FILE *file, const member *m)
{
    fputs("PK\3\4", file);
    put_common(file, m, EXTRA);
    fputs(m->name, file);
    PUT_NUMBERS(file, 1, 2, 16, 2, m->size, 8, m->size, 8);
}

/* The zeros: no comment; one disk and no attributes. */
static void put_entry(FILE *file, const member *m)
{
    fputs("PK\1\2", file);
    PUT_NUMBERS(file, VERSION, 2);
    put_common(file, m, EXTRA + 8);
    PUT_NUMBERS(file, 0, 2, 0, 8, IN_EXTRA, 4);
    fputs(m->name, file);
    PUT_NUMBERS(file, 1, 2, 24, 2, m->size, 8, m->size, 8, m->offset, 8);
}

/* The directory of the archive, with its end in 64 bits, a locator of that, and the end in 32 bits.
 */
static void put_directory(sink *s)
{
    const npz *z = s->state;
    FILE *file = s->out.file;
    const int64_t start = ftell(file), count = z->member_count;
    for (int k = 0; k < count; k++)
        put_entry(file, &z->members[k]);
    const int64_t end = ftell(file);
    fputs("PK\6\6", file);
    PUT_NUMBERS(file, ZIP64_END, 8, VERSION | VERSION << 16, 4, 0, 8, count, 8, count, 8,
                end - start, 8, start, 8);
    fputs("PK\6\7", file);
    PUT_NUMBERS(file, 0, 4, end, 8, 1, 4);
    fputs("PK\5\6", file);
    PUT_NUMBERS(file, 0, 4, count, 2, count, 2, IN_EXTRA, 4, IN_EXTRA, 4, 0, 2);
}

/* ---- members ----------------------------------------------------------- */

/* The array of a member, in memory or in a temporary file. */
typedef struct content {
    const char *descr;
    int64_t count, value_size;
    const void *values; /* NULL: read from fd */
    int fd;
} content;

static void put_bytes(FILE *file, member *m, const void *from, int64_t size)
{
    fwrite(from, 1, (size_t)size, file);
    m->crc = (uint32_t)crc32(m->crc, from, (uInt)size);
    m->size += size;
}

static roofs_status put_values(FILE *file, member *m, const content *c, roofs_error *err)
{
    unsigned char buffer[COPY_BYTES];
    int64_t size = c->count * c->value_size;
    for (int64_t done = 0; done < size;) {
        int64_t count = size - done < COPY_BYTES ? size - done : COPY_BYTES;
        if (!c->values)
            TRY(spill_read(c->fd, buffer, count, done, err));
        put_bytes(file, m, c->values ? (const char *)c->values + done : (char *)buffer, count);
        done += count;
    }
    return ROOFS_OK;
}

/* npy_write_header writes to a FILE; the checksum needs the bytes in memory. */
static roofs_status put_npy_header(FILE *file, member *m, const content *c, int64_t rank,
                                   roofs_error *err)
{
    char header[256];
    FILE *memory = fmemopen(header, sizeof header, "wb");
    if (!memory)
        return fail(err, ROOFS_NO_MEMORY, "no memory for a .npz file");
    npy_write_header(memory, c->descr, rank, &c->count);
    long length = ftell(memory);
    fclose(memory);
    put_bytes(file, m, header, length);
    return ROOFS_OK;
}

/* Checksum and size are in the header before the bytes, so the header is written again at the end.
 */
static roofs_status put_member(sink *s, const char *name, const content *c, int64_t rank,
                               roofs_error *err)
{
    npz *z = s->state;
    FILE *file = s->out.file;
    member *m = &z->members[z->member_count++];
    *m = (member){.offset = ftell(file)};
    snprintf(m->name, sizeof m->name, "%s", name);
    put_local(file, m);
    TRY(put_npy_header(file, m, c, rank, err));
    TRY(put_values(file, m, c, err));
    if (fseek(file, (long)m->offset, SEEK_SET) != 0)
        return sink_failed(s, err);
    put_local(file, m);
    return fseek(file, 0, SEEK_END) == 0 ? ROOFS_OK : sink_failed(s, err);
}

static roofs_status npz_end(sink *s, roofs_error *err)
{
    npz *z = s->state;
    const int64_t shape[] = {s->n, s->count};
    TRY(put_member(s, "indices.npy", &(content){"<i4", z->entries, 4, NULL, z->indices}, 1, err));
    TRY(put_member(s, "indptr.npy", &(content){"<i8", s->count + 1, 8, z->starts, -1}, 1, err));
    TRY(put_member(s, "format.npy", &(content){"|S3", 1, 3, "csc", -1}, 0, err));
    TRY(put_member(s, "shape.npy", &(content){"<i8", 2, 8, shape, -1}, 1, err));
    TRY(put_member(s, "data.npy", &(content){"<f8", z->entries, 8, NULL, z->values}, 1, err));
    if (s->named)
        TRY(put_member(s, "names.npy", &(content){"|u1", s->names.used, 1, s->names.text, -1}, 1,
                       err));
    put_directory(s);
    return ROOFS_OK;
}

static void npz_destroy(void *state)
{
    npz *z = state;
    if (!z)
        return;
    spill_close(z->values);
    spill_close(z->indices);
    memory_free(z->starts);
    memory_free(z);
}

static const char *const endings[] = {".npz", NULL};
const sink_kind sink_npz = {.endings = endings,
                            .begin = npz_begin,
                            .features = npz_features,
                            .end = npz_end,
                            .destroy = npz_destroy};
