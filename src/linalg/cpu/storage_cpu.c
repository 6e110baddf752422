/* Where columns lie. Kept dense ones live in chunks of rooms, which are made when needed and
 * used again; each kept sparse one in a block of its own, which goes with it. What the caller
 * lends is used where it lies if it has the right type, and copied otherwise. A sparse column
 * that would take more memory than a dense one becomes one. */
#include "base/memory.h"
#include "linalg/block.h"
#include "linalg/cpu/device_cpu.h"

#include <string.h>

/* Large enough for large pages (see base/memory.c). */
static const int64_t CHUNK_BYTES = 64 << 20;

/* What an allocation takes beyond its bytes. */
enum { OVERHEAD = 128 };

static int64_t column_bytes(const device_shape *shape)
{
    return memory_bytes(shape->n, dtype_size(shape->dtype));
}

static int64_t sparse_bytes(const device_shape *shape, int64_t count)
{
    const int64_t value = dtype_size(shape->dtype);
    return memory_sum(memory_bytes(count, value + (int64_t)sizeof(int32_t)), OVERHEAD);
}

static int worth_sparse(const device_shape *shape, int64_t count)
{
    return sparse_bytes(shape, count) <= column_bytes(shape);
}

static int64_t list_bytes(const device_shape *shape)
{
    const int64_t slot = sizeof(cpu_column) + sizeof(char *);
    const int64_t any = sizeof(device_column) + sizeof(int64_t) + sizeof(double);
    int64_t lists = memory_bytes(shape->slots + shape->batch, slot + any);
    return memory_sum(lists, memory_bytes(cpu_strips(shape->n), sizeof(sweep_sums)));
}

int64_t cpu_bytes(const device_shape *shape)
{
    const int sparse = shape->filled > 0 && worth_sparse(shape, shape->filled);
    int64_t each = sparse ? sparse_bytes(shape, shape->filled) : column_bytes(shape);
    int64_t vectors = memory_bytes((sparse ? 1 : SHEAVES + 1) * (int64_t)sizeof(double), shape->n);
    int64_t columns = memory_bytes(shape->slots + shape->batch, each);
    return memory_sum(memory_sum(columns, vectors), list_bytes(shape));
}

int64_t cpu_taken(const device *d)
{
    return d->taken;
}

/* Before memory is taken: is there enough left? */
static roofs_status claim(device *d, int64_t bytes, roofs_error *err)
{
    int64_t needed = memory_sum(memory_sum(d->shape.besides, d->taken), bytes);
    TRY(memory_within(needed, d->shape.limit, err));
    d->taken = memory_sum(d->taken, bytes);
    return ROOFS_OK;
}

roofs_status cpu_make_lists(device *d, roofs_error *err)
{
    const int64_t slots = d->shape.slots, batch = d->shape.batch;
    const char *kept = "the kept features", *sums = "partial sums";
    TRY(claim(d, list_bytes(&d->shape), err));
    TRY(memory_reserve(&d->slots, slots, sizeof *d->slots, kept, err));
    TRY(memory_reserve(&d->free_rooms, slots, sizeof *d->free_rooms, kept, err));
    TRY(memory_reserve(&d->borrowed, batch, sizeof *d->borrowed, "a batch", err));
    TRY(memory_reserve(&d->sorted, slots + batch, sizeof *d->sorted, kept, err));
    TRY(memory_reserve(&d->origin, slots + batch, sizeof *d->origin, kept, err));
    TRY(memory_reserve(&d->number, slots + batch, sizeof *d->number, kept, err));
    return memory_get(&d->partial, cpu_strips(d->shape.n), sizeof *d->partial, sums, err);
}

void cpu_free_storage(device *d)
{
    for (int64_t k = 0; k < d->chunk_count; k++)
        memory_free(d->chunks[k]);
    for (int64_t k = 0; k < d->slots_seen; k++)
        if (d->slots[k].samples)
            memory_free(d->slots[k].copy);
    void *blocks[] = {d->slots,        d->borrowed,      d->chunks, d->free_rooms, d->scratch,
                      d->loose_values, d->loose_samples, d->images, d->spread,     d->partial,
                      d->sorted,       d->origin,        d->number};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
}

/* ---- kept columns ------------------------------------------------------ */

static int64_t rooms_per_chunk(const device *d)
{
    int64_t fit = CHUNK_BYTES / (column_bytes(&d->shape) + 1);
    return fit < 1 ? 1 : fit;
}

static roofs_status add_chunk(device *d, roofs_error *err)
{
    const char *what = "the kept features";
    int64_t left = d->shape.slots - d->rooms_used, most = rooms_per_chunk(d);
    TRY(memory_grow(&d->chunks, &d->chunk_capacity, d->chunk_count + 1, sizeof *d->chunks, what,
                    err));
    TRY(memory_reserve(&d->chunks[d->chunk_count], left < most ? left : most,
                       (size_t)column_bytes(&d->shape), what, err));
    d->chunk_count++;
    return ROOFS_OK;
}

/* Room for one dense column: a free one, or the next that was never used. */
static roofs_status find_room(device *d, char **room, roofs_error *err)
{
    if (d->free_count > 0) {
        *room = d->free_rooms[--d->free_count];
        return ROOFS_OK;
    }
    const int64_t chunk = d->rooms_used / rooms_per_chunk(d);
    TRY(claim(d, column_bytes(&d->shape), err));
    if (chunk == d->chunk_count)
        TRY(add_chunk(d, err));
    *room = d->chunks[chunk] + d->rooms_used++ % rooms_per_chunk(d) * column_bytes(&d->shape);
    return ROOFS_OK;
}

static roofs_status keep_dense(device *d, const cpu_column *from, cpu_column *to, roofs_error *err)
{
    TRY(find_room(d, &to->copy, err));
    memcpy(to->copy, from->values, (size_t)column_bytes(&d->shape));
    to->values = to->copy;
    to->count = from->count;
    return ROOFS_OK;
}

static roofs_status keep_sparse(device *d, const cpu_column *from, cpu_column *to, roofs_error *err)
{
    const size_t values = (size_t)(from->count * d->k->size);
    const size_t samples = (size_t)from->count * sizeof *from->samples;
    char *block = NULL;
    TRY(claim(d, sparse_bytes(&d->shape, from->count), err));
    TRY(memory_reserve(&block, (int64_t)(values + samples), 1, "a kept feature", err));
    memcpy(block, from->values, values);
    memcpy(block + values, from->samples, samples);
    *to = (cpu_column){.values = block,
                       .samples = (const int32_t *)(const void *)(block + values),
                       .count = from->count,
                       .copy = block};
    return ROOFS_OK;
}

static roofs_status keep_column(device *d, const cpu_column *from, int64_t slot, roofs_error *err)
{
    while (d->slots_seen <= slot)
        d->slots[d->slots_seen++] = (cpu_column){0};
    return (from->samples ? keep_sparse : keep_dense)(d, from, &d->slots[slot], err);
}

roofs_status cpu_keep(device *d, int64_t k, int64_t slot, roofs_error *err)
{
    return keep_column(d, &d->borrowed[k], slot, err);
}

void cpu_release(device *d, int64_t slot)
{
    cpu_column *c = &d->slots[slot];
    if (c->samples) {
        memory_free(c->copy);
        d->taken -= sparse_bytes(&d->shape, c->count);
    } else {
        d->free_rooms[d->free_count++] = c->copy;
    }
    *c = (cpu_column){0};
}

/* What products on dense columns need, and on sparse ones. */
static roofs_status need_images(device *d, roofs_error *err)
{
    if (d->images)
        return ROOFS_OK;
    TRY(claim(d, memory_bytes(SHEAVES * (int64_t)sizeof *d->images, d->shape.n), err));
    return memory_get(&d->images, SHEAVES * d->shape.n, sizeof *d->images, "partial sums", err);
}

static roofs_status need_spread(device *d, roofs_error *err)
{
    if (d->spread)
        return ROOFS_OK;
    TRY(claim(d, memory_bytes(d->shape.n, sizeof *d->spread), err));
    return memory_get(&d->spread, d->shape.n, sizeof *d->spread, "partial sums", err);
}

roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err)
{
    const cpu_column *c = &d->slots[slot];
    (void)err;
    *out = (device_values){
        .dtype = d->shape.dtype, .count = c->count, .values = c->values, .samples = c->samples};
    return ROOFS_OK;
}

roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err)
{
    const cpu_column from = {
        .values = column->values, .samples = column->samples, .count = column->count};
    TRY(column->samples ? need_spread(d, err) : need_images(d, err));
    return keep_column(d, &from, slot, err);
}

/* ---- the batch --------------------------------------------------------- */

/* A room for a dense copy of a column of the batch. */
static roofs_status find_scratch(device *d, char **room, roofs_error *err)
{
    if (d->scratch_used == d->scratch_most) {
        TRY(claim(d, column_bytes(&d->shape), err));
        d->scratch_most++;
    }
    if (!d->scratch)
        TRY(memory_reserve(&d->scratch, d->shape.batch, (size_t)column_bytes(&d->shape),
                           "a copy of a batch", err));
    *room = d->scratch + d->scratch_used++ * column_bytes(&d->shape);
    return ROOFS_OK;
}

static roofs_status borrow_dense(device *d, const roofs_block *block, roofs_error *err)
{
    const int64_t size = dtype_size(block->dtype);
    const int in_place = block->sample_stride == 1 && block->dtype == d->shape.dtype;
    TRY(need_images(d, err));
    for (int64_t k = 0; k < block->count; k++) {
        cpu_column *c = &d->borrowed[k];
        *c = (cpu_column){.count = block->n};
        c->values = (const char *)block->values + k * block->feature_stride * size;
        if (!in_place)
            TRY(find_scratch(d, &c->copy, err));
    }
    if (in_place)
        return ROOFS_OK;
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, block->count))
    for (int64_t k = 0; k < block->count; k++) {
        cpu_column *c = &d->borrowed[k];
        d->k->gather(c->copy, c->values, block->dtype, block->sample_stride, block->n);
        c->values = c->copy;
    }
    return ROOFS_OK;
}

/* Where the copy of sparse column k of the batch begins. */
static int64_t loose_at(const device *d, int64_t k)
{
    int64_t at = 0;
    for (int64_t l = 0; l < k; l++)
        at += d->borrowed[l].samples ? d->borrowed[l].count : 0;
    return at;
}

/* Room for copies of all sparse columns of the batch. */
static roofs_status need_loose(device *d, char **block, int64_t *capacity, int64_t size,
                               roofs_error *err)
{
    int64_t need = loose_at(d, d->borrowed_count);
    if (*block && need <= *capacity)
        return ROOFS_OK;
    memory_free(*block);
    *block = NULL;
    d->taken -= *capacity * size;
    *capacity = 0;
    TRY(claim(d, memory_bytes(need, size), err));
    *capacity = need;
    return memory_reserve(block, need, (size_t)size, "a copy of a batch", err);
}

/* A sparse column that would be smaller as a dense one. */
static roofs_status fill_in(device *d, const roofs_block *block, int64_t k, roofs_error *err)
{
    cpu_column *c = &d->borrowed[k];
    TRY(need_images(d, err));
    TRY(find_scratch(d, &c->copy, err));
    memset(c->copy, 0, (size_t)column_bytes(&d->shape));
    for (int64_t at = block_start(block, k); at < block_start(block, k + 1); at++)
        d->s->copy(c->copy + block_sample(block, at) * d->k->size, block, at, 1);
    *c = (cpu_column){.values = c->copy, .count = block->n, .copy = c->copy};
    return ROOFS_OK;
}

/* Sparse columns where they lie; full ones as dense copies. */
static roofs_status lay_columns(device *d, const roofs_block *block, roofs_error *err)
{
    static const int32_t nothing[1] = {0};
    const int64_t size = dtype_size(block->dtype);
    const int64_t number = block->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    for (int64_t k = 0; k < block->count; k++) {
        int64_t from = block_start(block, k), count = block_start(block, k + 1) - from;
        const char *values = block->values, *samples = block->samples;
        d->borrowed[k] = (cpu_column){.values = nothing, .samples = nothing, .count = count};
        if (!worth_sparse(&d->shape, count)) {
            TRY(fill_in(d, block, k, err));
        } else if (count > 0) {
            d->borrowed[k].values = values + from * size;
            d->borrowed[k].samples = (const int32_t *)(const void *)(samples + from * number);
        }
    }
    return ROOFS_OK;
}

static roofs_status copy_columns(device *d, const roofs_block *block, roofs_error *err)
{
    int64_t *capacity = d->loose_capacity, to = 0;
    TRY(need_loose(d, &d->loose_values, &capacity[0], d->k->size, err));
    TRY(need_loose(d, &d->loose_samples, &capacity[1], sizeof(int32_t), err));
    for (int64_t k = 0; k < block->count; k++) {
        cpu_column *c = &d->borrowed[k];
        int32_t *samples = (int32_t *)(void *)d->loose_samples + to;
        if (!c->samples)
            continue;
        c->copy = d->loose_values + to * d->k->size;
        d->s->copy(c->copy, block, block_start(block, k), c->count);
        for (int64_t l = 0; l < c->count; l++)
            samples[l] = (int32_t)block_sample(block, block_start(block, k) + l);
        c->values = c->copy;
        c->samples = samples;
        to += c->count;
    }
    return ROOFS_OK;
}

static roofs_status borrow_sparse(device *d, const roofs_block *block, roofs_error *err)
{
    TRY(need_spread(d, err));
    TRY(lay_columns(d, block, err));
    if (block->dtype == d->shape.dtype && block->index == ROOFS_I32)
        return ROOFS_OK;
    return copy_columns(d, block, err);
}

roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    d->borrowed_count = block->count;
    d->scratch_used = 0;
    return block_is_sparse(block) ? borrow_sparse(d, block, err) : borrow_dense(d, block, err);
}

roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    cpu_column *c = &d->borrowed[k];
    if (!c->copy && c->samples) {
        TRY(need_loose(d, &d->loose_values, &d->loose_capacity[0], d->k->size, err));
        c->copy = d->loose_values + loose_at(d, k) * d->k->size;
    } else if (!c->copy) {
        TRY(find_scratch(d, &c->copy, err));
    }
    d->k->rescale(c->copy, c->values, exponent, c->count);
    c->values = c->copy;
    return ROOFS_OK;
}
