#include "method/baseline/candidates.h"

#include "base/memory.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* With this many candidates, their steps along a line cost about as much as one step of all
 * samples. */
enum { MOST_CANDIDATES = 256 };

roofs_status candidates_create(candidates *c, const design *a, roofs_error *err)
{
    const char *what = "the solution path";
    *c = (candidates){.a = *a};
    c->capacity = c->a.n < MOST_CANDIDATES ? c->a.n : MOST_CANDIDATES;
    TRY(memory_get(&c->sample, c->capacity, sizeof *c->sample, what, err));
    TRY(memory_get(&c->r, c->capacity, sizeof *c->r, what, err));
    TRY(memory_get(&c->image, c->capacity, sizeof *c->image, what, err));
    TRY(memory_get(&c->rows, memory_bytes(c->capacity, c->a.total), sizeof *c->rows, what, err));
    TRY(memory_get(&c->norm, c->a.n, sizeof *c->norm, what, err));
    TRY(memory_get(&c->position, c->a.n, sizeof *c->position, what, err));
    TRY(memory_get(&c->marked, c->a.n, sizeof *c->marked, what, err));
    TRY(memory_get(&c->line_x, c->a.total, sizeof *c->line_x, what, err));
    TRY(memory_get(&c->line_slope, c->a.total, sizeof *c->line_slope, what, err));
    for (int64_t k = 0; k < a->count; k++)
        c->line_x[k] = 1;
    columns_add_squares(a->cols, a->which, a->count, c->line_x, c->norm);
    for (int64_t i = 0; i < a->n; i++)
        c->norm[i] = sqrt(c->norm[i] + design_has_intercept(a));
    return ROOFS_OK;
}

void candidates_destroy(candidates *c)
{
    void *blocks[] = {c->sample,   c->r,      c->image,  c->rows,      c->norm,
                      c->position, c->marked, c->line_x, c->line_slope};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        memory_free(blocks[k]);
    *c = (candidates){0};
}

int64_t candidates_bytes(int64_t count, int64_t n)
{
    int64_t chosen = memory_bytes(MOST_CANDIDATES, memory_bytes(count + 4, sizeof(double)));
    int64_t line = memory_bytes(count + 1, 2 * sizeof(double));
    return memory_sum(memory_sum(chosen, line), memory_bytes(n, 2 * sizeof(double) + 1));
}

/* ---- choice ----------------------------------------------------------------- */

/* Marks the samples whose |r| can reach lambda before lambda_end, and returns their number. On the
 * line the distance between |r| and lambda is linear or concave in lambda, so it is least at one of
 * the two ends. */
static int64_t mark_candidates(candidates *c, const candidates_line *line)
{
    int64_t found = 0;
    const double length = line->lambda - c->lambda_end;
    for (int64_t i = 0; i < c->a.n; i++) {
        double begin = line->r[i], end = begin + length * line->image[i], slack;
        if (line->side[i] == 0)
            slack = fmin(line->lambda - fabs(begin), c->lambda_end - fabs(end));
        else
            slack = fmin(line->side[i] * begin - line->lambda, line->side[i] * end - c->lambda_end);
        c->marked[i] = slack <= c->radius * c->norm[i];
        found += c->marked[i];
    }
    return found;
}

static void set_bounds(candidates *c, const candidates_line *line, double span)
{
    c->span = span;
    c->lambda_begin = line->lambda;
    c->lambda_end = fmax(0, line->lambda - span);
    c->radius = c->drift * span;
}

/* The last candidate takes the position of the removed one. */
static void remove_candidate(candidates *c, int64_t at)
{
    const int64_t last = --c->count;
    c->position[c->sample[at]] = 0;
    if (at == last)
        return;
    c->sample[at] = c->sample[last];
    c->position[c->sample[at]] = at + 1;
    memcpy(c->rows + at * c->a.total, c->rows + last * c->a.total,
           (size_t)c->a.total * sizeof *c->rows);
}

static void add_candidate(candidates *c, int64_t i)
{
    design_row(&c->a, i, c->rows + c->count * c->a.total);
    c->sample[c->count] = i;
    c->position[i] = ++c->count;
}

/* Rows of samples that stay candidates are not read again. */
static void replace_candidates(candidates *c, const candidates_line *line)
{
    for (int64_t at = c->count - 1; at >= 0; at--)
        if (!c->marked[c->sample[at]])
            remove_candidate(c, at);
    for (int64_t i = 0; i < c->a.n; i++)
        if (c->marked[i] && c->position[i] == 0)
            add_candidate(c, i);
    for (int64_t at = 0; at < c->count; at++)
        c->r[at] = line->r[c->sample[at]];
}

void candidates_invalidate(candidates *c)
{
    c->lambda_end = INFINITY; /* above every lambda */
}

/* The line is as long as the capacity for candidates allows, but at most twice as long as the last
 * one or eight times `least`. */
void candidates_choose(candidates *c, const candidates_line *line)
{
    const double least = 2 * (line->lambda - line->lambda_next);
    if (c->drift == 0)
        c->drift = sqrt(vector_dot(line->slope, line->slope, c->a.total));
    set_bounds(c, line, fmax(2 * c->span, 8 * least));
    while (mark_candidates(c, line) > c->capacity) {
        if (c->span < least || c->span < 1e-12 * line->lambda) {
            candidates_invalidate(c);
            return;
        }
        set_bounds(c, line, c->span / 2);
    }
    replace_candidates(c, line);
    memcpy(c->line_x, line->x, (size_t)c->a.total * sizeof *c->line_x);
    memcpy(c->line_slope, line->slope, (size_t)c->a.total * sizeof *c->line_slope);
}

/* ---- along the line ------------------------------------------------------------ */

/* The distance of x = base + lambda slope from the line. */
static double line_deviation(const candidates *c, double lambda, const double *base,
                             const double *slope)
{
    double squares = 0;
    for (int64_t k = 0; k < c->a.total; k++) {
        double off = base[k] + lambda * slope[k] -
                     (c->line_x[k] + (lambda - c->lambda_begin) * c->line_slope[k]);
        squares += off * off;
    }
    return sqrt(squares);
}

int candidates_suffice(const candidates *c, double lambda, const double *base, const double *slope)
{
    return lambda >= c->lambda_end && line_deviation(c, lambda, base, slope) <= c->radius;
}

/* Where x left the radius, the next one is twice as large per length; otherwise 1.5 times the
 * deviation that occurred, but at least half the last one and at most that. */
void candidates_adapt(candidates *c, double lambda, const double *base, const double *slope)
{
    const double at = fmax(lambda, c->lambda_end), length = c->lambda_begin - at;
    if (!(length > 0)) /* no line was chosen */
        return;
    double used = 1.5 * line_deviation(c, at, base, slope) / length;
    if (lambda >= c->lambda_end)
        c->drift *= 2;
    else
        c->drift = fmax(c->drift / 2, fmin(c->drift, used));
}

void candidates_set_slope(candidates *c, const double *slope)
{
    for (int64_t at = 0; at < c->count; at++)
        c->image[at] = vector_dot(c->rows + at * c->a.total, slope, c->a.total);
}
