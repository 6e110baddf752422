#include "cli/subset.h"

#include "base/block.h"
#include "base/memory.h"
#include "stream/genotypes.h"
#include "stream/two_bit.h"

#include <string.h>

void subset_free(subset_buffer *b)
{
    sparse_free(&b->all);
    sparse_free(&b->chosen);
    memory_free(b->values);
    memory_free(b->levels);
    *b = (subset_buffer){0};
}

static void gather_f64(const roofs_block *block, const int64_t *chosen, int64_t count, double *to)
{
    for (int64_t k = 0; k < block->count; k++)
        for (int64_t i = 0; i < count; i++)
            *to++ = block_at(block, k, chosen[i]);
}

/* Codes of genotypes. A missing one is the mean of these samples, not of all. */
static void gather_codes(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                         int64_t count)
{
    const int64_t bytes = two_bit_bytes(count);
    memset(b->values, 0, (size_t)(bytes * block->count));
    for (int64_t k = 0; k < block->count; k++) {
        const unsigned char *from =
            (const unsigned char *)block->values + k * block->feature_stride;
        unsigned char *to = (unsigned char *)b->values + k * bytes;
        int64_t counts[4];
        for (int64_t i = 0; i < count; i++)
            to[i >> 2] |= (unsigned char)(two_bit_get(from, chosen[i]) << 2 * (i & 3));
        two_bit_count(to, count, counts);
        genotype_levels(counts, b->levels + 4 * k);
    }
}

/* Values of any size, as they are. */
static void gather_same(const roofs_block *block, const int64_t *chosen, int64_t count, char *to)
{
    const int64_t size = dtype_size(block->dtype);
    for (int64_t k = 0; k < block->count; k++) {
        const char *from = (const char *)block->values + k * block->feature_stride * size;
        for (int64_t i = 0; i < count; i++, to += size)
            memcpy(to, from + chosen[i] * block->sample_stride * size, (size_t)size);
    }
}

static roofs_status subset_dense(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                                 int64_t count, roofs_dtype dtype, roofs_block *out,
                                 roofs_error *err)
{
    const int64_t each = dtype_bytes(dtype, count);
    TRY(memory_grow_raw(&b->values, &b->capacity, memory_bytes(block->count, each), 1,
                        "a subset of the samples", err));
    if (dtype == ROOFS_2BIT)
        TRY(memory_grow_raw(&b->levels, &b->level_capacity, 4 * block->count, sizeof *b->levels,
                            "a subset of the samples", err));
    if (dtype != block->dtype)
        gather_f64(block, chosen, count, (double *)(void *)b->values);
    else if (dtype == ROOFS_2BIT)
        gather_codes(b, block, chosen, count);
    else
        gather_same(block, chosen, count, b->values);
    *out = (roofs_block){.struct_size = sizeof *out,
                         .count = block->count,
                         .n = count,
                         .dtype = dtype,
                         .values = b->values,
                         .names = block->names,
                         .feature_stride = dtype == ROOFS_2BIT ? each : count,
                         .sample_stride = 1,
                         .levels = dtype == ROOFS_2BIT ? b->levels : NULL};
    return ROOFS_OK;
}

static roofs_status subset_sparse(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                                  int64_t count, roofs_block *out, roofs_error *err)
{
    sparse_clear(&b->all);
    sparse_clear(&b->chosen);
    TRY(sparse_append(&b->all, block, err));
    TRY(sparse_choose_samples(&b->all, chosen, count, &b->chosen, err));
    sparse_view(&b->chosen, 0, b->chosen.count, out);
    out->names = block->names;
    return ROOFS_OK;
}

roofs_status subset_block(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                          int64_t count, roofs_dtype dtype, roofs_block *out, roofs_error *err)
{
    if (block_is_sparse(block))
        return subset_sparse(b, block, chosen, count, out, err);
    return subset_dense(b, block, chosen, count, dtype, out, err);
}
