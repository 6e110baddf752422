/* roofs - robust regression on features that arrive as a stream.
 *
 * The n samples are fixed. Features arrive in blocks; each feature is a vector of length n. Some
 * responses may be corrupted by an adversary. The estimator keeps at most mu features, their
 * coefficients and the set of trusted samples. Its memory is bounded.
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
 *     if (roofs_view(e, &out, &err)) goto fail;
 *     roofs_destroy(e);
 *
 * Failures. A call that can fail returns a status. It writes the reason to the caller's
 * roofs_error, which may be NULL. A NULL in place of any other pointer gives ROOFS_BAD_CALL, unless
 * the comment allows NULL. Calls that return nothing ignore a NULL object.
 *
 * Ownership. The comments use three words:
 *   borrowed  the library reads it during this call only
 *   copied    the caller may free it after the call
 *   view      it belongs to the library; valid until the next call on the same object
 *
 * Threads. Threads may use different estimators at the same time. One estimator serves one thread
 * at a time. The library never prints, exits, or touches signals, the locale or the environment.
 *
 * Versions. Structs that may grow begin with struct_size. A program that was compiled with an older
 * header works with a newer library: fields that it does not know have their defaults. A program
 * that was compiled with a newer header works with an older library: fields that the library does
 * not know read as 0, and must be 0 where the program fills the struct. docs/versioning.md has the
 * whole promise. */
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
#define ROOFS_INLINE_CHECKED static inline __attribute__((warn_unused_result))
#else
#define ROOFS_API
#define ROOFS_CHECKED
#define ROOFS_INLINE_CHECKED static inline
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
    X(BAD_CALL, 7, "the call is out of order, or an argument is missing")                          \
    X(CANCELLED, 8, "stopped by the caller")

typedef enum roofs_status {
#define ROOFS_STATUS_ENUM(name, number, text) ROOFS_##name = (number),
    ROOFS_STATUS_LIST(ROOFS_STATUS_ENUM)
#undef ROOFS_STATUS_ENUM
} roofs_status;

/* Why a call failed. The caller need not initialise it. */
typedef struct roofs_error {
    roofs_status status;
    int64_t feature;     /* index of the feature that caused the failure; -1 if none did */
    char text[1000];     /* what failed, where (file, line, feature) and what to do */
    int64_t reserved[8]; /* for later versions */
} roofs_error;

/* The general text of a status. Never NULL. */
ROOFS_API const char *roofs_status_text(roofs_status status);

/* The version of the library, "major.minor.patch". */
ROOFS_API const char *roofs_version(void);

/* ---- settings ---------------------------------------------------------- */

/* Settings that are a choice: name, number and word of each. Numbers never change. */
#define ROOFS_DEVICE_LIST(X)                                                                       \
    X(CPU, 0, "cpu")                                                                               \
    X(CUDA, 1, "cuda") /* a GPU */                                                                 \
    X(AUTO, 2, "auto") /* a GPU if the machine has one and the method runs there */
#define ROOFS_STORAGE_LIST(X)                                                                      \
    X(AUTO, 0, "auto") /* as the first block */                                                    \
    X(F64, 1, "f64")                                                                               \
    X(F32, 2, "f32")
#define ROOFS_READING_LIST(X)                                                                      \
    X(ALONE, 0, "alone") /* the method fits each batch alone */                                    \
    X(JOINT, 1, "joint") /* the method fits each batch together with the kept features */

enum roofs_device_choice {
#define ROOFS_DEVICE_ENUM(name, number, word) ROOFS_DEVICE_##name = (number),
    ROOFS_DEVICE_LIST(ROOFS_DEVICE_ENUM)
#undef ROOFS_DEVICE_ENUM
};
enum roofs_storage_choice {
#define ROOFS_STORAGE_ENUM(name, number, word) ROOFS_STORAGE_##name = (number),
    ROOFS_STORAGE_LIST(ROOFS_STORAGE_ENUM)
#undef ROOFS_STORAGE_ENUM
};
enum roofs_reading_choice {
#define ROOFS_READING_ENUM(name, number, word) ROOFS_READING_##name = (number),
    ROOFS_READING_LIST(ROOFS_READING_ENUM)
#undef ROOFS_READING_ENUM
};

/* Call roofs_settings_init before you set a field. Defaults, ranges and help come from one table,
 * src/api/settings.def. The table also makes the options of the program and the documentation.
 * Every field takes 8 bytes: the struct has no padding, so a new field always changes its size. */
typedef struct roofs_settings {
    size_t struct_size;  /* set by roofs_settings_init */
    const char *method;  /* name of a method, see roofs_method_name; borrowed */
    int64_t mu;          /* keep at most this many features; the caller must set it */
    int64_t batch;       /* the library cuts longer blocks into batches of this many features */
    int64_t passes;      /* how often the stream is read, see roofs_next_pass */
    int64_t max_iter;    /* rounds per batch at most */
    double clean_ratio;  /* share of the samples to trust; 0 = estimate it, eq. (5) */
    double reserve;      /* keep mu (1 + reserve) features until the end; some methods */
    double lambda;       /* weight of the L1 penalty of grafting; 0 = choose it from n */
    double eta;          /* step length, divided by the number of trusted samples */
    double tol;          /* a batch has settled when trusted residuals move less than this */
    int64_t reading;     /* ROOFS_READING_...: how batch-wise methods fit a batch */
    int64_t storage;     /* ROOFS_STORAGE_...: how kept features are stored */
    int64_t intercept;   /* 1 = fit one, 0 = do not */
    int64_t standardize; /* 1 = scale features to mean 0 and scale 1 on the trusted samples */
    int64_t threads;     /* 0 = one per core; the result does not depend on it */
    int64_t max_memory;  /* bytes the estimator may take; 0 = no limit */
    int64_t device;      /* ROOFS_DEVICE_...: where to compute */
} roofs_settings;

/* Fills *s with the defaults. */
ROOFS_API void roofs_settings_init_sized(roofs_settings *s, size_t size);
static inline void roofs_settings_init(roofs_settings *s)
{
    roofs_settings_init_sized(s, sizeof *s);
}

/* In a setting of roofs_load: as the checkpoint has it. */
#define ROOFS_AS_SAVED (-1)

/* Fills *s for roofs_load: every setting is ROOFS_AS_SAVED. */
ROOFS_API void roofs_settings_as_saved_sized(roofs_settings *s, size_t size);
static inline void roofs_settings_as_saved(roofs_settings *s)
{
    roofs_settings_as_saved_sized(s, sizeof *s);
}

/* Sets the field `name` from text, as the options of the program do. */
ROOFS_CHECKED roofs_status roofs_settings_set(roofs_settings *s, const char *name,
                                              const char *value, roofs_error *err);

/* Checks every field. The error names the first that is wrong. */
ROOFS_CHECKED roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err);

typedef enum roofs_setting_kind {
    ROOFS_SETTING_INT = 0,   /* int64_t */
    ROOFS_SETTING_REAL = 1,  /* double */
    ROOFS_SETTING_FLAG = 2,  /* int64_t, 0 or 1 */
    ROOFS_SETTING_TEXT = 3,  /* const char *, one of the words of roofs_setting_choice */
    ROOFS_SETTING_CHOICE = 4 /* int64_t, the number of a word of roofs_setting_choice */
} roofs_setting_kind;

/* One setting, for bindings and documentation. The texts are constant. */
typedef struct roofs_setting_info {
    size_t struct_size;
    const char *name;
    roofs_setting_kind kind;
    int32_t in_model;         /* 1 = the model records it; 0 = it only changes how the fit runs */
    const char *default_text; /* the default, as roofs_settings_set takes it */
    double low, high;         /* the range, both ends allowed; not for TEXT and CHOICE */
    const char *help;
} roofs_setting_info;

/* Describes setting k, counted from 0. Returns 1; 0 if there is no such setting. */
ROOFS_API int roofs_setting_describe_sized(int64_t k, roofs_setting_info *out, size_t size);
static inline int roofs_setting_describe(int64_t k, roofs_setting_info *out)
{
    return roofs_setting_describe_sized(k, out, sizeof *out);
}

/* Word c of setting k, both counted from 0; NULL past the last. Only TEXT and CHOICE have words. */
ROOFS_API const char *roofs_setting_choice(int64_t k, int64_t c);

/* The number k of the setting or method of this name; -1 if there is none. */
ROOFS_API int64_t roofs_setting_find(const char *name);
ROOFS_API int64_t roofs_method_find(const char *name);

/* What a method can do. The texts are constant. */
typedef struct roofs_method_info {
    size_t struct_size;
    const char *name;
    const char *summary; /* one line */
    int32_t splits;      /* 1 = works on samples that are split over ranks */
    int32_t gpu;         /* 1 = runs on a GPU */
    int32_t reserve;     /* 1 = uses the setting reserve */
    int32_t joint;       /* 1 = can fit a batch together with the kept features */
    int32_t probability; /* 1 = gives probabilities of features and samples */
    int32_t reserved;
} roofs_method_info;

/* Describes method k, counted from 0. Returns 1; 0 if there is no such method. */
ROOFS_API int roofs_method_describe_sized(int64_t k, roofs_method_info *out, size_t size);
static inline int roofs_method_describe(int64_t k, roofs_method_info *out)
{
    return roofs_method_describe_sized(k, out, sizeof *out);
}

/* Name and summary of method k, counted from 0; NULL past the last. */
ROOFS_API const char *roofs_method_name(int64_t k);
ROOFS_API const char *roofs_method_summary(int64_t k);

/* ---- blocks of features ------------------------------------------------ */

typedef enum roofs_dtype { ROOFS_F64 = 0, ROOFS_F32 = 1 } roofs_dtype;
typedef enum roofs_index { ROOFS_I64 = 0, ROOFS_I32 = 1 } roofs_index;

/* Features that arrive together.
 *
 * Dense (starts is NULL): value i of feature k is values[k * feature_stride + i * sample_stride].
 * With sample_stride 1 the library copies only the features it keeps.
 *
 * Sparse (CSC): the values of feature k are values[starts[k]] to values[starts[k + 1] - 1]. Their
 * samples are at the same places of `samples`, ascending within a feature. All other values are
 * zero. Sparse blocks have no strides.
 *
 * On the device cuda, the values of a dense block may be in the memory of the GPU. */
typedef struct roofs_block {
    size_t struct_size;       /* 0 = the fields of the first version, all that are here now */
    int64_t count;            /* features in the block */
    int64_t n;                /* samples; must equal the estimator's n */
    const void *values;       /* borrowed */
    int64_t feature_stride;   /* in values, not bytes */
    int64_t sample_stride;    /* in values, not bytes */
    const char *const *names; /* `count` names, or NULL; borrowed */
    const void *starts;       /* sparse: count + 1 places; NULL = dense; borrowed */
    const void *samples;      /* sparse: the sample of each value; borrowed */
    roofs_dtype dtype;        /* type of values */
    roofs_index index;        /* type of starts and samples */
} roofs_block;

/* ---- the estimator ----------------------------------------------------- */

typedef struct roofs_estimator roofs_estimator;

/* Creates an estimator for n responses y (copied). On failure *out is NULL. */
ROOFS_CHECKED roofs_status roofs_create(roofs_estimator **out, const roofs_settings *settings,
                                        const double *y, int64_t n, roofs_error *err);

/* How ranks communicate. A fit can split its samples over ranks: processes, each with the samples
 * that follow those of the rank before. roofs/roofs_mpi.h fills this table from an MPI
 * communicator; other transports can fill it too. A function that fails returns anything but 0. All
 * ranks make the same calls in the same order. */
typedef struct roofs_comm {
    size_t struct_size; /* 0 = the fields of the first version, all that are here now */
    int64_t rank;       /* of this process, from 0 */
    int64_t size;       /* number of ranks */
    void *user;         /* first argument of the functions */

    /* Starts to add up values[0..count) of all ranks, in the order of the ranks. After `finish`,
     * values holds the sum, with the same bits on every rank. At most one sum is in progress. */
    int (*start)(void *user, double *values, int64_t count);
    int (*finish)(void *user);

    /* all = sizes[0] bytes of rank 0, sizes[1] bytes of rank 1, ...; `mine` are this rank's. */
    int (*gather)(void *user, const void *mine, const int64_t *sizes, void *all);
} roofs_comm;

/* Creates an estimator for samples that are split over ranks. This rank has n of the samples: y and
 * the values of blocks are theirs. All ranks make all calls on the estimator, with the same
 * features and settings. All ranks set a monitor, or none does; the first that stops, stops all.
 *
 * A failure has the same status on all ranks. Exception: NO_MEMORY and FAILED may happen on one
 * rank only; the others then wait for it, and the caller should end the job.
 *
 * In a view, n, trust, clean and residual are of this rank's samples. A model has those of all
 * samples. `comm` is copied; NULL = one rank has all samples. The method must have `splits`, see
 * roofs_method_describe. */
ROOFS_CHECKED roofs_status roofs_create_split(roofs_estimator **out, const roofs_settings *settings,
                                              const double *y, int64_t n, const roofs_comm *comm,
                                              roofs_error *err);

/* Takes the next features of the stream. The block is borrowed.
 *
 * After an error the estimator can only be destroyed. Exceptions: BAD_CALL changes nothing;
 * NO_MEMORY on the first block may be retried; after CANCELLED the fit can be viewed, saved and
 * continued. Continue with the feature at `position` of roofs_describe: the library has not taken
 * the batches of the block that it did not begin. */
ROOFS_CHECKED roofs_status roofs_consume(roofs_estimator *e, const roofs_block *block,
                                         roofs_error *err);

/* Prefetch hint: the block you will pass to the call after the next. A GPU copies it while it works
 * on the next block. `next` may also be the beginning of that block. NULL withdraws the hint.
 * Borrowed until it is consumed, until a roofs_consume fails, or until the hint is withdrawn. No
 * result depends on it. */
ROOFS_API void roofs_prefetch(roofs_estimator *e, const roofs_block *next);

/* Begins another pass: the stream starts again with its first feature. Features that were not kept
 * get another chance. At most settings.passes - 1 times. */
ROOFS_CHECKED roofs_status roofs_next_pass(roofs_estimator *e, roofs_error *err);

/* Ends the stream. A monitor may cancel it; call it again to continue. */
ROOFS_CHECKED roofs_status roofs_finish(roofs_estimator *e, roofs_error *err);

ROOFS_API void roofs_destroy(roofs_estimator *e);

/* Upper bound of the bytes that a fit of n samples takes. Sparse features take less; with them,
 * max_memory limits the bytes that are really taken. */
ROOFS_CHECKED roofs_status roofs_memory_needed(const roofs_settings *settings, int64_t n,
                                               roofs_dtype storage, int64_t *bytes,
                                               roofs_error *err);

/* The same for features with `filled` nonzero values each. An estimate: kept features may have more
 * nonzero values than the average. */
ROOFS_CHECKED roofs_status roofs_memory_needed_sparse(const roofs_settings *settings, int64_t n,
                                                      roofs_dtype storage, int64_t filled,
                                                      int64_t *bytes, roofs_error *err);

/* The features that a fit with these settings keeps between two batches, at most. 0 if the settings
 * are not valid. */
ROOFS_API int64_t roofs_features_held(const roofs_settings *settings);

/* How many of these bytes are in the memory of the GPU, and how many bytes are free there now; -1
 * if the machine has no GPU. Both are 0 if the device is the CPU. On a GPU sparse features take as
 * much as dense ones. */
ROOFS_CHECKED roofs_status roofs_memory_on_device(const roofs_settings *settings, int64_t n,
                                                  roofs_dtype storage, int64_t *bytes,
                                                  int64_t *free_bytes, roofs_error *err);

/* Where the fit runs: "cpu" or "cuda". NULL if e is NULL. */
ROOFS_API const char *roofs_device(const roofs_estimator *e);

/* Samples of all ranks together. 0 if e is NULL. */
ROOFS_API int64_t roofs_samples(const roofs_estimator *e);

/* 1 if all ranks know of the last failure: the call failed on each of them. 0 if it may have failed
 * on this rank only; the others may then wait for it, and the caller should end the job. */
ROOFS_API int32_t roofs_failure_is_shared(const roofs_estimator *e);

/* State of a running fit. The monitor gets it once per round. */
typedef struct roofs_progress {
    size_t struct_size;    /* set by the library */
    int64_t batch;         /* from 1 */
    int64_t round;         /* within the batch, from 1 */
    int64_t features_seen; /* with the current batch */
    int64_t selected;      /* features that are kept now */
    int64_t trusted;       /* samples that are trusted now */
} roofs_progress;

/* What a monitor returns. Unknown values mean STOP. After STOP and UNDO, roofs_consume or
 * roofs_finish returns ROOFS_CANCELLED. */
typedef enum roofs_answer {
    ROOFS_MONITOR_CONTINUE = 0,
    ROOFS_MONITOR_STOP = 1, /* the batch stays as this round has left it */
    ROOFS_MONITOR_UNDO = 2  /* the fit is as before the batch: consuming the same features again
                             * gives the same bits; without roofs_set_undo it means STOP */
} roofs_answer;

/* Called once per round, with the `user` of roofs_set_monitor. `now` is borrowed from the library
 * for this call. */
typedef int (*roofs_monitor)(void *user, const roofs_progress *now);

/* Sets the monitor; NULL removes it. */
ROOFS_API void roofs_set_monitor(roofs_estimator *e, roofs_monitor monitor, void *user);

/* Switches undo on (1) or off (0, the default). With undo, the library copies its state before each
 * batch, but not the values of the features. */
ROOFS_API void roofs_set_undo(roofs_estimator *e, int32_t on);

/* ---- checkpoints ------------------------------------------------------- */

/* Writes `size` bytes. Returns 0 on success, anything else on failure. */
typedef int (*roofs_write)(void *user, const void *bytes, size_t size);

/* Reads up to `size` bytes. Returns how many; 0 at the end; a negative number on failure. */
typedef int64_t (*roofs_read)(void *user, void *bytes, size_t size);

/* Saves the state of a running fit. Call it between two calls: not from a monitor, not after
 * roofs_finish. The checkpoint holds the position in the stream, not the stream: the caller must
 * continue with the right features. */
ROOFS_CHECKED roofs_status roofs_save(roofs_estimator *e, roofs_write write, void *user,
                                      roofs_error *err);

/* The same with data of the caller before the fit: `size` bytes (borrowed), stored under `name`
 * with a checksum. roofs_load skips them. `name` has 1 to 15 characters. */
ROOFS_CHECKED roofs_status roofs_save_with(roofs_estimator *e, const char *name, const void *data,
                                           int64_t size, roofs_write write, void *user,
                                           roofs_error *err);

/* Loads a fit. Given the features that follow, it ends in the same bits as the fit that was saved.
 * Reads what roofs_save wrote and nothing after it. Refuses files that are cut off, changed or made
 * up. On failure *out is NULL.
 *
 * `run` (borrowed) may be NULL. Begin it with roofs_settings_as_saved and set threads, max_memory
 * or device to change them. The other settings cannot be changed. */
ROOFS_CHECKED roofs_status roofs_load(roofs_estimator **out, roofs_read read, void *user,
                                      const roofs_settings *run, roofs_error *err);

/* Goes back to the first byte of a file. Returns 0 on success, anything else on failure. */
typedef int (*roofs_rewind)(void *user);

/* Loads a fit that `count` ranks saved, into any number of ranks: each rank of `comm` gets its
 * share of the samples. files[k] is the `user` of `read` and `rewind` for what rank k saved. Every
 * rank reads all files twice. All ranks make this call; if one finds damage, it fails on all.
 * `comm` is copied; NULL = one rank takes all samples. The rest is as in roofs_load. */
ROOFS_CHECKED roofs_status roofs_load_split(roofs_estimator **out, roofs_read read,
                                            roofs_rewind rewind, void *const *files, int64_t count,
                                            const roofs_settings *run, const roofs_comm *comm,
                                            roofs_error *err);

/* Where a fit is. */
typedef struct roofs_description {
    size_t struct_size;
    const roofs_settings *settings; /* view; storage is decided once the first block has come */
    int64_t n;                      /* samples of this rank */
    int64_t features_seen;
    int64_t pass;     /* from 1 */
    int64_t position; /* index of the next feature of this pass */
    int64_t batches;  /* that are done */
    int32_t named;    /* 1 = features have names, 0 = they have none, -1 = no feature has come */
    int32_t finished; /* 1 after roofs_finish */
} roofs_description;

ROOFS_API void roofs_describe_sized(const roofs_estimator *e, roofs_description *out, size_t size);
static inline void roofs_describe(const roofs_estimator *e, roofs_description *out)
{
    roofs_describe_sized(e, out, sizeof *out);
}

/* ---- the result -------------------------------------------------------- */

/* How the fit ended. Reaching max_iter is an outcome, not a failure. */
#define ROOFS_STOP_LIST(X)                                                                         \
    X(SETTLED, 0, "settled")   /* every batch settled */                                           \
    X(MAX_ITER, 1, "max_iter") /* at least one batch used all its rounds */                        \
    X(EMPTY, 2, "empty")       /* no feature arrived, or none that varies */

typedef enum roofs_stop {
#define ROOFS_STOP_ENUM(name, number, text) ROOFS_STOP_##name = (number),
    ROOFS_STOP_LIST(ROOFS_STOP_ENUM)
#undef ROOFS_STOP_ENUM
} roofs_stop;

/* "settled", "max_iter" or "empty"; NULL for any other number. */
ROOFS_API const char *roofs_stop_text(roofs_stop stop);

/* A selected feature. This struct never changes: more about features would be further arrays in
 * roofs_result. */
typedef struct roofs_feature {
    int64_t index;      /* in the stream, from 0 */
    const char *name;   /* NULL if the features have no names */
    double coef;        /* in the units of the data */
    double probability; /* that the feature matters; NAN if the method gives none */
} roofs_feature;

/* One batch, as it ended. This struct never changes either. */
typedef struct roofs_batch {
    int64_t features; /* that arrived */
    int64_t rounds;
    int64_t selected; /* features kept after the batch */
    int64_t entered;  /* how many of them are new */
    int64_t trusted;  /* samples trusted after the batch */
    double cut;       /* largest absolute residual of the trusted samples */
    double step;      /* shortest step, as a multiple of 1 / trusted */
} roofs_batch;

/* The pointers are views: the arrays belong to the estimator or model. */
typedef struct roofs_result {
    size_t struct_size;
    const char *method;
    int64_t n;
    int64_t features_seen;
    int64_t constant;              /* features that do not vary; their coefficient is 0 */
    int64_t selected;              /* features in the result */
    const roofs_feature *features; /* `selected` of them, by index */
    double intercept;
    int64_t trusted;
    const unsigned char *trust; /* n flags: 1 = trusted */
    const double *clean;        /* n probabilities of being clean; NULL if there are none */
    const double *residual;     /* n values y - prediction; NULL for models */
    int64_t quantiles;          /* number of quantiles of the residuals */
    const double *quantile;     /* evenly spaced from smallest to largest; NULL for estimators */
    double cut;                 /* largest absolute residual of the trusted samples */
    int64_t rounds;
    int64_t batches;
    const roofs_batch *history; /* one entry per batch */
    roofs_stop stop;
    int32_t reserved;
} roofs_result;

/* Fills *out with the fit as it is now; before roofs_finish too. */
ROOFS_CHECKED roofs_status roofs_view_sized(roofs_estimator *e, roofs_result *out, size_t size,
                                            roofs_error *err);
ROOFS_INLINE_CHECKED roofs_status roofs_view(roofs_estimator *e, roofs_result *out,
                                             roofs_error *err)
{
    return roofs_view_sized(e, out, sizeof *out, err);
}

/* ---- models ------------------------------------------------------------ */

/* A fitted model: features, coefficients, outliers, settings and history. */
typedef struct roofs_model roofs_model;

/* Copies the model out of the estimator, which may be destroyed afterwards. On failure of this call
 * and of the next, *out is NULL. */
ROOFS_CHECKED roofs_status roofs_model_create(roofs_model **out, roofs_estimator *e,
                                              roofs_error *err);
ROOFS_CHECKED roofs_status roofs_model_read(roofs_model **out, const char *path, roofs_error *err);

/* Writes a file beside `path`, syncs it and renames it: `path` never holds half a model. */
ROOFS_CHECKED roofs_status roofs_model_write(const roofs_model *m, const char *path,
                                             roofs_error *err);
ROOFS_API void roofs_model_destroy(roofs_model *m);

ROOFS_API void roofs_model_view_sized(const roofs_model *m, roofs_result *out, size_t size);
static inline void roofs_model_view(const roofs_model *m, roofs_result *out)
{
    roofs_model_view_sized(m, out, sizeof *out);
}

/* How the files of the fit count features, from 0 or from 1; -1 = unknown, as in a new model. The
 * model file stores it. Any other base is a BAD_CALL. */
ROOFS_API int32_t roofs_model_index_base(const roofs_model *m);
ROOFS_CHECKED roofs_status roofs_model_set_index_base(roofs_model *m, int32_t base,
                                                      roofs_error *err);

/* The value of the setting `name` in the fit, as text for roofs_settings_set. The result is a view,
 * or it is in the caller's buffer `text` of `size` bytes; 40 are enough. NULL if the model does not
 * record the setting. */
ROOFS_API const char *roofs_model_setting(const roofs_model *m, const char *name, char *text,
                                          size_t size);

/* prediction[i] = intercept + sum over the selected features, for x->n samples. Finds features by
 * name if both sides have names, otherwise by index. */
ROOFS_CHECKED roofs_status roofs_predict(const roofs_model *m, const roofs_block *x,
                                         double *prediction, roofs_error *err);

/* The same for a block that holds only the selected features, in the order of the model. */
ROOFS_CHECKED roofs_status roofs_predict_selected(const roofs_model *m, const roofs_block *x,
                                                  double *prediction, roofs_error *err);

#ifdef __cplusplus
}
#endif

#endif
