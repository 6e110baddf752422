/* A lock that one process holds on a file. The system releases it when the process ends, also after
 * a crash. */
#ifndef CLI_LOCK_H
#define CLI_LOCK_H

#include "base/status.h"

typedef struct file_lock {
    int fd; /* 0: nothing is locked */
    char *path;
} file_lock;

/* Locks FILE through FILE.lock; the reason of a failure names the process that holds it. */
roofs_status lock_take(file_lock *l, const char *file, roofs_error *err);
void lock_release(file_lock *l); /* nothing on a zeroed lock */

#endif
