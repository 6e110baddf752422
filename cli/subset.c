#include "cli/subset.h"

#include "base/block.h"
#include "base/memory.h"

void subset_free(subset_buffer *b)
{
    sparse_free(&b->all);
    sparse_free(&b->chosen);
    memory_free(b->values);
    *b = (subset_buffer){0};
}

static void gather_f32(const roofs_block *block, const int64_t *chosen, int64_t count, float *to)
{
    for (int64_t k = 0; k < block->count; k++)
        for (int64_t i = 0; i < count; i++)
            *to++ = (float)block_at(block, k, chosen[i]);
}

static void gather_f64(const roofs_block *block, const int64_t *chosen, int64_t count, double *to)
{
    for (int64_t k = 0; k < block->count; k++)
        for (int64_t i = 0; i < count; i++)
            *to++ = block_at(block, k, chosen[i]);
}

static roofs_status subset_dense(subset_buffer *b, const roofs_block *block, const int64_t *chosen,
                                 int64_t count, roofs_dtype dtype, roofs_block *out,
                                 roofs_error *err)
{
    const int64_t bytes = memory_bytes(memory_bytes(block->count, count), dtype_size(dtype));
    TRY(memory_grow_raw(&b->values, &b->capacity, bytes, 1, "a subset of the samples", err));
    if (dtype == ROOFS_F32)
        gather_f32(block, chosen, count, (float *)(void *)b->values);
    else
        gather_f64(block, chosen, count, (double *)(void *)b->values);
    *out = (roofs_block){.count = block->count,
                         .n = count,
                         .dtype = dtype,
                         .values = b->values,
                         .names = block->names,
                         .feature_stride = count,
                         .sample_stride = 1};
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
