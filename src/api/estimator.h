/* The state of an estimator, shared by the files of this layer. */
#ifndef API_ESTIMATOR_H
#define API_ESTIMATOR_H

#include "base/archive.h"
#include "base/nameset.h"
#include "method/method.h"

typedef enum phase { PHASE_OPEN, PHASE_FINISHED, PHASE_BROKEN } phase;

struct roofs_estimator {
    phase phase;
    fit *f; /* an allocation of its own: methods and devices point to it */
    const method *m;
    const device_ops *ops;
    void *state;      /* of the method */
    int allocated;    /* the columns exist; the first block allocates them */
    int dense;        /* the first block was dense, and not of a packed type */
    int narrow;       /* storage is F32 because the first block was; F64 blocks are then refused */
    int keeps_packed; /* features of packed types stay so */
    int named;        /* features have names; -1 before the first block */
    roofs_block hint; /* of roofs_prefetch; count 0 = none */
    int busy;         /* a batch or roofs_finish is in progress */
    nameset names;
    archive undo; /* the state before the batch, if undo is enabled */
    roofs_batch *history;
    int64_t history_capacity;
    roofs_feature *view_features; /* the arrays of roofs_view, in the units of the caller */
    int64_t view_capacity;
    unsigned char *view_trust, *view_is_selected;
    double *view_residual, *view_scale;
    roofs_spread *view_spread;
    roofs_group *view_groups;
    roofs_member *view_members; /* of all groups, one after the other */
    int64_t view_selected_capacity, view_spread_capacity, view_groups_capacity,
        view_members_capacity, view_scale_capacity;
    roofs_estimator *others[HYPOTHESES - 1]; /* further hypotheses: see hypotheses.h */
    int64_t other_count;
    int64_t side_by_side;      /* fits that share the memory limit, with this one */
    roofs_settings *described; /* f->set for the caller of roofs_describe: stays in place when
                                * another hypothesis takes over */
    int64_t compared; /* hypotheses that this one was chosen from; 0 = none is chosen yet */
};

/* Allocates a zeroed estimator with a zeroed fit. On failure *out is NULL. */
roofs_status estimator_allocate(roofs_estimator **out, roofs_error *err);

/* What an estimator is made of. */
typedef struct beginnings {
    const roofs_settings *settings;
    const roofs_comm *ranks; /* NULL = one rank has all samples */
    const double *y;
    const double *case_weight; /* NULL = 1 each */
    int64_t n;
    roofs_status own; /* of what this rank has done alone before; a failure ends all ranks */
} beginnings;

/* Initialises a zeroed estimator, without columns; f->start and f->threads may be set before. */
roofs_status estimator_build(roofs_estimator *e, const beginnings *from, roofs_error *err);

enum { FEWEST_SAMPLES = 4 };

/* `what`, as weights of samples, need the CPU: sets the device AUTO to it, and refuses others. */
roofs_status estimator_choose_cpu(roofs_estimator *e, const char *what, roofs_error *err);

/* Refuses forced features where the method, the device or the samples do not allow them. */
roofs_status estimator_check_forced(roofs_estimator *e, roofs_error *err);

/* Sets f->case_weight and f->cases; weight may be NULL. Weights that are all 1 are none: the bits
 * are those of a fit without weights. */
roofs_status estimator_set_case_weight(roofs_estimator *e, const double *weight, roofs_error *err);

/* Destroys *e and sets it to NULL if `status` is a failure. Returns `status`. */
roofs_status estimator_destroy_if_failed(roofs_estimator **e, roofs_status status);

/* How the columns of a fit are stored. */
typedef struct storage_kind {
    roofs_dtype dtype; /* of the first columns; others are F64 if this type is packed */
    int keeps_packed;  /* columns of packed types stay so */
    int narrow, dense; /* see roofs_estimator */
} storage_kind;

/* The storage of a stream that begins with this block. */
storage_kind estimator_storage(const roofs_estimator *e, const roofs_block *block);

/* Bytes of the fit with all its hypotheses. For a dense stream: the most it will ever need. For
 * others: what is allocated now, where all keep as much as this one. */
int64_t estimator_bytes(const roofs_estimator *e);

/* Allocates the columns. If the first block is not sparse, all may be like it: OVER_LIMIT if their
 * memory exceeds the limit. */
roofs_status estimator_begin(roofs_estimator *e, const storage_kind *kind, roofs_error *err);

/* Back to before estimator_begin; `storage` is the setting before it. */
void estimator_release_columns(roofs_estimator *e, int64_t storage);

/* Takes in a batch; the method then consumes it, and estimator_end_batch stores the columns that
 * stay. Until then undo_restore is possible. `next`: features to prefetch; may be NULL. */
roofs_status estimator_take_batch(roofs_estimator *e, const roofs_block *batch,
                                  const roofs_block *next, roofs_error *err);
roofs_status estimator_end_batch(roofs_estimator *e, roofs_error *err);

/* The device of these settings. BAD_SETTING if the machine does not have it or the method does not
 * support it. */
roofs_status estimator_device(const roofs_settings *set, const device_ops **out, roofs_error *err);

/* The settings of a fit with its number of threads: finding that number reads files. */
roofs_settings estimator_settings(const fit *f);

/* The shape of the columns of a fit, and the bytes of the fit without its columns. */
device_shape estimator_shape(const roofs_settings *set, int64_t n, roofs_dtype dtype);

/* The type in which a device stores columns that arrive as `arrived`. */
roofs_dtype estimator_stored_type(const roofs_settings *set, const device_ops *ops,
                                  roofs_dtype arrived);
int64_t estimator_bytes_besides(const roofs_settings *set, const device_shape *shape);

/* roofs_settings_resolve on settings that were checked. */
roofs_status estimator_resolve(roofs_settings *set, int64_t n, int64_t total, int64_t features,
                               roofs_error *err);

/* Saves the state for an undo. BAD_DATA unless this pass had as many features as the first, and as
 * many on every rank. `call` is that of a comm_point. */
roofs_status estimator_end_pass_alike(roofs_estimator *e, const char *call, roofs_error *err);

/* Bytes that estimator_bytes_besides includes for names and history, which grow with the stream. */
enum { FIRST_NAMES = 1 << 16 };

/* Sets the flags f->warnings that follow from the responses. */
roofs_status warn_about_response(fit *f, roofs_error *err);

/* All flags of the current result: f->warnings, and those that follow from the rest of the fit. */
int64_t warnings_of(const fit *f);

/* BAD_CALL unless the estimator accepts features now. */
roofs_status estimator_check_open(const roofs_estimator *e, const char *call, roofs_error *err);

/* Transfers all that a batch changes, except names and history. */
void estimator_transfer(roofs_estimator *e, archive *a);

/* undo_save copies the state before a batch or before roofs_finish, if undo is enabled.
 * undo_restore restores it, removes the names of `batch` (NULL in roofs_finish) and returns
 * CANCELLED. */
roofs_status undo_save(roofs_estimator *e, roofs_error *err);
roofs_status undo_restore(roofs_estimator *e, const roofs_block *batch, roofs_error *err);
int64_t undo_bytes(const roofs_settings *set, const device_shape *shape);

#endif
