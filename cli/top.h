/* Which features of a result are selected, and which have the largest effects. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "roofs/roofs.h"

/* Whether feature k of r->features counts as selected, and how many do; see by_probability. */
int feature_is_selected(const roofs_result *r, int64_t k);
int64_t selected_features(const roofs_result *r);

/* The effect of feature k of r->features: the change of the prediction per standard deviation of
 * the feature. Its coefficient if the result has no scales. */
double feature_effect(const roofs_result *r, int64_t k);

/* Fills `places` with the indices in r->features of the `most` largest |effect|, largest first,
 * ties in the order of r->features. Selected features come before others. Returns how many it
 * filled. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places);

/* The largest |effect| of these features. */
double largest_of(const roofs_result *r, const int64_t *places, int64_t count);

/* The number of features with a probability above 1/2; 0 for methods without probabilities. */
int64_t likely_features(const roofs_result *r);

#endif
