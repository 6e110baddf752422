/* The simplex method for least absolute deviations (Barrodale, Roberts 1973): it walks from vertex
 * to vertex of min |x|_1 + |y - A x - c|_1 along edges, with a line search over all kinks of an
 * edge that still lead downhill. A step works only on a working set of samples with small
 * residuals. The other samples keep their sign during a walk; those whose sign was wrong at its end
 * join the working set, and another walk follows (Portnoy, Koenker 1997).
 *
 * An equation is x_j = 0 for a column or r_i = 0 for a sample of the working set. At a vertex as
 * many equations hold as [A 1] has columns; they are its basis. The intercept c has no equation. */
#ifndef BASELINE_EDGE_WALK_H
#define BASELINE_EDGE_WALK_H

#include "base/order.h"
#include "method/baseline/design.h"

typedef struct edge_kink {
    double at; /* distance along the edge */
    int64_t equation;
} edge_kink;

typedef struct edge_walk {
    design a;
    int64_t working, capacity; /* size of the working set, and its limit */

    /* per equation: the columns, then the working set */
    double *value, *rate, *norm; /* x_j or r_i; its change along an edge; norm of its row */
    int32_t *side;               /* sign of the value; 0 = in the basis */
    edge_kink *kinks;

    /* per sample of the working set */
    int64_t *sample; /* its index */
    double *rows;    /* its row of [A 1] */

    /* per column of [A 1]; edge k leaves equation k of the basis and keeps the others */
    int64_t *basis;         /* equations; -1 = none, for the intercept at the start */
    double *edges;          /* total x total: change of x */
    double *length, *slope; /* of an edge: its norm; the objective's slope without equation k */
    double *x, *gradient;   /* the vertex; gradient of the objective without the basis */
    double *row;            /* scratch */

    /* per sample */
    double *fixed_sign; /* of r; 0 for the working set */
    double *r, *u;      /* residual, dual */
    order ascending;    /* samples by |r| */
} edge_walk;

roofs_status edge_walk_create(edge_walk *w, const design *a, roofs_error *err);
void edge_walk_destroy(edge_walk *w);
int64_t edge_walk_bytes(int64_t count, int64_t n);

/* Starts at a vertex near x: zeros of x stay zero, and samples of small residual are fitted.
 * Returns 1 where the optimum is reached; w->x is then the solution, and w->u that of the dual. */
int edge_walk_to_optimum(edge_walk *w, const double *x);

#endif
