/* Counters that one thread raises and others wait for. A waiting thread spins for a short time and
 * then sleeps. What a thread has written before it raises a counter is visible to those that have
 * waited for it. */
#ifndef LINALG_COUNTERS_H
#define LINALG_COUNTERS_H

#include "linalg/lanes.h"

#include <pthread.h>
#include <stdatomic.h>

/* A counter on a cache line of its own. */
typedef struct counter {
    _Alignas(64) atomic_llong value;
} counter;

/* Where threads sleep until a counter is raised. Each counter belongs to one such place. */
typedef struct sleepers {
    _Alignas(64) atomic_int count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} sleepers;

static inline void sleepers_create(sleepers *s)
{
    atomic_init(&s->count, 0);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
}

static inline void sleepers_destroy(sleepers *s)
{
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

/* Sleepers register before they read the counter a last time, and the counter changes before the
 * sleepers are counted: so none misses the change. */
static inline void counter_raise(counter *c, int64_t step, sleepers *s)
{
    atomic_store(&c->value, step);
    if (atomic_load(&s->count) == 0)
        return;
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static inline void counter_sleep(counter *c, int64_t step, sleepers *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_fetch_add(&s->count, 1);
    while (atomic_load(&c->value) < step)
        pthread_cond_wait(&s->changed, &s->lock);
    atomic_fetch_sub(&s->count, 1);
    pthread_mutex_unlock(&s->lock);
}

static inline void counter_wait(counter *c, int64_t step, int spins, sleepers *s)
{
    for (int spin = 0; spin < spins; spin++) {
        if (atomic_load_explicit(&c->value, memory_order_acquire) >= step)
            return;
        SPIN_PAUSE();
    }
    counter_sleep(c, step, s);
}

#endif
