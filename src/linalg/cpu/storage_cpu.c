/* Storage of columns in main memory. Stored dense columns share chunks of buffers, which are
 * allocated when needed and reused. Each stored sparse or packed column has its own allocation.
 * Columns of the caller's block are used in place if they have the storage type or stay packed, and
 * copied otherwise. A sparse column that needs more memory than a dense one is stored as a dense
 * one. */
#include "base/block.h"
#include "base/memory.h"
#include "linalg/cpu/device_cpu.h"

#include <math.h>
#include <string.h>

/* Large enough for huge pages (see base/memory.c). */
static const int64_t CHUNK_BYTES = 64 << 20;

/* Sums over pieces: of a gradient step, in four buffers, or of a sweep. */
enum { PARTIAL_SUMS = 4 * PIECES_MOST * WIDTH_MOST };

/* Upper bound of what the allocator adds to one allocation. */
enum { OVERHEAD = 128 };

/* A copy of a column is divided into so many, for the threads. */
enum { COPY_SHARES = 8 };

/* Bytes of a column of the type of the shape. */
static int64_t column_bytes(const device_shape *shape)
{
    return dtype_bytes(shape->dtype, shape->n);
}

static int64_t packed_bytes(const device_shape *shape, roofs_dtype dtype)
{
    return memory_sum(dtype_bytes(dtype, shape->n), OVERHEAD);
}

static int64_t sparse_bytes(const device_shape *shape, int64_t count)
{
    const int64_t value = dtype_size(shape->dtype);
    return memory_sum(memory_bytes(count, value + (int64_t)sizeof(int32_t)), OVERHEAD);
}

static int is_smaller_sparse(const device_shape *shape, int64_t count)
{
    return sparse_bytes(shape, count) <= column_bytes(shape);
}

static int64_t list_bytes(const device_shape *shape)
{
    const int64_t slot = sizeof(cpu_column) + sizeof(cpu_copy);
    const int64_t any = sizeof(device_column) + sizeof(int64_t) + sizeof(double);
    int64_t lists = memory_bytes(shape->slots + shape->batch, slot + any);
    return memory_sum(lists, memory_bytes(PARTIAL_SUMS, sizeof(double)));
}

int64_t cpu_bytes(const device_shape *shape)
{
    const int sparse = shape->filled > 0 && is_smaller_sparse(shape, shape->filled);
    int64_t each = sparse                          ? sparse_bytes(shape, shape->filled)
                   : dtype_is_packed(shape->dtype) ? packed_bytes(shape, shape->dtype)
                                                   : column_bytes(shape);
    int64_t vectors = memory_bytes(sizeof(double), shape->n);
    int64_t columns = memory_bytes(shape->slots + shape->batch, each);
    return memory_sum(memory_sum(columns, vectors), list_bytes(shape));
}

int64_t cpu_taken(const device *d)
{
    return d->taken;
}

/* Counts bytes before their allocation; fails if they exceed the memory limit. Fits side by side
 * keep about as much, so each counts itself so many times. */
static roofs_status claim_bytes(device *d, int64_t bytes, roofs_error *err)
{
    int64_t needed = memory_sum(memory_sum(d->shape.besides, d->taken), bytes);
    if (d->shape.side_by_side > 1)
        needed = memory_bytes(needed, d->shape.side_by_side);
    TRY(memory_within(needed, d->shape.limit, err));
    d->taken = memory_sum(d->taken, bytes);
    return ROOFS_OK;
}

roofs_status cpu_create_storage(device *d, roofs_error *err)
{
    const int64_t slots = d->shape.slots, batch = d->shape.batch;
    const char *what = "the kept features", *sums = "partial sums";
    TRY(claim_bytes(d, list_bytes(&d->shape), err));
    TRY(memory_reserve(&d->slots, slots, sizeof *d->slots, what, err));
    TRY(memory_reserve(&d->free_buffers, slots, sizeof *d->free_buffers, what, err));
    TRY(memory_reserve(&d->borrowed, batch, sizeof *d->borrowed, "a batch", err));
    TRY(memory_reserve(&d->sorted, slots + batch, sizeof *d->sorted, what, err));
    TRY(memory_reserve(&d->origin, slots + batch, sizeof *d->origin, what, err));
    TRY(memory_reserve(&d->copies, batch, sizeof *d->copies, "a batch", err));
    TRY(memory_reserve(&d->number, slots + batch, sizeof *d->number, what, err));
    return memory_get(&d->partial, PARTIAL_SUMS, sizeof *d->partial, sums, err);
}

/* The column is in a buffer of a chunk; otherwise it has an allocation of its own. */
static int has_buffer(const cpu_column *c)
{
    return !c->samples && !dtype_is_packed(c->dtype);
}

void cpu_destroy_storage(device *d)
{
    for (int64_t k = 0; k < d->chunk_count; k++)
        memory_free(d->chunks[k]);
    for (int64_t k = 0; k < d->slots_seen; k++)
        if (!has_buffer(&d->slots[k]))
            memory_free(d->slots[k].copy);
    void *blocks[] = {d->slots,         d->borrowed,       d->chunks,
                      d->free_buffers,  d->scratch.bytes,  d->byte_scratch.bytes,
                      d->copied_values, d->copied_samples, d->scattered,
                      d->partial,       d->copies,         d->sorted,
                      d->origin,        d->number};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
}

/* ---- stored columns ---------------------------------------------------- */

static int64_t buffers_per_chunk(const device *d)
{
    int64_t fit = CHUNK_BYTES / (column_bytes(&d->shape) + 1);
    return fit < 1 ? 1 : fit;
}

static roofs_status add_chunk(device *d, roofs_error *err)
{
    const char *what = "the kept features";
    int64_t left = d->shape.slots - d->buffers_used, most = buffers_per_chunk(d);
    TRY(memory_grow(&d->chunks, &d->chunk_capacity, d->chunk_count + 1, sizeof *d->chunks, what,
                    err));
    TRY(memory_reserve(&d->chunks[d->chunk_count], left < most ? left : most,
                       (size_t)column_bytes(&d->shape), what, err));
    d->chunk_count++;
    return ROOFS_OK;
}

/* A buffer for one dense column: a free one, or the next unused one. */
static roofs_status find_buffer(device *d, char **buffer, roofs_error *err)
{
    if (d->free_count > 0) {
        *buffer = d->free_buffers[--d->free_count];
        return ROOFS_OK;
    }
    const int64_t chunk = d->buffers_used / buffers_per_chunk(d);
    TRY(claim_bytes(d, column_bytes(&d->shape), err));
    if (chunk == d->chunk_count)
        TRY(add_chunk(d, err));
    *buffer = d->chunks[chunk] + d->buffers_used++ % buffers_per_chunk(d) * column_bytes(&d->shape);
    return ROOFS_OK;
}

/* keep_dense and keep_packed: the caller copies the values. */
static roofs_status keep_dense(device *d, const cpu_column *from, cpu_column *to, roofs_error *err)
{
    TRY(find_buffer(d, &to->copy, err));
    to->values = to->copy;
    to->count = from->count;
    to->dtype = from->dtype;
    return ROOFS_OK;
}

static roofs_status keep_packed(device *d, const cpu_column *from, cpu_column *to, roofs_error *err)
{
    char *block = NULL;
    TRY(claim_bytes(d, packed_bytes(&d->shape, from->dtype), err));
    TRY(memory_reserve(&block, dtype_bytes(from->dtype, from->count), 1, "a kept feature", err));
    *to = *from;
    to->values = to->copy = block;
    return ROOFS_OK;
}

static roofs_status keep_sparse(device *d, const cpu_column *from, cpu_column *to, roofs_error *err)
{
    const size_t values = (size_t)(from->count * d->size);
    const size_t samples = (size_t)from->count * sizeof *from->samples;
    char *block = NULL;
    TRY(claim_bytes(d, sparse_bytes(&d->shape, from->count), err));
    TRY(memory_reserve(&block, (int64_t)(values + samples), 1, "a kept feature", err));
    memcpy(block, from->values, values);
    memcpy(block + values, from->samples, samples);
    *to = (cpu_column){.values = block,
                       .samples = (const int32_t *)(const void *)(block + values),
                       .count = from->count,
                       .copy = block,
                       .dtype = from->dtype};
    return ROOFS_OK;
}

/* Sets the codes of a column whose values are set. */
static void set_codes(cpu_column *c, const double level[4])
{
    const int64_t bytes = dtype_bytes(ROOFS_2BIT, c->count);
    const int64_t rest = bytes < CODES_WORD ? bytes : CODES_WORD;
    c->codes = (column_codes){.last = {0}};
    memcpy(c->codes.level, level, sizeof c->codes.level);
    memcpy(c->codes.last, (const char *)c->values + bytes - rest, (size_t)rest);
}

static roofs_status keep_column(device *d, const cpu_column *from, int64_t slot, roofs_error *err)
{
    while (d->slots_seen <= slot)
        d->slots[d->slots_seen++] = (cpu_column){0};
    return (from->samples                  ? keep_sparse
            : dtype_is_packed(from->dtype) ? keep_packed
                                           : keep_dense)(d, from, &d->slots[slot], err);
}

/* cpu_complete copies the values of columns that are not sparse. */
roofs_status cpu_keep(device *d, int64_t k, int64_t slot, roofs_error *err)
{
    const cpu_column *from = &d->borrowed[k];
    TRY(keep_column(d, from, slot, err));
    if (!from->samples)
        d->copies[d->copy_count++] =
            (cpu_copy){from->values, d->slots[slot].copy, dtype_bytes(from->dtype, from->count)};
    return ROOFS_OK;
}

/* Threads divide the values: the first use of memory, which takes longest, is divided too. */
static void copy_thread(void *user, int me, int team)
{
    const device *d = user;
    const workers_range own = workers_share(d->copy_count * COPY_SHARES, me, team);
    for (int64_t k = own.begin; k < own.end; k++) {
        const cpu_copy *c = &d->copies[k / COPY_SHARES];
        const workers_range bytes = workers_share(c->bytes, (int)(k % COPY_SHARES), COPY_SHARES);
        memcpy(c->to + bytes.begin, (const char *)c->from + bytes.begin,
               (size_t)(bytes.end - bytes.begin));
    }
}

void cpu_complete(device *d)
{
    const int64_t count = d->copy_count;
    workers_run(d->workers, count * d->shape.n, count * COPY_SHARES, copy_thread, d);
    d->copy_count = 0;
}

void cpu_release(device *d, int64_t slot)
{
    cpu_column *c = &d->slots[slot];
    if (has_buffer(c)) {
        d->free_buffers[d->free_count++] = c->copy;
    } else {
        memory_free(c->copy);
        d->taken -=
            c->samples ? sparse_bytes(&d->shape, c->count) : packed_bytes(&d->shape, c->dtype);
    }
    *c = (cpu_column){0};
}

/* Allocates the vector that products of sparse columns need. */
static roofs_status reserve_scattered(device *d, roofs_error *err)
{
    if (d->scattered)
        return ROOFS_OK;
    TRY(claim_bytes(d, memory_bytes(sizeof *d->scattered, d->shape.n), err));
    return memory_get(&d->scattered, d->shape.n, sizeof *d->scattered, "partial sums", err);
}

roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err)
{
    const cpu_column *c = &d->slots[slot];
    (void)err;
    *out = (device_values){.dtype = c->dtype,
                           .count = c->count,
                           .values = c->values,
                           .samples = c->samples,
                           .levels = c->codes.level};
    return ROOFS_OK;
}

roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err)
{
    cpu_column from = {.values = column->values,
                       .samples = column->samples,
                       .count = column->count,
                       .dtype = column->dtype};
    if (column->dtype == ROOFS_2BIT)
        set_codes(&from, column->levels);
    if (column->samples)
        TRY(reserve_scattered(d, err));
    TRY(keep_column(d, &from, slot, err));
    if (!column->samples)
        memcpy(d->slots[slot].copy, column->values,
               (size_t)dtype_bytes(column->dtype, column->count));
    return ROOFS_OK;
}

/* ---- the batch --------------------------------------------------------- */

/* The next buffer, of `size` bytes. */
static roofs_status next_scratch(device *d, cpu_scratch *from, int64_t size, char **buffer,
                                 roofs_error *err)
{
    if (from->used == from->most) {
        TRY(claim_bytes(d, size, err));
        from->most++;
    }
    if (!from->bytes)
        TRY(memory_reserve(&from->bytes, d->shape.batch, (size_t)size, "a copy of a batch", err));
    *buffer = from->bytes + from->used++ * size;
    return ROOFS_OK;
}

/* A buffer for a dense copy of a column of the batch. */
static roofs_status find_scratch(device *d, char **buffer, roofs_error *err)
{
    return next_scratch(d, &d->scratch, column_bytes(&d->shape), buffer, err);
}

typedef struct gather_job {
    device *d;
    const roofs_block *block;
} gather_job;

static void gather_thread(void *user, int me, int team)
{
    const gather_job *s = user;
    const workers_range own = workers_share(s->block->count, me, team);
    for (int64_t k = own.begin; k < own.end; k++) {
        cpu_column *c = &s->d->borrowed[k];
        cpu_gather(c->copy, c->dtype, s->block, k);
        c->values = c->copy;
    }
}

static roofs_status borrow_dense(device *d, const roofs_block *block, roofs_error *err)
{
    const int is_packed = d->shape.keeps_packed && dtype_is_packed(block->dtype);
    const roofs_dtype dtype = is_packed ? block->dtype : d->shape.dtype;
    const int in_place = block->sample_stride == 1 && block->dtype == dtype;
    const int64_t stride = block->feature_stride * dtype_size(block->dtype);
    for (int64_t k = 0; k < block->count; k++) {
        cpu_column *c = &d->borrowed[k];
        *c = (cpu_column){.count = block->n, .dtype = dtype};
        c->values = (const char *)block->values + k * stride;
        if (dtype == ROOFS_2BIT)
            set_codes(c, block->levels + 4 * k);
        else if (!in_place && is_packed)
            TRY(next_scratch(d, &d->byte_scratch, d->shape.n, &c->copy, err));
        else if (!in_place)
            TRY(find_scratch(d, &c->copy, err));
    }
    if (in_place)
        return ROOFS_OK;
    gather_job s = {d, block};
    workers_run(d->workers, block->count * block->n, block->count, gather_thread, &s);
    return ROOFS_OK;
}

/* The position, in values, of the copy of sparse column k of the batch. */
static int64_t copy_begin(const device *d, int64_t k)
{
    int64_t at = 0;
    for (int64_t l = 0; l < k; l++)
        at += d->borrowed[l].samples ? d->borrowed[l].count : 0;
    return at;
}

/* Capacity for copies of all sparse columns of the batch. */
static roofs_status reserve_copies(device *d, char **block, int64_t *capacity, int64_t size,
                                   roofs_error *err)
{
    int64_t need = copy_begin(d, d->borrowed_count);
    if (*block && need <= *capacity)
        return ROOFS_OK;
    memory_free(*block);
    *block = NULL;
    d->taken -= *capacity * size;
    *capacity = 0;
    TRY(claim_bytes(d, memory_bytes(need, size), err));
    *capacity = need;
    return memory_reserve(block, need, (size_t)size, "a copy of a batch", err);
}

/* Copies a sparse column that is smaller as a dense one. */
static roofs_status copy_as_dense(device *d, const roofs_block *block, int64_t k, roofs_error *err)
{
    cpu_column *c = &d->borrowed[k];
    TRY(find_scratch(d, &c->copy, err));
    memset(c->copy, 0, (size_t)column_bytes(&d->shape));
    for (int64_t at = block_start(block, k); at < block_start(block, k + 1); at++)
        d->s->copy(c->copy + block_sample(block, at) * d->size, block, at, 1);
    *c = (cpu_column){
        .values = c->copy, .count = block->n, .copy = c->copy, .dtype = d->shape.dtype};
    return ROOFS_OK;
}

/* Points to the columns in the caller's block, but copies those that are smaller as dense ones. */
static roofs_status borrow_in_place(device *d, const roofs_block *block, roofs_error *err)
{
    static const int32_t nothing[1] = {0};
    const int64_t size = dtype_size(block->dtype);
    const int64_t number = block->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    for (int64_t k = 0; k < block->count; k++) {
        int64_t from = block_start(block, k), count = block_start(block, k + 1) - from;
        const char *values = block->values, *samples = block->samples;
        d->borrowed[k] = (cpu_column){
            .values = nothing, .samples = nothing, .count = count, .dtype = d->shape.dtype};
        if (!is_smaller_sparse(&d->shape, count)) {
            TRY(copy_as_dense(d, block, k, err));
        } else if (count > 0) {
            d->borrowed[k].values = values + from * size;
            d->borrowed[k].samples = (const int32_t *)(const void *)(samples + from * number);
        }
    }
    return ROOFS_OK;
}

/* Copies sparse columns to the storage type and 32-bit samples. */
static roofs_status copy_sparse(device *d, const roofs_block *block, roofs_error *err)
{
    int64_t *capacity = d->copied_capacity, to = 0;
    TRY(reserve_copies(d, &d->copied_values, &capacity[0], d->size, err));
    TRY(reserve_copies(d, &d->copied_samples, &capacity[1], sizeof(int32_t), err));
    for (int64_t k = 0; k < block->count; k++) {
        cpu_column *c = &d->borrowed[k];
        int32_t *samples = (int32_t *)(void *)d->copied_samples + to;
        if (!c->samples)
            continue;
        c->copy = d->copied_values + to * d->size;
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
    TRY(reserve_scattered(d, err));
    TRY(borrow_in_place(d, block, err));
    if (block->dtype == d->shape.dtype && block->index == ROOFS_I32)
        return ROOFS_OK;
    return copy_sparse(d, block, err);
}

roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err)
{
    d->borrowed_count = block->count;
    d->borrowed_rescaled = 0;
    d->scratch.used = d->byte_scratch.used = 0;
    d->copy_count = 0;
    return block_is_sparse(block) ? borrow_sparse(d, block, err) : borrow_dense(d, block, err);
}

/* Rescaled columns do not have the values of the block: this device copies the block itself. */
roofs_status cpu_borrow_shared(device *d, const device *other, const roofs_block *block,
                               roofs_error *err)
{
    int sparse = 0;
    if (other->borrowed_rescaled || other->borrowed_count != block->count)
        return cpu_borrow(d, block, err);
    d->borrowed_count = block->count;
    d->borrowed_rescaled = 0;
    d->scratch.used = d->byte_scratch.used = 0;
    for (int64_t k = 0; k < block->count; k++) {
        d->borrowed[k] = other->borrowed[k];
        d->borrowed[k].copy = NULL;
        sparse |= d->borrowed[k].samples != NULL;
    }
    return sparse ? reserve_scattered(d, err) : ROOFS_OK;
}

roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err)
{
    cpu_column *c = &d->borrowed[k];
    d->borrowed_rescaled = 1;
    if (dtype_is_packed(c->dtype)) { /* bytes are never extreme */
        for (int code = 0; code < 4; code++)
            c->codes.level[code] = ldexp(c->codes.level[code], -exponent);
        return ROOFS_OK;
    }
    if (!c->copy && c->samples) {
        TRY(reserve_copies(d, &d->copied_values, &d->copied_capacity[0], d->size, err));
        c->copy = d->copied_values + copy_begin(d, k) * d->size;
    } else if (!c->copy) {
        TRY(find_scratch(d, &c->copy, err));
    }
    cpu_copy_rescaled(c->copy, c->values, d->shape.dtype, exponent, c->count);
    c->values = c->copy;
    return ROOFS_OK;
}
