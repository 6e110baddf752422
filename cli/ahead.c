#include "cli/ahead.h"

#include "base/memory.h"
#include "cli/interrupt.h"

#include <string.h>
#include <time.h>

struct ahead {
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

static void *read_on(void *user)
{
    ahead *a = user;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->reading && !a->ending)
            pthread_cond_wait(&a->wake, &a->lock);
        if (a->ending)
            break;
        pthread_mutex_unlock(&a->lock);
        a->status = source_next(a->source, a->most, &a->block, &a->err);
        pthread_mutex_lock(&a->lock);
        a->reading = 0;
        pthread_cond_signal(&a->done);
    }
    a->reading = 0; /* what was asked for last may not have begun */
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

roofs_status ahead_begin(ahead **out, source *s, int64_t most, roofs_error *err)
{
    ahead *a = NULL;
    *out = NULL;
    TRY(memory_get(&a, 1, sizeof *a, "reading ahead", err));
    a->source = s;
    a->most = most;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wake, NULL);
    pthread_cond_init(&a->done, NULL);
    int code = pthread_create(&a->thread, NULL, read_on, a);
    if (code != 0) {
        memory_free(a);
        return fail(err, ROOFS_FAILED, "no thread to read ahead: %s", strerror(code));
    }
    source_keep_last(s);
    *out = a;
    return ROOFS_OK;
}

/* Signals come to any thread, and none of them ends a wait for another: so it is looked now and
 * then. The lock is held. */
static void wait_a_while(ahead *a, int stop)
{
    enum { MILLISECOND = 1000000, WHILE = 50 * MILLISECOND };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WHILE;
    until.tv_sec += until.tv_nsec / (1000 * MILLISECOND);
    until.tv_nsec %= 1000 * MILLISECOND;
    if (stop)
        interrupt_thread(a->thread);
    pthread_cond_timedwait(&a->done, &a->lock, &until);
}

void ahead_end(ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->ending = 1;
    pthread_cond_signal(&a->wake);
    while (a->reading)
        wait_a_while(a, 1);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->done);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    memory_free(a);
}

void ahead_read(ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->reading = 1;
    pthread_cond_signal(&a->wake);
    pthread_mutex_unlock(&a->lock);
}

roofs_status ahead_wait(ahead *a, roofs_block *block, roofs_error *err)
{
    pthread_mutex_lock(&a->lock);
    while (a->reading)
        wait_a_while(a, interrupt_signal() != 0);
    pthread_mutex_unlock(&a->lock);
    *block = a->block;
    if (a->status != ROOFS_OK)
        *err = a->err;
    return a->status;
}
