/* roofs - robust regression on features that arrive as a stream.
 *
 * n samples are fixed; features arrive in blocks, each feature one vector of
 * length n; part of the responses may be corrupted by an adversary. The
 * estimator keeps at most mu features, their coefficients, and the set of
 * samples that can be trusted, in bounded memory.
 *
 *     roofs_settings s;
 *     roofs_settings_init(&s);
 *     s.mu = 50;
 *     roofs_estimator *e;
 *     roofs_error err;
 *     if (roofs_create(&e, &s, y, n, &err)) goto fail;
 *     while (next(&block))
 *         if (roofs_consume(e, &block, &err)) goto fail;
 *     if (roofs_finish(e, &err)) goto fail;
 *     roofs_result out;
 *     roofs_view(e, &out, &err);
 *     roofs_destroy(e);
 *
 * Every call that can fail returns a status; the reason is written to the
 * caller's roofs_error, which may be NULL. The library never prints, exits, or
 * touches signals, the locale or the environment. Different estimators may be
 * used from different threads; one estimator serves one thread at a time.
 *
 * Of each pointer the comments say who owns what it points to:
 *   borrowed  read during this call only
 *   copied    the caller may free it after the call
 *   view      valid until the next call on the same object
 */
#ifndef ROOFS_ROOFS_H
#define ROOFS_ROOFS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ROOFS_API __attribute__((visibility("default")))
#define ROOFS_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define ROOFS_API
#define ROOFS_CHECKED
#endif

/* ---- status ------------------------------------------------------------ */

/* Numbers are never reused: programs and bindings may store them. */
#define ROOFS_STATUS_LIST(X)                                                                       \
    X(OK, 0, "success")                                                                            \
    X(FAILED, 1, "failed")                                                                         \
    X(BAD_SETTING, 2, "a setting is out of range")                                                 \
    X(BAD_DATA, 3, "the data cannot be used")                                                      \
    X(NO_MEMORY, 4, "out of memory")                                                               \
    X(OVER_LIMIT, 5, "more memory is needed than allowed")                                         \
    X(IO, 6, "a file cannot be read or written")                                                   \
    X(BAD_CALL, 7, "the call is out of order")                                                     \
    X(CANCELLED, 8, "stopped by the caller")

typedef enum roofs_status {
#define ROOFS_STATUS_ENUM(name, number, text) ROOFS_##name = (number),
    ROOFS_STATUS_LIST(ROOFS_STATUS_ENUM)
#undef ROOFS_STATUS_ENUM
} roofs_status;

/* Why a call failed: what, where (file, line, feature), what to do about it. */
typedef struct roofs_error {
    roofs_status status;
    int64_t feature; /* place in the stream of the feature to blame; -1 where it is none */
    char text[1000];
} roofs_error;

/* The general text of a status; never NULL. */
ROOFS_API const char *roofs_status_text(roofs_status status);

/* "major.minor.patch" of the library. */
ROOFS_API const char *roofs_version(void);

/* ---- settings ---------------------------------------------------------- */

/* Defaults, ranges and help come from one table (src/api/settings.def), which
 * also makes the options of the program and the documentation. */
typedef struct roofs_settings {
    int64_t mu;          /* features to keep at most; must be set */
    const char *method;  /* name of a method, see roofs_method_name; borrowed by roofs_create */
    int64_t batch;       /* longer blocks are cut into batches of this many features */
    double clean_ratio;  /* share of the samples to trust; 0 = estimate it, eq. (5) */
    double reserve;      /* keep mu (1 + reserve) features until the end, for methods that can */
    const char *reading; /* "alone" or "joint": how batch-wise methods fit a batch; borrowed */
    double lambda;       /* weight of the penalty of grafting; 0 = by the number of samples */
    int64_t passes;      /* times the stream will be read, see roofs_next_pass */
    double eta;          /* step length, divided by the number of trusted samples */
    double tol;          /* a batch has settled when the trusted residuals move less than this */
    int64_t max_iter;    /* rounds per batch at most */
    int64_t threads;     /* 0 = one per core; the result does not depend on it */
    int64_t max_memory;  /* bytes the estimator may take; 0 = no limit */
    const char *device;  /* "cpu", "cuda" or "auto": where to compute; borrowed */
    const char *storage; /* "auto" (as the first block), "f64" or "f32"; borrowed */
    int32_t intercept;   /* 1 = fit one */
    int32_t standardize; /* 1 = bring features to mean 0 and scale 1 on the trusted samples */
} roofs_settings;

ROOFS_API void roofs_settings_init(roofs_settings *s);

/* Sets a field by its name from text, as the program's options do. `value` is
 * borrowed by `s` for text fields: keep it alive as long as `s`. */
ROOFS_CHECKED roofs_status roofs_settings_set(roofs_settings *s, const char *name,
                                              const char *value, roofs_error *err);

/* Checks every field against its range and names the first that is wrong. */
ROOFS_CHECKED roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err);

typedef enum roofs_setting_kind {
    ROOFS_SETTING_INT = 0,
    ROOFS_SETTING_REAL = 1,
    ROOFS_SETTING_FLAG = 2,
    ROOFS_SETTING_TEXT = 3
} roofs_setting_kind;

/* One row of the table, for bindings and documentation. */
typedef struct roofs_setting_info {
    const char *name;
    roofs_setting_kind kind;
    const char *standard; /* the default, as text */
    double low, high;     /* range, both ends allowed; not for text */
    const char *help;
} roofs_setting_info;

/* Row k, counted from 0; 0 is returned past the last row, 1 otherwise. */
ROOFS_API int roofs_setting_describe(int64_t k, roofs_setting_info *out);

/* Name and one-line summary of method k, counted from 0; NULL past the last. */
ROOFS_API const char *roofs_method_name(int64_t k);
ROOFS_API const char *roofs_method_summary(int64_t k);

/* ---- blocks of features ------------------------------------------------ */

typedef enum roofs_dtype { ROOFS_F64 = 0, ROOFS_F32 = 1 } roofs_dtype;
typedef enum roofs_index { ROOFS_I64 = 0, ROOFS_I32 = 1 } roofs_index;

/* Features that arrive together.
 *
 * Dense (starts is NULL): value i of feature k stands at
 * values[k * feature_stride + i * sample_stride]. With sample_stride 1 nothing
 * is copied but the features that are kept.
 *
 * Sparse (CSC): feature k has the values starts[k]..starts[k + 1] - 1, each of the
 * sample that stands at the same place of `samples`, ascending within a feature; the
 * others are zero. Strides are not looked at.
 *
 * With the device cuda the values of a dense block may lie in the GPU's memory. */
typedef struct roofs_block {
    int64_t count;            /* features in the block */
    int64_t n;                /* samples; must equal the estimator's n */
    roofs_dtype dtype;        /* type of the values */
    const void *values;       /* borrowed */
    int64_t feature_stride;   /* in values, not bytes */
    int64_t sample_stride;    /* in values, not bytes */
    const char *const *names; /* count names, or NULL; borrowed */
    const void *starts;       /* sparse: count + 1 places; NULL = dense; borrowed */
    const void *samples;      /* sparse: the sample of each value; borrowed */
    roofs_index index;        /* type of starts and samples */
} roofs_block;

/* ---- the estimator ----------------------------------------------------- */

typedef struct roofs_estimator roofs_estimator;

/* y: n responses, copied. On failure *out is NULL. */
ROOFS_CHECKED roofs_status roofs_create(roofs_estimator **out, const roofs_settings *settings,
                                        const double *y, int64_t n, roofs_error *err);

/* How the parts of a fit meet whose samples are split over `size` ranks: processes, on one
 * machine or many, each with the samples that follow those of the rank before. roofs/roofs_mpi.h
 * fills the table from an MPI communicator; other means of communication can fill it too. A
 * function that fails returns anything but 0. All ranks make the same calls in the same order. */
typedef struct roofs_comm {
    int64_t rank, size;
    void *user;

    /* Begins to add up what every rank has in values[0..count), in the order of the ranks; after
     * `finish` all have the sum there, the same bits everywhere. One sum is under way at a time. */
    int (*start)(void *user, double *values, int64_t count);
    int (*finish)(void *user);

    /* all = sizes[0] bytes of rank 0, sizes[1] of rank 1, ...; `mine` are this rank's. */
    int (*gather)(void *user, const void *mine, const int64_t *sizes, void *all);
} roofs_comm;

/* roofs_create where this rank has n of the samples: y are their responses, and blocks have their
 * values. All calls on the estimator are then made by all ranks, with the same features and the
 * same settings but for y and values; a monitor is set by all ranks or none, and the first to
 * stop stops all. Failures are the same on all ranks, but for NO_MEMORY and FAILED, which one rank
 * alone may see: the others then wait for it, and the job should be ended. Trust, clean and
 * residual of a view are those of this rank's samples, n is its number of them; a model has those
 * of all. `ranks` is copied. Methods: roofs, roofs-bayes, os, torrent, rlhh. */
ROOFS_CHECKED roofs_status roofs_create_split(roofs_estimator **out, const roofs_settings *settings,
                                              const double *y, int64_t n, const roofs_comm *ranks,
                                              roofs_error *err);

/* Takes the next features of the stream. The block is borrowed. After a
 * failure other than BAD_CALL and CANCELLED the estimator can only be destroyed, but that a
 * stream whose first block found no memory (on the GPU, say) may begin again.
 * After CANCELLED it can be viewed, saved and goes on: the position of roofs_describe says
 * with which feature (batches of the block that were not begun are not taken). */
ROOFS_CHECKED roofs_status roofs_consume(roofs_estimator *e, const roofs_block *block,
                                         roofs_error *err);

/* Says before roofs_consume which block will be given to the call after it, or one that begins with
 * that: on its way to a GPU it need not wait for the rounds of the first then. Borrowed, and must
 * not change, until it is consumed, the call that consumes the first fails, or NULL is expected:
 * none. No result depends on it. */
ROOFS_API void roofs_expect(roofs_estimator *e, const roofs_block *next);

/* The stream begins again with its first feature: features that were not kept get
 * another chance. At most settings.passes - 1 times. */
ROOFS_CHECKED roofs_status roofs_next_pass(roofs_estimator *e, roofs_error *err);

/* Declares the stream ended. May be cancelled too, and called again. */
ROOFS_CHECKED roofs_status roofs_finish(roofs_estimator *e, roofs_error *err);

ROOFS_API void roofs_destroy(roofs_estimator *e); /* NULL is fine */

/* Bytes roofs_create and roofs_consume will take for n samples at most. Sparse features take
 * less, by the number of their values: with them, max_memory counts what is really taken. */
ROOFS_CHECKED roofs_status roofs_memory_needed(const roofs_settings *settings, int64_t n,
                                               roofs_dtype storage, int64_t *bytes,
                                               roofs_error *err);

/* The same where each feature has `filled` values that are not zero: an estimate as good as
 * that number is for the features that are kept. */
ROOFS_CHECKED roofs_status roofs_memory_needed_sparse(const roofs_settings *settings, int64_t n,
                                                      roofs_dtype storage, int64_t filled,
                                                      int64_t *bytes, roofs_error *err);

/* How many of these bytes lie in the memory of a GPU, and how many are free there now; -1 where
 * none is in this machine. 0 and 0 where the device is the CPU. Sparse features are laid out on a
 * GPU: they take there what dense ones take. */
ROOFS_CHECKED roofs_status roofs_memory_on_device(const roofs_settings *settings, int64_t n,
                                                  roofs_dtype storage, int64_t *bytes,
                                                  int64_t *free_bytes, roofs_error *err);

/* Where the fit is computed: "cpu" or "cuda", also where the setting is "auto". */
ROOFS_API const char *roofs_device(const roofs_estimator *e);

/* What a running fit looks like, given to the monitor once per round. */
typedef struct roofs_progress {
    int64_t batch;         /* from 1 */
    int64_t round;         /* within the batch, from 1 */
    int64_t features_seen; /* the current batch included */
    int64_t selected;
    int64_t trusted;
} roofs_progress;

/* What a monitor answers. After either of the last two roofs_consume (or roofs_finish)
 * returns ROOFS_CANCELLED. */
typedef enum roofs_answer {
    ROOFS_GO_ON = 0,
    ROOFS_STOP_HERE = 1, /* the batch stays as the round just made has left it; as any other
                          * number that is not listed */
    ROOFS_TAKE_BACK = 2  /* as if the batch had not come: consuming the same features again
                          * gives the same bits as if nothing had been stopped; only after
                          * roofs_set_undo, otherwise as ROOFS_STOP_HERE */
} roofs_answer;

typedef int (*roofs_monitor)(void *user, const roofs_progress *now);

ROOFS_API void roofs_set_monitor(roofs_estimator *e, roofs_monitor monitor, void *user);

/* Whether batches can be taken back, 1 or 0 (to begin with): what is needed for it, all but the
 * values of the features, is then put aside before each batch. */
ROOFS_API void roofs_set_undo(roofs_estimator *e, int32_t on);

/* ---- checkpoints ------------------------------------------------------- */

/* Takes bytes; returns 0, or anything else when it cannot. */
typedef int (*roofs_write)(void *user, const void *bytes, size_t size);

/* Gives up to `size` bytes: returns how many, 0 at the end, a negative number on failure. */
typedef int64_t (*roofs_read)(void *user, void *bytes, size_t size);

/* Everything a running fit knows, between two calls (not from inside a monitor, not after
 * roofs_finish). Of the stream it knows the position, see roofs_describe; that the features
 * which follow are the right ones is the caller's business. */
ROOFS_CHECKED roofs_status roofs_save(roofs_estimator *e, roofs_write write, void *user,
                                      roofs_error *err);

/* The fit as it was saved: given the features that follow it ends in the same bits as the one
 * that went on. Reads to the end of what roofs_save wrote and not beyond. `run` may be NULL and is
 * borrowed: of it threads and max_memory are used, where they are not negative, and device, where
 * it is not NULL. What was cut off, changed or made up is refused. On failure *out is NULL. */
ROOFS_CHECKED roofs_status roofs_load(roofs_estimator **out, roofs_read read, void *user,
                                      const roofs_settings *run, roofs_error *err);

/* Where a fit stands. */
typedef struct roofs_description {
    roofs_settings settings; /* texts are views */
    int64_t n;
    int64_t features_seen;
    int64_t pass;     /* from 1 */
    int64_t position; /* the place in the stream of the next feature of this pass */
    int64_t batches;
    int32_t named;    /* features have names: 1, 0, or -1 before the first */
    int32_t finished; /* roofs_finish has been called */
} roofs_description;

ROOFS_API void roofs_describe(const roofs_estimator *e, roofs_description *out);

/* ---- the result -------------------------------------------------------- */

/* How the fit ended. Using up the rounds is an outcome, not a failure. */
#define ROOFS_STOP_LIST(X)                                                                         \
    X(SETTLED, 0, "settled")   /* every batch settled */                                           \
    X(MAX_ITER, 1, "max_iter") /* at least one batch used all its rounds */                        \
    X(EMPTY, 2, "empty")       /* no feature arrived, or none that varies */

typedef enum roofs_stop {
#define ROOFS_STOP_ENUM(name, number, text) ROOFS_STOP_##name = (number),
    ROOFS_STOP_LIST(ROOFS_STOP_ENUM)
#undef ROOFS_STOP_ENUM
} roofs_stop;

/* "settled", "max_iter", "empty"; NULL for any other number. */
ROOFS_API const char *roofs_stop_text(roofs_stop stop);

typedef struct roofs_feature {
    int64_t index;      /* place in the stream, from 0 */
    const char *name;   /* NULL where the features have no names */
    double coef;        /* in the user's units */
    double probability; /* that it matters; NAN for methods that do not tell */
} roofs_feature;

/* One batch of the stream, as it was left. */
typedef struct roofs_batch {
    int64_t features; /* that arrived */
    int64_t rounds;
    int64_t selected; /* kept after the batch */
    int64_t entered;  /* of these, new in this batch */
    int64_t trusted;
    double cut;  /* largest absolute residual among the trusted samples */
    double step; /* shortest step used, as a multiple of 1 / trusted */
} roofs_batch;

/* Everything a view points to belongs to the estimator or model. */
typedef struct roofs_result {
    const char *method;
    int64_t n;
    int64_t features_seen;
    int64_t constant; /* features that did not vary: never given a weight */
    int64_t selected;
    const roofs_feature *features; /* `selected` of them, by index */
    double intercept;
    int64_t trusted;
    const unsigned char *trust; /* n flags: 1 = trusted */
    const double *clean;        /* n probabilities of being clean; NULL for methods without */
    const double *residual;     /* n values y - prediction; NULL in the view of a model */
    int64_t quantiles;          /* how many quantiles of the residuals a model keeps */
    const double *quantile;     /* evenly spaced from smallest to largest; NULL for estimators */
    double cut;                 /* largest absolute residual among the trusted samples */
    int64_t rounds;
    int64_t batches;
    const roofs_batch *history; /* one entry per batch */
    roofs_stop stop;
} roofs_result;

/* Before roofs_finish the view shows the fit as it stands. */
ROOFS_CHECKED roofs_status roofs_view(roofs_estimator *e, roofs_result *out, roofs_error *err);

/* ---- models ------------------------------------------------------------ */

/* What is left of a fit: features, coefficients, outliers, settings, history. */
typedef struct roofs_model roofs_model;

/* Copied out of the estimator, which may be destroyed afterwards. */
ROOFS_CHECKED roofs_status roofs_model_create(roofs_model **out, roofs_estimator *e,
                                              roofs_error *err);
ROOFS_CHECKED roofs_status roofs_model_read(roofs_model **out, const char *path, roofs_error *err);

/* Written beside `path`, synced and renamed: never half a file. */
ROOFS_CHECKED roofs_status roofs_model_write(const roofs_model *m, const char *path,
                                             roofs_error *err);
ROOFS_API void roofs_model_destroy(roofs_model *m); /* NULL is fine */
ROOFS_API void roofs_model_view(const roofs_model *m, roofs_result *out);

/* prediction[i] = intercept + sum over the selected features, x->n values.
 * Features are found by name where both sides have names, by index otherwise. */
ROOFS_CHECKED roofs_status roofs_predict(const roofs_model *m, const roofs_block *x,
                                         double *prediction, roofs_error *err);

/* The same with a block that holds the selected features only, in their order
 * in the model. */
ROOFS_CHECKED roofs_status roofs_predict_selected(const roofs_model *m, const roofs_block *x,
                                                  double *prediction, roofs_error *err);

/* ---- for programs that read files and split samples --------------------- */

/* Samples of all ranks together; the n of roofs_create where there are no ranks. */
ROOFS_API int64_t roofs_samples(const roofs_estimator *e);

/* Returns 1 if all ranks know of the last failure: the call failed on each of them. Returns 0 if
 * this rank alone may have seen it; the others may then wait for it, and the job should be ended.
 * NULL gives 0. */
ROOFS_API int32_t roofs_failure_is_shared(const roofs_estimator *e);

/* Features that an estimator with these settings holds between two batches at most. */
ROOFS_API int64_t roofs_features_held(const roofs_settings *settings);

/* roofs_save with data of the caller before the fit: `size` bytes, stored under `name` and
 * protected by a checksum like the rest. roofs_load passes over them. `name` has 1 to 15
 * characters. */
ROOFS_CHECKED roofs_status roofs_save_with(roofs_estimator *e, const char *name, const void *data,
                                           int64_t size, roofs_write write, void *user,
                                           roofs_error *err);

/* Goes back to the first byte of a file; returns 0, or anything else when it cannot. */
typedef int (*roofs_rewind)(void *user);

/* Loads a fit whose samples were split over `count` ranks, into any number of ranks: each rank of
 * `ranks` gets its share of the samples. `files` are the `user` of `read` and `rewind`, one for
 * what each of the `count` ranks saved, in their order; every rank reads all of them, twice. All
 * ranks call this, and damage that one of them finds fails on all. `ranks` NULL: one process takes
 * all samples. The rest is as in roofs_load. */
ROOFS_CHECKED roofs_status roofs_load_split(roofs_estimator **out, roofs_read read,
                                            roofs_rewind rewind, void *const *files, int64_t count,
                                            const roofs_settings *run, const roofs_comm *ranks,
                                            roofs_error *err);

/* The number of the first feature in the files of the fit, 0 or 1; -1 where nobody has said it. A
 * model starts with -1, and its file stores the number. Other numbers than these are refused with
 * BAD_CALL. */
ROOFS_API int32_t roofs_model_index_base(const roofs_model *m);
ROOFS_CHECKED roofs_status roofs_model_set_index_base(roofs_model *m, int32_t base,
                                                      roofs_error *err);

/* The value that setting `name` had in the fit, as text for roofs_settings_set: a view. NULL where
 * the model does not store it. `text` is the caller's buffer of `size` bytes for numbers. */
ROOFS_API const char *roofs_model_setting(const roofs_model *m, const char *name, char *text,
                                          size_t size);

#ifdef __cplusplus
}
#endif

#endif
