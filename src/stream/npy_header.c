#include "stream/npy_header.h"

#include "base/memory.h"
#include "stream/npy.h"
#include "stream/npy_dictionary.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_HEADER = 10000 /* as in NumPy */, MOST_LENGTH_BYTES = 4, HEADER_ALIGNMENT = 64 };

const unsigned char npy_magic[NPY_MAGIC_LENGTH] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static roofs_status count_values(npy_header *h, const char *name, roofs_error *err)
{
    h->count = 1;
    for (int64_t k = 0; k < h->rank; k++) {
        h->count = h->shape[k] == 0 ? 0 : memory_bytes(h->count, h->shape[k]);
        if (memory_bytes(h->count, 2 * (int64_t)sizeof(double)) == INT64_MAX)
            return fail(err, ROOFS_BAD_DATA, "%s: the shape of the array is too large", name);
    }
    return ROOFS_OK;
}

/* ---- the bytes around it ----------------------------------------------- */

static roofs_status npy_header_bytes(bytes *input, void *to, int64_t size, roofs_error *err)
{
    int64_t got;
    TRY(bytes_read(input, to, size, &got, err));
    if (got < size)
        return fail(err, ROOFS_BAD_DATA, "%s: the .npy header is truncated", bytes_name(input));
    return ROOFS_OK;
}

/* Magic, version and the length of the dictionary. */
static roofs_status npy_header_prefix(bytes *input, int64_t *length, int64_t *prefix,
                                      roofs_error *err)
{
    unsigned char start[NPY_MAGIC_LENGTH + 2], size[MOST_LENGTH_BYTES];
    int64_t got;
    TRY(bytes_read(input, start, sizeof start, &got, err));
    if (got == 0)
        return fail(err, ROOFS_BAD_DATA, "%s is empty", bytes_name(input));
    if (got < (int64_t)sizeof start || memcmp(start, npy_magic, NPY_MAGIC_LENGTH) != 0)
        return fail(err, ROOFS_BAD_DATA, "%s is not a .npy file (wrong first bytes)",
                    bytes_name(input));
    int version = start[NPY_MAGIC_LENGTH], minor = start[NPY_MAGIC_LENGTH + 1];
    if (version < 1 || version > 3 || minor != 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has version %d.%d of the .npy format; 1.0, 2.0 and 3.0 can be read",
                    bytes_name(input), version, minor);
    int size_bytes = version == 1 ? 2 : 4;
    TRY(npy_header_bytes(input, size, size_bytes, err));
    *length = 0;
    for (int k = size_bytes - 1; k >= 0; k--)
        *length = *length << 8 | size[k];
    *prefix = (int64_t)sizeof start + size_bytes;
    if (*length > LONGEST_HEADER)
        return fail(err, ROOFS_BAD_DATA, "%s: the .npy header is damaged (too long)",
                    bytes_name(input));
    return ROOFS_OK;
}

static roofs_status npy_check_size(const bytes *input, const npy_header *h, roofs_error *err)
{
    int64_t size = bytes_plain_size(input), expected = h->count * h->type.size;
    if (size < 0 && expected > bytes_most_size(input))
        return fail(err, ROOFS_BAD_DATA,
                    "%s is truncated: its header claims %lld bytes of values, more than a "
                    "compressed file of this size can hold",
                    bytes_name(input), (long long)expected);
    if (size < 0 || size - h->data_offset >= expected)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s is truncated: %lld bytes of values expected, %lld found",
                bytes_name(input), (long long)expected, (long long)(size - h->data_offset));
}

static roofs_status npy_read_any_header(bytes *input, int texts, npy_header *header,
                                        roofs_error *err)
{
    int64_t length = 0, prefix = 0;
    char *text;
    *header = (npy_header){0};
    TRY(npy_header_prefix(input, &length, &prefix, err));
    TRY(memory_get(&text, length + 1, 1, "a .npy header", err));
    roofs_status status = npy_header_bytes(input, text, length, err);
    if (!status)
        status = npy_parse_dictionary(text, length, texts, bytes_name(input), header, err);
    if (!status)
        status = count_values(header, bytes_name(input), err);
    memory_free(text);
    header->data_offset = prefix + length;
    return status ? status : npy_check_size(input, header, err);
}

roofs_status npy_read_header(bytes *input, npy_header *header, roofs_error *err)
{
    return npy_read_any_header(input, 0, header, err);
}

/* NumPy stores U as 32 bits per letter. */
static void copy_letters(const unsigned char *from, const npy_header *h, int64_t letters, char *out)
{
    const int width = h->type.kind == 'U' ? 4 : 1;
    const int low = h->type.swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? width - 1 : 0;
    for (int64_t k = 0; k < letters; k++) {
        int others = 0;
        for (int b = 0; b < width; b++)
            others |= b != low && from[k * width + b];
        out[k] = others ? '?' : (char)from[k * width + low];
    }
    out[letters] = '\0';
}

roofs_status npy_read_word(bytes *input, char out[NPY_WORD], roofs_error *err)
{
    npy_header h;
    unsigned char text[4 * NPY_WORD];
    TRY(npy_read_any_header(input, 1, &h, err));
    const int64_t letters = h.type.size;
    if ((h.type.kind != 'S' && h.type.kind != 'U') || h.count != 1 || letters >= NPY_WORD)
        return fail(err, ROOFS_BAD_DATA, "%s: one word is expected", bytes_name(input));
    TRY(npy_header_bytes(input, text, h.type.kind == 'U' ? 4 * letters : letters, err));
    copy_letters(text, &h, letters, out);
    return ROOFS_OK;
}

void npy_shape_text(const npy_header *header, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "()");
    for (int64_t k = 0; k < header->rank && used + 32 < size; k++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld%s", k == 0 ? "(" : ", ",
                                 (long long)header->shape[k], k + 1 == header->rank ? ")" : "");
}

/* ---- writing ----------------------------------------------------------- */

void npy_write_header(FILE *file, const char *descr, int64_t rank, const int64_t *shape)
{
    char text[1024];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int64_t k = 0; k < rank; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld%s", k ? " " : "",
                                 (long long)shape[k], k + 1 < rank || rank == 1 ? "," : "");
    used += (size_t)snprintf(text + used, sizeof text - used, "), }");
    size_t prefix = NPY_MAGIC_LENGTH + 4; /* version 1.0, two bytes of length */
    size_t whole = (prefix + used + HEADER_ALIGNMENT) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
    size_t length = whole - prefix;
    unsigned char tail[4] = {1, 0, (unsigned char)length, (unsigned char)(length >> 8)};
    fwrite(npy_magic, 1, NPY_MAGIC_LENGTH, file);
    fwrite(tail, 1, sizeof tail, file);
    fprintf(file, "%-*s\n", (int)length - 1, text);
}
