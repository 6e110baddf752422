/* Writes a file atomically: as an unfinished file in the folder of the target, then sync and
 * rename. A file that is replaced passes its permissions on. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/status.h"

#include <stdio.h>

typedef struct output {
    FILE *file;      /* write here */
    char *target;    /* NULL = writing directly */
    char *temporary; /* the name of the unfinished file; NULL = it has none */
    int replaces;    /* there was a file */
} output;

/* "-" is standard output. Fails if `path` cannot be written. Devices and pipes are written
 * directly; a pipe without a reader is refused after some seconds. Of a symbolic link the target is
 * written, whether it exists or not. */
roofs_status output_open(output *o, const char *path, roofs_error *err);

typedef struct output_kind {
    int named;        /* other processes open the unfinished file by its name */
    const char *like; /* NULL, or a file in the same folder that this one belongs to: if it exists,
                       * a new file gets its permissions; output_check of it removes leftovers */
} output_kind;

roofs_status output_open_as(output *o, const char *path, const output_kind *kind, roofs_error *err);

/* Fails if `path` cannot be written, and removes leftovers of earlier processes that wrote it. Does
 * not open pipes: their reader would see the end. */
roofs_status output_check(const char *path, roofs_error *err);

/* A descriptor of the unfinished file, which the caller closes; -1 if it is written directly. The
 * file stays locked (flock) until it is closed. */
int output_hold(const output *o);

/* Checks for write errors, syncs file and folder, renames. Always closes the output; a failure
 * leaves no file behind. */
roofs_status output_commit(output *o, roofs_error *err);

/* Closes and removes the unfinished file. Does nothing after a commit or on a zeroed output. */
void output_abandon(output *o);

#endif
