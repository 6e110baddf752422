/* Copies columns of a block, dense or sparse, to contiguous values. */
#pragma once

extern "C" {
#include "base/block.h"
#include "base/memory.h"
}

#include <cstring>

/* Columns first..last - 1, `lead` values apart. */
template <typename To, typename From>
void gather_dense(To *to, int64_t lead, const From *from, const roofs_block *b, int64_t first,
                  int64_t last)
{
    enum { TILE = 256 }; /* samples; so that row-major blocks are read by whole cache lines */
    for (int64_t begin = 0; begin < b->n; begin += TILE) {
        int64_t end = begin + TILE < b->n ? begin + TILE : b->n;
        for (int64_t k = first; k < last; k++)
            for (int64_t i = begin; i < end; i++)
                to[(k - first) * lead + i] = (To)from[k * b->feature_stride + i * b->sample_stride];
    }
}

template <typename To>
void gather_sparse(To *to, int64_t lead, const roofs_block *b, int64_t first, int64_t last)
{
    memset(to, 0, (size_t)((last - first) * lead) * sizeof(To));
    for (int64_t k = first; k < last; k++)
        for (int64_t at = block_start(b, k); at < block_start(b, k + 1); at++)
            to[(k - first) * lead + block_sample(b, at)] = (To)block_value(b, at);
}

/* The levels of n codes. Long columns use a table of all bytes, four levels each. */
template <typename To>
void gather_codes(To *to, const unsigned char *codes, const double level[4], int64_t n)
{
    enum { BYTES = 256 };
    To table[BYTES][4];
    int64_t i = 0;
    if (n >= 4 * BYTES) {
        for (int byte = 0; byte < BYTES; byte++)
            for (int k = 0; k < 4; k++)
                table[byte][k] = (To)level[byte >> 2 * k & 3];
        for (; i + 4 <= n; i += 4)
            memcpy(to + i, table[codes[i / 4]], sizeof table[0]);
    }
    for (; i < n; i++)
        to[i] = (To)level[block_code(codes, i)];
}

template <typename To>
void gather_packed(To *to, int64_t lead, const roofs_block *b, int64_t first, int64_t last)
{
    const unsigned char *bytes = (const unsigned char *)b->values;
    for (int64_t k = first; k < last; k++, to += lead) {
        const int64_t at = k * b->feature_stride;
        if (b->dtype == ROOFS_2BIT)
            gather_codes(to, bytes + at, b->levels + 4 * k, b->n);
        else
            for (int64_t i = 0; i < b->n; i++)
                to[i] = (To)block_value(b, at + i * b->sample_stride);
    }
}

template <typename To>
void gather_columns(To *to, int64_t lead, const roofs_block *b, int64_t first, int64_t last)
{
    const int same = b->dtype == (sizeof(To) == sizeof(float) ? ROOFS_F32 : ROOFS_F64);
    if (block_is_sparse(b)) {
        gather_sparse(to, lead, b, first, last);
    } else if (same && b->sample_stride == 1) {
        for (int64_t k = first; k < last; k++)
            memcpy(to + (k - first) * lead, (const To *)b->values + k * b->feature_stride,
                   (size_t)b->n * sizeof(To));
    } else if (dtype_is_packed(b->dtype)) {
        gather_packed(to, lead, b, first, last);
    } else if (b->dtype == ROOFS_F32) {
        gather_dense(to, lead, (const float *)b->values, b, first, last);
    } else {
        gather_dense(to, lead, (const double *)b->values, b, first, last);
    }
}
