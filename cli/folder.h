/* Paths on the command line, and the folder a verb writes to. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "base/status.h"

enum { PATH_MOST = 4096 };

typedef struct folder {
    char path[PATH_MOST];
    int made; /* how many folders at the end of the path folder_make has made */
} folder;

/* Makes the folder and those above it that do not exist. */
roofs_status folder_make(folder *f, const char *path, roofs_error *err);

/* Removes the folders that folder_make made, if they are empty. */
void folder_unmake(folder *f);

/* *out = path/name; free it with memory_free. */
roofs_status folder_join(char **out, const char *path, const char *name, roofs_error *err);

int path_ends_in(const char *path, const char *ending);
int path_is_standard(const char *path); /* "-": standard input or output; NULL is not */

/* True if both paths lead to the same existing file. */
int same_file(const char *a, const char *b);

/* Puts the path in front of the message of an error; returns `status`. */
roofs_status error_in_file(const char *path, roofs_status status, roofs_error *err);

/* Fails if `path` cannot be written. Call it before a long computation. */
roofs_status check_writable(const char *path, roofs_error *err);

#endif
