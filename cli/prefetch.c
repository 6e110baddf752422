#include "cli/prefetch.h"

#include "base/memory.h"
#include "cli/interrupt.h"

#include <string.h>
#include <time.h>

struct prefetch {
    source *source;
    int64_t most;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    int reading, ending;
    roofs_block block;
    roofs_status status;
    roofs_error err;
};

static void *prefetch_thread(void *user)
{
    prefetch *p = user;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->reading && !p->ending)
            pthread_cond_wait(&p->wake, &p->lock);
        if (p->ending)
            break;
        pthread_mutex_unlock(&p->lock);
        p->status = source_next(p->source, p->most, &p->block, &p->err);
        pthread_mutex_lock(&p->lock);
        p->reading = 0;
        pthread_cond_signal(&p->done);
    }
    p->reading = 0; /* cancels a read that was requested and has not begun */
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

roofs_status prefetch_begin(prefetch **out, source *s, int64_t most, roofs_error *err)
{
    prefetch *p = NULL;
    *out = NULL;
    TRY(memory_get(&p, 1, sizeof *p, "reading ahead", err));
    p->source = s;
    p->most = most;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    int code = pthread_create(&p->thread, NULL, prefetch_thread, p);
    if (code != 0) {
        memory_free(p);
        return fail(err, ROOFS_FAILED, "cannot start a thread to read ahead: %s", strerror(code));
    }
    source_keep_last(s);
    *out = p;
    return ROOFS_OK;
}

/* Waits at most 50 ms, then the caller checks for signals: a signal does not end a wait on a
 * condition. The caller holds the lock. */
static void prefetch_wait_briefly(prefetch *p, int stop)
{
    enum { MILLISECOND = 1000000, WHILE = 50 * MILLISECOND };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WHILE;
    until.tv_sec += until.tv_nsec / (1000 * MILLISECOND);
    until.tv_nsec %= 1000 * MILLISECOND;
    if (stop)
        interrupt_thread(p->thread);
    pthread_cond_timedwait(&p->done, &p->lock, &until);
}

void prefetch_end(prefetch *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->ending = 1;
    pthread_cond_signal(&p->wake);
    while (p->reading)
        prefetch_wait_briefly(p, 1);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    memory_free(p);
}

void prefetch_read(prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    p->reading = 1;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

roofs_status prefetch_wait(prefetch *p, roofs_block *block, roofs_error *err)
{
    pthread_mutex_lock(&p->lock);
    while (p->reading)
        prefetch_wait_briefly(p, interrupt_signal() != 0);
    pthread_mutex_unlock(&p->lock);
    *block = p->block;
    if (p->status != ROOFS_OK)
        *err = p->err;
    return p->status;
}
