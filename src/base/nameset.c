#include "base/nameset.h"

#include "base/memory.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static name_digest nameset_digest(const char *name)
{
    XXH128_hash_t hash = XXH3_128bits(name, strlen(name));
    return (name_digest){.low = hash.low64, .high = hash.high64 | 1}; /* never an empty slot */
}

/* The slot of the digest, or the empty slot where it belongs. */
static name_digest *nameset_find(name_digest *table, int64_t capacity, name_digest wanted)
{
    uint64_t mask = (uint64_t)capacity - 1;
    uint64_t at = wanted.low & mask;
    while (table[at].high && (table[at].low != wanted.low || table[at].high != wanted.high))
        at = (at + 1) & mask;
    return &table[at];
}

roofs_status nameset_reserve(nameset *s, int64_t more, roofs_error *err)
{
    int64_t need = memory_bytes(memory_sum(s->count, more), 2);
    int64_t capacity = s->capacity ? s->capacity : 64;
    name_digest *table = NULL;
    if (need <= s->capacity)
        return ROOFS_OK;
    while (capacity < need && capacity < INT64_MAX / 4)
        capacity *= 2;
    TRY(memory_get(&table, capacity, sizeof *table, "feature names", err));
    for (int64_t i = 0; i < s->capacity; i++)
        if (s->table[i].high)
            *nameset_find(table, capacity, s->table[i]) = s->table[i];
    memory_free(s->table);
    s->table = table;
    s->capacity = capacity;
    return ROOFS_OK;
}

roofs_status nameset_add(nameset *s, const char *name, int *fresh, roofs_error *err)
{
    TRY(nameset_reserve(s, 1, err));
    name_digest wanted = nameset_digest(name);
    name_digest *place = nameset_find(s->table, s->capacity, wanted);
    *fresh = place->high == 0;
    if (*fresh) {
        *place = wanted;
        s->count++;
    }
    return ROOFS_OK;
}

/* No other name depends on the slot of the last one, so it can be emptied. */
void nameset_remove_last(nameset *s, const char *name)
{
    *nameset_find(s->table, s->capacity, nameset_digest(name)) = (name_digest){0};
    s->count--;
}

static void nameset_load(nameset *s, int64_t count, archive *a)
{
    nameset_clear(s);
    if (count == 0 || a->status != ROOFS_OK)
        return;
    a->status = nameset_reserve(s, count, a->err);
    for (int64_t k = 0; k < count && a->status == ROOFS_OK; k++) {
        name_digest digest = {0};
        archive_bytes(a, &digest, sizeof digest);
        digest.high |= 1;
        *nameset_find(s->table, s->capacity, digest) = digest;
        s->count++;
    }
}

void nameset_transfer(nameset *s, archive *a)
{
    int64_t count = s->count;
    archive_count(a, &count, INT64_MAX, sizeof(name_digest));
    if (a->loading)
        nameset_load(s, count, a);
    for (int64_t k = 0; !a->loading && k < s->capacity; k++)
        if (s->table[k].high)
            archive_put(a, &s->table[k], sizeof s->table[k]);
}

void nameset_clear(nameset *s)
{
    memory_free(s->table);
    *s = (nameset){0};
}
