/* A barrier for the threads of a sweep. The last thread to arrive does the work that only one
 * thread may do, then it opens the barrier for the others. OpenMP's "for" and "single" together
 * need two barriers for this; a sweep has several hundred of them per batch. */
#ifndef LINALG_CPU_BARRIER_H
#define LINALG_CPU_BARRIER_H

#include <sched.h>
#include <stdatomic.h>

/* All zero before the first use. */
typedef struct barrier {
    atomic_int arrived; /* threads that wait now */
    atomic_int opened;  /* how often the barrier has been opened */
} barrier;

/* Returns 1 in the last of `team` threads, which must then call barrier_open. Returns 0 in the
 * others, once the barrier is open. A waiting thread spins first, because most waits are short,
 * and then yields its core. */
static inline int barrier_is_last(barrier *b, int team)
{
    enum { SPINS = 4096 };
    int before = atomic_load_explicit(&b->opened, memory_order_acquire);
    if (atomic_fetch_add_explicit(&b->arrived, 1, memory_order_acq_rel) == team - 1)
        return 1;
    for (int spin = 0; atomic_load_explicit(&b->opened, memory_order_acquire) == before; spin++)
        if (spin > SPINS)
            sched_yield();
    return 0;
}

static inline void barrier_open(barrier *b)
{
    atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&b->opened, 1, memory_order_acq_rel);
}

#endif
