#include "stream/npy_header.h"

#include "base/memory.h"
#include "stream/npy.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_HEADER = 1 << 20, MOST_LENGTH_BYTES = 4, HEADER_ALIGNMENT = 64 };

const unsigned char npy_magic[NPY_MAGIC_LENGTH] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* ---- the dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } */

/* The value of `key`, or NULL. */
static const char *find_value(const char *dictionary, const char *key)
{
    char quoted[32];
    for (const char *quote = "'\""; *quote; quote++) {
        snprintf(quoted, sizeof quoted, "%c%s%c", *quote, key, *quote);
        const char *at = strstr(dictionary, quoted);
        if (!at)
            continue;
        at += strlen(quoted);
        at += strspn(at, " ");
        if (*at != ':')
            continue;
        return at + 1 + strspn(at + 1, " ");
    }
    return NULL;
}

static roofs_status bad_header(const char *name, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s: the .npy header is damaged (%s)", name, what);
}

static int type_is_read(const npy_type *type)
{
    int size = type->size;
    switch (type->kind) {
    case 'f':
        return size == 2 || size == 4 || size == 8;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'b':
        return size == 1;
    default:
        return 0;
    }
}

static const char *type_family(char kind)
{
    switch (kind) {
    case 'O':
        return "Python objects";
    case 'c':
        return "complex numbers";
    case 'S':
    case 'U':
    case 'a':
        return "texts";
    case 'V':
        return "records";
    case 'M':
    case 'm':
        return "dates";
    default:
        return "values of an unknown type";
    }
}

/* '<f8', '|b1', ...; a list of fields is a structured type. */
static roofs_status parse_type(const char *at, const char *name, npy_type *type, roofs_error *err)
{
    const char *wanted = "real numbers are needed (float16 to float64, integers, bool)";
    const char host_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    char order = 0;
    if (at && *at == '[')
        return fail(err, ROOFS_BAD_DATA, "%s holds records with several fields; %s", name, wanted);
    if (!at || (*at != '\'' && *at != '"') || !at[1] || !at[2])
        return bad_header(name, "no type", err);
    at++;
    if (strchr("<>|=", *at))
        order = *at++;
    type->kind = *at++;
    type->size = 0;
    while (*at >= '0' && *at <= '9' && type->size < 1000)
        type->size = type->size * 10 + (*at++ - '0');
    if (!type_is_read(type))
        return fail(err, ROOFS_BAD_DATA, "%s holds %s (%c%d); %s", name,
                    type->kind == 'f' ? "floats of an unusual size" : type_family(type->kind),
                    type->kind, type->size, wanted);
    type->swapped = type->size > 1 && (order == '<' || order == '>') && order != host_order;
    return ROOFS_OK;
}

static roofs_status parse_shape(const char *at, const char *name, npy_header *h, roofs_error *err)
{
    if (!at || *at != '(')
        return bad_header(name, "no shape", err);
    at++;
    for (h->rank = 0; h->rank < NPY_MOST_AXES; h->rank++) {
        int64_t length = 0;
        at += strspn(at, " ,");
        if (*at == ')')
            return ROOFS_OK;
        if (*at < '0' || *at > '9')
            break;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(length, 10, &length) ||
                __builtin_add_overflow(length, *at - '0', &length))
                return fail(err, ROOFS_BAD_DATA, "%s: the shape of the array is too large", name);
        at += *at == 'L'; /* written by Python 2 */
        h->shape[h->rank] = length;
    }
    return bad_header(name, "the shape cannot be read", err);
}

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

static roofs_status parse_dictionary(const char *text, const char *name, npy_header *h,
                                     roofs_error *err)
{
    const char *order = find_value(text, "fortran_order");
    TRY(parse_type(find_value(text, "descr"), name, &h->type, err));
    if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return bad_header(name, "no order", err);
    h->fortran_order = *order == 'T';
    TRY(parse_shape(find_value(text, "shape"), name, h, err));
    return count_values(h, name, err);
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
    int version = start[NPY_MAGIC_LENGTH];
    if (version < 1 || version > 3)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has version %d of the .npy format; versions 1 to 3 can be read",
                    bytes_name(input), version);
    int size_bytes = version == 1 ? 2 : 4;
    TRY(npy_header_bytes(input, size, size_bytes, err));
    *length = 0;
    for (int k = size_bytes - 1; k >= 0; k--)
        *length = *length << 8 | size[k];
    *prefix = (int64_t)sizeof start + size_bytes;
    return *length <= LONGEST_HEADER ? ROOFS_OK : bad_header(bytes_name(input), "too long", err);
}

static roofs_status npy_check_size(const bytes *input, const npy_header *h, roofs_error *err)
{
    int64_t size = bytes_plain_size(input), expected = h->count * h->type.size;
    if (size < 0 || size - h->data_offset >= expected)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s is truncated: %lld bytes of values expected, %lld found",
                bytes_name(input), (long long)expected, (long long)(size - h->data_offset));
}

roofs_status npy_read_header(bytes *input, npy_header *header, roofs_error *err)
{
    int64_t length = 0, prefix = 0;
    char *text;
    *header = (npy_header){0};
    TRY(npy_header_prefix(input, &length, &prefix, err));
    TRY(memory_get(&text, length + 1, 1, "a .npy header", err));
    roofs_status status = npy_header_bytes(input, text, length, err);
    if (!status)
        status = parse_dictionary(text, bytes_name(input), header, err);
    memory_free(text);
    header->data_offset = prefix + length;
    return status ? status : npy_check_size(input, header, err);
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
