/* Writes a file atomically: under a temporary name beside the target, then sync and rename. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/status.h"

#include <stdio.h>

typedef struct output {
    FILE *file;   /* write here */
    char *target; /* NULL = writing directly */
    char *temporary;
} output;

/* "-" is standard output. Fails if `path` cannot be written. Devices and pipes are written
 * directly. Of a symbolic link the target is replaced. */
roofs_status output_open(output *o, const char *path, roofs_error *err);

/* Checks for write errors, syncs file and folder, renames. Always closes the output; a failure
 * leaves no file behind. */
roofs_status output_commit(output *o, roofs_error *err);

/* Closes and removes the temporary file. Does nothing after a commit or on a zeroed output. */
void output_abandon(output *o);

#endif
