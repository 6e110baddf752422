/* The folder a verb writes to, made where it is missing. */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "base/status.h"

enum { PATH_MOST = 4096 };

typedef struct folder {
    char path[PATH_MOST];
    int made; /* how many of its folders, from the last, folder_make has made */
} folder;

roofs_status folder_make(folder *f, const char *path, roofs_error *err);

/* Removes what folder_make made, as far as it is empty. */
void folder_unmake(folder *f);

/* folder/name; the text is to be freed with memory_free. */
roofs_status folder_join(char **out, const char *path, const char *name, roofs_error *err);

int path_ends_in(const char *path, const char *ending);

/* Whether both paths lead to the same existing file. */
int same_file(const char *a, const char *b);

/* Fails now, before a long run, if `path` cannot be written. */
roofs_status check_writable(const char *path, roofs_error *err);

#endif
