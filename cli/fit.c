/* roofs fit: reads a stream of features, keeps the model. */
#include "base/block.h"
#include "base/memory.h"
#include "cli/choose_mu.h"
#include "cli/fit_session.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "stream/format.h"
#include "stream/response.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_args {
    const char *y, *checkpoint;
    int64_t every;
    output_options out;
    input_args in;
    int explain;
    roofs_settings settings;
} fit_args;

static const option_row fit_rows[] = {
    {TEXT(fit_args, y, "y", "FILE"),
     .help = "the response: one number per sample; needed unless a LIBSVM file carries it"},
    FIT_OUTPUT_ROW(fit_args),
    FIT_TRACE_ROW(fit_args, "write down every batch (time, memory, largest coefficients), for "
                            "'roofs report'"),
    {TEXT(fit_args, checkpoint, "checkpoint", "FILE"),
     .help = "keep what 'roofs resume' needs to go on, also when the fit has ended"},
    {COUNT(fit_args, every, "checkpoint-every", 1, 1e15), .standard = "100",
     .help = "batches between two checkpoints; the last one is written at the end or by Ctrl-C"},
    {GROUP(fit_args, in, input_rows)},
    FIT_PREFETCH_ROW(fit_args),
    FIT_JSON_ROW(fit_args),
    {FLAG(fit_args, explain, "explain"),
     .help = "print how much memory the fit would take, and do not fit"},
    FIT_QUIET_ROW(fit_args),
    {0},
};

static const example fit_examples[] = {
    {"keep 50 features", "roofs fit --y y.npy --mu 50 X.npy -o model.json"},
    {"several files as one stream, features in the columns",
     "roofs fit --y y.csv --mu 50 genes-*.csv.gz -o model.json"},
    {"from a pipe, at most 2 GiB of memory, numbers for a program",
     "zcat X.csv.gz | roofs fit --y y.csv --mu 50 --max-memory 2GiB --json -o model.json -"},
    {"a LIBSVM file, which carries the response", "roofs fit --mu 50 reviews.svm.xz -o model.json"},
    {"how many features to keep? (reads the files eleven times)",
     "roofs fit --y y.npy --mu auto X.npy -o model.json"},
    {"so long that it may be interrupted",
     "roofs fit --y y.npy --mu 50 genes/ --checkpoint fit.ck -o model.json"},
    {"how much memory will it take?", "roofs fit --y y.npy --mu 4000 X.npy --explain"},
    {0},
};

/* ---- the beginning ----------------------------------------------------- */

/* A fit before its estimator exists. The settings of `args` become those of the fit. */
typedef struct fit_beginning {
    fit_args *args;
    double *y;
    int64_t n; /* samples of all ranks */
    fit_session session;
} fit_beginning;

static const char *const no_response =
    "the response, one number per sample (only a LIBSVM file, given alone, carries it)";

static roofs_status check_ranks(int64_t n, const roofs_comm *ranks, roofs_error *err)
{
    if (n >= ranks->size)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%" PRId64 " samples cannot be split over %" PRId64 " ranks; use fewer ranks", n,
                ranks->size);
}

/* The response is in a file of its own, or in the rows of the one file. */
static roofs_status open_inputs(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    const roofs_comm *ranks = process_comm();
    if (b->args->y) {
        TRY(response_read_shard(b->args->y, ranks->rank, ranks->size, &b->y, &b->n, err));
        TRY(check_ranks(b->n, ranks, err));
        return fit_session_open(f, b->n, &f->source, err);
    }
    TRY(fit_session_open(f, 0, &f->source, err));
    const double *labels = source_labels(f->source);
    if (!labels)
        return fail(err, ROOFS_BAD_SETTING, "--y FILE is needed: %s", no_response);
    b->n = source_samples(f->source);
    TRY(check_ranks(b->n, ranks, err));
    const int64_t own = source_own_samples(f->source);
    TRY(memory_get(&b->y, own, sizeof *b->y, "the response", err));
    memcpy(b->y, labels + source_first_sample(f->source), (size_t)own * sizeof *b->y);
    return ROOFS_OK;
}

static roofs_status open_for_choice(void *user, source **out, roofs_error *err)
{
    const fit_beginning *b = user;
    return fit_session_open(&b->session, b->n, out, err);
}

static roofs_status decide_mu(fit_beginning *b, roofs_error *err)
{
    const fit_session *f = &b->session;
    roofs_settings *set = &b->args->settings;
    if (set->mu != MU_AUTO)
        return ROOFS_OK;
    mu_question q = {.settings = set,
                     .y = b->y,
                     .n = b->n,
                     .features = source_features(f->source),
                     .quiet = f->out.quiet,
                     .open = open_for_choice,
                     .user = b};
    TRY(choose_mu(&q, &set->mu, err));
    if (!f->out.quiet)
        fprintf(stderr, "mu         %" PRId64 ", chosen by cross-validation\n", set->mu);
    return ROOFS_OK;
}

/* Features of 32 bits are stored in 32 bits, unless the user says otherwise. */
static void decide_storage(fit_beginning *b)
{
    const int narrow = source_kind_of(b->session.source).dtype == ROOFS_F32;
    if (b->args->settings.storage != ROOFS_STORAGE_AUTO)
        return;
    b->args->settings.storage = narrow ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
    b->session.checkpoint.narrowed = narrow;
}

/* Bad data are the responses here: the message names their file. */
static roofs_status create_estimator(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    double start = seconds_now();
    roofs_status status = roofs_create_split(&f->estimator, &b->args->settings, b->y,
                                             source_own_samples(f->source), process_comm(), err);
    f->times.fitting += seconds_now() - start;
    if (status != ROOFS_BAD_DATA)
        return status;
    roofs_error reason = *err;
    return fail(err, status, "%s: %s", b->args->y ? b->args->y : f->files.values[0], reason.text);
}

static roofs_status open_checkpoint(fit_beginning *b, roofs_error *err)
{
    checkpoint *c = &b->session.checkpoint;
    if (!b->args->checkpoint)
        return ROOFS_OK;
    c->comm = &b->session.comm;
    c->every = b->args->every;
    TRY(checkpoint_record(c, b->session.source, &b->args->in, err));
    roofs_status status = checkpoint_open(c, b->args->checkpoint, err);
    return status == ROOFS_IO ? ROOFS_FAILED : status; /* it is not an input */
}

static roofs_status begin_fit(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    double start = seconds_now();
    TRY(comm_agree(&f->comm, open_inputs(b, err), err));
    decide_storage(b);
    f->times.reading += seconds_now() - start;
    TRY(decide_mu(b, err));
    if (b->args->explain)
        return ROOFS_OK;
    TRY(open_checkpoint(b, err));
    return create_estimator(b, err);
}

/* *filled = mean number of values of a sparse feature in the first batch; 0 if it is dense. */
static roofs_status measure_filled(const fit_beginning *b, int64_t *filled, roofs_error *err)
{
    roofs_block block;
    *filled = 0;
    TRY(source_next(b->session.source, b->args->settings.batch, &block, err));
    if (block.count > 0 && block_is_sparse(&block))
        *filled = (block_start(&block, block.count) - block_start(&block, 0)) / block.count + 1;
    return ROOFS_OK;
}

static roofs_status explain_fit(fit_beginning *b, roofs_error *err)
{
    const roofs_settings *set = &b->args->settings;
    int64_t filled = 0;
    TRY(begin_fit(b, err));
    TRY(measure_filled(b, &filled, err));
    const roofs_dtype storage = set->storage == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64;
    return fit_explain(set, b->n, storage, filled, b->args->out.prefetch, err);
}

/* ---- the verb ---------------------------------------------------------- */

/* A pipe can be read only once. */
static int check_pipes(const fit_args *a, const operands *files)
{
    if (!inputs_have_stdin(files) || (a->settings.passes <= 1 && a->settings.mu != MU_AUTO))
        return OPTIONS_FINE;
    if (a->settings.mu == MU_AUTO)
        return usage_error("fit", "--mu auto reads the data several times, which a pipe cannot; "
                                  "write it to a file first");
    return usage_error("fit",
                       "--passes %" PRId64 " reads the data again, which a pipe cannot; "
                       "write it to a file first",
                       a->settings.passes);
}

static int check_settings(const fit_args *a)
{
    roofs_error err;
    roofs_settings set = a->settings;
    if (set.mu == MU_AUTO && a->explain)
        return usage_error("fit", "--explain needs the number of features: --mu N, not auto");
    if (set.mu == MU_AUTO)
        set.mu = 1; /* any valid number */
    if (roofs_settings_check(&set, &err))
        return usage_error("fit", "%s", err.text);
    return OPTIONS_FINE;
}

static int check_fit(const fit_args *a, const operands *files)
{
    const file_use read[] = {{"--y", a->y}, {"--names", a->in.names}, {0}};
    const file_use written[] = {{"-o", fit_model_path(&a->out)},
                                {"--trace", a->out.trace},
                                {"--checkpoint", a->checkpoint},
                                {0}};
    int code = inputs_check("fit", files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("fit", files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    if (!a->y && (files->count > 1 || !format_may_be_labelled(files->values[0])))
        return usage_error("fit", "--y FILE is needed: %s", no_response);
    int y_from_pipe = a->y && strcmp(a->y, "-") == 0;
    if (y_from_pipe && (inputs_have_stdin(files) || isatty(STDIN_FILENO)))
        return usage_error("fit", "--y - reads standard input, but that is %s",
                           inputs_have_stdin(files) ? "already among the files" : "the keyboard");
    if (check_pipes(a, files) != OPTIONS_FINE)
        return EXIT_USAGE;
    if (process_comm()->size > 1 && (a->settings.mu == MU_AUTO || a->in.missing != MISSING_ERROR))
        return usage_error("fit", "--mu auto and --missing need all samples in one process: run "
                                  "'roofs fit', or 'roofs-mpi' with one rank");
    if (a->out.json && a->out.output && strcmp(a->out.output, "-") == 0)
        return usage_error("fit", "--json and -o - both want standard output");
    if (a->out.json && a->out.trace && strcmp(a->out.trace, "-") == 0)
        return usage_error("fit", "--json and --trace - both want standard output");
    if (a->checkpoint && strcmp(a->checkpoint, "-") == 0)
        return usage_error("fit", "--checkpoint must be a file, not standard output");
    return check_settings(a);
}

static int fit_to_end(fit_args *args, const operands *files)
{
    roofs_error err = {.feature = -1};
    fit_beginning b = {.args = args,
                       .session = {.out = args->out, .in = args->in, .files = *files}};
    fit_session *f = &b.session;
    int code = EXIT_FINE;
    if (args->explain)
        f->out.output = f->out.trace = NULL;
    roofs_status status = fit_session_prepare(f, &err);
    if (status != ROOFS_OK)
        code = exit_with("fit", &err, exit_after(status));
    else if (!args->explain)
        code = fit_session_end(f, begin_fit(&b, &err), &err);
    else if ((status = explain_fit(&b, &err)) != ROOFS_OK)
        code = fit_session_fail(f, status, &err);
    fit_session_free(f);
    memory_free(b.y);
    return code;
}

static int fit_main(int argc, char **argv)
{
    fit_args args = {.out.verb = "fit"};
    operands files;
    int code = options_parse(&fit_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check_fit(&args, &files);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_install();
    return fit_to_end(&args, &files);
}

const verb fit_verb = {
    .name = "fit",
    .summary = "select features from a stream and fit them, whatever part of y is corrupted",
    .usage = "[--y FILE] --mu N FILES... [-o model.json] [options]",
    .about =
        "FILES hold the features, all of the same samples in the same order; several files are "
        "one stream. The features are taken in batches; after each, at most mu are kept.\n\n"
        "--mu auto tries up to 8 numbers, from 2 to a quarter of the samples, each on parts of the "
        "samples, and judges them on the others by their smallest errors (the largest may be "
        "corrupted). It takes about 40 times as long as one fit and needs memory for all 8.\n\n"
        "--missing drop-feature gives a feature with missing values no weight; --missing median "
        "puts the median of its other values in their place; both count them.\n\n"
        "--json prints n, features_seen, selected, trusted, rounds, missing_values, "
        "missing_features, fit_seconds (without reading), read_seconds, peak_bytes and stop.",
    .examples = fit_examples,
    .rows = fit_rows,
    .has_settings = 1,
    .settings_at = offsetof(fit_args, settings),
    .main = fit_main,
};
