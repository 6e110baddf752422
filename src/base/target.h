/* The file that a path leads to, through symbolic links, whether it exists or not. */
#ifndef BASE_TARGET_H
#define BASE_TARGET_H

#include <limits.h>

/* Follows links, also those that lead to no file yet, and makes the path absolute. Returns 0 or an
 * errno value. */
int target_resolve(const char *path, char target[PATH_MAX]);

/* The folder of a path, "." if it has none. Returns 0 or ENAMETOOLONG. */
int target_folder(const char *path, char folder[PATH_MAX]);

/* The last name of a path. */
const char *target_name(const char *path);

#endif
