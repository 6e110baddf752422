#include "method/baseline/candidates.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* Looking at all samples costs about as much as at so many of them in all their steps. */
enum { MOST_CANDIDATES = 256 };

/* ---- life ----------------------------------------------------------------- */

roofs_status candidates_create(candidates *w, columns *cols, const int64_t *which, int64_t count,
                               int with_level, roofs_error *err)
{
    const char *what = "the solution path";
    *w = (candidates){.cols = cols, .which = which, .n = cols->n, .count = count};
    w->total = count + (with_level != 0);
    w->most = w->n < MOST_CANDIDATES ? w->n : MOST_CANDIDATES;
    TRY(memory_get(&w->sample, w->most, sizeof *w->sample, what, err));
    TRY(memory_get(&w->r, w->most, sizeof *w->r, what, err));
    TRY(memory_get(&w->moving, w->most, sizeof *w->moving, what, err));
    TRY(memory_get(&w->rows, memory_bytes(w->most, w->total), sizeof *w->rows, what, err));
    TRY(memory_get(&w->size, w->n, sizeof *w->size, what, err));
    TRY(memory_get(&w->place, w->n, sizeof *w->place, what, err));
    TRY(memory_get(&w->near, w->n, sizeof *w->near, what, err));
    TRY(memory_get(&w->x, w->total, sizeof *w->x, what, err));
    TRY(memory_get(&w->slope, w->total, sizeof *w->slope, what, err));
    for (int64_t k = 0; k < count; k++)
        w->x[k] = 1;
    columns_add_squares(cols, which, count, w->x, w->size);
    for (int64_t i = 0; i < w->n; i++)
        w->size[i] = sqrt(w->size[i] + (with_level != 0));
    return ROOFS_OK;
}

void candidates_destroy(candidates *w)
{
    void *blocks[] = {w->sample, w->r,    w->moving, w->rows, w->size,
                      w->place,  w->near, w->x,      w->slope};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    *w = (candidates){0};
}

int64_t candidates_bytes(int64_t count, int64_t n)
{
    int64_t watched = memory_bytes(MOST_CANDIDATES, memory_bytes(count + 4, sizeof(double)));
    int64_t line = memory_bytes(count + 1, 2 * sizeof(double));
    return memory_sum(memory_sum(watched, line), memory_bytes(n, 2 * sizeof(double) + 1));
}

/* ---- choosing --------------------------------------------------------------- */

/* Marks the samples that could meet lambda on the way to `until`. The distance between |r|
 * and lambda is least at one of the two ends: on the line it is linear, or convex
 * downwards, in lambda. Returns how many there are. */
static int64_t mark_near(candidates *w, const candidates_line *line)
{
    int64_t found = 0;
    const double way = line->lambda - w->until;
    for (int64_t i = 0; i < w->n; i++) {
        double here = line->r[i], there = here + way * line->moving[i], slack;
        if (line->side[i] == 0)
            slack = fmin(line->lambda - fabs(here), w->until - fabs(there));
        else
            slack = fmin(line->side[i] * here - line->lambda, line->side[i] * there - w->until);
        w->near[i] = slack <= w->reach * w->size[i];
        found += w->near[i];
    }
    return found;
}

static void set_bounds(candidates *w, const candidates_line *line, double span)
{
    w->span = span;
    w->from = line->lambda;
    w->until = fmax(0, line->lambda - span);
    w->reach = w->pace * span;
}

static void forget(candidates *w, int64_t at)
{
    const int64_t last = --w->now;
    w->place[w->sample[at]] = 0;
    if (at == last)
        return;
    w->sample[at] = w->sample[last];
    w->place[w->sample[at]] = at + 1;
    memcpy(w->rows + at * w->total, w->rows + last * w->total, (size_t)w->total * sizeof *w->rows);
}

static void remember(candidates *w, int64_t i)
{
    double *row = w->rows + w->now * w->total;
    columns_sample(w->cols, w->which, w->count, i, row);
    if (w->total > w->count)
        row[w->count] = 1;
    w->sample[w->now] = i;
    w->place[i] = ++w->now;
}

/* Rows that are there already stay. */
static void choose_marked(candidates *w, const candidates_line *line)
{
    for (int64_t at = w->now - 1; at >= 0; at--)
        if (!w->near[w->sample[at]])
            forget(w, at);
    for (int64_t i = 0; i < w->n; i++)
        if (w->near[i] && w->place[i] == 0)
            remember(w, i);
    for (int64_t at = 0; at < w->now; at++)
        w->r[at] = line->r[w->sample[at]];
}

void candidates_nothing(candidates *w)
{
    w->until = INFINITY; /* above every lambda */
}

/* The line is as long as the room for samples allows, but no longer than twice the last. */
void candidates_begin(candidates *w, const candidates_line *line)
{
    const double least = 2 * (line->lambda - line->next);
    if (w->pace == 0)
        w->pace = sqrt(vector_dot(line->slope, line->slope, w->total));
    set_bounds(w, line, fmax(2 * w->span, 8 * least));
    while (mark_near(w, line) > w->most) {
        if (w->span < least || w->span < 1e-12 * line->lambda) {
            candidates_nothing(w);
            return;
        }
        set_bounds(w, line, w->span / 2);
    }
    choose_marked(w, line);
    memcpy(w->x, line->x, (size_t)w->total * sizeof *w->x);
    memcpy(w->slope, line->slope, (size_t)w->total * sizeof *w->slope);
}

/* ---- along the line ------------------------------------------------------------ */

static double stray(const candidates *w, double lambda, const double *level, const double *slope)
{
    double squares = 0;
    for (int64_t k = 0; k < w->total; k++) {
        double off = level[k] + lambda * slope[k] - (w->x[k] + (lambda - w->from) * w->slope[k]);
        squares += off * off;
    }
    return sqrt(squares);
}

int candidates_holds(const candidates *w, double lambda, const double *level, const double *slope)
{
    return lambda >= w->until && stray(w, lambda, level, slope) <= w->reach;
}

/* Where x left the bounds the next line has more room to stray; else half as much again as
 * was used. */
void candidates_end(candidates *w, double lambda, const double *level, const double *slope)
{
    const double at = fmax(lambda, w->until), way = w->from - at;
    if (!(way > 0)) /* there was no line */
        return;
    double used = 1.5 * stray(w, at, level, slope) / way;
    if (lambda >= w->until)
        w->pace *= 2;
    else
        w->pace = fmax(w->pace / 2, fmin(w->pace, used));
}

void candidates_turn(candidates *w, const double *slope)
{
    for (int64_t at = 0; at < w->now; at++)
        w->moving[at] = vector_dot(w->rows + at * w->total, slope, w->total);
}
