/* The files of `roofs simulate`: a data set whose true coefficients are known. */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

#include "base/output.h"
#include "cli/folder.h"
#include "stream/simulator.h"

typedef struct simulate_args {
    const char *folder;
    int64_t n, p, mu;
    double corruption, noise_var;
    int64_t order, attack, dtype, seed, threads;
    int quiet;
} simulate_args;

/* Words for --order and --dtype. */
const char *order_name(int64_t k);
const char *dtype_name(int64_t k); /* in the order of roofs_dtype */

typedef struct dataset {
    folder folder;
    output x, y, beta, clean, truth; /* of rank 0 */
    comm *ranks;
} dataset;

/* Makes the folder and opens all files in it; fails if the disk is too small. */
roofs_status dataset_open(dataset *d, comm *ranks, const simulate_args *a, roofs_error *err);

roofs_status dataset_write(dataset *d, const simulate_args *a, const simulator *s,
                           roofs_error *err);

/* Renames the temporary files to their names. */
roofs_status dataset_commit(dataset *d, roofs_error *err);

/* Removes what was written and the folders that were made. */
void dataset_abandon(dataset *d);

#endif
