/* The different words of a column, each with a code: 0, 1, ... in the order of arrival. */
#ifndef TABLE_LEVELS_H
#define TABLE_LEVELS_H

#include "table/names.h"

#include <string.h>

/* The first and the last eight bytes of a word; shorter words repeat some. */
typedef struct word_key {
    uint64_t first, last;
} word_key;

typedef struct level_slot {
    word_key key;
    int64_t length;
    int64_t code; /* -1 = empty */
} level_slot;

typedef struct levels {
    names words;
    int64_t *counts; /* how often each word was counted */
    int64_t count_capacity;
    level_slot *table; /* open addressing; the size is a power of two */
    int64_t table_size;
} levels; /* an empty set is all zero */

void levels_free(levels *l);

/* Adds a word that is not in the set. Its code is the largest one. */
roofs_status levels_add(levels *l, const char *text, int64_t length, roofs_error *err);

/* ---- keys: most words are short, so that their key is enough --------- */

enum { WORD_KEY_COMPLETE = 16 }; /* words up to this length differ in length or key */

static inline uint64_t word_load_8(const char *text)
{
    uint64_t chunk;
    memcpy(&chunk, text, sizeof chunk);
    return chunk;
}

static inline uint64_t word_load_4(const char *text)
{
    uint32_t chunk;
    memcpy(&chunk, text, sizeof chunk);
    return chunk;
}

static inline word_key word_key_of(const char *text, int64_t length)
{
    if (length >= 8)
        return (word_key){word_load_8(text), word_load_8(text + length - 8)};
    if (length >= 4)
        return (word_key){word_load_4(text), word_load_4(text + length - 4)};
    if (length == 0)
        return (word_key){0, 0};
    const unsigned char *chunk = (const unsigned char *)text;
    return (word_key){chunk[0], (uint64_t)chunk[length / 2] << 8 | chunk[length - 1]};
}

static inline int64_t word_slot(const levels *l, word_key key, int64_t length)
{
    const uint64_t odd = 0x9e3779b97f4a7c15, other = 0xc2b2ae3d27d4eb4f;
    uint64_t mixed = (key.first ^ (key.last * other) ^ (uint64_t)length) * odd;
    mixed ^= mixed >> 32;
    return (int64_t)(mixed & (uint64_t)(l->table_size - 1));
}

static inline int level_slot_has(const levels *l, const level_slot *slot, word_key key,
                                 const char *text, int64_t length)
{
    return slot->length == length && slot->key.first == key.first && slot->key.last == key.last &&
           (length <= WORD_KEY_COMPLETE ||
            memcmp(names_get(&l->words, slot->code), text, (size_t)length) == 0);
}

/* The slot of the word, or the empty slot where it belongs. */
static inline level_slot *levels_slot(const levels *l, const char *text, int64_t length)
{
    const word_key key = word_key_of(text, length);
    int64_t at = word_slot(l, key, length);
    while (l->table[at].code >= 0 && !level_slot_has(l, &l->table[at], key, text, length))
        at = (at + 1) & (l->table_size - 1);
    return &l->table[at];
}

/* The code of a word, or -1. */
static inline int64_t levels_find(const levels *l, const char *text, int64_t length)
{
    return l->words.count == 0 ? -1 : levels_slot(l, text, length)->code;
}

#endif
