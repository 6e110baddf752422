#include "robust/scale.h"

#include "base/memory.h"
#include "base/sorted.h"
#include "linalg/vector.h"
#include "robust/order_statistics.h"

#include <math.h>

/* ---- case weights ------------------------------------------------------ */

/* The first position, from `end` on, where the weights reach half of all; count if they do not.
 * *sum: the weights before `end`, on return those before the position. */
static int64_t half_end(const weighted_order *o, int64_t end, double *sum)
{
    while (end < o->count && 2 * (*sum + o->weight[end]) < o->total)
        *sum += o->weight[end++];
    return end;
}

static roofs_status weighted_median(comm *c, const double *values, const double *case_weight,
                                    int64_t n, double *median, roofs_error *err)
{
    weighted_order o;
    double sum = 0;
    roofs_status status = weighted_order_create(&o, c, values, case_weight, n, err);
    if (status == ROOFS_OK)
        *median = o.value[half_end(&o, 0, &sum)];
    weighted_order_destroy(&o);
    return status;
}

static roofs_status weighted_half(comm *c, const double *values, const double *case_weight,
                                  int64_t n, double *middle, double *length, roofs_error *err)
{
    weighted_order o;
    double best = INFINITY, sum = 0;
    int64_t end = 0;
    roofs_status status = weighted_order_create(&o, c, values, case_weight, n, err);
    for (int64_t begin = 0; status == ROOFS_OK && begin < o.count; begin++) {
        end = half_end(&o, end, &sum);
        if (end == o.count)
            break;
        if (o.value[end] - o.value[begin] < best) {
            best = *length = o.value[end] - o.value[begin];
            *middle = 0.5 * (o.value[begin] + o.value[end]);
        }
        sum = end > begin ? sum - o.weight[begin] : 0;
        end += end == begin;
    }
    weighted_order_destroy(&o);
    return status;
}

/* ---- medians ----------------------------------------------------------- */

roofs_status lower_median(comm *c, const double *values, const double *case_weight, int64_t n,
                          double *median, roofs_error *err)
{
    if (case_weight)
        return weighted_median(c, values, case_weight, n, median, err);
    const int64_t middle = (comm_count(c, n) - 1) / 2;
    return order_statistics_of(c, values, n, &middle, 1, median, err);
}

static roofs_status scale_around(comm *c, double middle, const double *y, const double *case_weight,
                                 int64_t n, double *deviation, double *scale, roofs_error *err)
{
    double median = 0;
    for (int64_t i = 0; i < n; i++)
        deviation[i] = fabs(y[i] - middle);
    TRY(lower_median(c, deviation, case_weight, n, &median, err));
    *scale = NORMAL_PER_MEDIAN * median;
    if (*scale == 0)
        *scale = comm_weighted_sum(c, case_weight, deviation, n) / comm_cases(c, case_weight, n);
    if (*scale == 0)
        *scale = 1;
    return ROOFS_OK;
}

roofs_status robust_scale(comm *c, const double *y, const double *case_weight, int64_t n,
                          double *scale, roofs_error *err)
{
    double middle = 0, *deviation = NULL;
    TRY(lower_median(c, y, case_weight, n, &middle, err));
    TRY(memory_get(&deviation, n, sizeof *deviation, "the spread of y", err));
    roofs_status status = scale_around(c, middle, y, case_weight, n, deviation, scale, err);
    memory_free(deviation);
    return status;
}

/* ---- the shortest half ------------------------------------------------- */

static roofs_status shortest_by_sorting(comm *c, const double *values, int64_t n, double *middle,
                                        double *length, roofs_error *err)
{
    double *sorted = NULL;
    int64_t best = 0, number;
    TRY(order_statistics_sort(c, values, n, &sorted, &number, err));
    const int64_t half = (number + 1) / 2;
    for (int64_t i = 1; i + half <= number; i++)
        if (sorted[i + half - 1] - sorted[i] < sorted[best + half - 1] - sorted[best])
            best = i;
    *middle = 0.5 * (sorted[best] + sorted[best + half - 1]);
    *length = sorted[best + half - 1] - sorted[best];
    memory_free(sorted);
    return ROOFS_OK;
}

/* For numbers that are too many to gather. Between two intervals of a grid, every interval is at
 * least as long as the distance from the later begin to the earlier end. The search descends into
 * the gaps where this bound is shorter than the shortest interval so far. */
enum { GRID = 64 };

typedef struct half_search {
    order_statistics r;
    int64_t half;
    int64_t best; /* position where the shortest interval so far begins; -1: none yet */
    double best_low, best_high;
    int64_t wanted[2 * GRID], below[2 * GRID];
    double values[2 * GRID];
} half_search;

/* Among intervals of the same length, the first one counts. */
static void keep_shorter(half_search *s, int64_t begin, double low, double high)
{
    double now = high - low, best = s->best_high - s->best_low;
    if (s->best >= 0 && (now > best || (now == best && begin > s->best)))
        return;
    s->best = begin;
    s->best_low = low;
    s->best_high = high;
}

/* Searches the intervals that begin at positions first..last. */
static void search_half(half_search *s, int64_t first, int64_t last)
{
    const int64_t count = last - first + 1 < GRID ? last - first + 1 : GRID;
    int64_t begin[GRID];
    double low[GRID], high[GRID];
    for (int64_t k = 0; k < count; k++) {
        begin[k] = count == 1 ? first : first + (last - first) * k / (count - 1);
        s->wanted[k] = begin[k];
        s->wanted[count + k] = begin[k] + s->half - 1;
    }
    order_statistics_select(&s->r, s->wanted, 2 * count, s->values, s->below);
    for (int64_t k = 0; k < count; k++) {
        low[k] = s->values[k];
        high[k] = s->values[count + k];
        keep_shorter(s, begin[k], low[k], high[k]);
    }
    for (int64_t k = 1; k < count && !s->r.comm->broken; k++) {
        double least = high[k - 1] - low[k], best = s->best_high - s->best_low;
        int may_be_shorter = least < best || (least == best && begin[k - 1] < s->best);
        if (begin[k] - begin[k - 1] > 1 && may_be_shorter)
            search_half(s, begin[k - 1] + 1, begin[k] - 1);
    }
}

static roofs_status shortest_by_search(comm *c, const double *values, int64_t n, double *middle,
                                       double *length, roofs_error *err)
{
    double *sorted = NULL;
    half_search *s = NULL;
    TRY(sorted_copy(&sorted, values, n, err));
    roofs_status status = memory_get(&s, 1, sizeof *s, "order statistics", err);
    if (status == ROOFS_OK)
        status = order_statistics_create(&s->r, c, 2 * GRID, err);
    if (status == ROOFS_OK) {
        const int64_t number = comm_count(c, n);
        order_statistics_begin(&s->r, sorted, n);
        s->half = (number + 1) / 2;
        s->best = -1;
        search_half(s, 0, number - s->half);
        *middle = 0.5 * (s->best_low + s->best_high);
        *length = s->best_high - s->best_low;
    }
    if (s)
        order_statistics_destroy(&s->r);
    memory_free(s);
    memory_free(sorted);
    return status == ROOFS_OK ? comm_status(c, err) : status;
}

roofs_status shortest_half(comm *c, const double *values, const double *case_weight, int64_t n,
                           double *middle, double *length, roofs_error *err)
{
    if (case_weight)
        return weighted_half(c, values, case_weight, n, middle, length, err);
    return (order_statistics_are_few(c, n) ? shortest_by_sorting
                                           : shortest_by_search)(c, values, n, middle, length, err);
}
