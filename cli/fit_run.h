/* One fit from its files to its model: what `roofs fit` and `roofs resume` share. */
#ifndef CLI_FIT_RUN_H
#define CLI_FIT_RUN_H

#include "cli/checkpoint.h"
#include "cli/fit.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/trace.h"

/* What is to be written and told. */
typedef struct fit_wishes {
    const char *who; /* the verb */
    const char *output, *trace;
    int json, quiet;
    int ahead; /* read the next batch while one is worked on */
} fit_wishes;

/* The options they come from; `place` is where the wishes are in the verb's arguments. */
#define FIT_OUTPUT_ROW(place)                                                                      \
    {                                                                                              \
        .name = "output", .letter = 'o', .kind = OPTION_TEXT,                                      \
        .at = (place) + offsetof(fit_wishes, output), .value = "FILE",                             \
        .help = "where the model goes; without it, and for -, standard output"                     \
    }
#define FIT_JSON_ROW(place)                                                                        \
    {                                                                                              \
        .name = "json", .kind = OPTION_FLAG, .at = (place) + offsetof(fit_wishes, json),           \
        .help = "print a summary as a JSON object (then the model is only written with -o)"        \
    }
#define FIT_QUIET_ROW(place)                                                                       \
    {                                                                                              \
        .name = "quiet", .letter = 'q', .kind = OPTION_FLAG,                                       \
        .at = (place) + offsetof(fit_wishes, quiet), .help = "no progress, no summary"             \
    }

#define FIT_AHEAD_ROW(place)                                                                       \
    {                                                                                              \
        .name = "ahead", .kind = OPTION_FLAG, .at = (place) + offsetof(fit_wishes, ahead),         \
        .help = "read the next batch while one is worked on; always so with a GPU"                 \
    }

typedef struct fit_run {
    fit_wishes wishes;
    input_args in;
    operands files;
    roofs_settings settings; /* with the storage decided */
    int64_t n;               /* samples, of all ranks */
    comm ranks;
    source *source;  /* NULL: nothing is left to read in this pass */
    index_base base; /* of the indices in the files, once they are read */
    roofs_estimator *estimator;
    int64_t taken;           /* features handed to the estimator, in all passes */
    fit_times times, traced; /* traced: up to the last batch in the trace */
    trace trace;
    missing_count missing;         /* in the first pass */
    missing_count missing_skipped; /* by the source, but counted before */
    missing_count missing_met;     /* by the source, in batches that were taken */
    progress bar;
    checkpoint kept;
} fit_run;

/* NULL: the model is not wanted. */
const char *fit_model_path(const fit_wishes *w);

/* Finds out now what cannot be written later. */
roofs_status fit_run_prepare(fit_run *f, roofs_error *err);

roofs_status fit_run_open(fit_run *f, source **out, roofs_error *err);

/* From where it stands to the end of the stream, and the end. */
roofs_status fit_run_go(fit_run *f, roofs_error *err);

/* What is left of it: the model, the trace, the summary; or the reason of a failure, after
 * saving what can be saved. Both return the code to exit with. */
int fit_run_tell(fit_run *f);
int fit_run_fail(fit_run *f, roofs_status status, const roofs_error *err);

void fit_run_free(fit_run *f);

#endif
