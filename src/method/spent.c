#include "method/spent.h"

#include "method/fit.h"

#include <time.h>

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

fit_phase fit_enter(fit *f, fit_phase phase)
{
    fit_spent *s = &f->spent;
    const fit_phase before = s->now;
    const double now = seconds_now();
    s->seconds[before] += now - s->since;
    s->bytes[before] += f->cols.bytes_read - s->read;
    s->since = now;
    s->read = f->cols.bytes_read;
    s->now = phase;
    return before;
}

void fit_add_spent(fit *f, const fit *other)
{
    for (int k = 0; k < FIT_PHASES; k++) {
        f->spent.seconds[k] += other->spent.seconds[k];
        f->spent.bytes[k] += other->spent.bytes[k];
    }
}
