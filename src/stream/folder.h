/* The files a path stands for: itself, or the data files of a folder. */
#ifndef STREAM_FOLDER_H
#define STREAM_FOLDER_H

#include "stream/names.h"

/* Adds to `files` the path or, for a folder, its files of known formats in
 * natural order (file2 before file10). Refuses a folder without any. */
roofs_status folder_expand(const char *path, names *files, roofs_error *err);

/* < 0, 0, > 0 like strcmp, where digits are compared as numbers. */
int folder_natural_order(const char *a, const char *b);

#endif
