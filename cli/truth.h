/* The truth about simulated data: beta.npy and clean.npy of `roofs simulate`. */
#ifndef CLI_TRUTH_H
#define CLI_TRUTH_H

#include "base/status.h"
#include "cli/score.h"

typedef struct truth_files {
    double *beta, *flags;
    unsigned char *clean;
    truth view; /* of the arrays */
} truth_files;

/* Fails if the folder is not that of the model's data. Destroy the files also on failure. */
roofs_status truth_read(truth_files *t, const char *path, const roofs_result *model,
                        roofs_error *err);
void truth_destroy(truth_files *t);

#endif
