#include "base/block.h"

#include "base/memory.h"
#include "base/sized.h"

#include <math.h>
#include <stdio.h>

block_range block_values(const roofs_block *b, int64_t k)
{
    const int64_t codes = b->dtype == ROOFS_2BIT ? 4 : 1; /* of a byte */
    if (!block_is_sparse(b))
        return (block_range){k * b->feature_stride * codes, b->sample_stride, b->n};
    return (block_range){block_start(b, k), 1, block_start(b, k + 1) - block_start(b, k)};
}

double block_at(const roofs_block *b, int64_t k, int64_t sample)
{
    if (b->dtype == ROOFS_2BIT)
        return b
            ->levels[4 * k + block_code((const char *)b->values + k * b->feature_stride, sample)];
    if (!block_is_sparse(b))
        return block_value(b, k * b->feature_stride + sample * b->sample_stride);
    int64_t at = block_start(b, k), end = block_start(b, k + 1);
    while (at < end && block_sample(b, at) < sample)
        at++;
    return at < end && block_sample(b, at) == sample ? block_value(b, at) : 0;
}

roofs_block block_slice(const roofs_block *b, int64_t first, int64_t count)
{
    const int64_t value = dtype_size(b->dtype);
    const int64_t number = b->index == ROOFS_I32 ? sizeof(int32_t) : sizeof(int64_t);
    roofs_block slice = *b;
    slice.count = count;
    slice.names = b->names ? b->names + first : NULL;
    slice.levels = b->levels ? b->levels + 4 * first : NULL;
    if (block_is_sparse(b))
        slice.starts = (const char *)b->starts + first * number;
    else
        slice.values = (const char *)b->values + first * b->feature_stride * value;
    return slice;
}

/* ---- checks ------------------------------------------------------------ */

roofs_status block_import(const roofs_block *given, roofs_block *own, roofs_error *err)
{
    static const sized_type type = {.name = "roofs_block",
                                    .size = sizeof *own,
                                    .first = offsetof(roofs_block, index) + sizeof(roofs_index)};
    *own = (roofs_block){0};
    TRY(sized_import(&type, own, given, given->struct_size ? given->struct_size : type.first, err));
    for (int64_t k = 0; own->names && k < own->count; k++)
        if (!own->names[k])
            return fail(err, ROOFS_BAD_CALL, "names[%lld] of the block must not be NULL",
                        (long long)k);
    return ROOFS_OK;
}

static roofs_status check_sparse(const roofs_block *b, roofs_error *err)
{
    if (b->index != ROOFS_I64 && b->index != ROOFS_I32)
        return fail(err, ROOFS_BAD_DATA,
                    "a sparse block has indices of unknown type %d; use ROOFS_I64 or ROOFS_I32",
                    (int)b->index);
    if (b->n > INT32_MAX)
        return fail(
            err, ROOFS_BAD_DATA,
            "a sparse block has %lld samples, but at most %d are possible; pass the features "
            "as a dense block",
            (long long)b->n, INT32_MAX);
    int empty = b->count <= 0 || block_start(b, 0) == block_start(b, b->count);
    if (!empty && (!b->values || !b->samples))
        return fail(err, ROOFS_BAD_DATA, "a sparse block has %lld features without %s",
                    (long long)b->count, b->values ? "the samples of its values" : "values");
    return ROOFS_OK;
}

static roofs_status check_levels(const roofs_block *b, roofs_error *err)
{
    if (b->count > 0 && !b->levels)
        return fail(err, ROOFS_BAD_DATA,
                    "a block of type ROOFS_2BIT has no levels; set four for each feature, and "
                    "struct_size");
    for (int64_t k = 0; k < 4 * b->count; k++)
        if (!isfinite(b->levels[k]))
            return fail(err, ROOFS_BAD_DATA,
                        "levels[%lld] of a block is not a finite number; the level of a missing "
                        "value can be the mean of the feature",
                        (long long)k);
    return ROOFS_OK;
}

static roofs_status check_codes(const roofs_block *b, roofs_error *err)
{
    if (block_is_sparse(b))
        return fail(err, ROOFS_BAD_DATA,
                    "a block of type ROOFS_2BIT cannot be sparse; use another type, or no starts");
    if (b->sample_stride != 1)
        return fail(err, ROOFS_BAD_DATA,
                    "a block of type ROOFS_2BIT has sample_stride %lld; it must be 1",
                    (long long)b->sample_stride);
    if (b->count > 1 && b->feature_stride < dtype_bytes(ROOFS_2BIT, b->n))
        return fail(err, ROOFS_BAD_DATA,
                    "a block of type ROOFS_2BIT has feature_stride %lld, but a feature of %lld "
                    "samples takes %lld bytes",
                    (long long)b->feature_stride, (long long)b->n,
                    (long long)dtype_bytes(ROOFS_2BIT, b->n));
    return check_levels(b, err);
}

static roofs_status check_type(const roofs_block *b, roofs_error *err)
{
    if ((int)b->dtype < ROOFS_F64 || (int)b->dtype > ROOFS_2BIT)
        return fail(err, ROOFS_BAD_DATA,
                    "a block has values of unknown type %d; use ROOFS_F64, ROOFS_F32, ROOFS_I8, "
                    "ROOFS_U8 or ROOFS_2BIT",
                    (int)b->dtype);
    if (b->dtype == ROOFS_2BIT)
        return check_codes(b, err);
    if (b->levels)
        return fail(err, ROOFS_BAD_DATA,
                    "a block has levels, but its type is not ROOFS_2BIT; set levels to NULL");
    return ROOFS_OK;
}

roofs_status block_check(const roofs_block *b, roofs_error *err)
{
    TRY(check_type(b, err));
    if (b->count < 0 || (b->count > 0 && !block_is_sparse(b) && !b->values))
        return fail(err, ROOFS_BAD_DATA, "a block has %lld features without values",
                    (long long)b->count);
    return block_is_sparse(b) ? check_sparse(b, err) : ROOFS_OK;
}

feature_text block_label(const roofs_block *b, int64_t k, int64_t first)
{
    const char *name = b->names ? b->names[k] : NULL;
    feature_text out;
    snprintf(out.text, sizeof out.text, "%lld%s%s%s", (long long)(first + k), name ? " (" : "",
             name ? name : "", name ? ")" : "");
    return out;
}

static roofs_status bad_sample(const roofs_block *b, int64_t k, int64_t first, int64_t at,
                               roofs_error *err)
{
    const long long sample = block_sample(b, at), place = at - block_start(b, k);
    const feature_text who = block_label(b, k, first);
    if (sample < 0 || sample >= b->n)
        fail(
            err, ROOFS_BAD_DATA,
            "feature %s: its value %lld (counted from 0) belongs to sample %lld, but the block has "
            "%lld samples, counted from 0",
            who.text, place, sample, (long long)b->n);
    else
        fail(err, ROOFS_BAD_DATA,
             "feature %s: its value %lld (counted from 0) belongs to sample %lld, the one before "
             "to sample %lld; samples must ascend without repetition (sort, add up duplicates)",
             who.text, place, sample, (long long)block_sample(b, at - 1));
    return blame(err, first + k, ROOFS_BAD_DATA);
}

/* Call before reading a sample: samples between wrong starts may be outside of the arrays. */
static roofs_status check_starts(const roofs_block *b, int64_t first, roofs_error *err)
{
    for (int64_t k = 0; k < b->count; k++) {
        int64_t begin = block_start(b, k), end = block_start(b, k + 1);
        if (begin >= 0 && begin <= end && end - begin <= b->n)
            continue;
        fail(
            err, ROOFS_BAD_DATA,
            "feature %s: its values start at %lld and end at %lld; starts must not decrease, and a "
            "feature has at most %lld values, one per sample",
            block_label(b, k, first).text, (long long)begin, (long long)end, (long long)b->n);
        return blame(err, first + k, ROOFS_BAD_DATA);
    }
    return ROOFS_OK;
}

roofs_status block_check_pattern(const roofs_block *b, int64_t first, roofs_error *err)
{
    TRY(check_starts(b, first, err));
    for (int64_t k = 0; k < b->count; k++) {
        int64_t before = -1, end = block_start(b, k + 1);
        for (int64_t at = block_start(b, k); at < end; at++) {
            int64_t sample = block_sample(b, at);
            if (sample <= before || sample >= b->n)
                return bad_sample(b, k, first, at, err);
            before = sample;
        }
    }
    return ROOFS_OK;
}
