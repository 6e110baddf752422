#include "method/baseline/lasso.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static double *row_of(const lasso *s, int64_t i)
{
    return s->gram + i * (i + 1) / 2;
}

void lasso_destroy(lasso *s)
{
    memory_free(s->gram);
    memory_free(s->target);
    memory_free(s->w);
    memory_free(s->slope);
    *s = (lasso){0};
}

/* The arrays double when they grow. */
int64_t lasso_bytes(int64_t count)
{
    return memory_bytes(count, memory_bytes(count + 7, 2 * sizeof(double)));
}

roofs_status lasso_room(lasso *s, double **row, roofs_error *err)
{
    const char *what = "the active features";
    int64_t more = s->count + 1, *room = s->capacity;
    int64_t half = memory_bytes(more, more + 1) / 2;
    TRY(memory_grow(&s->gram, &room[0], half, sizeof *s->gram, what, err));
    TRY(memory_grow(&s->target, &room[1], more, sizeof *s->target, what, err));
    TRY(memory_grow(&s->w, &room[2], more, sizeof *s->w, what, err));
    TRY(memory_grow(&s->slope, &room[3], more, sizeof *s->slope, what, err));
    *row = row_of(s, s->count);
    return ROOFS_OK;
}

void lasso_append(lasso *s, double target)
{
    s->target[s->count] = target;
    s->w[s->count++] = 0;
}

static void take_out(double *x, int64_t k, int64_t count)
{
    memmove(x + k, x + k + 1, (size_t)(count - k - 1) * sizeof *x);
}

void lasso_remove(lasso *s, int64_t k)
{
    for (int64_t i = k + 1; i < s->count; i++) {
        take_out(row_of(s, i), k, i + 1);
        memmove(row_of(s, i - 1), row_of(s, i), (size_t)i * sizeof *s->gram);
    }
    take_out(s->target, k, s->count);
    take_out(s->w, k, s->count);
    s->count--;
}

/* slope -= change times column k of G */
static void move(lasso *s, int64_t k, double change)
{
    const double *row = row_of(s, k);
    s->w[k] += change;
    for (int64_t i = 0; i <= k; i++)
        s->slope[i] -= change * row[i];
    for (int64_t i = k + 1; i < s->count; i++)
        s->slope[i] -= change * row_of(s, i)[k];
}

static void refresh_slopes(lasso *s)
{
    memcpy(s->slope, s->target, (size_t)s->count * sizeof *s->slope);
    for (int64_t k = 0; k < s->count; k++) {
        double w = s->w[k];
        s->w[k] = 0;
        if (w != 0)
            move(s, k, w);
    }
}

/* How far coordinate k is from optimal: the slope is penalty sign(w), or within
 * +-penalty where w is zero. */
static double violation(const lasso *s, int64_t k, double penalty)
{
    if (s->w[k] != 0)
        return fabs(s->slope[k] - copysign(penalty, s->w[k]));
    return fmax(fabs(s->slope[k]) - penalty, 0);
}

static double best_weight(const lasso *s, int64_t k, double penalty)
{
    double own = row_of(s, k)[k], free = s->slope[k] + own * s->w[k];
    return own > 0 ? copysign(fmax(fabs(free) - penalty, 0), free) / own : 0;
}

int lasso_descend(lasso *s, double penalty, double tolerance, int64_t sweeps)
{
    for (int64_t sweep = 0; sweep <= sweeps; sweep++) {
        double worst = 0;
        if (sweep % 16 == 0)
            refresh_slopes(s); /* rounding does not pile up */
        for (int64_t k = 0; k < s->count; k++)
            worst = fmax(worst, violation(s, k, penalty));
        if (worst <= tolerance)
            return 1;
        for (int64_t k = 0; k < s->count; k++) {
            double change = best_weight(s, k, penalty) - s->w[k];
            if (change != 0)
                move(s, k, change);
        }
    }
    return 0;
}

/* The slopes are made anew by the next descent. */
void lasso_transfer(lasso *s, int64_t most, archive *a)
{
    int64_t count = s->count;
    archive_count(a, &count, most, 3 * sizeof(double));
    if (a->loading)
        s->count = 0;
    while (a->loading && s->count < count && a->status == ROOFS_OK) {
        double *row;
        a->status = lasso_room(s, &row, a->err);
        s->count += a->status == ROOFS_OK;
    }
    archive_doubles(a, s->gram, s->count * (s->count + 1) / 2);
    archive_doubles(a, s->target, s->count);
    archive_doubles(a, s->w, s->count);
}
