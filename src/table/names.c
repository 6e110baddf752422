#include "table/names.h"

#include "base/escape.h"
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

int names_are_utf8(const char *text, const char *end)
{
    while (text < end)
        if (utf8_next(&text, end) < 0)
            return 0;
    return 1;
}
