/* The estimator's inside, shared by the files of this room. */
#ifndef API_ESTIMATOR_H
#define API_ESTIMATOR_H

#include "base/archive.h"
#include "base/nameset.h"
#include "method/method.h"

typedef enum phase { PHASE_OPEN, PHASE_FINISHED, PHASE_BROKEN } phase;

struct roofs_estimator {
    phase phase;
    fit f;
    const method *m;
    const device_ops *ops;
    void *state;
    int allocated;     /* the columns exist: the first block has come */
    int dense;         /* the stream began with a dense block */
    int narrow;        /* stored as f32 because the first block was, not because it was asked for */
    int named;         /* features have names; -1 before the first block */
    roofs_block after; /* what the caller says comes after the next block; count 0 = unknown */
    int busy;          /* inside a batch, or the end of the stream */
    nameset names;
    archive before; /* the state before the batch, where it may be taken back */
    roofs_batch *history;
    int64_t history_capacity;
    roofs_feature *view_features; /* what roofs_view shows, in the user's units */
    int64_t view_capacity;
    unsigned char *view_trust;
    double *view_residual;
};

/* The parts of roofs_create that roofs_load uses: an estimator without features, and room for
 * the first. `with` NULL: one rank has all samples. */
roofs_status estimator_build(roofs_estimator *e, const roofs_settings *settings,
                             const roofs_comm *with, const double *y, int64_t n, roofs_error *err);
roofs_status estimator_begin(roofs_estimator *e, roofs_dtype dtype, int dense, roofs_error *err);

/* The device of these settings; BAD_SETTING where it is not here, or not for the method. */
roofs_status estimator_device(const roofs_settings *set, const device_ops **out, roofs_error *err);

/* Room for the features of a fit, and all that it takes besides that. */
device_shape estimator_shape(const roofs_settings *set, int64_t n, roofs_dtype dtype);
int64_t estimator_bytes_besides(const roofs_settings *set, const device_shape *shape);

/* What names and history may take before they count: they grow with the stream. */
enum { FIRST_NAMES = 1 << 16 };

/* BAD_CALL unless the estimator takes features now. */
roofs_status estimator_check_open(const roofs_estimator *e, const char *call, roofs_error *err);

/* All that changes with a batch; names and history apart. */
void estimator_transfer(roofs_estimator *e, archive *a);

/* Before a batch, and in place of its end: nothing but the names in `batch` has to be undone
 * then (NULL: no batch, but the end of the stream). */
roofs_status undo_remember(roofs_estimator *e, roofs_error *err);
roofs_status undo_batch(roofs_estimator *e, const roofs_block *batch, roofs_error *err);
int64_t undo_bytes(const roofs_settings *set, const device_shape *shape);

#endif
