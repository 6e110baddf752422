#include "method/baseline/lasso.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static double *lasso_row(const lasso *s, int64_t i)
{
    return s->gram + i * s->stride;
}

void lasso_destroy(lasso *s)
{
    memory_free(s->gram);
    memory_free(s->target);
    memory_free(s->w);
    memory_free(s->slope);
    *s = (lasso){0};
}

/* While the matrix grows there are two; vectors double. */
int64_t lasso_bytes(int64_t count)
{
    return memory_bytes(count, memory_bytes(count + 7, 2 * sizeof(double)));
}

/* The matrix grows by a quarter, but not beyond `most` columns. */
static roofs_status reserve_matrix(lasso *s, int64_t most, roofs_error *err)
{
    enum { LEAST = 16 };
    double *larger = NULL;
    if (s->count < s->stride)
        return ROOFS_OK;
    int64_t stride = s->stride + s->stride / 4 + LEAST;
    stride = stride > most && most > s->count ? most : stride;
    TRY(memory_get(&larger, memory_bytes(stride, stride), sizeof *larger, "the active features",
                   err));
    for (int64_t i = 0; i < s->count; i++)
        memcpy(larger + i * stride, lasso_row(s, i), (size_t)s->count * sizeof *larger);
    memory_free(s->gram);
    s->gram = larger;
    s->stride = stride;
    return ROOFS_OK;
}

roofs_status lasso_reserve(lasso *s, int64_t most, double **row, roofs_error *err)
{
    const char *what = "the active features";
    int64_t more = s->count + 1, *capacity = s->capacity;
    TRY(reserve_matrix(s, most, err));
    TRY(memory_grow(&s->target, &capacity[0], more, sizeof *s->target, what, err));
    TRY(memory_grow(&s->w, &capacity[1], more, sizeof *s->w, what, err));
    TRY(memory_grow(&s->slope, &capacity[2], more, sizeof *s->slope, what, err));
    *row = lasso_row(s, s->count);
    return ROOFS_OK;
}

void lasso_append(lasso *s, double target)
{
    const double *row = lasso_row(s, s->count);
    for (int64_t i = 0; i < s->count; i++)
        lasso_row(s, i)[s->count] = row[i];
    s->target[s->count] = target;
    s->w[s->count++] = 0;
}

static void remove_entry(double *x, int64_t k, int64_t count)
{
    memmove(x + k, x + k + 1, (size_t)(count - k - 1) * sizeof *x);
}

void lasso_remove(lasso *s, int64_t k)
{
    for (int64_t i = 0; i < s->count; i++) {
        remove_entry(lasso_row(s, i), k, s->count);
        if (i > k)
            memcpy(lasso_row(s, i - 1), lasso_row(s, i), (size_t)s->count * sizeof *s->gram);
    }
    remove_entry(s->target, k, s->count);
    remove_entry(s->w, k, s->count);
    s->count--;
}

/* w_k += change, and slope -= change times column k of G */
static void change_weight(lasso *s, int64_t k, double change)
{
    s->w[k] += change;
    vector_add(s->slope, -change, lasso_row(s, k), s->count);
}

static void refresh_slopes(lasso *s)
{
    memcpy(s->slope, s->target, (size_t)s->count * sizeof *s->slope);
    for (int64_t k = 0; k < s->count; k++) {
        double w = s->w[k];
        s->w[k] = 0;
        if (w != 0)
            change_weight(s, k, w);
    }
}

/* How much coordinate k violates its optimality condition: the slope is penalty sign(w), or within
 * +-penalty where w is zero. */
static double violation(const lasso *s, int64_t k, double penalty)
{
    if (s->w[k] != 0)
        return fabs(s->slope[k] - copysign(penalty, s->w[k]));
    return fmax(fabs(s->slope[k]) - penalty, 0);
}

static double best_weight(const lasso *s, int64_t k, double penalty)
{
    double own = lasso_row(s, k)[k], target = s->slope[k] + own * s->w[k];
    return own > 0 ? copysign(fmax(fabs(target) - penalty, 0), target) / own : 0;
}

int lasso_descend(lasso *s, double penalty, double tolerance, int64_t sweeps)
{
    for (int64_t sweep = 0; sweep <= sweeps; sweep++) {
        double worst = 0;
        if (sweep % 16 == 0)
            refresh_slopes(s); /* so that rounding does not accumulate */
        for (int64_t k = 0; k < s->count; k++)
            worst = fmax(worst, violation(s, k, penalty));
        if (worst <= tolerance)
            return 1;
        for (int64_t k = 0; k < s->count; k++) {
            double change = best_weight(s, k, penalty) - s->w[k];
            if (change != 0)
                change_weight(s, k, change);
        }
    }
    return 0;
}

/* The next descent recomputes the slopes. */
void lasso_transfer(lasso *s, int64_t most, archive *a)
{
    int64_t count = s->count;
    archive_count(a, &count, most, 3 * sizeof(double));
    if (a->loading)
        s->count = 0;
    while (a->loading && s->count < count && a->status == ROOFS_OK) {
        double *row;
        a->status = lasso_reserve(s, most + 1, &row, a->err);
        s->count += a->status == ROOFS_OK;
    }
    for (int64_t i = 0; i < s->count; i++) {
        archive_doubles(a, lasso_row(s, i), i + 1); /* the lower triangle */
        for (int64_t k = 0; a->loading && k < i; k++)
            lasso_row(s, k)[i] = lasso_row(s, i)[k];
    }
    archive_doubles(a, s->target, s->count);
    archive_doubles(a, s->w, s->count);
}
