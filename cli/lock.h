/* Locks a file for one process. The system releases the lock when the process ends, even after a
 * crash. */
#ifndef CLI_LOCK_H
#define CLI_LOCK_H

#include "base/status.h"

typedef struct file_lock {
    int fd; /* 0: not locked */
    char *path;
} file_lock;

/* Locks FILE by locking FILE.lock. If another process holds the lock, the error names it. */
roofs_status lock_acquire(file_lock *l, const char *file, roofs_error *err);
void lock_release(file_lock *l); /* does nothing on a zeroed lock */

#endif
