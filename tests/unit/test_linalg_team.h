/* Ranks as threads of one process, for tests of samples that are split. */
#ifndef TEST_LINALG_TEAM_H
#define TEST_LINALG_TEAM_H

#include "linalg/vector.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TEAM_MOST = 5 };

typedef struct team {
    int64_t size;
    int64_t max_calls; /* of one rank; later ones fail */
    pthread_barrier_t barrier;
    const void *given[TEAM_MOST];
} team;

typedef struct member {
    team *team;
    int64_t rank;
    double *values; /* of the sum that was started */
    int64_t count;
    int64_t sums, gathers; /* calls so far */
    void (*work)(const roofs_comm *comm, void *user);
    void *user;
} member;

static inline int member_call_fails(const member *m)
{
    return m->sums + m->gathers >= m->team->max_calls;
}

static inline int member_start(void *user, double *values, int64_t count)
{
    member *m = user;
    if (member_call_fails(m))
        return 1;
    m->values = values;
    m->count = count;
    m->team->given[m->rank] = values;
    m->sums++;
    return 0;
}

static inline int member_finish(void *user)
{
    member *m = user;
    double *sum = calloc((size_t)m->count + 1, sizeof *sum);
    pthread_barrier_wait(&m->team->barrier);
    for (int64_t p = 0; p < m->team->size; p++)
        for (int64_t k = 0; k < m->count; k++)
            sum[k] += ((const double *)m->team->given[p])[k];
    pthread_barrier_wait(&m->team->barrier);
    memcpy(m->values, sum, (size_t)m->count * sizeof *sum);
    free(sum);
    return 0;
}

static inline int member_gather(void *user, const void *mine, const int64_t *sizes, void *all)
{
    member *m = user;
    char *to = all;
    if (member_call_fails(m))
        return 1;
    m->team->given[m->rank] = mine;
    m->gathers++;
    pthread_barrier_wait(&m->team->barrier);
    for (int64_t p = 0; p < m->team->size; to += sizes[p++])
        memcpy(to, m->team->given[p], (size_t)sizes[p]);
    pthread_barrier_wait(&m->team->barrier);
    return 0;
}

static inline void *member_main(void *user)
{
    member *m = user;
    const roofs_comm with = {.rank = m->rank,
                             .size = m->team->size,
                             .user = m,
                             .start = member_start,
                             .finish = member_finish,
                             .gather = member_gather};
    m->work(&with, m->user);
    return NULL;
}

/* Calls work(communicator of the rank, user) on all ranks at once. `work` must not assert: the
 * caller does. After `calls` sums and gathers all fail. */
static inline void team_run_for(int64_t calls, int64_t size,
                                void (*work)(const roofs_comm *, void *), void *user)
{
    team t = {.size = size, .max_calls = calls};
    member members[TEAM_MOST];
    pthread_t threads[TEAM_MOST];
    pthread_barrier_init(&t.barrier, NULL, (unsigned)size);
    for (int64_t p = 0; p < size; p++) {
        members[p] = (member){.team = &t, .rank = p, .work = work, .user = user};
        pthread_create(&threads[p], NULL, member_main, &members[p]);
    }
    for (int64_t p = 0; p < size; p++)
        pthread_join(threads[p], NULL);
    pthread_barrier_destroy(&t.barrier);
}

static inline void team_run(int64_t size, void (*work)(const roofs_comm *, void *), void *user)
{
    team_run_for(INT64_MAX, size, work, user);
}

#endif
