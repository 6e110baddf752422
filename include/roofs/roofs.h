/* roofs - robust regression on features that arrive as a stream.
 *
 * The n samples are fixed. Features arrive in blocks; each feature is a vector of length n. Some
 * responses may be corrupted by an adversary. The estimator keeps at most mu features, their
 * coefficients and the set of trusted samples. Its memory is bounded.
 *
 *     roofs_settings s;
 *     roofs_settings_init(&s);
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
 * Failures. A call that can fail returns a status and writes the reason to the caller's
 * roofs_error, which may be NULL. Each such call may return NO_MEMORY. A NULL in place of any other
 * pointer gives BAD_CALL, unless the comment allows NULL. Calls that return nothing ignore a NULL
 * object. Comments omit the prefix ROOFS_ of statuses.
 *
 * Ownership. The comments use three words:
 *   borrowed  the library reads it during this call only
 *   copied    the library makes its own copy; the caller may free the original after the call
 *   view      it belongs to the library; valid until the next call on the same object
 *
 * Threads. Different threads may use different objects at the same time. One object serves one
 * thread at a time. Exception: several threads may predict with one model or view it at the same
 * time. The library never prints, exits, or touches signals, the locale or the environment.
 *
 * Versions. Structs that may grow begin with struct_size. A program that was compiled with an older
 * header works with a newer library: fields that are missing in its structs have their defaults. A
 * program that was compiled with a newer header works with an older library: fields that are new to
 * the library read as 0, and must be 0 where the program fills the struct. The inline functions
 * pass the size of the caller's struct; use them instead of the functions that end in _sized.
 * docs/versioning.md has the whole promise. */
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

/* What a call returns. Numbers are never reused: programs and bindings may store them.
 *
 *   OK           success
 *   FAILED       the GPU, the communication between ranks, or the writing of JSON has failed
 *   BAD_SETTING  a setting is out of range, or the method or the machine does not support it
 *   BAD_DATA     values, names or the content of a file cannot be used
 *   NO_MEMORY    the system has no memory for it
 *   OVER_LIMIT   the fit needs more memory than the setting max_memory
 *   IO           a file cannot be written, or the caller's read or write function has failed
 *   BAD_CALL     an argument is NULL or has a wrong size, or the call is out of order
 *   CANCELLED    the monitor has stopped the fit */
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

/* A general text for a status, such as "out of memory". Constant, never NULL. */
ROOFS_API const char *roofs_status_text(roofs_status status);

/* The version of the library, "major.minor.patch". Constant. */
ROOFS_API const char *roofs_version(void);

/* ---- settings ---------------------------------------------------------- */

/* The choices of a setting: name, number and word of each. Numbers count from 0 and
 * never change. */
#define ROOFS_DEVICE_LIST(X)                                                                       \
    X(CPU, 0, "cpu")                                                                               \
    X(CUDA, 1, "cuda") /* a GPU */                                                                 \
    X(AUTO, 2, "auto") /* a GPU if the machine has one and the method supports it */
#define ROOFS_STORAGE_LIST(X)                                                                      \
    X(AUTO, 0, "auto") /* the type of the first block */                                           \
    X(F64, 1, "f64")                                                                               \
    X(F32, 2, "f32")
#define ROOFS_READING_LIST(X)                                                                      \
    X(ALONE, 0, "alone") /* the method fits each batch alone */                                    \
    X(JOINT, 1, "joint") /* the method fits each batch together with the kept features */
#define ROOFS_SELECT_LIST(X)                                                                       \
    X(AUTO, 0, "auto")     /* LIKELY if mu is 0 and the method estimates probabilities */          \
    X(KEPT, 1, "kept")     /* all features that the fit keeps count as selected */                 \
    X(LIKELY, 2, "likely") /* only those with a probability above 1/2 do; the others predict */
#define ROOFS_PRIOR_LIST(X)                                                                        \
    X(AUTO, 0, "auto")       /* MU if mu is not 0 */                                               \
    X(MU, 1, "mu")           /* mu features are expected to matter; in a small fit as SAMPLES */   \
    X(SAMPLES, 2, "samples") /* a tenth of the samples, but at most mu features */
#define ROOFS_GROUPS_LIST(X)                                                                       \
    X(AUTO, 0, "auto")   /* at the end, among kept features and the pool */                        \
    X(OFF, 1, "off")     /* none; no pool */                                                       \
    X(EXACT, 2, "exact") /* the stream is read once more for the pool: complete groups */

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
enum roofs_select_choice {
#define ROOFS_SELECT_ENUM(name, number, word) ROOFS_SELECT_##name = (number),
    ROOFS_SELECT_LIST(ROOFS_SELECT_ENUM)
#undef ROOFS_SELECT_ENUM
};
enum roofs_prior_choice {
#define ROOFS_PRIOR_ENUM(name, number, word) ROOFS_PRIOR_##name = (number),
    ROOFS_PRIOR_LIST(ROOFS_PRIOR_ENUM)
#undef ROOFS_PRIOR_ENUM
};
enum roofs_groups_choice {
#define ROOFS_GROUPS_ENUM(name, number, word) ROOFS_GROUPS_##name = (number),
    ROOFS_GROUPS_LIST(ROOFS_GROUPS_ENUM)
#undef ROOFS_GROUPS_ENUM
};

/* With the setting passes = 0 (auto) a stream is read at most this many times. */
enum { ROOFS_AUTO_PASSES = 3 };

/* The settings of a fit. Call roofs_settings_init before you set a field. Defaults, ranges and help
 * are in one table, src/api/settings.def; roofs_setting_describe returns its rows. Every field
 * takes 8 bytes: the struct has no padding, so a new field always changes its size. */
typedef struct roofs_settings {
    size_t struct_size;  /* set by roofs_settings_init */
    const char *method;  /* name of a method, see roofs_method_name; borrowed by each call */
    int64_t mu;          /* keep at most this many features; 0 = see roofs_settings_resolve */
    int64_t batch;       /* the library cuts longer blocks into batches of this many features */
    int64_t passes;      /* number of times the stream is read; 0 = auto, see roofs_wants_pass */
    int64_t max_iter;    /* at most this many rounds per batch */
    double clean_ratio;  /* share of the samples to trust; 0 = estimate it, eq. (5) */
    double reserve;      /* keep mu (1 + reserve) features until the end; methods with `reserve` */
    double lambda;       /* weight of the L1 penalty of grafting; 0 = choose it from n */
    double eta;          /* a gradient step has length eta / number of trusted samples */
    double tol;          /* a batch has settled when trusted residuals change less than this */
    int64_t reading;     /* ROOFS_READING_...: how batch-wise methods fit a batch */
    int64_t storage;     /* ROOFS_STORAGE_...: how kept features are stored */
    int64_t intercept;   /* 1 = fit an intercept */
    int64_t standardize; /* 1 = scale features to mean 0 and scale 1 on the trusted samples */
    int64_t threads;     /* 0 = see roofs_default_threads; the result does not depend on it */
    int64_t max_memory;  /* most bytes of the estimator; 0 = no limit */
    int64_t device;      /* ROOFS_DEVICE_...: where to compute */
    int64_t select;      /* ROOFS_SELECT_...: which of the kept features count as selected */
    int64_t hypotheses;  /* starts of the clean samples that are followed side by side; memory
                          * and time grow with it. roofs-bayes with clean_ratio 0 uses it, others
                          * ignore it */
    int64_t prior;       /* ROOFS_PRIOR_...: how many features roofs-bayes expects to matter */
    int64_t groups;      /* ROOFS_GROUPS_...: credible groups of roofs-bayes */
    int64_t pool;   /* dropped features that are kept in 8 bits, per feature of mu, for groups; 0
                     * = none. It is not filled on a GPU */
    double fdr;     /* rate of false discoveries: the features of the groups that count at this
                     * rate are selected, instead of `select`; 0 = not used */
    int64_t always; /* forced features: so many features at the beginning of the stream never leave
                     * and are not shrunk. mu does not count them, and no group contains them. They
                     * need the CPU */
} roofs_settings;

/* Fills *s with the defaults. */
ROOFS_API void roofs_settings_init_sized(roofs_settings *s, size_t size);
static inline void roofs_settings_init(roofs_settings *s)
{
    roofs_settings_init_sized(s, sizeof *s);
}

/* In the settings of roofs_load: use the value in the checkpoint. */
#define ROOFS_AS_SAVED (-1)

/* Fills *s for roofs_load: numbers are ROOFS_AS_SAVED, texts are NULL. */
ROOFS_API void roofs_settings_as_saved_sized(roofs_settings *s, size_t size);
static inline void roofs_settings_as_saved(roofs_settings *s)
{
    roofs_settings_as_saved_sized(s, sizeof *s);
}

/* Sets the field `name` to the value in a text, as the options of the program do: "50", "0.1" or a
 * word. Both texts are borrowed. BAD_SETTING if there is no such setting or the value is not
 * allowed; *s is then unchanged. */
ROOFS_CHECKED roofs_status roofs_settings_set(roofs_settings *s, const char *name,
                                              const char *value, roofs_error *err);

/* Checks every field alone. BAD_SETTING if one is out of range; the error names it. roofs_create
 * also checks that the method and the machine support the settings. */
ROOFS_CHECKED roofs_status roofs_settings_check(const roofs_settings *s, roofs_error *err);

/* Replaces what the settings leave to the library by its choice: mu = 0, select = AUTO and prior =
 * AUTO. The number of features becomes as many as help and memory allows: 64 MiB of 64-bit values,
 * but at least 500 and at most 4000 features, not more than max_memory allows, and not more than
 * `features`, the number of features in the stream (0 = unknown). The fit has `total` samples, n of
 * them on this rank; without ranks both are the same. roofs_create does the same with `features`
 * 0; call this before it if the number of features is known.
 *   BAD_SETTING  a setting is out of range, or the method does not support it
 *   OVER_LIMIT   max_memory does not allow a single feature */
ROOFS_CHECKED roofs_status roofs_settings_resolve(roofs_settings *s, int64_t n, int64_t total,
                                                  int64_t features, roofs_error *err);

typedef enum roofs_setting_kind {
    ROOFS_SETTING_INT = 0,   /* int64_t; if default_text is a word, the word stands for 0 */
    ROOFS_SETTING_REAL = 1,  /* double */
    ROOFS_SETTING_FLAG = 2,  /* int64_t, 0 or 1 */
    ROOFS_SETTING_TEXT = 3,  /* const char *, one of the words of roofs_setting_choice */
    ROOFS_SETTING_CHOICE = 4 /* int64_t, the number of a word of roofs_setting_choice */
} roofs_setting_kind;

/* Describes a setting, for bindings and documentation. The texts are constant. */
typedef struct roofs_setting_info {
    size_t struct_size;
    const char *name;
    roofs_setting_kind kind;
    int32_t in_model;         /* 1 = models store it; 0 = it changes only how the fit is executed */
    const char *default_text; /* the default, as a text for roofs_settings_set */
    double low, high;         /* the range, both ends allowed; not for TEXT and CHOICE */
    const char *help;         /* one line */
} roofs_setting_info;

/* Fills *out for setting k, counted from 0. Returns 1, or 0 past the last setting. */
ROOFS_API int roofs_setting_describe_sized(int64_t k, roofs_setting_info *out, size_t size);
static inline int roofs_setting_describe(int64_t k, roofs_setting_info *out)
{
    return roofs_setting_describe_sized(k, out, sizeof *out);
}

/* Word c of setting k, both counted from 0; constant. NULL past the last word, and for settings
 * other than TEXT and CHOICE. The number of a CHOICE is c. */
ROOFS_API const char *roofs_setting_choice(int64_t k, int64_t c);

/* The number k of the setting or method called `name`; -1 if there is none or `name` is NULL. */
ROOFS_API int64_t roofs_setting_find(const char *name);
ROOFS_API int64_t roofs_method_find(const char *name);

/* Describes a method. The texts are constant. */
typedef struct roofs_method_info {
    size_t struct_size;
    const char *name;
    const char *summary; /* one line */
    int32_t splits;      /* 1 = supports samples that are split over ranks */
    int32_t gpu;         /* 1 = supports the device cuda */
    int32_t reserve;     /* 1 = supports the setting reserve */
    int32_t joint;       /* 1 = supports the reading joint */
    int32_t probability; /* 1 = estimates probabilities of features and samples */
    int32_t reads_again; /* 1 = passes = auto may read the stream several times; 0 = once */
} roofs_method_info;

/* Fills *out for method k, counted from 0. Returns 1, or 0 past the last method. */
ROOFS_API int roofs_method_describe_sized(int64_t k, roofs_method_info *out, size_t size);
static inline int roofs_method_describe(int64_t k, roofs_method_info *out)
{
    return roofs_method_describe_sized(k, out, sizeof *out);
}

/* Name and summary of method k, counted from 0; constant. NULL past the last method. */
ROOFS_API const char *roofs_method_name(int64_t k);
ROOFS_API const char *roofs_method_summary(int64_t k);

/* ---- blocks of features ------------------------------------------------ */

/* The type of values. The last three are packed types, since version 0.3.0. */
typedef enum roofs_dtype {
    ROOFS_F64 = 0,
    ROOFS_F32 = 1,
    ROOFS_I8 = 2,  /* signed bytes */
    ROOFS_U8 = 3,  /* bytes */
    ROOFS_2BIT = 4 /* four values in a byte, see roofs_block */
} roofs_dtype;
typedef enum roofs_index { ROOFS_I64 = 0, ROOFS_I32 = 1 } roofs_index;

/* Features that arrive together. Set the fields that you do not use to 0.
 *
 * Dense (starts is NULL): value i of feature k is values[k * feature_stride + i * sample_stride].
 * With sample_stride 1 the library copies only the features it keeps.
 *
 * Packed types stay packed while the fit stores them, unless the setting `storage` asks for another
 * type. The result has the same bits as with 64-bit values. ROOFS_2BIT: value i of feature k is
 * levels[4 k + c], with the code c in bits 2 (i % 4) and 2 (i % 4) + 1 of the byte
 * values[k * feature_stride + i / 4]. Each feature begins with a byte, feature_stride counts bytes,
 * and sample_stride is 1. The genotypes of a PLINK .bed file have this form: code 1 is a missing
 * value, and its level can be the mean of the feature. A packed block on the device cuda is in main
 * memory.
 *
 * Sparse (CSC): the values of feature k are values[starts[k]] to values[starts[k + 1] - 1]. Their
 * samples have the same positions in `samples`, and ascend within a feature. All other values are
 * zero. Sparse blocks have no strides, and any type but ROOFS_2BIT.
 *
 * If the fit runs on the device cuda, `values` of a dense block may point to GPU memory. */
typedef struct roofs_block {
    size_t struct_size;       /* 0 = the fields of version 0.2.0 */
    int64_t count;            /* features in the block */
    int64_t n;                /* samples; must equal the n of the estimator */
    const void *values;       /* borrowed */
    int64_t feature_stride;   /* in values, not bytes; ROOFS_2BIT: in bytes */
    int64_t sample_stride;    /* in values, not bytes; ROOFS_2BIT: 1 */
    const char *const *names; /* `count` names, or NULL; borrowed */
    const void *starts;       /* sparse: count + 1 positions; NULL = dense; borrowed */
    const void *samples;      /* sparse: the sample of each value; borrowed */
    roofs_dtype dtype;        /* type of values */
    roofs_index index;        /* type of starts and samples */
    const double *levels;     /* ROOFS_2BIT: 4 count finite values; NULL otherwise; borrowed */
} roofs_block;

/* ---- the estimator ----------------------------------------------------- */

/* A fit that is running or finished. */
typedef struct roofs_estimator roofs_estimator;

/* Creates an estimator for n responses y. Settings and y are copied. Free *out with roofs_destroy.
 * On failure *out is NULL:
 *   BAD_SETTING  a setting is out of range, or the method or the machine does not support it
 *   BAD_DATA     a response is not finite, or n is below 4 or above 2147483646 */
ROOFS_CHECKED roofs_status roofs_create(roofs_estimator **out, const roofs_settings *settings,
                                        const double *y, int64_t n, roofs_error *err);

/* How ranks communicate. Ranks are processes that share one fit. Each rank has consecutive samples;
 * they follow those of the rank before it. roofs/roofs_mpi.h fills this table from an MPI
 * communicator; other transports can fill it, too.
 *
 * The functions return 0 on success and anything else on failure. All ranks call them in the same
 * order. The library may call them from another thread than the caller's, one call at a time. */
typedef struct roofs_comm {
    size_t struct_size; /* 0 = the fields of version 0.2.0 */
    int64_t rank;       /* of this process, from 0 */
    int64_t size;       /* number of ranks */
    void *user;         /* first argument of the functions */

    /* `start` begins to add values[0..count) of all ranks, in the order of the ranks. After
     * `finish`, values holds the sum, with the same bits on every rank. The memory stays valid
     * until then. At most one sum is in progress. */
    int (*start)(void *user, double *values, int64_t count);
    int (*finish)(void *user);

    /* Gives every rank the bytes of all ranks: all = sizes[0] bytes of rank 0, then sizes[1] bytes
     * of rank 1, and so on. `mine` are the bytes of this rank. */
    int (*gather)(void *user, const void *mine, const int64_t *sizes, void *all);

    /* Why the last call failed, for error texts: a view, valid until the next call. The result and
     * the function may be NULL. Since version 0.3.0. */
    const char *(*reason)(void *user);
} roofs_comm;

/* Like roofs_create, for samples that are split over ranks. This rank has n of the samples; y and
 * the blocks hold the values of these samples. All ranks make all calls on the estimator, with the
 * same features and settings. Either all ranks set a monitor, or none does. If one monitor stops
 * the fit, it stops on all ranks. The method must support `splits`, see roofs_method_describe.
 *
 * A failure has the same status on all ranks. Exception: NO_MEMORY and FAILED may happen on one
 * rank only. The other ranks then wait for it, and the caller should end the job; see
 * roofs_failure_is_shared.
 *
 * In a view, n, trust, clean and residual are those of this rank's samples. A model has those of
 * all samples. `comm` is copied; NULL = one rank has all samples. */
ROOFS_CHECKED roofs_status roofs_create_split(roofs_estimator **out, const roofs_settings *settings,
                                              const double *y, int64_t n, const roofs_comm *comm,
                                              roofs_error *err);

/* Like roofs_create_split, for samples with weights (copied): sample i counts weight[i] times, as
 * if it occurred so often, and not at all with weight 0. Weights need not be integers. They say how
 * often a sample was observed, not how exact it is. NULL, or all weights 1: no weights, the same
 * bits as without. All ranks have weights, or none has. `comm` may be NULL. Since version 0.3.0.
 *   BAD_SETTING  the method does not support weights (roofs-bayes does), or the device is not the
 *                CPU
 *   BAD_DATA     a weight is negative or not finite, or fewer than four are above 0 */
ROOFS_CHECKED roofs_status roofs_create_weighted(roofs_estimator **out,
                                                 const roofs_settings *settings, const double *y,
                                                 const double *weight, int64_t n,
                                                 const roofs_comm *comm, roofs_error *err);

/* Fits the next features of the stream. The block is borrowed.
 *   BAD_DATA    a value is not finite, the block has another n, a name occurs twice or is missing,
 *               a later pass has more features than the first, or the block has 64-bit values after
 *               a first block with 32-bit values (set storage to avoid this)
 *   OVER_LIMIT  the fit needs more than max_memory
 *   CANCELLED   the monitor has stopped the fit
 *   FAILED      the GPU or the communication between ranks has failed
 *   BAD_CALL    after roofs_finish, after an error, or from a monitor; changes nothing
 *
 * After an error the estimator can only be destroyed. Exceptions: a first block whose columns find
 * no memory (NO_MEMORY) may be passed again; if the fit had begun, that call is a BAD_CALL. After
 * CANCELLED the fit can be viewed, saved and continued: continue with the feature
 * at `position` of roofs_describe, because later features of the block are not yet fitted.
 *
 * With the setting hypotheses above 1, methods that use it follow several starts of the clean
 * samples, each with a fit of its own. Until the end of the first pass views, descriptions and
 * progress are those of the usual start. */
ROOFS_CHECKED roofs_status roofs_consume(roofs_estimator *e, const roofs_block *block,
                                         roofs_error *err);

/* Prefetch hint: the block you will pass to the call after the next. A GPU copies it while it works
 * on the next block. `next` may also be the beginning of that block. NULL withdraws the hint. The
 * values stay borrowed until the block is consumed, a roofs_consume fails with another status than
 * BAD_CALL, or the hint is withdrawn. No result depends on the hint. */
ROOFS_API void roofs_prefetch(roofs_estimator *e, const roofs_block *next);

/* Begins another pass: the stream starts again with its first feature. The estimator considers
 * features again that it did not keep. With passes = K it may be called K - 1 times; with auto
 * passes ROOFS_AUTO_PASSES - 1 times, or never if the method has no reads_again. At the end of the
 * first pass the best hypothesis is chosen; later passes follow it alone.
 *   BAD_DATA   this pass had fewer features than the first; changes nothing
 *   BAD_CALL   all passes are used, or as in roofs_consume; changes nothing
 *   CANCELLED  the monitor has stopped the fit; call roofs_next_pass again to continue
 *   FAILED     as in roofs_consume
 * After other errors the estimator can only be destroyed. */
ROOFS_CHECKED roofs_status roofs_next_pass(roofs_estimator *e, roofs_error *err);

/* Adds features to a stream that was read several times: call it at the end of a pass. The features
 * that follow are new, as in the first pass; they come after those of the stream. Passes after this
 * one then have all features. Does nothing in the first pass.
 *   BAD_DATA  this pass had fewer features than the first; changes nothing
 *   BAD_CALL  as in roofs_consume; changes nothing */
ROOFS_CHECKED roofs_status roofs_extend(roofs_estimator *e, roofs_error *err);

/* At the end of a pass: 1 if another pass can improve the fit, 0 if not or if e is NULL. Where the
 * stream can be read again, call roofs_next_pass and read it again as long as this returns 1. With
 * passes = K it is 1 before the last of K passes. With passes = 0 (auto) it is 1 if
 *   - the method has reads_again, and fewer than ROOFS_AUTO_PASSES passes are done;
 *   - features other than constant ones were not kept;
 *   - the selected features are not those of the end of the pass before.
 * Selected are features with a probability above 1/2, or all kept ones if the method estimates no
 * probabilities. */
ROOFS_API int roofs_wants_pass(const roofs_estimator *e);

/* Ends the stream and completes the fit.
 *   BAD_DATA   this pass had fewer features than the first; changes nothing
 *   CANCELLED  the monitor has stopped the fit; call roofs_finish again to continue
 *   FAILED, BAD_CALL as in roofs_consume
 * After other errors the estimator can only be destroyed. */
ROOFS_CHECKED roofs_status roofs_finish(roofs_estimator *e, roofs_error *err);

/* Frees the estimator. Its views are no longer valid. */
ROOFS_API void roofs_destroy(roofs_estimator *e);

/* *bytes = upper bound of the memory of a fit of n samples whose features are stored as `storage`.
 * Settings are borrowed; mu = 0 is resolved as in roofs_settings_resolve. BAD_SETTING if one is out
 * of range, or if the method or this build of the library does not support the device; a GPU need
 * not be present. Sparse features need less; with them, max_memory limits the bytes that are
 * allocated. */
ROOFS_CHECKED roofs_status roofs_memory_needed(const roofs_settings *settings, int64_t n,
                                               roofs_dtype storage, int64_t *bytes,
                                               roofs_error *err);

/* The same for features with `filled` nonzero values each. *bytes is then an estimate: kept
 * features may have more nonzero values than the average. */
ROOFS_CHECKED roofs_status roofs_memory_needed_sparse(const roofs_settings *settings, int64_t n,
                                                      roofs_dtype storage, int64_t filled,
                                                      int64_t *bytes, roofs_error *err);

/* The threads of a fit whose setting `threads` is 0: one per core on which the process may run, but
 * not more than the CPU quota of its control group and OMP_NUM_THREADS allow. */
ROOFS_API int64_t roofs_default_threads(void);

/* The most features that a fit with these settings keeps between two batches: mu and the reserve. 0
 * if the settings are NULL or not valid, or if mu is 0. */
ROOFS_API int64_t roofs_features_held(const roofs_settings *settings);

/* The most hypotheses that a fit with these settings follows side by side; the bytes of
 * roofs_memory_needed are for so many. 1 for methods without hypotheses; 0 if the settings are NULL
 * or not valid. */
ROOFS_API int64_t roofs_hypotheses_followed(const roofs_settings *settings);

/* *bytes = how many bytes of roofs_memory_needed are GPU memory. *free_bytes = the GPU memory that
 * is free now; -1 if the machine has no GPU. Both are 0 if the fit runs on the CPU. On a GPU sparse
 * features need as much memory as dense ones. Statuses are those of roofs_memory_needed. */
ROOFS_CHECKED roofs_status roofs_memory_on_device(const roofs_settings *settings, int64_t n,
                                                  roofs_dtype storage, int64_t *bytes,
                                                  int64_t *free_bytes, roofs_error *err);

/* Where the time of a fit goes. Phase k = 0, 1, ... has a name (NULL after the last one): checking
 * the values, rounds, samples (which ones to trust), storing the features that stay, joint
 * solutions at the end of a pass, groups. Seconds since roofs_create or roofs_load, without the
 * time between calls; hypotheses that run side by side add up. Bytes of features read; 0 where they
 * are not counted (joint solutions, engines of a GPU). 0 if e is NULL or there is no such phase. */
ROOFS_API const char *roofs_phase_name(int64_t k);
ROOFS_API double roofs_phase_seconds(const roofs_estimator *e, int64_t k);
ROOFS_API double roofs_phase_bytes(const roofs_estimator *e, int64_t k);

/* The device of the fit: "cpu" or "cuda"; constant. NULL if e is NULL. */
ROOFS_API const char *roofs_device(const roofs_estimator *e);

/* The number of samples of all ranks together. 0 if e is NULL. */
ROOFS_API int64_t roofs_samples(const roofs_estimator *e);

/* 1 if the last failure occurred on all ranks. 0 if it may have occurred on this rank only; the
 * other ranks may then wait for it, and the caller should end the job. */
ROOFS_API int32_t roofs_failure_is_shared(const roofs_estimator *e);

/* The state of a running fit after a round. */
typedef struct roofs_progress {
    size_t struct_size;    /* set by the library: later versions add fields at the end */
    int64_t batch;         /* from 1 */
    int64_t round;         /* within the batch, from 1 */
    int64_t features_seen; /* including the current batch */
    int64_t selected;      /* features kept now */
    int64_t trusted;       /* samples trusted now */
} roofs_progress;

/* What a monitor returns. Unknown values mean STOP. After STOP and UNDO, roofs_consume or
 * roofs_finish returns CANCELLED. */
typedef enum roofs_answer {
    ROOFS_MONITOR_CONTINUE = 0,
    ROOFS_MONITOR_STOP = 1, /* keep the batch as it is after this round; several hypotheses first
                             * complete the batch without further calls of the monitor, so that
                             * all are at the same position and the fit can continue */
    ROOFS_MONITOR_UNDO = 2  /* restore the fit from before the batch: consuming the same features
                             * again gives the same bits; without roofs_set_undo it means STOP */
} roofs_answer;

/* The library calls the monitor once per round of each hypothesis, in the thread that called it,
 * with the `user` of roofs_set_monitor. `now` is valid during this call. The monitor must not use
 * its estimator. */
typedef int (*roofs_monitor)(void *user, const roofs_progress *now);

/* Sets the monitor; NULL removes it. `user` must stay valid as long as the monitor is set. */
ROOFS_API void roofs_set_monitor(roofs_estimator *e, roofs_monitor monitor, void *user);

/* Enables (1) or disables (0, the default) ROOFS_MONITOR_UNDO. The library then copies its state
 * before each batch, without the values of the features. */
ROOFS_API void roofs_set_undo(roofs_estimator *e, int32_t on);

/* ---- checkpoints ------------------------------------------------------- */

/* Writes `size` bytes. Returns 0 on success, anything else on failure. */
typedef int (*roofs_write)(void *user, const void *bytes, size_t size);

/* Reads up to `size` bytes. Returns how many; 0 at the end; a negative number on failure. */
typedef int64_t (*roofs_read)(void *user, void *bytes, size_t size);

/* Saves the state of a running fit, with a checksum, through `write`. The checkpoint holds the
 * position in the stream, not the stream: after roofs_load the caller continues with the feature at
 * `position` of roofs_describe. A failure does not change the fit.
 *   IO        `write` has failed
 *   BAD_CALL  after roofs_finish, after an error, or from a monitor */
ROOFS_CHECKED roofs_status roofs_save(roofs_estimator *e, roofs_write write, void *user,
                                      roofs_error *err);

/* The same with data of the caller before the fit: `size` bytes (borrowed), stored under `name`
 * with a checksum. roofs_load skips them; docs/reliability.md describes the format. `name` has 1 to
 * 15 characters and is not begin, column, end, marks, part or state; otherwise BAD_CALL. */
ROOFS_CHECKED roofs_status roofs_save_with(roofs_estimator *e, const char *name, const void *data,
                                           int64_t size, roofs_write write, void *user,
                                           roofs_error *err);

/* Loads a fit. With the same further features it gives the same bits as the fit that was saved.
 * Reads what roofs_save wrote and nothing after it. Free *out with roofs_destroy.
 *
 * `run` (borrowed) may be NULL. To change threads, max_memory or device, fill it with
 * roofs_settings_as_saved and set these fields. The library ignores the other fields.
 *
 * On failure *out is NULL:
 *   BAD_DATA     not a checkpoint, damaged, of a later version, or saved by several ranks
 *   BAD_SETTING  a setting of `run` is out of range, or the machine does not have the device
 *   OVER_LIMIT   the fit needs more than max_memory
 *   IO           `read` has failed */
ROOFS_CHECKED roofs_status roofs_load(roofs_estimator **out, roofs_read read, void *user,
                                      const roofs_settings *run, roofs_error *err);

/* Moves to the first byte of a file. Returns 0 on success, anything else on failure. */
typedef int (*roofs_rewind)(void *user);

/* Like roofs_load, for a fit that `count` ranks saved. The number of ranks of `comm` may differ
 * from `count`: the library splits the samples again. files[k] is the `user` of `read` and `rewind`
 * for what rank k saved. Every rank reads all files twice. All ranks make this call; if one finds
 * damage, the call fails on all. `comm` is copied; NULL = one rank has all samples. BAD_CALL if
 * `count` is below 1. */
ROOFS_CHECKED roofs_status roofs_load_split(roofs_estimator **out, roofs_read read,
                                            roofs_rewind rewind, void *const *files, int64_t count,
                                            const roofs_settings *run, const roofs_comm *comm,
                                            roofs_error *err);

/* The settings and the position of a fit. */
typedef struct roofs_description {
    size_t struct_size;
    const roofs_settings *settings; /* settings->struct_size bytes that belong to the library: valid
                                     * until roofs_destroy, updated by roofs_describe. storage is
                                     * AUTO until the first block decides it */
    int64_t n;                      /* samples of this rank */
    int64_t features_seen;
    int64_t pass;     /* from 1 */
    int64_t position; /* index of the next feature of this pass, from 0 */
    int64_t batches;  /* finished batches */
    int32_t named;    /* 1 = features have names, 0 = they have none, -1 = no feature yet */
    int32_t finished; /* 1 after roofs_finish */
} roofs_description;

/* Fills *out; with zeros if e is NULL. Does nothing if out is NULL. */
ROOFS_API void roofs_describe_sized(const roofs_estimator *e, roofs_description *out, size_t size);
static inline void roofs_describe(const roofs_estimator *e, roofs_description *out)
{
    roofs_describe_sized(e, out, sizeof *out);
}

/* ---- the result -------------------------------------------------------- */

/* How the fit ended. Reaching max_iter is an outcome, not a failure. */
#define ROOFS_STOP_LIST(X)                                                                         \
    X(SETTLED, 0, "settled")   /* every batch and the end of the fit settled */                    \
    X(MAX_ITER, 1, "max_iter") /* a batch or the end used all its rounds: WARNING_NOT_SETTLED */   \
    X(EMPTY, 2, "empty")       /* no feature is kept: none arrived, or none varies */

typedef enum roofs_stop {
#define ROOFS_STOP_ENUM(name, number, text) ROOFS_STOP_##name = (number),
    ROOFS_STOP_LIST(ROOFS_STOP_ENUM)
#undef ROOFS_STOP_ENUM
} roofs_stop;

/* "settled", "max_iter" or "empty"; constant. NULL for any other number. */
ROOFS_API const char *roofs_stop_text(roofs_stop stop);

/* Where the search for the clean samples starts. */
#define ROOFS_HYPOTHESIS_LIST(X)                                                                   \
    X(USUAL, 0, "usual") /* the largest cluster of responses, or all */                            \
    X(ALL, 1, "all")     /* all samples */

typedef enum roofs_hypothesis {
#define ROOFS_HYPOTHESIS_ENUM(name, number, text) ROOFS_HYPOTHESIS_##name = (number),
    ROOFS_HYPOTHESIS_LIST(ROOFS_HYPOTHESIS_ENUM)
#undef ROOFS_HYPOTHESIS_ENUM
} roofs_hypothesis;

/* "usual" or "all"; constant. NULL for any other number. */
ROOFS_API const char *roofs_hypothesis_text(int64_t hypothesis);

/* What a user should hear about a fit that has not failed: flag, word for files and programs, and
 * one line that says what was found and what to do. Flag k, counted from 0, is 1 << k. Flags are
 * never reused; later versions may add some.
 *
 * EQUAL_RESPONSES needs 5 equal responses at least. DISCRETE_RESPONSE needs 50 samples and takes
 * the place of EQUAL_RESPONSES: values that are few are often equal. FEW_TRUSTED is not set where
 * clean_ratio asks for so few. */
#define ROOFS_WARNING_LIST(X)                                                                      \
    X(NOT_SETTLED, 1, "not-settled",                                                               \
      "the fit used all its rounds before it settled: raise max_iter or tol, or keep fewer "       \
      "features if they are strongly correlated")                                                  \
    X(FEW_TRUSTED, 2, "few-trusted",                                                               \
      "less than 60% of the samples are trusted: look at the residuals; either so many responses " \
      "are corrupted, or the features do not explain the response")                                \
    X(EQUAL_RESPONSES, 4, "equal-responses",                                                       \
      "at least 20% of the responses are equal: if a constant stands for missing, censored or "    \
      "overwritten values, leave these samples out; if the value is real, fit it separately")      \
    X(DISCRETE_RESPONSE, 8, "discrete-response",                                                   \
      "the response has at most 10 different values: predictions lie between them, and samples "   \
      "of a rare value may count as corrupted; if the values are classes, use a classifier")       \
    X(UNDECIDED, 16, "undecided",                                                                  \
      "two choices of the clean samples explain the responses almost equally well: look at the "   \
      "samples that are not trusted, and set clean_ratio if you know the share of clean samples")  \
    X(FORCED, 32, "forced",                                                                        \
      "some features of the setting always are constant, or combinations of the others: constant " \
      "ones are left out, and single coefficients of the others are not determined")

typedef enum roofs_warning {
#define ROOFS_WARNING_ENUM(name, flag, word, text) ROOFS_WARNING_##name = (flag),
    ROOFS_WARNING_LIST(ROOFS_WARNING_ENUM)
#undef ROOFS_WARNING_ENUM
} roofs_warning;

/* Word and text of the warning whose flag is 1 << k, k counted from 0; constant. NULL past the
 * last warning. */
ROOFS_API const char *roofs_warning_name(int64_t k);
ROOFS_API const char *roofs_warning_text(int64_t k);

/* A selected feature. This struct never changes: new data about features would be further arrays
 * in roofs_result. */
typedef struct roofs_feature {
    int64_t index;      /* in the stream, from 0 */
    const char *name;   /* NULL if the features have no names */
    double coef;        /* in the units of the data */
    double probability; /* that the coefficient is not 0; NAN if the method does not estimate it */
} roofs_feature;

/* How well the fit explains the trusted samples, beside a constant: their mean. In the unit of the
 * response. This struct never changes. */
typedef struct roofs_quality {
    double error;          /* mean absolute residual of the trusted samples */
    double constant_error; /* mean absolute difference from the constant */
    double r2;             /* share of the variance that the model explains; 0 if there is none */
} roofs_quality;

/* What is known about the error of a selected feature. This struct never changes. */
typedef struct roofs_spread {
    double center; /* mean of the feature over the samples, by their weights */
    double error;  /* standard error of the coefficient, in the units of the data: for predictions.
                    * It includes that the feature may not matter */
} roofs_spread;

/* The noise of the clean samples, for intervals. This struct never changes. */
typedef struct roofs_noise {
    double scale;     /* of the responses around the model, in their unit; 0 = not estimated, or the
                       * model is exact */
    double intercept; /* standard error of the intercept, at the centers of the features; 0 = the
                       * model has none */
    double nu;        /* degrees of freedom of Student's t distribution; infinite = normal */
    double skew;      /* the scale is times e^(0.3 skew) above and divided by it below */
    double tail;      /* share of samples that are not trusted but may be the tail of the noise */
} roofs_noise;

/* A feature of a credible group. This struct never changes. */
typedef struct roofs_member {
    int64_t index;
    const char *name;   /* NULL if the features have no names */
    double probability; /* that the effect is this feature's, given that there is an effect */
} roofs_member;

/* A credible group: features that look so alike that the data do not show which of them has an
 * effect. This struct never changes. */
typedef struct roofs_group {
    int64_t count;               /* features of the group */
    const roofs_member *members; /* the most probable first */
    double mass;                 /* sum of their probabilities, at least .99 */
    double exists;               /* probability that there is an effect */
    double fdr;                  /* the smallest rate of false discoveries at which it counts */
    double correlation;          /* the smallest between two members, in absolute value */
    double effect;               /* change of the response per scale of a member */
    double error;                /* standard error of the effect */
    double coef;                 /* of a group of one, in the units of the data; otherwise NAN, also
                                  * beyond the largest double */
    double coef_error;           /* its standard error; otherwise NAN */
    int64_t complete;            /* 0 = a further feature may belong to it: see the setting pool */
} roofs_group;

/* A finished batch. This struct never changes. */
typedef struct roofs_batch {
    int64_t features; /* number of features in the batch */
    int64_t rounds;
    int64_t selected; /* features kept after the batch */
    int64_t entered;  /* how many of them are from this batch */
    int64_t trusted;  /* samples trusted after the batch */
    double cut;       /* largest absolute residual of the trusted samples */
    double step;      /* shortest step, as a multiple of 1 / trusted */
} roofs_batch;

/* The result of a fit. The pointers are views: the arrays belong to the estimator or model. */
typedef struct roofs_result {
    size_t struct_size;
    const char *method;
    int64_t n;
    int64_t features_seen;
    int64_t constant;              /* features that do not vary; their coefficient is 0 */
    int64_t selected;              /* features in the result; see by_probability */
    const roofs_feature *features; /* `selected` features, ascending by index */
    double intercept;
    int64_t trusted;
    const unsigned char *trust; /* n flags: 1 = trusted */
    const double *clean;        /* n probabilities that a sample is clean; may be NULL */
    const double *residual;     /* n values y - prediction; NULL for models */
    int64_t quantiles;          /* number of quantiles of the residuals */
    const double *quantile;     /* evenly spaced from smallest to largest; NULL for estimators */
    double cut;                 /* largest absolute residual of the trusted samples */
    int64_t rounds;
    int64_t batches;
    const roofs_batch *history; /* one entry per batch */
    roofs_stop stop;
    int32_t reserved;
    int64_t by_probability; /* which of the features count as selected, see is_selected. 0 = all; 1
                             * = those with a probability above 1/2 (the setting select is LIKELY);
                             * 2 = those in a group that is found at the rate of false discoveries
                             * of the setting fdr; none before roofs_finish */
    int64_t hypotheses; /* how many starts of the clean samples were compared; 0 = the method has
                         * none, or the model is older */
    int64_t hypothesis; /* ROOFS_HYPOTHESIS_...: the one that was chosen; 0 before */
    int64_t warnings;   /* flags ROOFS_WARNING_... of this result */
    int64_t orders;     /* orders of the features that were compared, this fit included; 0 = none. A
                         * model has it after roofs_model_set_orders */
    const double *frequency; /* `selected` shares of these orders that select the feature; NULL if
                              * orders is 0 */
    double jaccard; /* mean over pairs of orders: features selected in both, over those in either */
    double change;  /* of the predictions of a sample between two orders at most, in units of the
                     * root mean square of the trusted residuals */
    int64_t groups; /* number of credible groups; 0 before roofs_finish */
    const roofs_group *group; /* the strongest evidence first; no feature is in two groups */
    int64_t groups_known;     /* 0 = not computed: another method, the setting groups is OFF, or an
                               * older model */
    const roofs_spread *spread; /* one per feature in the result; NULL if not estimated, or if an
                                 * error exceeds the largest double in the units of the data */
    roofs_noise noise;          /* all 0 if spread is NULL */
    double fdr;                 /* the setting; 0 = not used */
    const unsigned char *is_selected; /* one flag per feature in the result: 1 = it counts as
                                       * selected, see by_probability */
    int64_t half_widths;      /* number of intervals by cross-validation; 0 = none. A model has them
                               * after roofs_model_set_half_widths */
    const double *half_width; /* [k]: half the width at level (k + 1) / ROOFS_HALF_WIDTH_STEPS */
    const double *scale;      /* one per feature in the result: its standard deviation over the
                               * samples that were trusted when it arrived. The effect of a feature
                               * is coef * scale. NULL if the fit does not standardise features, if a
                               * number exceeds the largest double, or if the model is older */
    roofs_quality quality;    /* of a model; all 0 for estimators, for fits that trust no sample and
                               * for older models. Since version 0.3.0, as scale */
} roofs_result;

/* Intervals by cross-validation are stored for the levels k / ROOFS_HALF_WIDTH_STEPS. */
enum { ROOFS_HALF_WIDTH_STEPS = 200 };

/* Fills *out with the current result, before or after roofs_finish. Do not call it from a monitor.
 *   BAD_DATA  a coefficient, the intercept or a residual exceeds the largest double in the units of
 *             the data
 *   BAD_CALL  after an error */
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

/* Creates a model from the current result of e. The model does not depend on e afterwards. If the
 * samples are split, all ranks make this call. Free *out with roofs_model_destroy. On failure *out
 * is NULL; statuses are those of roofs_view, and FAILED if the communication of ranks fails. */
ROOFS_CHECKED roofs_status roofs_model_create(roofs_model **out, roofs_estimator *e,
                                              roofs_error *err);

/* Reads a model file. Free *out with roofs_model_destroy. On failure *out is NULL; BAD_DATA if the
 * file cannot be opened or is not a valid model. */
ROOFS_CHECKED roofs_status roofs_model_read(roofs_model **out, const char *path, roofs_error *err);

/* Writes the model as JSON (docs/model-file.md) to a temporary file beside `path`, syncs it and
 * renames it: `path` never holds half a model. "-" is standard output.
 *   IO      the file cannot be written
 *   FAILED  a name is not UTF-8, or a number is not finite */
ROOFS_CHECKED roofs_status roofs_model_write(const roofs_model *m, const char *path,
                                             roofs_error *err);

/* Frees the model. Its views are no longer valid. */
ROOFS_API void roofs_model_destroy(roofs_model *m);

/* Fills *out; with zeros if m is NULL. The views are valid until roofs_model_destroy. Does nothing
 * if out is NULL. */
ROOFS_API void roofs_model_view_sized(const roofs_model *m, roofs_result *out, size_t size);
static inline void roofs_model_view(const roofs_model *m, roofs_result *out)
{
    roofs_model_view_sized(m, out, sizeof *out);
}

/* Whether the files of the fit count features from 0 or from 1; -1 = unknown, the value in a new
 * model. Model files store it. Setting any other base gives BAD_CALL. */
ROOFS_API int32_t roofs_model_index_base(const roofs_model *m);
ROOFS_CHECKED roofs_status roofs_model_set_index_base(roofs_model *m, int32_t base,
                                                      roofs_error *err);

/* How the columns of a table become features: a JSON object as text, see "table" in
 * docs/model-file.md; NULL if the model has none. Valid until roofs_model_set_table or
 * roofs_model_destroy. Model files store it. Text that is not a JSON object gives BAD_CALL. */
ROOFS_API const char *roofs_model_table(const roofs_model *m);
ROOFS_CHECKED roofs_status roofs_model_set_table(roofs_model *m, const char *json,
                                                 roofs_error *err);

/* Whether the fit had an offset: a known part of each response, which the caller has subtracted
 * before roofs_create and must add to predictions. The name of its column, "" if it has none; NULL
 * if there was no offset, as in a new model. Valid until roofs_model_set_offset or
 * roofs_model_destroy. Model files store it; NULL removes it. */
ROOFS_API const char *roofs_model_offset(const roofs_model *m);
ROOFS_CHECKED roofs_status roofs_model_set_offset(roofs_model *m, const char *name,
                                                  roofs_error *err);

/* Stores in a model how its selection depends on the order of the features; see roofs_result.
 * `frequency` (copied) has a share from 0 to 1 for each feature of the model. BAD_CALL if `orders`
 * is below 2, or a number is not finite, negative, or above 1 (change may be). */
ROOFS_CHECKED roofs_status roofs_model_set_orders(roofs_model *m, int64_t orders,
                                                  const double *frequency, double jaccard,
                                                  double change, roofs_error *err);

/* Stores in a model half the widths of intervals, found by cross-validation; see roofs_result.
 * `half_width` (copied) ascends. BAD_CALL if count is not from 1 to ROOFS_HALF_WIDTH_STEPS - 1, or
 * a number is not finite, negative, or below the one before it. */
ROOFS_CHECKED roofs_status roofs_model_set_half_widths(roofs_model *m, int64_t count,
                                                       const double *half_width, roofs_error *err);

/* The value of the setting `name` in the fit, as a text for roofs_settings_set. The result is a
 * view, or it points to the caller's buffer `text` of `size` bytes; 40 are enough. NULL if the
 * model does not store the setting. */
ROOFS_API const char *roofs_model_setting(const roofs_model *m, const char *name, char *text,
                                          size_t size);

/* prediction[i] = intercept + sum of coefficient times value over the selected features, for the
 * x->n samples of x (borrowed, in host memory). Features are found by name if both the model and x
 * have names. Otherwise x must hold the features of the stream from the first one on. BAD_DATA if a
 * feature is missing (its index is in the error), the block is not valid, or a prediction is not
 * finite; *prediction is then undefined. */
ROOFS_CHECKED roofs_status roofs_predict(const roofs_model *m, const roofs_block *x,
                                         double *prediction, roofs_error *err);

/* The same for a block with exactly the selected features, in the order of the model. Ignores
 * names. BAD_DATA if the number of features differs. */
ROOFS_CHECKED roofs_status roofs_predict_selected(const roofs_model *m, const roofs_block *x,
                                                  double *prediction, roofs_error *err);

/* Intervals that hold new, uncorrupted responses with probability `level`, 0 < level < 1:
 * low[i] <= prediction[i] <= high[i], if no value overflows. Each of the three arrays has x->n
 * numbers; prediction may be NULL. only_selected: as roofs_predict_selected, otherwise as
 * roofs_predict; predictions have the same bits, and so have intervals of sparse and dense blocks.
 *   BAD_CALL  the level is not between 0 and 1, or the model has no errors of its coefficients: it
 *             is of another method, or older */
ROOFS_CHECKED roofs_status roofs_predict_interval(const roofs_model *m, const roofs_block *x,
                                                  int only_selected, double level,
                                                  double *prediction, double *low, double *high,
                                                  roofs_error *err);

/* ---- tables ------------------------------------------------------------ */

/* Columns of numbers, words and dates become features by the rules of docs/tables.md. A fit to
 * these features gives the same model as the program gives for the same table, to the bit.
 *
 *     roofs_table *t;
 *     if (roofs_table_create(&t, columns, count, n, &options, &err)) goto fail;
 *     for (int64_t k = 0; k < roofs_table_features(t); k++) {
 *         const char *name = roofs_table_feature_name(t, k);
 *         if (roofs_table_read(t, k, 1, x, &err)) goto fail;
 *         roofs_block b = {.count = 1, .n = n, .values = x, .feature_stride = n,
 *                          .sample_stride = 1, .names = &name};
 *         if (roofs_consume(e, &b, &err)) goto fail;
 *     }
 *     if (roofs_finish(e, &err) || roofs_model_create(&m, e, &err)) goto fail;
 *     if (roofs_table_store(t, m, &err)) goto fail;
 */
typedef enum roofs_column_kind {
    ROOFS_COLUMN_NUMBERS = 0,
    ROOFS_COLUMN_BOOLEANS = 1, /* 1 and 0 */
    ROOFS_COLUMN_DATES = 2,    /* days since 1970-01-01, with a fraction for the time of day */
    ROOFS_COLUMN_WORDS = 3,    /* texts, which may be words, dates, numbers, or yes and no */
    ROOFS_COLUMN_CATEGORY = 4  /* texts: levels of a category, whatever they are */
} roofs_column_kind;

/* A column of a table. It has either values, or words and codes. */
typedef struct roofs_column {
    const char *name;
    int64_t kind;             /* ROOFS_COLUMN_... */
    const double *values;     /* n numbers; NaN = missing */
    int64_t word_count;       /* number of words */
    const char *const *words; /* texts in UTF-8, in any order; some may be equal */
    const int64_t *codes;     /* n indices of words; -1 = missing */
    int64_t reserved[2];      /* 0 */
} roofs_column;

enum roofs_missing_choice {
    ROOFS_MISSING_ERROR = 0,        /* missing values are refused */
    ROOFS_MISSING_DROP_FEATURE = 1, /* features with missing values become 0 */
    ROOFS_MISSING_MEDIAN = 2,       /* of the other values; categories get a level (missing) */
    ROOFS_MISSING_MEAN = 3,
    ROOFS_MISSING_INDICATOR = 4 /* the mean, and one more feature shows where */
};
enum roofs_date_order { ROOFS_DATE_NONE = 0, ROOFS_DATE_DMY = 1, ROOFS_DATE_MDY = 2 };

/* How columns become features. All zero is the default of the program. */
typedef struct roofs_table_options {
    size_t struct_size;     /* 0 = the fields of version 0.3.0 */
    int64_t max_levels;     /* of a category; 0 = 30 */
    int64_t date_parts;     /* 1 = dates also give weekdays, months and hours */
    int64_t date_order;     /* ROOFS_DATE_...: what 3/4/2020 means */
    int64_t missing;        /* ROOFS_MISSING_... */
    int64_t thousands;      /* 1 = the text 1,234.5 is a number */
    int64_t decimal_comma;  /* 1 = the text 1,5 is one and a half */
    const char *response;   /* name of the column of the response, for the model; or NULL */
    const char *id;         /* name of the column that identifies samples, or NULL */
    const char *const *ids; /* n texts: its values, for the model; or NULL */
} roofs_table_options;

/* The columns of a table as features. */
typedef struct roofs_table roofs_table;

/* Finds out what the columns hold, and how they become features. `columns` must not have the
 * response and the ID. Their arrays are borrowed until roofs_table_destroy, all else is copied.
 * `options` may be NULL. Free *out with roofs_table_destroy. On failure *out is NULL; BAD_DATA if
 * two columns have one name, if a value does not fit the others of its column, or if a value is
 * missing; the error names the column and the sample. */
ROOFS_CHECKED roofs_status roofs_table_create(roofs_table **out, const roofs_column *columns,
                                              int64_t count, int64_t n,
                                              const roofs_table_options *options, roofs_error *err);

/* The features of a model, in its order, from the columns of another table, which may be in any
 * order: a block of all of them is for roofs_predict_selected. Columns that the model does not use
 * are ignored. The model and the arrays of the columns are borrowed until roofs_table_destroy.
 * BAD_DATA if a column is missing, or does not hold what it held in the fit.
 *   BAD_CALL  the features of the model have no names */
ROOFS_CHECKED roofs_status roofs_table_apply(roofs_table **out, const roofs_model *m,
                                             const roofs_column *columns, int64_t count, int64_t n,
                                             roofs_error *err);

/* The number of features; 0 if t is NULL. The name of feature k; NULL if there is none. Valid until
 * roofs_table_destroy. */
ROOFS_API int64_t roofs_table_features(const roofs_table *t);
ROOFS_API const char *roofs_table_feature_name(const roofs_table *t, int64_t k);

/* Message k, from 0: columns that are left out, words that the fit did not have. NULL past the
 * last. Valid until roofs_table_destroy. */
ROOFS_API const char *roofs_table_note(const roofs_table *t, int64_t k);

/* Writes `count` features from number `first` on to `values`, n numbers each. BAD_CALL if the table
 * has fewer. */
ROOFS_CHECKED roofs_status roofs_table_read(const roofs_table *t, int64_t first, int64_t count,
                                            double *values, roofs_error *err);

/* Stores in a model how the columns that it uses become features: predictions need no options.
 * BAD_CALL if t is of roofs_table_apply. */
ROOFS_CHECKED roofs_status roofs_table_store(const roofs_table *t, roofs_model *m,
                                             roofs_error *err);

ROOFS_API void roofs_table_destroy(roofs_table *t);

/* The n values of a column as numbers, for responses; NaN where they are missing. Reads texts by
 * the options (may be NULL), with yes as 1 and no as 0. BAD_DATA if a text is no number. */
ROOFS_CHECKED roofs_status roofs_column_numbers(const roofs_column *column, int64_t n,
                                                const roofs_table_options *options, double *values,
                                                roofs_error *err);

#ifdef __cplusplus
}
#endif

#endif
