/* The trace of a fit: time, memory and largest coefficients after every batch. The model does not
 * contain it, because a model must not depend on the speed of the machine. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "base/output.h"

#include <jansson.h>

enum { TRACE_MOST = 100 }; /* coefficients per batch */

/* ---- writing: a line of JSON per batch --------------------------------- */

typedef struct trace {
    output out; /* out.file is NULL if no trace is written */
} trace;

roofs_status trace_open(trace *t, const char *path, roofs_error *err);

/* Writes the state after a batch, and the seconds for reading and fitting it. */
roofs_status trace_batch(trace *t, roofs_estimator *e, double reading, double fitting,
                         roofs_error *err);

/* Adds a last line with the profile of the fit; releases the object. */
void trace_profile(trace *t, json_t *profile);
roofs_status trace_commit(trace *t, roofs_error *err);
void trace_abandon(trace *t);

/* ---- reading ----------------------------------------------------------- */

typedef struct trace_weight {
    int64_t index;
    double coef;
} trace_weight;

typedef struct trace_line {
    double reading, fitting; /* seconds */
    double bytes;            /* memory in use */
    int64_t count;
    trace_weight *weights; /* largest first */
} trace_line;

typedef struct trace_lines {
    trace_line *lines;
    int64_t count, capacity;
    json_t *profile; /* see profile_json; NULL = none */
} trace_lines;

roofs_status trace_read(trace_lines *t, const char *path, roofs_error *err);
void trace_free(trace_lines *t);

#endif
