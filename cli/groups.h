/* Credible groups of a result, for a terminal and as JSON. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include "cli/draw.h"
#include "cli/regions.h"

#include <jansson.h>
#include <stdio.h>

/* Groups that are found: all, or those at the rate of the setting fdr. */
int group_is_found(const roofs_result *r, const roofs_group *g);
int64_t groups_found(const roofs_result *r);

/* The features in the found groups, kept or not. */
int64_t features_in_groups(const roofs_result *r);

/* How many of these groups may lack a feature. */
int64_t groups_incomplete(const roofs_result *r);

/* The probability that a feature of the group has an effect. */
double group_probability(const roofs_group *g);

/* Half the width of the 95% interval of an effect or a coefficient with this standard error. */
double interval_half(double error);

/* What the setting fdr promises for these features, and where not: one sentence without its full
 * stop. Empty if fdr is not used. */
typedef struct promise_text {
    char text[240];
} promise_text;

promise_text text_of_promise(const roofs_result *r);

/* What to do if a group is not complete; constant. */
const char *incomplete_advice(void);

/* The line "groups" of `roofs fit` and `roofs inspect`: how many, of which size, and the promise.
 * Nothing if groups were not searched for. */
void print_group_counts(FILE *file, const roofs_result *r);

/* The `most` first groups: members, probability, coefficient or effect. Groups of `variants` are
 * regions with a place; NULL, or an empty list: the features are no variants. */
void print_groups(const canvas *c, const roofs_result *r, const variant_list *variants,
                  int64_t most);

/* All groups; NULL if they were not searched for. */
json_t *json_groups(const roofs_result *r, const variant_list *variants);

/* The noise of the clean samples; NULL if it is not estimated. */
json_t *json_noise(const roofs_result *r);

#endif
