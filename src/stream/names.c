#include "stream/names.h"

#include "base/memory.h"

#include <string.h>

void names_clear(names *list)
{
    list->used = list->count = 0;
}

void names_free(names *list)
{
    memory_free(list->text);
    memory_free(list->starts);
    *list = (names){0};
}

roofs_status names_add(names *list, const char *text, int64_t length, roofs_error *err)
{
    TRY(memory_grow(&list->text, &list->text_capacity, list->used + length + 1, 1, "feature names",
                    err));
    TRY(memory_grow(&list->starts, &list->capacity, list->count + 1, sizeof *list->starts,
                    "feature names", err));
    list->starts[list->count++] = list->used;
    memcpy(list->text + list->used, text, (size_t)length);
    list->used += length;
    list->text[list->used++] = '\0';
    return ROOFS_OK;
}

const char *names_get(const names *list, int64_t k)
{
    return list->text + list->starts[k];
}

/* Number of bytes after the first of a UTF-8 character; -1 = not a first byte. */
static int bytes_to_follow(unsigned char first)
{
    if (first < 0x80)
        return 0;
    if (first < 0xc2 || first > 0xf4)
        return -1;
    return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

int names_are_utf8(const char *text, const char *end)
{
    while (text < end) {
        unsigned char first = (unsigned char)*text++;
        int follow = bytes_to_follow(first);
        if (follow < 0 || end - text < follow)
            return 0;
        unsigned char second = follow > 0 ? (unsigned char)*text : 0;
        int too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
        int no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
        if (too_long || no_character)
            return 0;
        for (; follow > 0; follow--)
            if (((unsigned char)*text++ & 0xc0) != 0x80)
                return 0;
    }
    return 1;
}
