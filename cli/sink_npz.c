/* A SciPy sparse matrix (CSC, one sample per row) that scipy.sparse.load_npz reads. The
 * members are stored, not compressed; their sizes must be known first, so indices and
 * values wait in temporary files. */
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

/* SciPy is content with indices of 32 bits, and n is below that. */
static roofs_status put_indices(npz *z, const sparse *some, int64_t entries, roofs_error *err)
{
    int32_t *narrow;
    TRY(memory_reserve(&narrow, entries, sizeof *narrow, "a .npz file", err));
    for (int64_t k = 0; k < entries; k++)
        narrow[k] = (int32_t)some->samples[k];
    roofs_status status = spill_write(z->indices, narrow, entries * 4, z->entries * 4, err);
    memory_free(narrow);
    return status;
}

static roofs_status npz_features(sink *s, const sparse *some, roofs_error *err)
{
    npz *z = s->state;
    int64_t entries = sparse_entries(some);
    TRY(memory_grow(&z->starts, &z->start_capacity, s->count + some->count + 1, sizeof *z->starts,
                    "a .npz file", err));
    for (int64_t k = 1; k <= some->count; k++)
        z->starts[s->count + k] = z->entries + some->starts[k];
    TRY(spill_write(z->values, some->values, entries * 8, z->entries * 8, err));
    TRY(put_indices(z, some, entries, err));
    z->entries += entries;
    return ROOFS_OK;
}

/* ---- the .zip around it ------------------------------------------------- */

static void put_number(FILE *file, uint64_t value, int size)
{
    for (int k = 0; k < size; k++)
        fputc((int)(value >> (8 * k) & 0xff), file);
}

/* What a member's own header and the list of members share: version to flags, sizes in
 * an extra of 64 bits. */
enum { VERSION = 45, EXTRA = 20, LOCAL = 30 };

static void put_common(FILE *file, const member *m, int extra)
{
    put_number(file, VERSION, 2);
    put_number(file, 0, 4);          /* flags, method: stored */
    put_number(file, 0x00210000, 4); /* 1 January 1980: the same data makes the same file */
    put_number(file, m->crc, 4);
    put_number(file, 0xffffffff, 4);
    put_number(file, 0xffffffff, 4);
    put_number(file, strlen(m->name), 2);
    put_number(file, (uint64_t)extra, 2);
}

static void put_local(FILE *file, const member *m)
{
    fputs("PK\3\4", file);
    put_common(file, m, EXTRA);
    fputs(m->name, file);
    put_number(file, 1, 2);
    put_number(file, 16, 2);
    put_number(file, (uint64_t)m->size, 8);
    put_number(file, (uint64_t)m->size, 8);
}

static void put_listed(FILE *file, const member *m)
{
    fputs("PK\1\2", file);
    put_number(file, VERSION, 2);
    put_common(file, m, EXTRA + 8);
    put_number(file, 0, 2); /* no comment */
    put_number(file, 0, 8); /* one disk, no attributes */
    put_number(file, 0xffffffff, 4);
    fputs(m->name, file);
    put_number(file, 1, 2);
    put_number(file, 24, 2);
    put_number(file, (uint64_t)m->size, 8);
    put_number(file, (uint64_t)m->size, 8);
    put_number(file, (uint64_t)m->offset, 8);
}

static void put_list(sink *s, int64_t start)
{
    npz *z = s->state;
    FILE *file = s->out.file;
    for (int k = 0; k < z->member_count; k++)
        put_listed(file, &z->members[k]);
    int64_t end = ftell(file);
    uint64_t count = (uint64_t)z->member_count;
    fputs("PK\6\6", file);
    put_number(file, 44, 8);
    put_number(file, VERSION | VERSION << 16, 4);
    put_number(file, 0, 8);
    put_number(file, count, 8);
    put_number(file, count, 8);
    put_number(file, (uint64_t)(end - start), 8);
    put_number(file, (uint64_t)start, 8);
    fputs("PK\6\7", file);
    put_number(file, 0, 4);
    put_number(file, (uint64_t)end, 8);
    put_number(file, 1, 4);
    fputs("PK\5\6", file);
    put_number(file, 0, 4);
    put_number(file, count, 2);
    put_number(file, count, 2);
    put_number(file, 0xffffffff, 4);
    put_number(file, 0xffffffff, 4);
    put_number(file, 0, 2);
}

/* ---- members ----------------------------------------------------------- */

/* What a member holds: text as it is, or an array, from memory or from a temporary file. */
typedef struct content {
    const char *descr;
    int64_t count, value_size;
    const void *values; /* NULL: */
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
        int64_t here = size - done < COPY_BYTES ? size - done : COPY_BYTES;
        if (!c->values)
            TRY(spill_read(c->fd, buffer, here, done, err));
        put_bytes(file, m, c->values ? (const char *)c->values + done : (char *)buffer, here);
        done += here;
    }
    return ROOFS_OK;
}

/* The header of an array, which the library writes to files only. */
static roofs_status put_header(FILE *file, member *m, const content *c, int64_t rank,
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

/* Checksum and size stand before the bytes: the header is written again afterwards. */
static roofs_status put_member(sink *s, const char *name, const content *c, int64_t rank,
                               roofs_error *err)
{
    npz *z = s->state;
    FILE *file = s->out.file;
    member *m = &z->members[z->member_count++];
    *m = (member){.offset = ftell(file)};
    snprintf(m->name, sizeof m->name, "%s", name);
    put_local(file, m);
    TRY(put_header(file, m, c, rank, err));
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
    put_list(s, ftell(s->out.file));
    return ROOFS_OK;
}

static void npz_drop(sink *s)
{
    npz *z = s->state;
    if (!z)
        return;
    spill_close(z->values);
    spill_close(z->indices);
    memory_free(z->starts);
}

static const char *const endings[] = {".npz", NULL};
const sink_kind sink_npz = {.endings = endings,
                            .begin = npz_begin,
                            .features = npz_features,
                            .end = npz_end,
                            .drop = npz_drop};
