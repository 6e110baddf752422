/* How many threads to use. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stdint.h>

/* What decided the number of threads. */
typedef enum threads_reason {
    THREADS_GIVEN,    /* the caller */
    THREADS_CORES,    /* the cores of this machine */
    THREADS_AFFINITY, /* the cores on which this process may run */
    THREADS_QUOTA,    /* the CPU quota of the process's control group */
    THREADS_OPENMP    /* OMP_NUM_THREADS, or another limit of OpenMP */
} threads_reason;

typedef struct threads_choice {
    int64_t count;
    threads_reason reason;
    int64_t cores; /* of this machine */
    double quota; /* cores that the control group allows; INFINITY without a quota, or if one thread
                   * was chosen without it */
} threads_choice;

/* `given` threads; 0 = as many as this process may use. Reads small files: call it once per fit. */
threads_choice threads_choose(int64_t given);
int64_t threads_count(int64_t given);

/* The cores that the control groups (cgroup v1 and v2) of this process allow; INFINITY without a
 * quota. `root` precedes all paths: "" for this machine, a folder in tests. */
double threads_quota(const char *root);

/* Calls job(user, k, worker) for k = 0..count - 1 on `workers` threads, each k on the next free
 * one, and returns when all have returned. `worker` is the number of the thread, from 0. */
void threads_each(void (*job)(void *user, int64_t k, int64_t worker), void *user, int64_t count,
                  int64_t workers);

#endif
