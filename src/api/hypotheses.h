/* Several hypotheses of the clean samples, side by side on one reading of the stream. The
 * estimator that the caller holds follows HYPOTHESIS_USUAL and owns the others, each a complete
 * estimator. At the end of the first pass the best one takes the place of the caller's, and the
 * others are destroyed. */
#ifndef API_HYPOTHESES_H
#define API_HYPOTHESES_H

#include "api/estimator.h"

/* The most hypotheses that a fit with these settings follows, at least 1. */
int64_t hypotheses_most(const roofs_settings *set);

/* The largest of `count` scores; of equal ones the first. */
int64_t hypotheses_best(const double *scores, int64_t count);

/* The number that is compared, or from which e was chosen; 0 if the method has none. */
int64_t hypotheses_compared(const roofs_estimator *e);

/* Fit k: e itself for 0, then the others; NULL past the last. */
roofs_estimator *hypotheses_at(roofs_estimator *e, int64_t k);

/* Builds the others of a new estimator, without those that are the same as an earlier one. */
roofs_status hypotheses_build(roofs_estimator *e, const beginnings *from, roofs_error *err);

/* Adds one that starts with `start`. */
roofs_status hypotheses_add(roofs_estimator *e, hypothesis start, const beginnings *from,
                            roofs_error *err);

void hypotheses_destroy(roofs_estimator *e);

/* Makes the memory limit count all, also those that were left out: a fit then needs as much as
 * roofs_memory_needed reports. */
void hypotheses_share_memory(roofs_estimator *e);

/* Allocates the columns of all, or of none. */
roofs_status hypotheses_begin(roofs_estimator *e, const storage_kind *kind, roofs_error *err);

/* Back to before hypotheses_begin; `storage` is the setting before it. */
void hypotheses_release(roofs_estimator *e, int64_t storage);

/* undo_save and undo_restore for all. */
roofs_status hypotheses_save(roofs_estimator *e, roofs_error *err);
roofs_status hypotheses_restore(roofs_estimator *e, const roofs_block *batch, roofs_error *err);

/* True if the monitor has requested to undo the batch, in any of them. */
int hypotheses_undo_requested(roofs_estimator *e);

/* Fits a batch with all. A stop takes effect when all have fitted the batch; an undo at once. */
roofs_status hypotheses_consume(roofs_estimator *e, const roofs_block *batch,
                                const roofs_block *next, roofs_error *err);

/* Completes the batch of all. */
roofs_status hypotheses_end_batch(roofs_estimator *e, roofs_error *err);

/* Completes the pass: settles all, and only the best goes on. If the monitor stops this, nothing
 * is chosen, and an undo restores the state of hypotheses_save. */
roofs_status hypotheses_end_pass(roofs_estimator *e, roofs_error *err);

/* Completes the fit: of all, the best is finished and goes on. The same holds for a stop. */
roofs_status hypotheses_finish(roofs_estimator *e, roofs_error *err);

/* The living hypotheses and the number of those compared, for checkpoints. */
typedef struct hypotheses_list {
    int start;                  /* of the caller's estimator */
    int64_t compared;           /* before; 1 if none were */
    int64_t count;              /* of others */
    int others[HYPOTHESES - 1]; /* their starts */
} hypotheses_list;

hypotheses_list hypotheses_living(const roofs_estimator *e);
void hypotheses_transfer(hypotheses_list *list, archive *a);

#endif
