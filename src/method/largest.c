#include "method/largest.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

roofs_status largest_reserve(largest *l, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    if (count <= l->capacity[0])
        return ROOFS_OK;
    TRY(memory_grow(&l->keep, &l->capacity[0], count, sizeof *l->keep, what, err));
    TRY(memory_grow(&l->weight, &l->capacity[1], count, sizeof *l->weight, what, err));
    order_destroy(&l->ascending);
    return order_create(&l->ascending, l->capacity[0], err);
}

int64_t largest_bytes(int64_t count)
{
    const int64_t each = 2 * sizeof(double) + 1 + 2 * sizeof(order_item);
    return memory_bytes(count, 2 * each);
}

void largest_destroy(largest *l)
{
    memory_free(l->keep);
    memory_free(l->weight);
    order_destroy(&l->ascending);
    *l = (largest){0};
}

/* |weight| of column j in the unit of comparison. */
static double weight_size(const columns *c, int64_t j, double weight)
{
    return ldexp(fabs(weight), c->scaled ? 0 : -c->items[j].exponent);
}

/* The sort is stable, and columns are sorted in reverse order: among equals the last column comes
 * first and is dropped. */
void largest_mark(largest *l, const fit *f, int64_t limit)
{
    const columns *c = &f->cols;
    const int64_t most = limit + fit_forced(f);
    memset(l->keep, 1, (size_t)c->count);
    if (c->count <= most)
        return;
    for (int64_t j = 0; j < c->count; j++)
        l->weight[c->count - 1 - j] =
            fit_is_forced(f, j) ? INFINITY : weight_size(c, j, c->items[j].coef);
    order_sort(&l->ascending, l->weight, c->count);
    for (int64_t k = 0; k < c->count - most; k++)
        l->keep[c->count - 1 - l->ascending.items[k].place] = 0;
}

int64_t largest_find_smallest(const columns *c, const int64_t *which, const double *weight,
                              int64_t count)
{
    int64_t found = count - 1;
    for (int64_t k = found - 1; k >= 0; k--)
        if (weight_size(c, which[k], weight[k]) < weight_size(c, which[found], weight[found]))
            found = k;
    return found;
}
