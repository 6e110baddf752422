/* The files of `roofs simulate`: a data set with its true coefficients. */
#ifndef CLI_DATASET_H
#define CLI_DATASET_H

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

enum { DATASET_X, DATASET_Y, DATASET_BETA, DATASET_CLEAN, DATASET_TRUTH, DATASET_FILES };
extern const char *const dataset_names[DATASET_FILES];

/* Generates the data and writes all files to a->folder, which is created if it is missing. *made is
 * that folder. Fails early if the disk has too little space. A failure removes all it has made. */
roofs_status dataset_make(const simulate_args *a, comm *ranks, folder *made, roofs_error *err);

#endif
