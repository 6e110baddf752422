#include "linalg/helpers.h"

#include "base/memory.h"
#include "linalg/counters.h"

#include <unistd.h>

/* Before a thread sleeps: jobs often follow each other, so a helper waits longer for the next one
 * than a thread of a job for another. */
enum { SPINS_FOR_JOB = 4000, SPINS_FOR_END = 1000 };

typedef struct helper {
    counter go,
        done;      /* the number of the job that it may begin, and of the one that it has ended */
    sleepers idle; /* this thread, while it has no job */
    helpers *owner;
    int me;
    pthread_t thread;
} helper;

struct helpers {
    helper *all;
    int most, started;
    pid_t process; /* that has started them: a child process has none of them */
    int64_t job_number;
    void (*job)(void *user, int me, int count); /* NULL: the thread shall end */
    void *user;
    int count;
    sleepers owner; /* the owner's thread, while it waits for the end of a job */
};

int64_t helpers_bytes(int64_t most)
{
    return memory_sum(sizeof(helpers), memory_bytes(most, sizeof(helper)));
}

roofs_status helpers_create(helpers **out, int64_t most, roofs_error *err)
{
    helpers *h = NULL;
    TRY(memory_get(&h, 1, sizeof *h, "the threads", err));
    *out = h;
    h->most = (int)most;
    h->process = getpid();
    sleepers_create(&h->owner);
    return memory_get(&h->all, most, sizeof *h->all, "the threads", err);
}

static void *work(void *user)
{
    helper *own = user;
    helpers *h = own->owner;
    int64_t number = atomic_load(&own->done.value);
    for (;;) {
        counter_wait(&own->go, number + 1, SPINS_FOR_JOB, &own->idle);
        number = atomic_load(&own->go.value); /* it has had no part in some jobs */
        if (!h->job)
            return NULL;
        h->job(h->user, own->me, h->count + 1);
        counter_raise(&own->done, number, &h->owner);
    }
}

/* In a child process the threads are missing, and locks may be held by them. */
static void check_process(helpers *h)
{
    if (h->process == getpid())
        return;
    h->process = getpid();
    h->started = 0;
    sleepers_create(&h->owner);
}

int helpers_start(helpers *h, int count)
{
    check_process(h);
    while (h->started < count) {
        helper *next = &h->all[h->started];
        *next = (helper){.owner = h, .me = h->started + 1};
        atomic_init(&next->go.value, h->job_number);
        atomic_init(&next->done.value, h->job_number);
        sleepers_create(&next->idle);
        if (pthread_create(&next->thread, NULL, work, next) != 0) {
            sleepers_destroy(&next->idle);
            break;
        }
        h->started++;
    }
    return h->started < count ? h->started : count;
}

static void give_job(helpers *h, int count)
{
    h->job_number++;
    for (int k = 0; k < count; k++)
        counter_raise(&h->all[k].go, h->job_number, &h->all[k].idle);
}

void helpers_run(helpers *h, int count, void (*job)(void *user, int me, int count), void *user)
{
    h->job = job;
    h->user = user;
    h->count = count;
    give_job(h, count);
    job(user, 0, count + 1);
    for (int k = 0; k < count; k++)
        counter_wait(&h->all[k].done, h->job_number, SPINS_FOR_END, &h->owner);
}

void helpers_destroy(helpers *h)
{
    if (!h)
        return;
    check_process(h);
    h->job = NULL;
    give_job(h, h->started);
    for (int k = 0; k < h->started; k++) {
        pthread_join(h->all[k].thread, NULL);
        sleepers_destroy(&h->all[k].idle);
    }
    sleepers_destroy(&h->owner);
    memory_free(h->all);
    memory_free(h);
}
