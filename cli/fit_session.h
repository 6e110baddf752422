/* A fit from its files to its model, for `roofs fit` and `roofs resume`. */
#ifndef CLI_FIT_SESSION_H
#define CLI_FIT_SESSION_H

#include "cli/checkpoint.h"
#include "cli/exchanged.h"
#include "cli/fit_report.h"
#include "cli/genotypes.h"
#include "cli/process_comm.h"
#include "cli/profile.h"
#include "cli/progress.h"
#include "cli/trace.h"

typedef struct output_options {
    const char *verb;
    const char *output, *trace;
    int json, quiet, profile;
    int prefetch; /* read the next batch during the fit of the current one */
} output_options;

extern const option_row output_rows[]; /* the options that fill an output_options: see GROUP */

typedef struct fit_session {
    output_options out;
    input_args in;
    operands files;
    int64_t orders;        /* of the features to compare; 0 or 1 = only that of the files */
    int with_cv;           /* intervals by cross-validation are wanted */
    const double *y;       /* the responses of this rank; only for several orders and with_cv */
    const double *weight;  /* of these samples; NULL = none, and after `roofs resume` */
    const char *offset;    /* see roofs_model_set_offset; NULL = no offset */
    const double *offsets; /* of the samples; only for several responses */
    comm comm;
    struct levels *ids; /* of the samples, from the table of the response; or NULL */
    const struct levels
        *fitted_ids;            /* of the samples of the fit, if it has not all of the stream */
    genotypes genotypes;        /* their people and counts, if the files are genotypes */
    int64_t notes_printed;      /* of the stream, about its tables */
    int is_read_once;           /* some of the features cannot be read again */
    source *source;             /* NULL: this pass has no more features */
    index_base base;            /* of the indices in the files; set at the end of a pass */
    roofs_estimator *estimator; /* holds the settings and the number of samples */
    roofs_model *model;         /* of the finished fit */
    exchanged exchanged;        /* pairs of samples of the finished fit */
    int64_t passes_made;        /* by the finished fit */
    int64_t samples;            /* of all ranks; set for other orders */
    int64_t consumed;           /* features given to the estimator, in all passes */
    double bytes_read;          /* of features, from files */
    profile profile;            /* of the finished fit, if out.profile is set */
    fit_times times, traced;    /* traced: up to the last batch in the trace */
    trace trace;
    missing_count missing;          /* in the first pass, so far */
    missing_count missing_skipped;  /* count of the source that `missing` includes */
    missing_count missing_consumed; /* count of the source up to the last consumed batch */
    progress bar;
    checkpoint checkpoint;
} fit_session;

/* Where the model is written; NULL: nowhere. */
const char *fit_model_path(const output_options *o);

/* Joins the ranks, opens the trace, and checks that the model can be written. */
roofs_status fit_session_prepare(fit_session *f, roofs_error *err);

/* How the files of the session are read. */
source_options fit_session_options(const fit_session *f, int64_t n);

/* Opens the files of the session; n: number of samples, 0 = not known. */
roofs_status fit_session_open(const fit_session *f, int64_t n, source **out, roofs_error *err);

/* True if the features can be read again: from files, not from pipes. */
int fit_session_can_reread(const fit_session *f);

/* Prints new messages about the tables of the stream. */
void fit_session_print_notes(fit_session *f);

/* Opens files[offset...] of the ledger of the checkpoint. */
roofs_status fit_session_reopen(fit_session *f, int64_t offset, const source_options *options,
                                roofs_error *err);

/* f->model = that of the finished estimator, with what is known of its tables. */
roofs_status fit_session_create_model(fit_session *f, roofs_error *err);

/* Saves a checkpoint, if the session has one and the fit is valid, and prints the error. Returns
 * the code to exit with. */
int fit_session_fail(fit_session *f, roofs_status status, const roofs_error *err);

/* If `status` is OK, fits the remaining stream in all passes, writes the model and prints the
 * summary; otherwise fails as fit_session_fail. Returns the code to exit with. */
int fit_session_finish(fit_session *f, roofs_status status, roofs_error *err);

void fit_session_free(fit_session *f);

#endif
