/* The results of finished trials: one line of JSON per trial, written when it ends. A stopped
 * reproduction continues from it. */
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
void journal_close(journal *j); /* accepts a zeroed journal */

/* Returns 1 if the trial has run. Fills scores[MEASURES], NAN if a measure does not apply. *failure
 * is the reason if the trial was impossible, else NULL. */
int journal_find(const journal *j, const char *key, double *scores, const char **failure);

roofs_status journal_add(journal *j, const char *key, const double *scores, const char *failure,
                         roofs_error *err);

#endif
