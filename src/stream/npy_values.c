#include "stream/npy_values.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { BUFFER_VALUES = 4096, LARGEST_VALUE = 8 };

/* ---- conversion ------------------------------------------------------- */

static void swap_bytes(unsigned char *values, int64_t count, int size)
{
    for (int64_t i = 0; i < count; i++, values += size)
        for (int a = 0, b = size - 1; a < b; a++, b--) {
            unsigned char held = values[a];
            values[a] = values[b];
            values[b] = held;
        }
}

static double from_half(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return half >> 15 ? -value : value;
}

/* NumPy takes every byte but 0 for True. */
static double from_bool(uint8_t byte)
{
    return byte != 0;
}

#define DEFINE_WIDEN(name, type, convert)                                                          \
    static void name(const unsigned char *from, int64_t count, double *to)                         \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type value;                                                                            \
            memcpy(&value, from + (size_t)i * sizeof value, sizeof value);                         \
            to[i] = convert(value);                                                                \
        }                                                                                          \
    }
DEFINE_WIDEN(widen_f2, uint16_t, from_half)
DEFINE_WIDEN(widen_f4, float, (double))
DEFINE_WIDEN(widen_f8, double, (double))
DEFINE_WIDEN(widen_i1, int8_t, (double))
DEFINE_WIDEN(widen_i2, int16_t, (double))
DEFINE_WIDEN(widen_i4, int32_t, (double))
DEFINE_WIDEN(widen_i8, int64_t, (double))
DEFINE_WIDEN(widen_u1, uint8_t, (double))
DEFINE_WIDEN(widen_b1, uint8_t, from_bool)
DEFINE_WIDEN(widen_u2, uint16_t, (double))
DEFINE_WIDEN(widen_u4, uint32_t, (double))
DEFINE_WIDEN(widen_u8, uint64_t, (double))

typedef void (*widen_function)(const unsigned char *from, int64_t count, double *to);

static widen_function find_widen(npy_type type)
{
    static const struct {
        char kind;
        int size;
        widen_function widen;
    } table[] = {
        {'f', 2, widen_f2}, {'f', 4, widen_f4}, {'f', 8, widen_f8}, {'i', 1, widen_i1},
        {'i', 2, widen_i2}, {'i', 4, widen_i4}, {'i', 8, widen_i8}, {'u', 1, widen_u1},
        {'u', 2, widen_u2}, {'u', 4, widen_u4}, {'u', 8, widen_u8}, {'b', 1, widen_b1},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].kind == type.kind && table[k].size == type.size)
            return table[k].widen;
    return NULL;
}

roofs_dtype npy_dtype(const npy_header *header)
{
    if (header->type.size == 1)
        return header->type.kind == 'i' ? ROOFS_I8 : ROOFS_U8;
    return header->type.kind == 'f' && header->type.size <= 4 ? ROOFS_F32 : ROOFS_F64;
}

/* ---- reading ---------------------------------------------------------- */

static roofs_status npy_read_raw(bytes *input, const npy_header *h, int64_t first, int64_t count,
                                 void *to, roofs_error *err)
{
    int64_t size = count * h->type.size, got;
    if (first >= 0)
        return bytes_read_at(input, h->data_offset + first * h->type.size, to, size, err);
    TRY(bytes_read(input, to, size, &got, err));
    if (got == size)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s is truncated: %lld bytes of values expected, at least %lld are missing",
                bytes_name(input), (long long)(h->count * h->type.size), (long long)(size - got));
}

static void npy_store(const double *from, int64_t count, roofs_dtype dtype, void *to)
{
    if (dtype == ROOFS_F64)
        memcpy(to, from, (size_t)count * sizeof *from);
    else
        for (int64_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)from[i];
}

/* Bytes stay bytes. */
static roofs_status npy_read_bytes(bytes *input, const npy_header *header, int64_t first,
                                   int64_t count, unsigned char *to, roofs_error *err)
{
    TRY(npy_read_raw(input, header, first, count, to, err));
    for (int64_t i = 0; i < count && header->type.kind == 'b'; i++)
        to[i] = to[i] != 0;
    return ROOFS_OK;
}

roofs_status npy_read_values(bytes *input, const npy_header *header, int64_t first, int64_t count,
                             roofs_dtype dtype, void *to, roofs_error *err)
{
    npy_type type = header->type;
    int out_size = (int)dtype_size(dtype);
    if (dtype_is_packed(dtype))
        return npy_read_bytes(input, header, first, count, to, err);
    if (type.kind == 'f' && type.size == out_size && !type.swapped)
        return npy_read_raw(input, header, first, count, to, err);
    widen_function widen = find_widen(type);
    unsigned char raw[BUFFER_VALUES * LARGEST_VALUE];
    double wide[BUFFER_VALUES];
    for (int64_t done = 0; done < count;) {
        int64_t chunk = count - done < BUFFER_VALUES ? count - done : BUFFER_VALUES;
        TRY(npy_read_raw(input, header, first < 0 ? -1 : first + done, chunk, raw, err));
        if (type.swapped)
            swap_bytes(raw, chunk, type.size);
        widen(raw, chunk, wide);
        npy_store(wide, chunk, dtype, (char *)to + done * out_size);
        done += chunk;
    }
    return ROOFS_OK;
}

roofs_status npy_read_growing(bytes *input, const npy_header *header, double **values,
                              roofs_error *err)
{
    const int64_t first = 1 << 16;
    int64_t capacity = 0;
    *values = NULL;
    TRY(memory_grow_raw(values, &capacity, 1, sizeof **values, "an array", err));
    for (int64_t done = 0; done < header->count;) {
        int64_t chunk = done < first ? first : done;
        if (chunk > header->count - done)
            chunk = header->count - done;
        TRY(memory_grow_raw(values, &capacity, done + chunk, sizeof **values, "an array", err));
        TRY(npy_read_values(input, header, -1, chunk, ROOFS_F64, *values + done, err));
        done += chunk;
    }
    return ROOFS_OK;
}
