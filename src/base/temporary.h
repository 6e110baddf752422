/* Unfinished files. Where the system can do it they have no name, and vanish with the process.
 * Elsewhere they have a name that contains a digest of the target, so that a leftover of a dead
 * process is never mistaken for a file of the user. */
#ifndef BASE_TEMPORARY_H
#define BASE_TEMPORARY_H

#include <limits.h>
#include <sys/types.h>

/* Opens an unfinished file in the folder of `target`, and locks it (flock) for the life of the
 * process. `name` receives its path; "" if it has none yet. Returns a descriptor above 2, or -1
 * with errno set. */
int temporary_open(const char *target, mode_t mode, char name[PATH_MAX]);
int temporary_open_named(const char *target, mode_t mode, char name[PATH_MAX]);

/* Gives a file that has no name a temporary one. Returns 0, or -1 with errno set. */
int temporary_link(int fd, const char *target, char name[PATH_MAX]);

/* Gives a file that has no name the name `target`. Returns 0, or -1 with errno set: EEXIST if there
 * is such a file. */
int temporary_link_as(int fd, const char *target);

/* Removes the leftovers for this target of processes that no longer run. */
void temporary_sweep(const char *target);

#endif
