#include "cli/top.h"

#include <math.h>

static int is_likely(const roofs_feature *f)
{
    return f->probability > 0.5; /* false if the method does not estimate it */
}

int feature_is_selected(const roofs_result *r, int64_t k)
{
    return !r->is_selected || r->is_selected[k]; /* a reference has no flags */
}

int64_t selected_features(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++)
        count += feature_is_selected(r, k);
    return count;
}

double feature_effect(const roofs_result *r, int64_t k)
{
    return r->scale ? r->features[k].coef * r->scale[k] : r->features[k].coef;
}

/* True if feature a comes before b: selected ones first, then by size. */
static int comes_before(const roofs_result *r, int64_t a, int64_t b)
{
    const int first = feature_is_selected(r, a), second = feature_is_selected(r, b);
    return first != second ? first : fabs(feature_effect(r, a)) > fabs(feature_effect(r, b));
}

/* Inserts into a sorted list, which is short. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++) {
        int64_t at = count;
        while (at > 0 && comes_before(r, k, places[at - 1]))
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

double largest_of(const roofs_result *r, const int64_t *places, int64_t count)
{
    double largest = 0;
    for (int64_t k = 0; k < count; k++)
        largest = fmax(largest, fabs(feature_effect(r, places[k])));
    return largest;
}

int64_t likely_features(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->selected; k++)
        count += is_likely(&r->features[k]);
    return count;
}
