/* The samples that may be the next to change sides on a solution path (see huber_path.h). A path is
 * near a straight line for a while: x = line_x + (lambda - lambda_begin) line_slope. While x stays
 * within `radius` of that line, the residual of sample i stays within |a_i| radius of its value on
 * the line. So until lambda has fallen to lambda_end, only the samples whose |r| can reach lambda
 * are candidates. When x or lambda leaves these bounds, the candidates are chosen anew from all
 * samples. */
#ifndef BASELINE_CANDIDATES_H
#define BASELINE_CANDIDATES_H

#include "method/baseline/design.h"

typedef struct candidates {
    design a;
    int64_t count, capacity; /* candidates, and at most */

    /* per candidate */
    int64_t *sample;
    double *r, *image; /* residual and its rate, as in huber_path */
    double *rows;      /* rows of [A 1], count x a.total */

    /* per sample */
    double *norm;          /* |a_i| */
    int64_t *position;     /* 1 + its position among the candidates; 0 = no candidate */
    unsigned char *marked; /* to become a candidate */

    double *line_x, *line_slope; /* x at lambda_begin, and its change with lambda */
    double lambda_begin, lambda_end, radius;
    double span, drift; /* estimates from earlier lines: their length, and deviation per length */
} candidates;

/* The state of the path where a line begins; all vectors are borrowed. */
typedef struct candidates_line {
    const int32_t *side;
    const double *r, *image; /* of all samples */
    const double *x, *slope;
    double lambda, lambda_next; /* the beginning, and the first event */
} candidates_line;

roofs_status candidates_create(candidates *c, const design *a, roofs_error *err);
void candidates_destroy(candidates *c);
int64_t candidates_bytes(int64_t count, int64_t n);

/* Chooses the candidates along a line; none where they would be too many. */
void candidates_choose(candidates *c, const candidates_line *line);

/* The candidates no longer suffice for any lambda, until the next choice. */
void candidates_invalidate(candidates *c);

/* Returns 1 where no sample but the candidates can have changed sides at lambda. x at lambda is
 * base + lambda slope. */
int candidates_suffice(const candidates *c, double lambda, const double *base, const double *slope);

/* Adapts `drift` to the path at the lambda where the bounds would be left. */
void candidates_adapt(candidates *c, double lambda, const double *base, const double *slope);

/* image = [A 1] slope, for the candidates. */
void candidates_set_slope(candidates *c, const double *slope);

#endif
