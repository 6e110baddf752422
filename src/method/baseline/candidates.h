/* Which samples can be the next to change sides on a solution path. As long as x strays at
 * most `reach` from the straight line it was on, the residual of sample i strays at most
 * |a_i| reach; until lambda has fallen to `until`, only the samples that could then meet
 * lambda are watched. All samples are looked at again when x or lambda leaves these bounds. */
#ifndef BASELINE_CANDIDATES_H
#define BASELINE_CANDIDATES_H

#include "linalg/columns.h"

typedef struct candidates {
    columns *cols;
    const int64_t *which;
    int64_t n, count;
    int64_t total;     /* columns, and the level as the last of them */
    int64_t now, most; /* samples watched */

    int64_t *sample;           /* of those watched */
    double *r, *moving, *rows; /* theirs, as in huber_path; now x total */

    double *size;        /* of every sample: |a_i| */
    int64_t *place;      /* of every sample: 1 + its place among those watched, or 0 */
    unsigned char *near; /* of every sample: to be watched */

    double *x, *slope; /* the line: x at `from`, and its change with lambda */
    double from, until, reach;
    double span, pace; /* lengths of lines, and stray for a length, as it turned out so far */
} candidates;

/* What all samples are like where a line begins. */
typedef struct candidates_line {
    const int32_t *side;
    const double *r, *moving;
    const double *x, *slope;
    double lambda, next; /* where it begins, and where the first change is */
} candidates_line;

roofs_status candidates_create(candidates *w, columns *cols, const int64_t *which, int64_t count,
                               int with_level, roofs_error *err);
void candidates_destroy(candidates *w);
int64_t candidates_bytes(int64_t count, int64_t n);

/* The samples to be watched along a line; nothing, where that would be too many. */
void candidates_begin(candidates *w, const candidates_line *line);

/* Nothing holds until the next line. */
void candidates_nothing(candidates *w);

/* Whether at lambda, where x = level + lambda slope, no sample but those watched can have
 * changed. */
int candidates_holds(const candidates *w, double lambda, const double *level, const double *slope);

/* To be told where a line would be left: the next one learns from it. */
void candidates_end(candidates *w, double lambda, const double *level, const double *slope);

/* moving of those watched, where x changes with `slope`. */
void candidates_turn(candidates *w, const double *slope);

#endif
