/* The contract of a method: how a batch of features changes the coefficients and the trust set. A
 * new method is one file and one line in registry.c. */
#ifndef METHOD_METHOD_H
#define METHOD_METHOD_H

#include "method/fit.h"

typedef struct method {
    const char *name;
    const char *summary;  /* one line, for people */
    int needs_scale;      /* the estimator scales features to 1 even without standardising, finds
                           * their flatness, and scales y so that its robust scale is 1 to 2 */
    int has_reserve;      /* keeps mu (1 + reserve) features until the end */
    int has_joint;        /* can fit a batch together with the kept features */
    int has_engines;      /* for devices other than the CPU, see device_ops.engine */
    int has_probability;  /* of features and samples; f->trusted.mask holds the samples' */
    int has_hypotheses;   /* create reads f->start and sets f->is_redundant; settle sets f->score */
    int reads_again;      /* further passes were measured to help: passes = auto uses them */
    int has_case_weights; /* sample i may stand for f->case_weight[i] samples */
    int has_forced;       /* never drops or shrinks the first set.always features */
    int splits;           /* accepts samples that are split over ranks: all its sums over samples go
                           * through columns_* or comm_* */

    /* Upper bound of the bytes of the method's state, for n samples. */
    int64_t (*bytes)(const roofs_settings *set, int64_t n);

    roofs_status (*create)(void **state, fit *f, roofs_error *err);
    void (*destroy)(void *state); /* the state is not NULL; create may have failed halfway */

    /* Before the first batch all samples are trusted, the intercept is the mean of y (or 0), and
     * f->residual = y - intercept.
     * The batch is at the end of f->cols, with coefficient 0: columns_is_new is true for its
     * columns. When consume returns OK or CANCELLED:
     *   - at most fit_capacity columns are left (columns_drop), with their final coefficients;
     *   - f->residual = y - intercept - sum of coef z;
     *   - f->trusted belongs to that residual.
     * Call fit_round_done at the end of each round. A batch may have no column that is new: all
     * its features are constant, or kept since an earlier pass. */
    roofs_status (*consume)(void *state, fit *f, roofs_error *err);

    /* Optional: completes the fit on the kept features at the end of a pass, and scores it. The
     * stream may go on with another pass, or finish follows. */
    roofs_status (*settle)(void *state, fit *f, roofs_error *err);

    /* Optional: called once, after the last batch; a settled fit need not be settled again. */
    roofs_status (*finish)(void *state, fit *f, roofs_error *err);

    /* Optional: saves or restores the state that the method carries from batch to batch, beside the
     * fit; and an upper bound of its bytes. */
    void (*transfer)(void *state, fit *f, archive *a);
    int64_t (*transfer_bytes)(const roofs_settings *set, int64_t n);
} method;

const method *method_at(int64_t k);           /* NULL past the last */
const method *method_named(const char *name); /* NULL for an unknown name */

/* BAD_SETTING unless m has the flag at offsetof(method, flag). `cannot` completes the message
 * "method NAME cannot ..."; the message also lists the methods that have the flag. */
roofs_status method_require(const method *m, size_t flag, const char *cannot, roofs_error *err);

#endif
