/* The features with the largest coefficients. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "roofs/roofs.h"

/* Places in r->features of the `most` largest |coef|, largest first, at equal
 * weight the earlier feature first. Returns how many there are. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places);

/* The number of features with a probability above 1/2, for methods that have one. */
int64_t likely_features(const roofs_result *r);

#endif
