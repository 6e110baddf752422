/* Lists of column names on the command line: names and globs, separated by commas. */
#ifndef STREAM_NAME_LIST_H
#define STREAM_NAME_LIST_H

#include "table/names.h"

/* Splits the text and adds its items to the list. NULL adds nothing. */
roofs_status name_list_split(const char *text, names *list, roofs_error *err);

/* True if the item equals the name, or matches it as a glob. */
int name_list_matches(const char *item, const char *name);

/* The first item that equals the name, or matches it as a glob; -1 if none does. The text as a
 * whole counts as an item, too: so a name may hold a comma. */
int64_t name_list_find(const names *list, const char *text, const char *name);

#endif
