/* Order statistics of numbers that lie on several ranks, exact, without bringing them together
 * where they are many. A number is found between two bounds that draw together: the ranks count
 * how many of theirs lie below each of a few candidates between, and where few are left, these
 * few are brought together. */
#ifndef ROBUST_RANKING_H
#define ROBUST_RANKING_H

#include "linalg/comm.h"

typedef struct ranking {
    comm *comm;
    const double *sorted; /* this rank's numbers, ascending */
    int64_t n;

    /* scratch */
    struct ranking_bounds *bounds; /* of each place that is asked for */
    double *counts;                /* below the candidates of each */
    double *mine, *all;            /* the few that are left */
    struct ranking_found *found;   /* of these numbers, by place */
    int64_t found_count;
} ranking;

/* Up to `most` places are asked for at once. */
roofs_status ranking_create(ranking *r, comm *c, int64_t most, roofs_error *err);
void ranking_destroy(ranking *r);

/* From now on it is about these numbers, ascending, of which this rank has n. */
void ranking_begin(ranking *r, const double *sorted, int64_t n);

/* values[k] = the number at place wanted[k] (from 0) of all; below[k] = how many are smaller. */
void ranking_select(ranking *r, const int64_t *wanted, int64_t count, double *values,
                    int64_t *below);

/* The same from numbers in any order, of which this rank has n: gathered where they are few. */
roofs_status ranked_values(comm *c, const double *numbers, int64_t n, const int64_t *wanted,
                           int64_t count, double *values, roofs_error *err);

#endif
