#include "method/largest.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

roofs_status largest_room(largest *l, int64_t count, roofs_error *err)
{
    const char *what = "the list of features";
    if (count <= l->capacity[0])
        return ROOFS_OK;
    TRY(memory_grow(&l->keep, &l->capacity[0], count, sizeof *l->keep, what, err));
    TRY(memory_grow(&l->weight, &l->capacity[1], count, sizeof *l->weight, what, err));
    order_destroy(&l->ranks);
    return order_create(&l->ranks, l->capacity[0], err);
}

void largest_destroy(largest *l)
{
    memory_free(l->keep);
    memory_free(l->weight);
    order_destroy(&l->ranks);
    *l = (largest){0};
}

/* The sort keeps the order of equals, so the weights stand with the last one first. */
void largest_mark(largest *l, const fit *f, int64_t most)
{
    const columns *c = &f->cols;
    memset(l->keep, 1, (size_t)c->count);
    if (c->count <= most)
        return;
    for (int64_t j = 0; j < c->count; j++) {
        int unit = c->scaled ? 0 : c->items[j].exponent;
        double weight = fabs(c->items[j].coef);
        l->weight[c->count - 1 - j] = unit == 0 ? weight : ldexp(weight, -unit);
    }
    order_sort(&l->ranks, l->weight, c->count);
    for (int64_t k = 0; k < c->count - most; k++)
        l->keep[c->count - 1 - l->ranks.items[k].place] = 0;
}
