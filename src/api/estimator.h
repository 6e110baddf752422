/* The estimator's inside, shared by the files of this room. */
#ifndef API_ESTIMATOR_H
#define API_ESTIMATOR_H

#include "base/nameset.h"
#include "method/method.h"

typedef enum phase { PHASE_OPEN, PHASE_FINISHED, PHASE_BROKEN } phase;

struct roofs_estimator {
    phase phase;
    fit f;
    const method *m;
    void *state;
    int allocated; /* the columns exist: the first block has come */
    int dense;     /* the stream began with a dense block */
    int narrow;    /* stored as f32 because the first block was, not because it was asked for */
    int named;     /* features have names; -1 before the first block */
    nameset names;
    roofs_batch *history;
    int64_t history_capacity;
    roofs_feature *view_features; /* what roofs_view shows, in the user's units */
    int64_t view_capacity;
    unsigned char *view_trust;
    double *view_residual;
};

#endif
