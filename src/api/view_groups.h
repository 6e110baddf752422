/* Credible groups and errors of a fit, in the units of the caller. */
#ifndef API_VIEW_GROUPS_H
#define API_VIEW_GROUPS_H

#include "api/estimator.h"

/* Fills the groups, the spread, the noise, the scales and the flags is_selected of *out, whose
 * features are filled. The arrays belong to the estimator. */
roofs_status view_fill_groups(roofs_estimator *e, roofs_result *out, roofs_error *err);

#endif
