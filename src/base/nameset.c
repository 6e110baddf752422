#include "base/nameset.h"

#include "base/memory.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static name_digest digest_of(const char *name)
{
    XXH128_hash_t hash = XXH3_128bits(name, strlen(name));
    return (name_digest){.low = hash.low64, .high = hash.high64 | 1}; /* never the empty mark */
}

/* The place of the digest, or the empty place where it belongs. */
static name_digest *find(name_digest *table, int64_t capacity, name_digest wanted)
{
    uint64_t mask = (uint64_t)capacity - 1;
    uint64_t at = wanted.low & mask;
    while (table[at].high && (table[at].low != wanted.low || table[at].high != wanted.high))
        at = (at + 1) & mask;
    return &table[at];
}

static roofs_status make_room(nameset *s, roofs_error *err)
{
    if (2 * (s->count + 1) <= s->capacity)
        return ROOFS_OK;
    int64_t capacity = s->capacity ? 2 * s->capacity : 64;
    name_digest *table = NULL;
    TRY(memory_get(&table, capacity, sizeof *table, "feature names", err));
    for (int64_t i = 0; i < s->capacity; i++)
        if (s->table[i].high)
            *find(table, capacity, s->table[i]) = s->table[i];
    memory_free(s->table);
    s->table = table;
    s->capacity = capacity;
    return ROOFS_OK;
}

roofs_status nameset_add(nameset *s, const char *name, int *fresh, roofs_error *err)
{
    TRY(make_room(s, err));
    name_digest wanted = digest_of(name);
    name_digest *place = find(s->table, s->capacity, wanted);
    *fresh = place->high == 0;
    if (*fresh) {
        *place = wanted;
        s->count++;
    }
    return ROOFS_OK;
}

void nameset_clear(nameset *s)
{
    memory_free(s->table);
    *s = (nameset){0};
}
