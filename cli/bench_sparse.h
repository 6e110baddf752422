/* `roofs bench --sparse`: the same values sparse and dense. */
#ifndef CLI_BENCH_SPARSE_H
#define CLI_BENCH_SPARSE_H

#include "base/status.h"

typedef struct sparse_problem {
    int64_t n, p, mu;
    int64_t repeats, threads;
    int json;
} sparse_problem;

/* Measures and prints; returns an exit code. */
int bench_sparse(const sparse_problem *what);

#endif
