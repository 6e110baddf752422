/* What has been found out so far: a line of JSON per trial, added as they end. Whoever stops
 * and comes again goes on where it was. */
#ifndef CLI_REPRODUCE_JOURNAL_H
#define CLI_REPRODUCE_JOURNAL_H

#include "cli/reproduce/experiment.h"

#include <stdio.h>

typedef struct journal {
    FILE *file;
    char *path;
    json_t *known; /* by key */
} journal;

roofs_status journal_open(journal *j, const char *folder, roofs_error *err);
void journal_close(journal *j); /* a zeroed one is fine */

/* 1 where the trial has run: scores[MEASURES] are filled (NAN where it has none), and *failure
 * is the reason where it could not be done, else NULL. */
int journal_find(const journal *j, const char *key, double *scores, const char **failure);

roofs_status journal_add(journal *j, const char *key, const double *scores, const char *failure,
                         roofs_error *err);

#endif
