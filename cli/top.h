/* The features with the largest coefficients. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "roofs/roofs.h"

/* Fills `places` with the indices in r->features of the `most` largest |coef|, largest first, ties
 * in the order of r->features. Returns how many it filled. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places);

/* The number of features with a probability above 1/2; 0 for methods without probabilities. */
int64_t likely_features(const roofs_result *r);

#endif
