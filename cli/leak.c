#include "cli/leak.h"

#include "base/block.h"
#include "cli/print.h"

#include <math.h>

/* Two samples give a line through them; other samples show whether it holds. With 40% corrupted
 * responses, one of PAIRS pairs is clean with a probability above 99.9%. */
enum { PAIRS = 16, PROBES = 48, PROBES_FIRST = 8 };

/* y = offset + slope x, through the samples i and j. */
typedef struct line {
    double slope, offset, tolerance;
    double y_i, y_j;
} line;

/* Samples on the line, among those that are not equal to its two points. */
typedef struct hits {
    int64_t tried, met;
} hits;

static double feature_at(const roofs_block *x, int64_t i)
{
    return block_value(x, i * x->sample_stride);
}

static int line_through(const roofs_block *x, const double *y, int64_t i, int64_t j, line *l)
{
    const double dx = feature_at(x, i) - feature_at(x, j), dy = y[i] - y[j];
    const double precision = x->dtype == ROOFS_F32 ? 1e-5 : 1e-9;
    if (dx == 0 || dy == 0 || !isfinite(dx) || !isfinite(dy / dx))
        return 0;
    l->slope = dy / dx;
    l->offset = y[i] - l->slope * feature_at(x, i);
    l->tolerance = precision * (fabs(dy) + fabs(l->offset));
    l->y_i = y[i];
    l->y_j = y[j];
    return 1;
}

/* Tries `most` samples, evenly spaced, or all if there are fewer. */
static hits try_samples(const roofs_block *x, const double *y, const line *l, int64_t most)
{
    const int64_t count = most < x->n ? most : x->n;
    hits h = {0};
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = k * x->n / count;
        if (y[i] == l->y_i || y[i] == l->y_j)
            continue;
        h.tried++;
        h.met += fabs(l->offset + l->slope * feature_at(x, i) - y[i]) <= l->tolerance;
        if (h.tried == PROBES_FIRST && 2 * h.met < h.tried)
            break;
    }
    return h;
}

/* At least 60% of the samples, as a fit that trusts them. */
static int holds(hits h)
{
    const int64_t fewest = 3;
    return h.tried >= fewest && 10 * h.met >= 6 * h.tried;
}

static int is_response(const roofs_block *x, const double *y)
{
    line l;
    for (int64_t k = 0; k < PAIRS; k++) {
        const int64_t i = k * x->n / PAIRS, j = (i + x->n / 2 + k) % x->n;
        if (!line_through(x, y, i, j, &l) || !holds(try_samples(x, y, &l, PROBES)))
            continue;
        if (holds(try_samples(x, y, &l, x->n)))
            return 1;
    }
    return 0;
}

void leak_report(const char *who, const roofs_block *block, const double *y)
{
    for (int64_t k = 0; k < block->count && !block_is_sparse(block) && block->names; k++) {
        const roofs_block x = block_feature(block, k);
        if (is_response(&x, y))
            complain(who,
                     "warning: feature \"%s\" equals the response, perhaps in another unit; leave "
                     "it out with --drop unless it is known before the response",
                     block->names[k]);
    }
}
