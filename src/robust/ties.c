#include "robust/ties.h"

#include "base/memory.h"
#include "robust/order_statistics.h"

enum { SHARES = 5 }; /* a frequent value has one of so many equal shares of the numbers */

/* Equal numbers are neighbours in the order of all numbers. If they are a fifth of all, one of them
 * is at the end of a fifth of the order: only the values at these positions are counted. */
static roofs_status largest_by_positions(comm *c, const double *values, int64_t n, double *size,
                                         roofs_error *err)
{
    const int64_t total = comm_samples(c, n), least = (total + SHARES - 1) / SHARES;
    int64_t ends[SHARES] = {0}, count = 0;
    double frequent[SHARES] = {0}, sizes[SHARES] = {0};
    *size = 0;
    for (int64_t end = least - 1; end < total; end += least)
        ends[count++] = end;
    TRY(order_statistics_of(c, values, n, ends, count, frequent, err));
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++)
            sizes[k] += values[i] == frequent[k];
    comm_sum(c, sizes, count);
    for (int64_t k = 0; k < count; k++)
        if (sizes[k] >= (double)least && sizes[k] > *size)
            *size = sizes[k];
    return comm_status(c, err);
}

int tie_may_be_corrupt(const tie *found)
{
    const double few = 0.05, most = 0.5, least = 5;
    return found->size >= least && found->share >= few && found->share <= most;
}

roofs_status ties_most_frequent(comm *c, const double *values, const double *case_weight, int64_t n,
                                tie *found, roofs_error *err)
{
    weighted_order o;
    double size = 0;
    *found = (tie){0};
    roofs_status status = weighted_order_create(&o, c, values, case_weight, n, err);
    for (int64_t i = 0; i < o.count && status == ROOFS_OK; i++) {
        size = i > 0 && o.value[i] == o.value[i - 1] ? size + o.weight[i] : o.weight[i];
        if (size > found->size)
            *found = (tie){o.value[i], size, size / o.total};
    }
    weighted_order_destroy(&o);
    return status;
}

roofs_status ties_largest(comm *c, const double *values, const double *case_weight, int64_t n,
                          double *size, roofs_error *err)
{
    tie found;
    if (!case_weight)
        return largest_by_positions(c, values, n, size, err);
    TRY(ties_most_frequent(c, values, case_weight, n, &found, err));
    *size = SHARES * found.share >= 1 ? found.size : 0;
    return ROOFS_OK;
}

/* Different values in the order in which they are found; no more are added to a full list. */
typedef struct value_list {
    double values[DIFFERENT_MOST + 1];
    int64_t count;
} value_list;

static void add_value(value_list *list, double value)
{
    for (int64_t k = 0; k < list->count; k++)
        if (list->values[k] == value)
            return;
    if (list->count <= DIFFERENT_MOST)
        list->values[list->count++] = value;
}

roofs_status ties_different(comm *c, const double *values, const double *case_weight, int64_t n,
                            int64_t *count, roofs_error *err)
{
    const int64_t ranks = comm_is_alone(c) ? 1 : c->with.size;
    value_list own = {.count = 0}, *each = NULL;
    for (int64_t i = 0; i < n && own.count <= DIFFERENT_MOST; i++)
        if (!case_weight || case_weight[i] > 0)
            add_value(&own, values[i]);
    *count = own.count;
    if (ranks == 1)
        return ROOFS_OK;
    TRY(memory_get(&each, ranks, sizeof *each, "the values of the responses", err));
    comm_gather(c, &own, sizeof own, each);
    for (int64_t p = 0; p < ranks && !c->broken; p++)
        for (int64_t k = 0; k < each[p].count; k++)
            add_value(&own, each[p].values[k]);
    *count = own.count;
    memory_free(each);
    return comm_status(c, err);
}
