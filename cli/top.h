/* The features that weigh most. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "roofs/roofs.h"

/* Places in r->features of the `most` largest |coef|, largest first, at equal
 * weight the earlier feature first. Returns how many there are. */
int64_t top_features(const roofs_result *r, int64_t most, int64_t *places);

/* How many are more likely to matter than not; for methods that tell. */
int64_t likely_features(const roofs_result *r);

#endif
