/* Locks a file for one process. The system releases the lock when the process ends, even after a
 * crash. */
#ifndef CLI_LOCK_H
#define CLI_LOCK_H

#include "base/status.h"

typedef struct file_lock {
    char *path;   /* of the lock file; NULL: not locked */
    int fd;       /* of the lock file */
    int is_own;   /* roofs made the lock file, so roofs may remove it */
    int found;    /* a descriptor of FILE as it was; -1 = there was none */
    int replaced; /* of FILE as this process wrote it last; -1 = not yet */
} file_lock;

/* Locks FILE by the file FILE.lock, and FILE itself if it exists: it may have other names. If
 * another process holds a lock, the error names it. A FILE.lock that roofs did not write is locked,
 * but not changed. */
roofs_status lock_acquire(file_lock *l, const char *file, roofs_error *err);

/* Goes on with the file that now replaces FILE: a locked descriptor, which the lock closes. Does
 * nothing but close it on a zeroed lock. */
void lock_move(file_lock *l, int fd);

void lock_release(file_lock *l); /* does nothing on a zeroed lock */

#endif
