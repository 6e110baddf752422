#include "model/selection.h"

#include <stdlib.h>

int selection_compare(const void *left, const void *right)
{
    int64_t a = ((const roofs_feature *)left)->index, b = ((const roofs_feature *)right)->index;
    return (a > b) - (a < b);
}

int64_t selection_find(const roofs_result *r, int64_t index)
{
    const roofs_feature key = {.index = index}, *at = NULL;
    if (r->selected > 0)
        at = bsearch(&key, r->features, (size_t)r->selected, sizeof key, selection_compare);
    return at ? at - r->features : -1;
}

/* Members that are not in the result were dropped: they have no coefficient. */
static void mark_members(const roofs_result *r, const roofs_group *g, unsigned char *flags)
{
    for (int64_t k = 0; k < g->count; k++) {
        const int64_t at = selection_find(r, g->members[k].index);
        if (at >= 0)
            flags[at] = 1;
    }
}

void selection_mark(const roofs_result *r, unsigned char *flags)
{
    for (int64_t k = 0; k < r->selected; k++)
        flags[k] = r->by_probability == SELECTED_ALL ||
                   (r->by_probability == SELECTED_LIKELY && r->features[k].probability > 0.5);
    for (int64_t k = 0; r->by_probability == SELECTED_BY_GROUP && k < r->groups; k++)
        if (r->group[k].fdr <= r->fdr)
            mark_members(r, &r->group[k], flags);
}
