#include "cli/top.h"

#include <math.h>

/* Inserts into a sorted list, which is short. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++) {
        double weight = fabs(r->features[k].coef);
        int64_t at = count;
        while (at > 0 && fabs(r->features[places[at - 1]].coef) < weight)
            at--;
        if (at == most)
            continue;
        count += count < most;
        for (int64_t j = count - 1; j > at; j--)
            places[j] = places[j - 1];
        places[at] = k;
    }
    return count;
}

int64_t likely_features(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++)
        count += r->features[k].probability > 0.5;
    return count;
}
