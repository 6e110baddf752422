/* From a corner of min |x|_1 + |y - A x - c|_1 along its edges to the optimum: the simplex
 * method for least absolute deviations (Barrodale, Roberts 1973), which goes over all the
 * kinks of an edge that still lead downhill. The work of a step is kept off the many
 * samples far from zero: they keep their sign until the walk is over, and it is taken up
 * again where one has changed it (Portnoy, Koenker 1997).
 *
 * A corner is where as many equations as there are columns hold, each either x_j = 0 or
 * r_i = 0 for a sample at hand. The level c has no kink of its own. */
#ifndef BASELINE_EDGE_WALK_H
#define BASELINE_EDGE_WALK_H

#include "base/order.h"
#include "linalg/columns.h"

typedef struct edge_kink {
    double at; /* length along the edge */
    int64_t equation;
} edge_kink;

typedef struct edge_walk {
    columns *cols;
    const int64_t *which;
    const double *y;
    int64_t n, count;
    int64_t total;      /* columns, and the level as the last of them */
    int64_t hand, room; /* samples at hand, and at most */

    /* equations: the columns, then the samples at hand */
    double *value, *rate, *size; /* x_j or r_i; its change along an edge; length of its row */
    int32_t *side;               /* sign of the value; 0 = holds at this corner */
    int64_t *sample;             /* of each sample at hand */
    double *rows;                /* hand x total */
    edge_kink *kinks;

    /* per column; edge k leaves the corner's equation k and keeps to the others */
    int64_t *held;          /* equations that hold; -1 = stands in for the level */
    double *edges;          /* total x total: change of x */
    double *length, *slope; /* of an edge: its length, change of the objective but for equation k */
    double *x, *gradient, *row;

    /* per sample */
    double *far; /* sign of those not at hand, 0 for those at hand */
    double *r, *u;
    order ranks;
} edge_walk;

roofs_status edge_walk_create(edge_walk *w, columns *cols, const int64_t *which, int64_t count,
                              const double *y, int with_level, roofs_error *err);
void edge_walk_destroy(edge_walk *w);
int64_t edge_walk_bytes(int64_t count, int64_t n);

/* Starts at a corner near x (columns that are exactly 0 stay so, samples of small residual
 * are fitted). 1 where the optimum was reached: then x is it and u its dual. */
int edge_walk_to_optimum(edge_walk *w, const double *x);

#endif
