/* Where the threads of a sweep meet, several hundred times per batch: the last one
 * to arrive does what only one may do, then all go on. OpenMP's "for" and "single"
 * would meet twice. */
#ifndef LINALG_CPU_MEETING_H
#define LINALG_CPU_MEETING_H

#include <sched.h>
#include <stdatomic.h>

typedef struct meeting {
    atomic_int arrived;
    atomic_int turn; /* how often the meeting has been opened */
} meeting;

/* 1 for the last of `team` threads, which must call meeting_open; the others wait
 * for that and get 0. Waiting is short, unless the machine is busy with something
 * else: then the processor is given away. */
static inline int meeting_is_last(meeting *m, int team)
{
    enum { PATIENCE = 4096 };
    int turn = atomic_load_explicit(&m->turn, memory_order_acquire);
    if (atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel) == team - 1)
        return 1;
    for (int tries = 0; atomic_load_explicit(&m->turn, memory_order_acquire) == turn; tries++)
        if (tries > PATIENCE)
            sched_yield();
    return 0;
}

static inline void meeting_open(meeting *m)
{
    atomic_store_explicit(&m->arrived, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->turn, 1, memory_order_acq_rel);
}

#endif
