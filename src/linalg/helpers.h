/* Threads that wait for jobs, and work on them with the thread that gives them out. They start when
 * they are first needed and live as long as their owner. Unlike the threads of OpenMP they do not
 * depend on the thread that calls: two owners can work side by side, each with its own helpers. */
#ifndef LINALG_HELPERS_H
#define LINALG_HELPERS_H

#include "base/status.h"

typedef struct helpers helpers;

/* At most `most` helpers, at least 0; none is started. */
roofs_status helpers_create(helpers **out, int64_t most, roofs_error *err);
void helpers_destroy(helpers *h);
int64_t helpers_bytes(int64_t most);

/* Starts helpers until there are `count`, unless the system refuses. Returns how many there are of
 * these. */
int helpers_start(helpers *h, int count);

/* Calls job(user, me, count + 1) for me = 0 on this thread and for me = 1..count on the first
 * `count` helpers, which have been started. Returns when all have returned. */
void helpers_run(helpers *h, int count, void (*job)(void *user, int me, int count), void *user);

#endif
