/* Credible groups (docs/uncertainty.md): features so alike that the data do not show which of them
 * has an effect. They are found at the end of a fit by roofs-bayes, among the kept columns and a
 * pool of dropped ones. */
#ifndef METHOD_GROUPS_H
#define METHOD_GROUPS_H

#include "base/status.h"

#include <stdint.h>

typedef struct group_feature {
    int64_t feature;
    char *name; /* owned; NULL = none */
    double probability;
} group_feature;

typedef struct group {
    int64_t count;
    group_feature *members; /* the most probable first */
    double mass;            /* sum of the probabilities */
    double exists;          /* probability of the effect */
    double fdr;             /* the smallest rate of false discoveries at which it counts */
    double correlation;     /* the smallest between two members, in absolute value */
    double effect, error;   /* of a member of scale 1, in the unit of the method */
    double unit;  /* of a group of one: effect times unit is the coefficient for the values */
    int exponent; /* x 2^-exponent */
    int is_complete;
} group;

typedef struct groups {
    int is_known; /* they were searched for; there may be none */
    int64_t count;
    group *items; /* the strongest evidence first; no feature is in two */
} groups;

void groups_clear(groups *g);

#endif
