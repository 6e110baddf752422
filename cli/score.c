#include "cli/score.h"

#include "cli/top.h"

#include <math.h>

static double f1(int64_t both, int64_t found, int64_t wanted)
{
    return found + wanted == 0 ? 1.0 : 2.0 * (double)both / (double)(found + wanted);
}

double score_l2_error(const roofs_result *m, const truth *t)
{
    double sum = 0;
    int64_t next = 0; /* the features of a model are sorted by index */
    for (int64_t k = 0; k < t->p; k++) {
        int listed = next < m->selected && m->features[next].index == k;
        double difference = (listed ? m->features[next++].coef : 0.0) - t->beta[k];
        sum += difference * difference;
    }
    return sqrt(sum);
}

double score_feature_f1(const roofs_result *m, const truth *t)
{
    int64_t wanted = 0, both = 0;
    for (int64_t k = 0; k < t->p; k++)
        wanted += t->beta[k] != 0;
    for (int64_t k = 0; k < m->selected; k++)
        both += feature_is_selected(m, k) && t->beta[m->features[k].index] != 0;
    return f1(both, selected_features(m), wanted);
}

double score_sample_f1(const roofs_result *m, const truth *t, int clean)
{
    int64_t found = 0, wanted = 0, both = 0;
    for (int64_t i = 0; i < t->n; i++) {
        int marked = !m->trust[i] == !clean, is = !t->clean[i] == !clean;
        found += marked;
        wanted += is;
        both += marked && is;
    }
    return f1(both, found, wanted);
}
