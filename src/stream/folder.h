/* Expands folders to the data files in them. */
#ifndef STREAM_FOLDER_H
#define STREAM_FOLDER_H

#include "table/names.h"

/* Adds the path to `files` or, for a folder, its files of known formats in natural order (file2
 * before file10). Refuses a folder without such files. */
roofs_status folder_expand(const char *path, names *files, roofs_error *err);

/* Like strcmp, but compares digits as numbers. */
int folder_natural_order(const char *a, const char *b);

#endif
