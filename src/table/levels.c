#include "table/levels.h"

#include "base/memory.h"

#include <string.h>

void levels_free(levels *l)
{
    names_free(&l->words);
    memory_free(l->counts);
    memory_free(l->table);
    *l = (levels){0};
}

static void put_word(levels *l, int64_t code)
{
    const int64_t end = code + 1 < l->words.count ? l->words.starts[code + 1] : l->words.used;
    const int64_t length = end - l->words.starts[code] - 1;
    const char *text = names_get(&l->words, code);
    *levels_slot(l, text, length) = (level_slot){word_key_of(text, length), length, code};
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
