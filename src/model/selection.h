/* Which features of a result count as selected. */
#ifndef MODEL_SELECTION_H
#define MODEL_SELECTION_H

#include "roofs/roofs.h"

/* The value of roofs_result.by_probability. */
enum { SELECTED_ALL = 0, SELECTED_LIKELY = 1, SELECTED_BY_GROUP = 2 };

/* For qsort and bsearch: by index. */
int selection_compare(const void *left, const void *right);

/* The position of a feature in the result, whose indices ascend; -1 if it is not there. */
int64_t selection_find(const roofs_result *r, int64_t index);

/* Fills r->selected flags: 1 = the feature counts as selected. */
void selection_mark(const roofs_result *r, unsigned char *flags);

#endif
