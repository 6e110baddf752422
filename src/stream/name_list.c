#include "stream/name_list.h"

#include <fnmatch.h>
#include <string.h>

roofs_status name_list_split(const char *text, names *list, roofs_error *err)
{
    while (text) {
        const char *comma = strchr(text, ',');
        const int64_t length = comma ? comma - text : (int64_t)strlen(text);
        if (length > 0)
            TRY(names_add(list, text, length, err));
        text = comma ? comma + 1 : NULL;
    }
    return ROOFS_OK;
}

int name_list_matches(const char *item, const char *name)
{
    return strcmp(item, name) == 0 || fnmatch(item, name, 0) == 0;
}

int64_t name_list_find(const names *list, const char *text, const char *name)
{
    if (text && strcmp(text, name) == 0)
        return 0;
    for (int64_t k = 0; k < list->count; k++)
        if (name_list_matches(names_get(list, k), name))
            return k;
    return -1;
}
