/* `roofs bench --sparse`: fits the same values stored sparse and dense. */
#ifndef CLI_BENCH_SPARSE_H
#define CLI_BENCH_SPARSE_H

#include "base/status.h"

enum { REPEATS_MOST = 99 };

/* The arguments of `roofs bench`. */
typedef struct bench_args {
    int64_t n, p, mu, repeats, threads;
    const char *rival;
    int no_scaling, no_groups, sparse, json;
} bench_args;

/* Measures and prints; returns an exit code. */
int bench_sparse(const bench_args *what);

#endif
