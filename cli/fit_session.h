/* One fit from its files to its model: what `roofs fit` and `roofs resume` share. */
#ifndef CLI_FIT_SESSION_H
#define CLI_FIT_SESSION_H

#include "cli/checkpoint.h"
#include "cli/fit_report.h"
#include "cli/process_comm.h"
#include "cli/progress.h"
#include "cli/trace.h"

typedef struct output_options {
    const char *verb;
    const char *output, *trace;
    int json, quiet;
    int prefetch; /* read the next batch while the fit works on one */
} output_options;

/* The options that fill them; `args` has a member `out`. */
#define FIT_OUTPUT_ROW(args)                                                                       \
    {                                                                                              \
        OUTPUT(args, out.output, "FILE"),                                                          \
            .help = "where the model goes; without it, and for -, standard output"                 \
    }
#define FIT_TRACE_ROW(args, text)                                                                  \
    {                                                                                              \
        TEXT(args, out.trace, "trace", "FILE"), .help = (text)                                     \
    }
#define FIT_PREFETCH_ROW(args)                                                                     \
    {                                                                                              \
        FLAG(args, out.prefetch, "ahead"),                                                         \
            .help = "read the next batch while one is worked on; always so with a GPU"             \
    }
#define FIT_JSON_ROW(args)                                                                         \
    {                                                                                              \
        FLAG(args, out.json, "json"),                                                              \
            .help = "print a summary as a JSON object (then the model is only written with -o)"    \
    }
#define FIT_QUIET_ROW(args)                                                                        \
    {                                                                                              \
        QUIET(args, out.quiet), .help = "no progress, no summary"                                  \
    }

typedef struct fit_session {
    output_options out;
    input_args in;
    operands files;
    comm comm;
    source *source;             /* NULL: nothing is left to read in this pass */
    index_base base;            /* of the indices in the files, once they are read */
    roofs_estimator *estimator; /* knows the settings and the number of samples */
    int64_t consumed;           /* features given to the estimator, in all passes */
    fit_times times, traced;    /* traced: up to the last batch in the trace */
    trace trace;
    missing_count missing;          /* in the first pass */
    missing_count missing_skipped;  /* of those the source counts: counted before */
    missing_count missing_consumed; /* of those the source counts: in consumed batches */
    progress bar;
    checkpoint checkpoint;
} fit_session;

/* NULL: no model is to be written. */
const char *fit_model_path(const output_options *o);

/* Joins the ranks, and opens or tests what will be written. */
roofs_status fit_session_prepare(fit_session *f, roofs_error *err);

/* Opens the files of the session; n: samples, 0 where they are not known yet. */
roofs_status fit_session_open(const fit_session *f, int64_t n, source **out, roofs_error *err);

/* Fits the rest of the stream, in all passes. */
roofs_status fit_session_run(fit_session *f, roofs_error *err);

/* fit_session_report writes the model and the trace and prints the summary. fit_session_fail saves
 * a checkpoint where it can and prints the reason. Both return the code to exit with. */
int fit_session_report(fit_session *f);
int fit_session_fail(fit_session *f, roofs_status status, const roofs_error *err);

/* Runs a session that has begun with `status`, and reports how it ended. */
int fit_session_end(fit_session *f, roofs_status status, roofs_error *err);

void fit_session_free(fit_session *f);

#endif
