/* roofs fit: reads a stream of features, keeps the model. */
#include "base/memory.h"
#include "cli/choose_mu.h"
#include "cli/fit_run.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "linalg/block.h"
#include "stream/format.h"
#include "stream/response.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_args {
    const char *y, *checkpoint;
    int64_t every;
    fit_wishes wishes;
    input_args in;
    int explain;
    roofs_settings settings;
} fit_args;

#define AT(field) .at = offsetof(fit_args, field)

static const option_row rows[] = {
    {.name = "y",
     .kind = OPTION_TEXT,
     AT(y),
     .value = "FILE",
     .help = "the response: one number per sample; needed unless a LIBSVM file carries it"},
    FIT_OUTPUT_ROW(offsetof(fit_args, wishes)),
    {.name = "trace",
     .kind = OPTION_TEXT,
     AT(wishes.trace),
     .value = "FILE",
     .help = "write down every batch (time, memory, largest coefficients), for 'roofs report'"},
    {.name = "checkpoint",
     .kind = OPTION_TEXT,
     AT(checkpoint),
     .value = "FILE",
     .help = "keep what 'roofs resume' needs to go on, also when the fit has ended"},
    {.name = "checkpoint-every",
     .kind = OPTION_COUNT,
     AT(every),
     .value = "N",
     .standard = "100",
     .low = 1,
     .high = 1e15,
     .help = "batches between two checkpoints; the last one is written at the end or by Ctrl-C"},
    INPUT_ROWS(offsetof(fit_args, in)),
    FIT_AHEAD_ROW(offsetof(fit_args, wishes)),
    FIT_JSON_ROW(offsetof(fit_args, wishes)),
    {.name = "explain",
     .kind = OPTION_FLAG,
     AT(explain),
     .help = "print how much memory the fit would take, and do not fit"},
    FIT_QUIET_ROW(offsetof(fit_args, wishes)),
    {0},
};

static const example examples[] = {
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

typedef struct beginning {
    const fit_args *args;
    double *y;
    fit_run run;
} beginning;

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

/* The response stands in a file of its own, or in the rows of the one file. */
static roofs_status open_inputs(beginning *b, roofs_error *err)
{
    fit_run *f = &b->run;
    const roofs_comm *ranks = ranks_here();
    if (b->args->y) {
        TRY(response_read_shard(b->args->y, ranks->rank, ranks->size, &b->y, &f->n, err));
        TRY(check_ranks(f->n, ranks, err));
        return fit_run_open(f, &f->source, err);
    }
    TRY(fit_run_open(f, &f->source, err));
    const double *labels = source_labels(f->source);
    if (!labels)
        return fail(err, ROOFS_BAD_SETTING, "--y FILE is needed: %s", no_response);
    f->n = source_samples(f->source);
    TRY(check_ranks(f->n, ranks, err));
    const int64_t own = source_own_samples(f->source);
    TRY(memory_get(&b->y, own, sizeof *b->y, "the response", err));
    memcpy(b->y, labels + source_first_sample(f->source), (size_t)own * sizeof *b->y);
    return ROOFS_OK;
}

static roofs_status open_features(void *run, source **out, roofs_error *err)
{
    return fit_run_open(run, out, err);
}

static roofs_status decide_mu(beginning *b, roofs_error *err)
{
    fit_run *f = &b->run;
    if (f->settings.mu != MU_AUTO)
        return ROOFS_OK;
    mu_question q = {.settings = f->settings,
                     .y = b->y,
                     .n = f->n,
                     .features = source_features(f->source),
                     .quiet = f->wishes.quiet,
                     .open = open_features,
                     .user = f};
    TRY(choose_mu(&q, &f->settings.mu, err));
    if (!f->wishes.quiet)
        fprintf(stderr, "mu         %" PRId64 ", chosen by cross-validation\n", f->settings.mu);
    return ROOFS_OK;
}

/* What is wrong with the data here is wrong with the responses. */
static roofs_status create(beginning *b, roofs_error *err)
{
    fit_run *f = &b->run;
    double start = seconds_now();
    roofs_status status = roofs_create_split(&f->estimator, &f->settings, b->y,
                                             source_own_samples(f->source), ranks_here(), err);
    f->times.fitting += seconds_now() - start;
    if (status != ROOFS_BAD_DATA)
        return status;
    roofs_error reason = *err;
    return fail(err, status, "%s: %s", b->args->y ? b->args->y : f->files.values[0], reason.text);
}

static roofs_status keep_checkpoints(beginning *b, roofs_error *err)
{
    checkpoint *c = &b->run.kept;
    if (!b->args->checkpoint)
        return ROOFS_OK;
    c->ranks = &b->run.ranks;
    c->every = b->args->every;
    c->narrowed = strcmp(b->args->settings.storage, "auto") == 0 &&
                  source_kind_of(b->run.source).dtype == ROOFS_F32;
    TRY(checkpoint_record(c, b->run.source, &b->args->in, err));
    roofs_status status = checkpoint_open(c, b->args->checkpoint, err);
    return status == ROOFS_IO ? ROOFS_FAILED : status; /* it is no input */
}

static roofs_status begin(beginning *b, roofs_error *err)
{
    fit_run *f = &b->run;
    double start = seconds_now();
    TRY(comm_agree(&f->ranks, open_inputs(b, err), err));
    f->settings = b->args->settings;
    if (strcmp(f->settings.storage, "auto") == 0)
        f->settings.storage = source_kind_of(f->source).dtype == ROOFS_F32 ? "f32" : "f64";
    f->times.reading += seconds_now() - start;
    TRY(decide_mu(b, err));
    if (b->args->explain)
        return ROOFS_OK;
    TRY(keep_checkpoints(b, err));
    return create(b, err);
}

/* Values of a sparse feature, on average over the first batch; 0 where they are dense. */
static roofs_status look_how_full(const fit_run *f, int64_t *filled, roofs_error *err)
{
    roofs_block block;
    *filled = 0;
    TRY(source_next(f->source, f->settings.batch, &block, err));
    if (block.count > 0 && block_is_sparse(&block))
        *filled = (block_start(&block, block.count) - block_start(&block, 0)) / block.count + 1;
    return ROOFS_OK;
}

static int explain(beginning *b)
{
    fit_run *f = &b->run;
    roofs_error err = {0};
    roofs_dtype storage = strcmp(f->settings.storage, "f32") == 0 ? ROOFS_F32 : ROOFS_F64;
    int64_t filled = 0;
    roofs_status status = look_how_full(f, &filled, &err);
    if (status == ROOFS_OK)
        status = fit_explain(&f->settings, f->n, storage, filled, f->wishes.ahead, &err);
    return status == ROOFS_OK ? EXIT_FINE : fit_run_fail(f, status, &err);
}

/* ---- the verb ---------------------------------------------------------- */

/* Reading again is more than a pipe can. */
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
        set.mu = 1; /* any that is allowed */
    if (roofs_settings_check(&set, &err))
        return usage_error("fit", "%s", err.text);
    return OPTIONS_FINE;
}

static int check(const fit_args *a, const operands *files)
{
    const file_use read[] = {{"--y", a->y}, {"--names", a->in.names}, {0}};
    const file_use written[] = {{"-o", fit_model_path(&a->wishes)},
                                {"--trace", a->wishes.trace},
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
    if (ranks_here()->size > 1 && (a->settings.mu == MU_AUTO || a->in.missing != MISSING_ERROR))
        return usage_error("fit", "--mu auto and --missing need all samples in one process: run "
                                  "'roofs fit', or 'roofs-mpi' with one rank");
    if (a->wishes.json && a->wishes.output && strcmp(a->wishes.output, "-") == 0)
        return usage_error("fit", "--json and -o - both want standard output");
    if (a->wishes.json && a->wishes.trace && strcmp(a->wishes.trace, "-") == 0)
        return usage_error("fit", "--json and --trace - both want standard output");
    if (a->checkpoint && strcmp(a->checkpoint, "-") == 0)
        return usage_error("fit", "--checkpoint must be a file, not standard output");
    return check_settings(a);
}

static int run(fit_args *args, const operands *files)
{
    roofs_error err = {.feature = -1};
    beginning b = {.args = args, .run = {.wishes = args->wishes, .in = args->in, .files = *files}};
    fit_run *f = &b.run;
    int code;
    if (args->explain)
        f->wishes.output = f->wishes.trace = NULL;
    roofs_status status = fit_run_prepare(f, &err);
    if (status != ROOFS_OK) {
        complain("fit", "%s", err.text);
        code = exit_after(status);
    } else if ((status = begin(&b, &err)) != ROOFS_OK) {
        code = fit_run_fail(f, status, &err);
    } else if (args->explain) {
        code = explain(&b);
    } else {
        status = fit_run_go(f, &err);
        code = status == ROOFS_OK ? fit_run_tell(f) : fit_run_fail(f, status, &err);
    }
    fit_run_free(f);
    memory_free(b.y);
    return code;
}

static int fit_main(int argc, char **argv)
{
    fit_args args = {.wishes.who = "fit"};
    operands files;
    int code = options_parse(&fit_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check(&args, &files);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_watch();
    return run(&args, &files);
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
    .examples = examples,
    .rows = rows,
    .has_settings = 1,
    .settings_at = offsetof(fit_args, settings),
    .main = fit_main,
};
