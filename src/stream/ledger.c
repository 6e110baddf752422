#include "stream/ledger.h"

#include "base/block.h"
#include "base/memory.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void ledger_free(ledger *l)
{
    for (int64_t k = 0; k < l->count; k++)
        memory_free(l->files[k].path);
    memory_free(l->files);
    memory_free(l->values);
    memory_free(l->places);
    memory_free(l->from);
    *l = (ledger){0};
}

roofs_status ledger_append(ledger *l, const char *path, roofs_error *err)
{
    TRY(memory_grow(&l->files, &l->capacity, l->count + 1, sizeof *l->files, "a list of files",
                    err));
    l->files[l->count] = (ledger_file){0};
    TRY(memory_copy_text(&l->files[l->count].path, path, err));
    l->count++;
    return ROOFS_OK;
}

/* ---- digests ----------------------------------------------------------- */

/* Collects the nonzero values of feature k and their samples; returns their number. */
static int64_t collect(ledger *l, const roofs_block *b, int64_t k)
{
    const block_range values = block_values(b, k);
    int64_t used = 0;
    for (int64_t i = 0, at = values.first; i < values.count; i++, at += values.step) {
        l->values[used] = block_value(b, at);
        l->places[used] = block_sample_of(b, at, i);
        used += l->values[used] != 0;
    }
    return used;
}

/* Genotypes are always read as codes: their digest need not equal that of other types. */
static uint64_t digest_of_codes(const roofs_block *b, int64_t k, uint64_t seed)
{
    const char *codes = (const char *)b->values + k * b->feature_stride;
    const uint64_t values = XXH3_64bits_withSeed(b->levels + 4 * k, 4 * sizeof *b->levels, seed);
    return XXH3_64bits_withSeed(codes, (size_t)dtype_bytes(b->dtype, b->n), values);
}

/* The digest of the features before is the seed of the next one. */
static void count_feature(ledger *l, const roofs_block *b, int64_t k, ledger_count *count)
{
    const int has_digest = count->features == 0 || count->digest != 0;
    count->features++;
    if (l->blind || !has_digest)
        return;
    if (b->dtype == ROOFS_2BIT) {
        count->digest = digest_of_codes(b, k, count->digest);
        return;
    }
    const int64_t used = collect(l, b, k);
    count->digest =
        XXH3_64bits_withSeed(l->values, (size_t)used * sizeof *l->values, count->digest);
    if (used < b->n)
        count->digest =
            XXH3_64bits_withSeed(l->places, (size_t)used * sizeof *l->places, count->digest);
}

static roofs_status ledger_reserve(ledger *l, int64_t n, roofs_error *err)
{
    const char *what = "a digest";
    TRY(memory_grow(&l->values, &l->capacities[0], n + 1, sizeof *l->values, what, err));
    return memory_grow(&l->places, &l->capacities[1], n + 1, sizeof *l->places, what, err);
}

/* ---- counting ---------------------------------------------------------- */

static roofs_status end_file(ledger *l, int64_t k, roofs_error *err)
{
    ledger_file *file = &l->files[k];
    if (file->ended)
        return ROOFS_OK;
    file->ended = 1;
    int unknown = file->now.digest == 0 || file->first.digest == 0;
    if (!l->later || (file->now.features == file->first.features &&
                      (unknown || file->now.digest == file->first.digest)))
        return ROOFS_OK;
    return fail(
        err, ROOFS_BAD_DATA,
        "%s has changed since the first pass (%lld features then, %lld now, or other values); "
        "files must not change while they are read several times",
        file->path, (long long)file->first.features, (long long)file->now.features);
}

void ledger_begin(ledger *l, int64_t offset)
{
    l->offset = l->at = offset;
}

roofs_status ledger_locate(ledger *l, const source *s, const roofs_block *block, roofs_error *err)
{
    const int64_t first = source_position(s) - block->count;
    TRY(memory_grow(&l->from, &l->capacities[2], block->count, sizeof *l->from, "a list of files",
                    err));
    for (int64_t k = 0; k < block->count; k++)
        l->from[k] = l->offset + source_file_number(s, first + k);
    l->whole =
        block->count > 0 ? source_file_features(s, l->from[block->count - 1] - l->offset) : -1;
    return ROOFS_OK;
}

roofs_status ledger_add(ledger *l, const roofs_block *block, roofs_error *err)
{
    TRY(ledger_reserve(l, block->n, err));
    for (int64_t k = 0; k < block->count; k++) {
        for (; l->at < l->from[k]; l->at++)
            TRY(end_file(l, l->at, err));
        count_feature(l, block, k, &l->files[l->from[k]].now);
    }
    if (l->files[l->at].now.features == l->whole)
        TRY(end_file(l, l->at, err));
    return ROOFS_OK;
}

roofs_status ledger_end_pass(ledger *l, roofs_error *err)
{
    for (int64_t k = 0; k < l->count; k++)
        TRY(end_file(l, k, err));
    return ROOFS_OK;
}

void ledger_next_pass(ledger *l)
{
    for (int64_t k = 0; k < l->count; k++) {
        ledger_file *file = &l->files[k];
        if (!l->later)
            file->first = file->now;
        file->now = (ledger_count){0};
        file->ended = 0;
    }
    l->later = 1;
    ledger_begin(l, 0);
}

/* ---- checking ---------------------------------------------------------- */

roofs_status ledger_verify(ledger *l, int64_t k, source *s, int64_t most, roofs_error *err)
{
    const ledger_file *file = &l->files[k];
    ledger_count again = {0};
    while (again.features < file->now.features) {
        int64_t left = file->now.features - again.features;
        roofs_block block;
        TRY(source_next(s, left < most ? left : most, &block, err));
        TRY(ledger_reserve(l, block.n, err));
        for (int64_t j = 0; j < block.count; j++)
            count_feature(l, &block, j, &again);
        if (block.count == 0)
            return fail(err, ROOFS_BAD_DATA,
                        "%s has %lld features, but %lld were read from it before the checkpoint",
                        file->path, (long long)again.features, (long long)file->now.features);
    }
    if (again.digest == file->now.digest || file->now.digest == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: features 0 to %lld differ from those that were read before the checkpoint",
                file->path, (long long)file->now.features - 1);
}

/* ---- transfer ---------------------------------------------------------- */

static void count_transfer(ledger_count *count, archive *a)
{
    archive_i64(a, &count->features, 0, ARCHIVE_MOST);
    archive_bytes(a, &count->digest, sizeof count->digest);
}

static void file_transfer(ledger_file *file, archive *a)
{
    count_transfer(&file->now, a);
    count_transfer(&file->first, a);
    archive_int(a, &file->ended, 0, 1);
}

void ledger_transfer(ledger *l, archive *a)
{
    int64_t count = l->count;
    archive_int(a, &l->later, 0, 1);
    archive_count(a, &count, INT64_MAX, 6 * sizeof(int64_t));
    for (int64_t k = 0; k < count && a->status == ROOFS_OK; k++) {
        const char *path = a->loading ? NULL : l->files[k].path;
        archive_text(a, &path);
        if (a->loading && !path)
            archive_refuse(a, "a file has no name");
        if (a->loading && a->status == ROOFS_OK)
            a->status = ledger_append(l, path, a->err);
        if (a->status == ROOFS_OK)
            file_transfer(&l->files[k], a);
    }
}
