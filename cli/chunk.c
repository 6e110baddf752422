#include "cli/chunk.h"

#include "base/block.h"
#include "base/memory.h"

#include <string.h>

void chunk_clear(chunk *c)
{
    while (c->count > 0)
        memory_free(c->memory[--c->count]);
    c->bytes = 0;
}

void chunk_free(chunk *c)
{
    chunk_clear(c);
    memory_free(c->blocks);
    memory_free((void *)c->memory);
    *c = (chunk){0};
}

/* The arrays of a block, in bytes. */
typedef struct block_sizes {
    int64_t values, starts, samples, levels, pointers, names;
} block_sizes;

static block_sizes sizes_of(const roofs_block *b)
{
    block_sizes s = {0};
    const int64_t index = b->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    if (block_is_sparse(b)) {
        const int64_t end = block_start(b, b->count);
        s.values = dtype_bytes(b->dtype, end);
        s.starts = (b->count + 1) * index;
        s.samples = end * index;
    } else {
        s.values = b->dtype == ROOFS_2BIT ? b->count * b->feature_stride
                                          : dtype_bytes(b->dtype, b->count * b->feature_stride);
    }
    s.levels = b->levels ? 4 * b->count * (int64_t)sizeof *b->levels : 0;
    s.pointers = b->names ? b->count * (int64_t)sizeof *b->names : 0;
    for (int64_t k = 0; b->names && k < b->count; k++)
        s.names += (int64_t)strlen(b->names[k]) + 1;
    return s;
}

/* Copies `bytes` to *at, which moves on to the next multiple of 64. NULL gives NULL. */
static const void *put(char **at, const void *from, int64_t bytes)
{
    char *to = *at;
    if (!from)
        return NULL;
    memcpy(to, from, (size_t)bytes);
    *at += (bytes + 63) / 64 * 64;
    return to;
}

static void put_names(char **at, roofs_block *own, const block_sizes *s)
{
    const char *const *given = own->names;
    const char **list = (const char **)(void *)*at;
    char *text = *at + s->pointers;
    if (!given)
        return;
    for (int64_t k = 0; k < own->count; k++) {
        const size_t length = strlen(given[k]) + 1;
        memcpy(text, given[k], length);
        list[k] = text;
        text += length;
    }
    own->names = list;
}

roofs_status chunk_add(chunk *c, const roofs_block *block, roofs_error *err)
{
    enum { ARRAYS = 5 };
    const block_sizes s = sizes_of(block);
    const int64_t all =
        s.values + s.starts + s.samples + s.levels + s.pointers + s.names + (int64_t)64 * ARRAYS;
    char *memory;
    TRY(memory_grow(&c->blocks, &c->capacity, c->count + 1, sizeof *c->blocks, "blocks", err));
    TRY(memory_grow(&c->memory, &c->memory_capacity, c->count + 1, sizeof *c->memory, "blocks",
                    err));
    TRY(memory_reserve(&memory, all, 1, "features for several fits", err));
    roofs_block own = *block;
    char *at = memory;
    own.values = put(&at, block->values, s.values);
    own.starts = put(&at, block->starts, s.starts);
    own.samples = put(&at, block->samples, s.samples);
    own.levels = put(&at, block->levels, s.levels);
    put_names(&at, &own, &s);
    c->blocks[c->count] = own;
    c->memory[c->count++] = memory;
    c->bytes += all;
    return ROOFS_OK;
}
