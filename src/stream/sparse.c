#include "stream/sparse.h"
#include "base/block.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void sparse_clear(sparse *s)
{
    s->count = 0;
    if (s->starts)
        s->starts[0] = s->starts[1] = 0;
}

void sparse_free(sparse *s)
{
    memory_free(s->starts);
    memory_free(s->samples);
    memory_free(s->values);
    *s = (sparse){0};
}

int64_t sparse_entries(const sparse *s)
{
    return s->starts ? s->starts[s->count] : 0;
}

/* ---- growing ----------------------------------------------------------- */

/* starts[count + 1] is the end of the current feature. */
static roofs_status reserve_starts(sparse *s, int64_t features, roofs_error *err)
{
    return memory_grow(&s->starts, &s->start_capacity, s->count + features + 2, sizeof *s->starts,
                       "sparse features", err);
}

roofs_status sparse_reserve(sparse *s, int64_t features, int64_t entries, roofs_error *err)
{
    TRY(reserve_starts(s, features, err));
    int64_t need = s->starts[s->count + 1] + entries;
    TRY(memory_grow_raw(&s->samples, &s->sample_capacity, need, sizeof *s->samples,
                        "sparse features", err));
    return memory_grow_raw(&s->values, &s->value_capacity, need, sizeof *s->values,
                           "sparse features", err);
}

roofs_status sparse_add(sparse *s, int64_t sample, double value, roofs_error *err)
{
    if (!s->starts || s->starts[s->count + 1] == s->sample_capacity ||
        s->starts[s->count + 1] == s->value_capacity)
        TRY(sparse_reserve(s, 0, 1, err));
    int64_t place = s->starts[s->count + 1]++;
    s->samples[place] = sample;
    s->values[place] = value;
    return ROOFS_OK;
}

/* ---- order ------------------------------------------------------------- */

typedef struct entry {
    int64_t sample;
    double value;
} entry;

static int by_sample(const void *left, const void *right)
{
    int64_t a = ((const entry *)left)->sample, b = ((const entry *)right)->sample;
    return (a > b) - (a < b);
}

static roofs_status sort_entries(int64_t *samples, double *values, int64_t count, roofs_error *err)
{
    entry *entries;
    TRY(memory_reserve(&entries, count, sizeof *entries, "sorting a sparse feature", err));
    for (int64_t k = 0; k < count; k++)
        entries[k] = (entry){samples[k], values[k]};
    qsort(entries, (size_t)count, sizeof *entries, by_sample);
    for (int64_t k = 0; k < count; k++) {
        samples[k] = entries[k].sample;
        values[k] = entries[k].value;
    }
    memory_free(entries);
    return ROOFS_OK;
}

/* The first entry whose sample is not larger than the one before; `count` if none. */
static int64_t first_disorder(const int64_t *samples, int64_t count)
{
    int64_t k = 1;
    while (k < count && samples[k - 1] < samples[k])
        k++;
    return k < count ? k : count;
}

static roofs_status put_in_order(int64_t *samples, double *values, int64_t count, roofs_error *err)
{
    if (first_disorder(samples, count) == count)
        return ROOFS_OK;
    TRY(sort_entries(samples, values, count, err));
    int64_t twice = first_disorder(samples, count);
    if (twice == count)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "sample %lld (counted from 0) has two values for one feature",
                (long long)samples[twice]);
}

roofs_status sparse_end_feature(sparse *s, roofs_error *err)
{
    TRY(reserve_starts(s, 1, err));
    int64_t start = s->starts[s->count], count = s->starts[s->count + 1] - start;
    if (count > 1 && s->samples)
        TRY(put_in_order(s->samples + start, s->values + start, count, err));
    s->count++;
    s->starts[s->count + 1] = s->starts[s->count];
    return ROOFS_OK;
}

/* ---- blocks ------------------------------------------------------------ */

roofs_status sparse_append(sparse *s, const roofs_block *block, roofs_error *err)
{
    s->n = block->n;
    for (int64_t k = 0; k < block->count; k++) {
        const block_range values = block_values(block, k);
        for (int64_t i = 0, at = values.first; i < values.count; i++, at += values.step) {
            const double value = block_value(block, at);
            if (value != 0.0 || block_is_sparse(block))
                TRY(sparse_add(s, block_sample_of(block, at, i), value, err));
        }
        TRY(sparse_end_feature(s, err));
    }
    return ROOFS_OK;
}

void sparse_view(const sparse *s, int64_t first, int64_t count, roofs_block *block)
{
    *block = (roofs_block){.count = count,
                           .n = s->n,
                           .dtype = ROOFS_F64,
                           .values = s->values,
                           .starts = s->starts + first,
                           .samples = s->samples,
                           .index = ROOFS_I64};
}

void sparse_spread(const sparse *s, int64_t k, double *values)
{
    memset(values, 0, (size_t)s->n * sizeof *values);
    for (int64_t at = s->starts[k]; at < s->starts[k + 1]; at++)
        values[s->samples[at]] = s->values[at];
}

/* ---- choosing ---------------------------------------------------------- */

roofs_status sparse_choose_features(const sparse *s, const int64_t *chosen, int64_t count,
                                    sparse *out, roofs_error *err)
{
    out->n = s->n;
    for (int64_t j = 0; j < count; j++) {
        roofs_block one;
        sparse_view(s, chosen[j], 1, &one);
        TRY(sparse_append(out, &one, err));
    }
    return ROOFS_OK;
}

static roofs_status move_samples(const sparse *s, const int64_t *place, sparse *out,
                                 roofs_error *err)
{
    for (int64_t k = 0; k < s->count; k++) {
        for (int64_t at = s->starts[k]; at < s->starts[k + 1]; at++)
            if (place[s->samples[at]] >= 0)
                TRY(sparse_add(out, place[s->samples[at]], s->values[at], err));
        TRY(sparse_end_feature(out, err));
    }
    return ROOFS_OK;
}

roofs_status sparse_choose_samples(const sparse *s, const int64_t *chosen, int64_t count,
                                   sparse *out, roofs_error *err)
{
    int64_t *place; /* new index of every sample; -1 = left out */
    TRY(memory_reserve(&place, s->n, sizeof *place, "a choice of samples", err));
    for (int64_t i = 0; i < s->n; i++)
        place[i] = -1;
    for (int64_t i = 0; i < count; i++)
        place[chosen[i]] = i;
    out->n = count;
    roofs_status status = move_samples(s, place, out, err);
    memory_free(place);
    return status;
}
