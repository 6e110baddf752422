#include "stream/levels.h"

#include "base/memory.h"

#include <string.h>

void levels_free(levels *l)
{
    names_free(&l->words);
    memory_free(l->counts);
    memory_free(l->table);
    *l = (levels){0};
}

/* ---- keys: most words are short, so that their key is enough --------- */

enum { KEY_COMPLETE = 16 }; /* words up to this length differ in length or key */

static uint64_t load_8(const char *text)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

static uint64_t load_4(const char *text)
{
    uint32_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    return bytes;
}

static word_key key_of(const char *text, int64_t length)
{
    if (length >= 8)
        return (word_key){load_8(text), load_8(text + length - 8)};
    if (length >= 4)
        return (word_key){load_4(text), load_4(text + length - 4)};
    if (length == 0)
        return (word_key){0, 0};
    const unsigned char *bytes = (const unsigned char *)text;
    return (word_key){bytes[0], (uint64_t)bytes[length / 2] << 8 | bytes[length - 1]};
}

static int64_t slot_of_key(const levels *l, word_key key, int64_t length)
{
    const uint64_t odd = 0x9e3779b97f4a7c15, other = 0xc2b2ae3d27d4eb4f;
    uint64_t mixed = (key.first ^ (key.last * other) ^ (uint64_t)length) * odd;
    mixed ^= mixed >> 32;
    return (int64_t)(mixed & (uint64_t)(l->table_size - 1));
}

static int slot_has(const levels *l, const level_slot *slot, word_key key, const char *text,
                    int64_t length)
{
    return slot->length == length && slot->key.first == key.first && slot->key.last == key.last &&
           (length <= KEY_COMPLETE ||
            memcmp(names_get(&l->words, slot->code), text, (size_t)length) == 0);
}

/* The slot of the word, or the empty slot where it belongs. */
static level_slot *find_slot(const levels *l, const char *text, int64_t length)
{
    const word_key key = key_of(text, length);
    int64_t at = slot_of_key(l, key, length);
    while (l->table[at].code >= 0 && !slot_has(l, &l->table[at], key, text, length))
        at = (at + 1) & (l->table_size - 1);
    return &l->table[at];
}

/* ---- the set ----------------------------------------------------------- */

int64_t levels_find(const levels *l, const char *text, int64_t length)
{
    return l->words.count == 0 ? -1 : find_slot(l, text, length)->code;
}

static void put_word(levels *l, int64_t code)
{
    const int64_t end = code + 1 < l->words.count ? l->words.starts[code + 1] : l->words.used;
    const int64_t length = end - l->words.starts[code] - 1;
    const char *text = names_get(&l->words, code);
    *find_slot(l, text, length) = (level_slot){key_of(text, length), length, code};
}

static roofs_status grow_table(levels *l, roofs_error *err)
{
    const int64_t size = l->table_size > 0 ? 2 * l->table_size : 16;
    level_slot *table;
    TRY(memory_get(&table, size, sizeof *table, "the words of a column", err));
    memory_free(l->table);
    l->table = table;
    l->table_size = size;
    for (int64_t k = 0; k < size; k++)
        table[k].code = -1;
    for (int64_t k = 0; k < l->words.count; k++)
        put_word(l, k);
    return ROOFS_OK;
}

roofs_status levels_add(levels *l, const char *text, int64_t length, roofs_error *err)
{
    if (2 * l->words.count >= l->table_size)
        TRY(grow_table(l, err));
    TRY(memory_grow(&l->counts, &l->count_capacity, l->words.count + 1, sizeof *l->counts,
                    "the words of a column", err));
    TRY(names_add(&l->words, text, length, err));
    l->counts[l->words.count - 1] = 0;
    put_word(l, l->words.count - 1);
    return ROOFS_OK;
}
