/* A file that appears whole or not at all: written beside its target under
 * another name, synced, renamed. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/status.h"

#include <stdio.h>

typedef struct output {
    FILE *file;   /* write here */
    char *target; /* NULL when writing directly */
    char *temporary;
} output;

/* "-" is standard output. Fails at once where `path` cannot be written. What
 * exists and is no ordinary file (a device, a pipe) is written to directly; of a
 * symbolic link the file it leads to is replaced. */
roofs_status output_open(output *o, const char *path, roofs_error *err);

/* Finds write errors, syncs file and folder, renames. The output is closed
 * whatever is returned; after a failure nothing is left behind. */
roofs_status output_commit(output *o, roofs_error *err);

/* Closes and removes what was written; nothing after a commit, nothing on a
 * zeroed output. */
void output_abandon(output *o);

#endif
